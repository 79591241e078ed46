"""The kernels and numba's agree on every answer and every word of the rows."""

from pathlib import Path

import numpy as np
import pytest

from alphago import GameEnv, GoEnv, GomokuEnv, ReversiEnv
from alphago.cuda.contract import Backend
from alphago.env.kernels import playouts
from alphago.records.sgf import read_sgf
from tests.cuda.boards import Twins
from tests.naive.go import random_board

GAMES = sorted((Path(__file__).parents[1] / "data").glob("**/*.sgf"))


@pytest.mark.parametrize("suicide", [False, True])
@pytest.mark.parametrize("ko", ["simple", "positional", "situational"])
@pytest.mark.parametrize("size", [2, 3, 5, 7, 9, 13, 19, 25])
def test_random_games(backend: Backend, size: int, ko: str, suicide: bool) -> None:
    env = GoEnv(size, ko=ko, suicide=suicide, planes="turns", max_moves=7 * size * size // 5 + 40, margin_weight=0.3)
    twins = Twins(env, 4, backend)
    twins.play_on(np.random.default_rng(size), env.max_moves, every=max(1, size * size // 12))


@pytest.mark.parametrize(
    ("size", "options"),
    [
        (5, {"planes": 3}),
        (7, {"planes": 17}),
        (9, {"planes": 17, "ko": "simple"}),
        (5, {"turns": 20, "komi": 0, "planes": "turns"}),
        (5, {"first_pass": 20}),
        (7, {"komi": -3, "margin_weight": 1.0}),
        (3, {"max_moves": 0, "komi": 1000}),
    ],
)
def test_options(backend: Backend, size: int, options: dict) -> None:
    twins = Twins(GoEnv(size, **options), 6, backend)
    twins.play_on(np.random.default_rng(1), 150, every=3, pass_rate=0.2)


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("ko", ["simple", "positional", "situational"])
def test_ko_in_games_that_nobody_passes(backend: Backend, size: int, ko: str) -> None:
    twins = Twins(GoEnv(size, ko=ko, suicide=True, max_moves=200, planes="turns"), 8, backend)
    twins.play_on(np.random.default_rng(2), 200, every=5, pass_rate=0)


@pytest.mark.parametrize("size", [2, 3, 5, 9, 19])
@pytest.mark.parametrize("options", [{}, {"ko": "simple", "suicide": True, "planes": "turns"}])
def test_set_ups(backend: Backend, size: int, options: dict) -> None:
    """Crowded boards, each side to move and komi of their own in every slot."""
    random = np.random.default_rng(size)
    twins = Twins(GoEnv(size, **options), 6, backend)
    for slot in twins.slots:
        filled = 0.3 + 0.1 * slot
        twins.do(
            "reset",
            np.array([slot]),
            stones=random_board(size, [filled / 2, 1 - filled, filled / 2], random),
            to_play=["black", "white"][slot % 2],
            komi=[0, 3.5, -7][slot % 3],
        )
    twins.play_on(random, 30, every=4)
    twins.do("reset", twins.slots[::2], to_play="white")
    twins.compare()


OF_16_BITS = [GoEnv(size, planes=planes) for size in (2, 9, 25) for planes in ("rules", "turns", 3)]
OF_16_BITS += [ReversiEnv(6), GomokuEnv(5, 4, 7)]


@pytest.mark.parametrize("env", OF_16_BITS, ids=repr)
def test_planes_of_16_bits(backend: Backend, env: GameEnv) -> None:
    """bfloat16 in every layout, and at an address that two numbers at once may not have."""
    torch = pytest.importorskip("torch")
    twins = Twins(env, 5, backend)
    twins.play_on(np.random.default_rng(env.N), 30, every=30)
    wide = twins.ours.planes(twins.slots, np.empty((5, env.planes, env.N, env.N), np.float32))
    exact = torch.from_numpy(wide).bfloat16().view(torch.int16).numpy()
    for first in (0, 1):
        for axes in ((0, 1, 2, 3), (0, 3, 1, 2)):
            shape = (5, env.N, env.N, env.planes) if axes[1] == 3 else exact.shape
            memory = backend.zeros((first + exact.size,), exact.dtype)
            out = memory[first:].reshape(shape).transpose(axes)
            twins.theirs.planes(twins.slots, out)
            assert np.array_equal(backend.download(out), exact)
            assert not backend.download(memory[:first]).any()


@pytest.mark.parametrize("path", GAMES, ids=lambda path: path.stem)
def test_games_of_players(backend: Backend, path: Path) -> None:
    replay(path, backend, every=8)


def replay(path: Path, backend: Backend, every: int) -> None:
    """A game move by move; all that can be asked is compared after every so many."""
    game = read_sgf(path)
    start = game.position(ply=0)
    twins = Twins(start.env, 1, backend)
    twins.do("copy", twins.slots, twins.slots, start.batch)
    for ply, move in enumerate(game.moves):
        if ply % every == 0:
            assert twins.compare()[0, move]
        twins.do("play", twins.slots, np.array([move], np.int32))
    twins.compare()
    end = start.env.position_of(twins.theirs, 0)
    assert np.array_equal(end.board, game.position().board)
    assert end.score() == game.position().score()


def test_random_playouts(backend: Backend) -> None:
    """The same streams of random numbers give the same games, and stand where numba's stand in the end."""
    for size, fill_eyes in ((2, True), (5, False), (9, False), (9, True), (19, False)):
        env = GoEnv(size, ko=["positional", "situational"][size % 2])
        twins = Twins(env, 5, backend)
        states = np.random.default_rng(size).integers(-(2**63), 2**63, 5)
        numbas = states.copy()
        moves = [playouts.playout(twins.ours.rows[i], numbas[i : i + 1], fill_eyes) for i in range(5)]
        assert np.array_equal(twins.theirs.playout(twins.slots, states, fill_eyes), moves)
        assert np.array_equal(states, numbas)
        assert not twins.compare().any()
