"""Random games and set-ups: the kernels agree with plain-Python Go at every ply."""

import numpy as np
import pytest

from alphago import GoEnv, check_game
from alphago.env.kernels import go as kernels
from alphago.env.kernels import go_row as layout
from alphago.env.kernels import go_score as scoring
from alphago.env.kernels.playouts import random_action
from tests.diagrams import draw, stones
from tests.naive.go import is_own_eye, naive_go, random_board

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
        (2, 6, {"max_moves": 20, "ko": "simple"}),
        (2, 6, {"max_moves": 20, "ko": "situational"}),
        (2, 6, {"max_moves": 20, "suicide": True}),
        (2, 6, {"max_moves": 20, "ko": "simple", "suicide": True}),
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


@pytest.mark.parametrize("suicide", [False, True])
@pytest.mark.parametrize("ko", ["simple", "positional", "situational"])
@pytest.mark.parametrize(("size", "limit"), [(2, 200), (3, 300), (4, 300)])
def test_ko_in_games_that_nobody_passes(size: int, limit: int, ko: str, suicide: bool) -> None:
    """Hundreds of captures on a tiny board: nearly every legal point is one that superko left."""
    options = {"max_moves": limit, "ko": ko, "suicide": suicide}
    env, plain = GoEnv(size, **options), naive_go(size, **options)
    random = np.random.default_rng(size)
    refused = 0
    for _ in range(20 if size == 2 else 2):
        batch, state, slot = env.new_batch(1), plain.new(), np.zeros(1, np.int64)
        for _ in range(limit):
            mask = batch.legal_mask(slot, np.empty((1, env.action_space), np.bool_))[0]
            assert np.array_equal(mask, state.legal_mask())
            if state.is_over():
                break
            without_history = plain.new(stones=state.board, to_play=state.to_play)
            refused += int((without_history.legal_mask() & ~mask).sum())
            points = np.flatnonzero(mask[:-1])
            action = int(random.choice(points)) if len(points) else env.pass_action
            batch.play(slot, np.array([action], np.int32))
            state.play(action)
    assert (refused == 0) == (size == 2 and ko == "simple")  # on 2x2 nobody ever takes one stone with one


# Those that remember nothing: the others tell of superko and of the last moves.
OF_THE_BOARD = [number for number in range(16) if number not in (5, 6, 7, 8, 12)]


@pytest.mark.parametrize("size", [3, 9, 19])
def test_what_is_kept_in_step_equals_a_fresh_set_up(size: int) -> None:
    """Hash, score, stones and liberties after hundreds of plies are those of the same board set up at once."""
    env = GoEnv(size)
    random = np.random.default_rng(0)
    slot = np.zeros(1, np.int64)
    for _ in range(3):
        now = env.position()
        while not now.is_over:
            points = np.flatnonzero(now.legal_mask[:-1])
            now = now.play(random.choice(points) if len(points) else env.pass_action)
            if now.moves[-1] == env.pass_action or len(now.moves) % 5:
                continue
            fresh = env.position(**stones(draw(now)), to_play=now.to_play)
            hashes = [p.batch.hash(slot, np.empty(1, np.int64))[0] for p in (now, fresh)]
            assert hashes[0] == hashes[1]
            assert now.score() == fresh.score()
            assert np.array_equal(now.planes()[OF_THE_BOARD], fresh.planes()[OF_THE_BOARD])


def test_light_playouts_end_with_legal_games() -> None:
    """The kernel's own random games, move by move on plain Go: no eyes filled, no pass while there is a move."""
    state = np.array([7], np.int64)
    for size in (2, 5, 9):
        env, plain = GoEnv(size), naive_go(size)
        row, twin = env.new_batch(1).rows[0], plain.new()
        while not layout.is_over(row):
            action = random_action(row, state, False)
            mask = twin.legal_mask()
            mask[:-1] &= [not is_own_eye(twin.board, p, twin.to_play, size) for p in range(size**2)]
            assert mask[action]
            assert (action == env.pass_action) == (not mask[:-1].any())
            assert sorted(listed_empties(row)) == [point for point in range(size**2) if twin.board[point] == 0]
            kernels.play(row, action)
            twin.play(action)
        assert twin.is_over()
        assert scoring.score(row) == twin.score()


def listed_empties(row: np.ndarray) -> list[int]:
    """The actions in the list of empty points, each of which knows its place there."""
    points = [int(row[layout.cell(place) + layout.EMPTY_POINT]) for place in range(row[layout.EMPTY_COUNT])]
    assert [row[layout.cell(point) + layout.PLACE] for point in points] == list(range(len(points)))
    return [int(layout.action_of(row, point)) for point in points]


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
