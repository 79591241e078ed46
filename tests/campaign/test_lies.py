"""Networks and games that answer with what is no number, and games that break their contract: all are named."""

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alphago import GoEnv, analyze, check_game, evaluate, selfplay, train
from alphago.env.check import GameError
from alphago.examples.tic_tac_toe import TicTacToe, TicTacToeEnv
from alphago.mcts.evaluator import HashEvaluator
from tests.campaign.tally import Area

pytestmark = pytest.mark.campaign
NUMBERS = [math.nan, math.inf, -math.inf, 1e30, -5.0]
EXPECTED = (ValueError, TypeError, RuntimeError)


def test_networks_that_lie() -> None:
    env = GoEnv(3)
    with Area("networks that lie") as area:
        for bad, where in itertools.product(NUMBERS, ("policy", "value", "both")):

            def network(position: Any, bad: float = bad, where: str = where) -> tuple[np.ndarray, float]:
                policy = np.full(env.action_space, bad if where != "value" else 1 / env.action_space)
                return policy, bad if where != "policy" else 0.0

            for call in (
                lambda network=network: selfplay(env, network, readouts=4, num_games=2),
                lambda network=network: evaluate(env, network, "random", num_games=2, readouts=4),
                lambda network=network: analyze(env.position(), network, readouts=4),
            ):
                with area.attempt(f"{bad} as {where}", *EXPECTED):
                    call()


# Methods of the game, and what they answer wherever it stands.
ONE = np.ones(9, bool)
LIES: dict[str, list[Any]] = {
    "outcome": [math.nan, 7.0, None],
    "is_over": [False, True, "no"],
    "legal_mask": [ONE, ~ONE, ONE[:8], None],
    "planes": [np.full((2, 3, 3), np.nan, np.float32), np.ones((1, 3, 3), np.float32), None],
    "copy": [None],
}


@pytest.mark.parametrize(("method", "answer"), [(name, one) for name, answers in LIES.items() for one in answers])
@pytest.mark.filterwarnings("ignore:this run is over .* without a gradient step")
def test_games_that_lie(method: str, answer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TicTacToe, method, lambda *_: answer)
    env = TicTacToeEnv()
    with Area("games that lie") as area:
        with area.attempt(f"check_game: {method} is {answer!r}"), pytest.raises((GameError, *EXPECTED)):
            check_game(env, games=3)
        for call in (
            lambda: selfplay(env, HashEvaluator(), readouts=2, num_games=2),
            lambda: evaluate(env, "random", "random", num_games=2, readouts=2),
            lambda: train(env, 4, readouts=2, tower_height=0, channels=4, folder=Path("run"), reports=[]),
        ):
            with area.attempt(f"{method} is {answer!r}", GameError, *EXPECTED):
                call()
