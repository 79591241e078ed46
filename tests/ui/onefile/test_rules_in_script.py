"""The games of a file, against the package's: legal moves, planes, ends, and what is shown of a position."""

import math
from typing import Any

import numpy as np
import pytest

from alphago import ConnectFourEnv, GameEnv, GoEnv, GomokuEnv, OwareEnv, ReversiEnv
from alphago.env.go_rules import handicap_points
from alphago.ui.web.views import position_view
from tests.random_games import random_game
from tests.ui.onefile.scripts import ask, inputs, numbers, options_of

GAMES = [ConnectFourEnv(), GomokuEnv(6, 4, 7), ReversiEnv(6), OwareEnv()]
GAMES += [OwareEnv(rules="cgzero", planes="one-hot").match_variant(), GoEnv(5), GoEnv(4, "turns", suicide=True)]
GAMES += [GoEnv(3, "turns", ko="situational", suicide=True), GoEnv(4, 7, ko="simple"), GoEnv(4, turns=15)]
GAMES += [GoEnv(5, "katago", ko="situational", suicide=True), GoEnv(9, "katago", max_moves=60)]

LARGER = [GoEnv(9), GoEnv(13), GoEnv(19, "turns"), GoEnv(7, 17, ko="situational"), GoEnv(13, "katago")]
LARGER += [GomokuEnv(9), ReversiEnv(8), OwareEnv(), ConnectFourEnv()]


def compare(env: GameEnv, seeds: range, stones: tuple[int, ...] = (), **setup: Any) -> None:
    """Compare all positions of random games."""
    games = [random_game(env, seed, **setup) for seed in seeds]
    moves = [list(game[-1].moves) for game in games]
    told = ask("positions", game=env.name, options=options_of(env, stones), games=moves, planes=inputs(env))
    for positions, answers in zip(games, told, strict=True):
        for position, answer in zip(positions, answers, strict=True):
            same(position, answer)


def same(position: Any, told: dict[str, Any]) -> None:
    env, shown, here = position.env, position_view(position), str(position)
    assert told["legal"] == position.legal_mask.astype(int).tolist(), here
    assert (told["toPlay"], told["over"]) == (position.to_play, position.is_over), here
    assert (told["outcome"], told["margin"]) == (position.to_play * position.result, position.score()), here
    owners = position.batch.ownership(np.zeros(1, np.int64), np.zeros((1, math.prod(env.plane_shape)), np.int8))[0]
    assert told["owners"] == (owners.tolist() if env.has_ownership else None), here
    content = {"ko": [], **told["content"]}
    assert {name: shown[name] for name in content} == content, here
    if position.is_over:
        return
    assert np.array_equal(numbers(told["planes"]), position.planes().ravel()), here
    if env.has_decisive_moves:
        found = position.batch.decisive_moves(np.zeros(1, np.int64), np.zeros(1, np.int32))
        assert told["decisive"] == found[0], here


@pytest.mark.parametrize(
    ("env", "games"),
    [*((env, 2) for env in GAMES), *(pytest.param(env, 12, marks=pytest.mark.slow) for env in LARGER)],
    ids=repr,
)
def test_games_are_the_same(env: GameEnv, games: int) -> None:
    compare(env, range(games))


def test_a_handicap_is_the_same() -> None:
    compare(GoEnv(7), range(1), tuple(handicap_points(7, 3)), handicap=3)
