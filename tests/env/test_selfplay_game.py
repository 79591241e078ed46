"""What helps to learn a game: by default nothing special, in Go and in games that say so something of their own."""

from typing import Any

import numpy as np
import pytest

from alphago import GameEnv
from alphago.env.games import GAMES, make_game
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.training.settings.selfplay_settings import SelfPlaySettings, draw_beginning


@pytest.mark.parametrize("env", [*(make_game(name) for name in GAMES if name != "go"), TicTacToeEnv()], ids=str)
def test_by_default_nothing_is_special(env: GameEnv) -> None:
    generator = np.random.default_rng(1)
    assert env.selfplay_variant() is env.player_view() is env
    assert env.random_setup(generator) == {}
    assert generator.random() == np.random.default_rng(1).random()  # nothing was drawn
    assert env.opening_actions.tolist() == [True] * env.action_space


class OddEnv(TicTacToeEnv):
    """One that begins with a move of Black's."""

    name = "odd"

    def random_setup(self, generator: np.random.Generator) -> dict[str, Any]:
        return {"first": int(generator.integers(9))}


def test_a_game_of_ones_own_can_have_its_own() -> None:
    beginning = draw_beginning(OddEnv(), SelfPlaySettings(), 3, 5)
    assert beginning.setup == {"first": int(np.random.default_rng([3, 5]).integers(9))}
    assert draw_beginning(TicTacToeEnv(), SelfPlaySettings(), 3, 5).setup == {}
