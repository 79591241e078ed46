"""Positions on a device beside numba's: the part "equal" of `make gpu`, and what compute-sanitizer looks at.

Random games are played on both from the same random streams, and then compared: how many moves they took, where the
streams stand, and the rows word by word.  A row of Go ends with the hashes of all boards of its game, so that equal
rows are equal games.
"""

from collections.abc import Iterator
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np
from gpu_figures import Figure, Scale
from row_playouts import PLAYOUTS

from alphago import ConnectFourEnv, GoEnv, GomokuEnv, OwareEnv, ReversiEnv
from alphago.cuda.backend import find_backend
from alphago.cuda.device import import_cupy
from alphago.env.game import GameEnv
from alphago.env.kernels.playouts import playout
from alphago.nn.threads import Workers
from alphago.system.cores import available_cores

POINTS = 500_000  # of all boards that are played at once


class Task(NamedTuple):
    """Games to compare: of one board, under these rules in turns."""

    name: str
    moves: int  # at least so many
    rules: list[GameEnv]


def go(size: int) -> list[GameEnv]:
    """All rules of ko and suicide."""
    return [GoEnv(size, ko=ko, suicide=may) for ko in ("positional", "situational", "simple") for may in (False, True)]


TASKS = [
    Task("9x9", 10_000_000, go(9)),
    Task("19x19", 1_000_000, go(19)),
    Task("Reversi", 1_000_000, [ReversiEnv(size) for size in (8, 4, 6, 10, 12)]),
    Task("Gomoku", 1_000_000, [GomokuEnv(15), GomokuEnv(9), GomokuEnv(6, 4)]),
    Task("Oware", 1_000_000, [OwareEnv(), OwareEnv(rules="cgzero", planes="one-hot")]),
    Task("Connect Four", 1_000_000, [ConnectFourEnv()]),
]


class Compared(NamedTuple):
    """What some games have shown."""

    moves: int
    different: int  # games


def equal(scale: Scale) -> Iterator[Figure]:
    """Games of each task, then some positions with all that can be asked about them."""
    with Workers(available_cores()) as workers:
        for task in TASKS:
            moves = games = different = 0
            for turn, env in enumerate(cycle(task.rules)):
                if moves >= scale.equal * task.moves:
                    break
                count = max(1, round(min(1.0, 50 * scale.equal) * POINTS / env.N**2))
                found = compare(env, scale.device, np.arange(count) + 1_000_000 * turn, workers)
                moves, games, different = moves + found.moves, games + count, different + found.different
            name = f"{task.name}: random moves on the device as numba's, row for row"
            yield Figure(name, f"{different} of {games:,} games differ ({moves:,} moves)", "0 differ", different == 0)
    play_games(scale.device, games=6 if scale.equal < 1 else 512)
    yield Figure("all that can be asked about positions, over random games of eight boards", "agrees", "agrees", True)


def compare(env: GameEnv, device: str, seeds: np.ndarray, workers: Workers) -> Compared:
    """A game for each seed, int64 [n], on the device and by numba."""
    slots, there, here = np.arange(len(seeds)), seeds.copy(), seeds.copy()
    device_batch: Any = env.new_batch(len(seeds), device)
    batch: Any = env.new_batch(len(seeds))
    moves = device_batch.playout(slots, there)
    parts = np.array_split(slots, workers.count)
    numbas = np.concatenate(
        workers.run([lambda part=part: playouts(env, batch.rows, part, here) for part in parts])  # type: ignore[misc]
    )
    equal_rows = (device_batch.rows == batch.rows).all(axis=1)
    same = (moves == numbas) & (there == here) & equal_rows
    return Compared(int(numbas.sum()), int((~same).sum()))


def playouts(env: GameEnv, rows: np.ndarray, slots: np.ndarray, states: np.ndarray) -> np.ndarray:
    """Play each of the slots to its end by numba, from its own random stream; return the moves of each, int32 [n]."""
    mask = np.zeros(env.action_space, np.bool_)
    moves = np.zeros(len(slots), np.int32)
    for i, slot in enumerate(slots):
        state = states[slot : slot + 1]
        if isinstance(env, GoEnv):
            moves[i] = playout(rows[slot], state, False)
        else:
            moves[i] = PLAYOUTS[env.name](rows, slots[i : i + 1], mask, state)
    return moves


def play_games(device: str, games: int = 6, apart: bool = False) -> None:
    """Ask all that can be asked about positions of random games, on a device and numba; AssertionError if they differ.

    apart: whether each array gets memory of its own, for compute-sanitizer: what overruns an array in CuPy's pool is
        in the next one, and nobody sees it.
    """
    from tests.cuda.boards import Twins
    from tests.mcts.test_device_tree import test_self_play

    if device == "cuda" and apart:
        import_cupy().cuda.set_allocator(None)
    boards = [GoEnv(size, planes="turns", suicide=size == 9) for size in (2, 9, 19)]
    for env in (*boards, ReversiEnv(8), ReversiEnv(10), GomokuEnv(9), OwareEnv(), ConnectFourEnv()):
        Twins(env, games, find_backend(device)).exercise(np.random.default_rng(env.N), 60)
    for rule in ("puct-8", "rounds"):
        test_self_play(ReversiEnv(4), rule, device)
