"""What `benchmarks/gpu.py` measures of boards on a device, as rows of a table, and how much of everything."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import torch

from alphago import GoEnv, GomokuEnv, ReversiEnv
from alphago.cuda.backend import find_backend
from alphago.env.batch import Leaves, Reached
from alphago.env.game import GameEnv

OPENING = 10  # plies before a wave is timed


class Figure(NamedTuple):
    """A row of the table: what, how much, what was wanted, and whether that was reached; None where nobody can say."""

    name: str
    measured: str
    target: str = ""
    held: bool | None = None


class Shape(NamedTuple):
    """Self-play: the board's size, games side by side, readouts of a move, and the moves a second that are wanted."""

    size: int
    games: int
    readouts: int
    wanted: int | None


SHAPES = (Shape(9, 4096, 16, 95_000), Shape(9, 4096, 64, None), Shape(9, 256, 16, 60_000), Shape(19, 512, 16, None))


@dataclass(frozen=True)
class Scale:
    """How much is measured, and where: "cuda", or "host", the kernels' build for the CPU."""

    device: str
    boards: int = 65_536  # of random games, fewer on larger boards
    wave: int = 4096
    waves: int = 40
    matrix: int = 8192
    towers: tuple[tuple[int, int], ...] = ((6, 96), (13, 64), (3, 128), (2, 192), (1, 256))  # about as many operations
    shapes: tuple[Shape, ...] = SHAPES
    seconds: float = 12.0  # of self-play of each shape
    readouts: int = 16
    flight: int = 8192
    minutes: float = 1.5  # of the slice of training
    run_minutes: float = 3.0  # of the run that goes on elsewhere and comes back
    equal: float = 1.0  # of the moves that are compared with numba's
    repeats: int = 5  # of a measurement by rate
    preset: str = "9x9"
    # Of training, where they are not the recipe's: the slice is too short for smaller boards to come first.
    settings: Mapping[str, Any] = field(default_factory=lambda: {"curriculum": ()})

    @property
    def where(self) -> dict[str, str]:
        """What networks are told: "host" is for boards alone, beside networks on the CPU."""
        return {} if self.device == "host" else {"device": self.device}

    @property
    def torch_device(self) -> str:
        return "cpu" if self.device == "host" else self.device


SMALL_RUN = {"num_games": 32, "games_in_flight": 8, "groups": 1, "readouts": 2}
SMALL_RUN |= {"tower_height": 0, "channels": 8, "start_training_after": 50, "batch_size": 16}
QUICK: dict[str, Any] = {"boards": 64, "wave": 32, "waves": 3, "repeats": 2, "matrix": 256}
QUICK |= {"towers": ((1, 8),), "shapes": (Shape(9, 4, 2, 1),), "seconds": 0.1, "readouts": 2, "flight": 4}
QUICK |= {"minutes": 9.0, "run_minutes": 5.0, "equal": 1e-5, "preset": "7x7", "settings": SMALL_RUN}


def wait(scale: Scale) -> None:
    """Until the device has done all that it was given."""
    if scale.torch_device == "cuda":
        torch.cuda.synchronize()  # the device, whoever launched


def usual_rate(work: Callable[[], float], scale: Scale) -> float:
    """Units per second of `work`, which returns how many it did: the median, without the first call, which compiles."""
    work()
    rates = []
    for _ in range(scale.repeats):
        wait(scale)
        start = time.perf_counter()
        done = work()
        wait(scale)
        rates.append(done / (time.perf_counter() - start))
    return median(rates)


def matrix_rate(scale: Scale) -> float:
    """Operations per second of torch's product of square matrices, two for each multiplication and addition."""
    shape = (scale.matrix, scale.matrix)
    a, b = (torch.randn(shape, device=scale.torch_device).to(torch.bfloat16) for _ in range(2))

    def multiply() -> float:
        for _ in range(10):
            a @ b
        return 10.0 * 2 * scale.matrix**3

    return usual_rate(multiply, scale)


MOVES: list[tuple[GameEnv, float | None]] = [
    (GoEnv(9), 300e6),
    (GoEnv(19), 60e6),
    (ReversiEnv(8), None),
    (GomokuEnv(15), None),
]


def random_moves(scale: Scale) -> Iterator[Figure]:
    """Uniformly random legal moves to the end of many games."""
    for env, target in MOVES:
        count = max(1, scale.boards * 81 // env.N**2)
        rate = device_moves(env, count, scale)
        held = None if target is None else rate >= target
        wanted = "" if target is None else f"at least {target / 1e6:.0f} M/s"
        yield Figure(f"random legal moves, {env.name} {env.N}x{env.N}", f"{rate / 1e6:.2f} M/s", wanted, held)


def device_moves(env: GameEnv, count: int, scale: Scale) -> float:
    """Moves per second of as many games at once."""
    batch: Any = env.new_batch(count, scale.device)
    slots, streams = np.arange(count), np.arange(count, dtype=np.int64) + 1
    options = {"fill_eyes": True} if isinstance(env, GoEnv) else {}

    def play() -> float:
        batch.reset(slots)
        return float(batch.playout(slots, streams, **options).sum())

    return usual_rate(play, scale)


def wave(scale: Scale) -> Iterator[Figure]:
    """The boards' work for a wave of the search."""
    for env, most in ((GoEnv(9), 80), (GoEnv(19), None), (ReversiEnv(8), None), (GomokuEnv(15), None)):
        spent = 1e6 * wave_seconds(scale, env)
        name = f"a wave of {scale.wave}, {env.name} {env.N}x{env.N}: moves, legal moves, planes"
        wanted, held = ("", None) if most is None else (f"at most {most} us", spent <= most)
        yield Figure(name, f"{spent:.0f} us", wanted, held)


def wave_seconds(scale: Scale, env: GameEnv) -> float:
    """Of what a wave of self-play asks of the boards, in one go, all arrays on the device.

    From each root a move to a leaf (`reach`), its legal moves and its planes in bfloat16, channels last (`observe`).
    """
    count = scale.wave
    backend = find_backend(scale.device)
    mask = backend.zeros((count, env.action_space), np.bool_)
    planes = backend.zeros((count, *env.plane_shape, env.planes), np.int16).transpose(0, 3, 1, 2)
    reached = Reached(*(backend.zeros((count,), kind) for kind in (np.bool_, np.int8, np.float32)))
    batch: Any = env.new_batch(2 * count, scale.device)
    here, there = (backend.upload(np.arange(first, first + count), np.int64) for first in (0, count))
    ones = backend.upload(np.ones(count), np.int32)
    moves = [
        backend.upload(actions, np.int32) for actions in game_of_all(env, scale.device, count, OPENING + scale.waves)
    ]
    seconds = []
    for _ in range(1 + scale.repeats):
        batch.reset(here)
        for actions in moves[:OPENING]:
            batch.play(here, actions)
        wait(scale)
        start = time.perf_counter()
        for actions in moves[OPENING:]:
            batch.reach(Leaves(here, actions[:, None], ones, there), reached)
            batch.observe(there, mask, planes)
            here, there = there, here  # a leaf is the next wave's root
        wait(scale)
        seconds.append((time.perf_counter() - start) / scale.waves)
    return median(seconds[1:])  # the first one compiles


def game_of_all(env: GameEnv, device: str, count: int, plies: int) -> list[np.ndarray]:
    """Random legal moves of as many games for so many plies, int32 [count] each; passes only where nothing else is.

    Games that are over play on somehow, which takes as long.
    """
    batch, slots, random = env.new_batch(count, device), np.arange(count), np.random.default_rng(1)
    moves = []
    for _ in range(plies):
        mask = batch.legal_mask(slots, np.empty((count, env.action_space), np.bool_))
        chances = random.random(mask.shape, np.float32) * mask
        if env.pass_action is not None:
            chances[:, -1] = 1e-9
        moves.append(chances.argmax(axis=1).astype(np.int32))
        batch.play(slots, moves[-1])
    return moves


BOARDS: dict[str, Callable[[Scale], Iterator[Figure]]] = {"random-moves": random_moves, "wave": wave}
