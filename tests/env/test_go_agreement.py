"""Random games and set-ups: the kernels agree with plain-Python Go at every ply."""

import numpy as np
import pytest

from alphago import GoEnv, check_game
from alphago.env.kernels import go_row as layout
from tests.naive.go import naive_go, random_board

RULES = [{"ko": ko, "suicide": suicide} for ko in ("simple", "positional", "situational") for suicide in (False, True)]
# Hundreds of captures on a tiny board, in games without passes: nearly every legal point is one that superko left.
CROWDED = [
    (size, games, {"max_moves": limit, "first_pass": limit, **rules})
    for size, games, limit in ((2, 3, 60), (3, 1, 150), (4, 1, 150))
    for rules in RULES
]
# How many times as many games.
THOROUGH = [1, pytest.param(10, marks=pytest.mark.slow)]


@pytest.mark.parametrize("times", THOROUGH)
@pytest.mark.parametrize(
    ("size", "games", "options"),
    [
        (2, 12, {}),
        (2, 6, {"max_moves": 60, "planes": 5}),
        (2, 5, {"max_moves": 40, "first_pass": 25}),
        (5, 2, {"first_pass": 20}),
        (3, 8, {}),
        (3, 6, {"max_moves": 100, "komi": 0, "planes": 3}),
        (5, 2, {}),
        (5, 1, {"planes": 17}),
        (7, 1, {"planes": 9}),
        (9, 1, {}),
        (13, 1, {"max_moves": 25}),
        (19, 1, {"max_moves": 12}),
        (19, 1, {"max_moves": 8, "planes": 17}),
        (25, 1, {"max_moves": 3}),
        *((2, 6, {"max_moves": 20, **rules}) for rules in RULES[:-1]),
        (2, 6, {"max_moves": 20, "ko": "situational", "suicide": True, "planes": "turns"}),
        (3, 5, {"max_moves": 50, "ko": "simple", "suicide": True, "planes": 5}),
        (3, 5, {"max_moves": 50, "ko": "situational", "planes": "turns"}),
        (3, 5, {"max_moves": 50, "suicide": True, "planes": "turns"}),
        (5, 3, {"ko": "simple", "planes": "turns"}),
        (3, 5, {"turns": 9, "planes": "turns"}),
        (5, 2, {"turns": 20, "komi": 0, "first_pass": 40, "planes": "turns"}),
        (2, 4, {"max_moves": 30, "planes": "katago", "suicide": True, "komi": 2}),
        (3, 4, {"planes": "katago", "ko": "situational", "suicide": True, "komi": 0.5}),
        (4, 3, {"planes": "katago", "ko": "simple", "komi": -100}),
        (5, 1, {"planes": "katago", "komi": 1}),
        (5, 1, {"planes": "katago", "turns": 15}),
        (2, 4, {"max_moves": 0, "planes": "turns"}),
        *CROWDED,
    ],
)
def test_random_games(size: int, games: int, options: dict, times: int) -> None:
    check_game(GoEnv(size, **options), naive_go(size, **options), games=games * times)


@pytest.mark.parametrize("times", THOROUGH)
@pytest.mark.parametrize(
    ("size", "games", "max_moves"), [(2, 12, 20), (3, 10, 30), (5, 4, 40), (9, 2, 20), (13, 2, 8), (19, 2, 4)]
)
def test_random_set_ups(size: int, games: int, max_moves: int, times: int) -> None:
    """From crowded boards, where most moves take something."""
    games *= times
    random = np.random.default_rng(size)
    setups = [
        {
            "stones": random_board(size, [filled / 2, 1 - filled, filled / 2], random),
            "to_play": ["black", "white"][number % 2],
            "komi": [0, 3.5, -7, 100][number % 4],
        }
        for number, filled in enumerate(np.linspace(0.3, 0.95, games))
    ]
    for options in ({}, {"ko": "simple", "suicide": True, "planes": "turns"}):
        env, plain = (kind(size, max_moves=max_moves, **options) for kind in (GoEnv, naive_go))
        check_game(env, plain, games=games // 2, setups=setups)


def test_liberties_fit_into_one_number() -> None:
    """Count, sum and squares of the pseudo-liberties of huge chains: combs with a tooth in every other row."""
    size = 25
    comb = np.zeros((size, size), np.int8)
    comb[::2] = 1
    comb[:, 0] = 1
    for turned in (comb, comb.T, comb[::-1, ::-1], comb.T[::-1, ::-1]):
        batch = GoEnv(size).new_batch(1)
        batch.reset(np.zeros(1, np.int64), stones=turned)
        row = batch.rows[0]
        empties = {layout.point_of(row, action) for action in np.flatnonzero(turned.ravel() == 0)}
        chain = [layout.point_of(row, action) for action in np.flatnonzero(turned)]
        sides = [layout.neighbour(stone, side, size + 1) for stone in chain for side in range(4)]
        pairs = [near for near in sides if near in empties]
        assert len(pairs) > 550
        number = layout.load_long(row, layout.cell(row[layout.cell(chain[0]) + layout.HEAD]) + layout.LIBERTIES_LOW)
        count, rest = divmod(int(number), 1 << layout.COUNT_BITS)
        total, squares = divmod(rest, 1 << layout.SUM_BITS)
        assert [count, total, squares] == [len(pairs), sum(pairs), sum(point**2 for point in pairs)]
