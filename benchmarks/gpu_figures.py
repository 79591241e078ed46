"""What `benchmarks/gpu.py` measures: boards, network, self-play and training on a device, each as rows of a table."""

import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from alphago import GoEnv, NeuralNet, selfplay, train
from alphago.cuda.backend import find_backend
from alphago.env.game import GameBatch, Leaves, Reached
from alphago.env.kernels.playouts import playout_batch
from alphago.nn.threads import Workers
from alphago.system.cores import available_cores
from alphago.training.history import METRICS, number, read_history
from alphago.training.recipes import RECIPES
from alphago.training.watch.gpu_meter import GpuMeter
from alphago.training.watch.metrics import mean_shares, overhead

OPENING = 10  # plies before a wave is timed


class Figure(NamedTuple):
    """A row of the table: what, how much, what was wanted, and whether that was reached; None where nobody can say."""

    name: str
    measured: str
    target: str = ""
    held: bool | None = None


@dataclass(frozen=True)
class Scale:
    """How much is measured, and where: "cuda", or "host", the kernels' build for the CPU."""

    device: str
    boards: int = 65_536  # of random games, fewer on larger boards
    wave: int = 4096
    waves: int = 40
    matrix: int = 8192
    tower: tuple[int, int] = (6, 96)
    readouts: int = 16
    flight: int = 4096
    minutes: float = 1.5
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


SMALL_RUN = {
    "num_games": 32, "games_in_flight": 8, "groups": 1, "readouts": 2, "tower_height": 0, "channels": 8,
    "start_training_after": 50, "batch_size": 16,
}  # fmt: skip
QUICK: dict[str, Any] = {
    "boards": 64, "wave": 32, "waves": 3, "matrix": 256, "tower": (1, 8), "readouts": 2, "flight": 4, "minutes": 9.0,
    "preset": "7x7", "settings": SMALL_RUN,
}  # fmt: skip


def wait(scale: Scale) -> None:
    """Until the device has done all that it was given."""
    if scale.torch_device == "cuda":
        torch.cuda.synchronize()  # the device, whoever launched


def best_rate(work: Callable[[], float], scale: Scale, repeats: int = 3) -> float:
    """Units per second of `work`, which returns how many it did; the first call, which compiles, does not count."""
    work()
    rates = []
    for _ in range(repeats):
        wait(scale)
        start = time.perf_counter()
        done = work()
        wait(scale)
        rates.append(done / (time.perf_counter() - start))
    return max(rates)


def random_moves(scale: Scale) -> Iterator[Figure]:
    """Uniformly random legal moves to the end of many games: on the device, and on all cores by numba."""
    for size, target in ((9, 300e6), (19, None)):
        env, count = GoEnv(size), max(1, scale.boards * 81 // size**2)
        device, host = device_moves(env, count, scale), host_moves(env, max(1, count // 16), scale)
        held = None if target is None else device >= target
        wanted = "" if target is None else f"at least {target / 1e6:.0f} M/s"
        yield Figure(f"random legal moves, {size}x{size}, on the device", f"{device / 1e6:.2f} M/s", wanted, held)
        yield Figure(f"random legal moves, {size}x{size}, numba, {available_cores()} cores", f"{host / 1e6:.2f} M/s")


def device_moves(env: GoEnv, count: int, scale: Scale) -> float:
    """Moves per second of as many games at once."""
    batch, slots = env.new_batch(count, scale.device), np.arange(count)
    streams = np.arange(count, dtype=np.int64) + 1

    def play() -> float:
        batch.reset(slots)
        return float(batch.playout(slots, streams, fill_eyes=True).sum())

    return best_rate(play, scale)


def host_moves(env: GoEnv, count: int, scale: Scale) -> float:
    """Moves per second by numba, of as many games on each core."""
    cores = available_cores()
    batches = [env.new_batch(count) for _ in range(cores)]

    def play(core: int) -> float:
        batches[core].reset(np.arange(count))
        return float(playout_batch(batches[core].rows, np.arange(count), np.array([core + 1], np.int64), True))

    with Workers(cores) as workers:
        tasks = [lambda core=core: play(core) for core in range(cores)]  # type: ignore[misc]
        return best_rate(lambda: sum(workers.run(tasks)), scale)


def wave(scale: Scale) -> Iterator[Figure]:
    """The boards' work for a wave of the search."""
    spent = 1e6 * wave_seconds(scale)
    name = f"a wave of {scale.wave}, 9x9: moves, legal moves, planes"
    yield Figure(name, f"{spent:.0f} us", "at most 80 us", spent <= 80)


def wave_seconds(scale: Scale) -> float:
    """Of what a wave of self-play asks of the boards, in one go, all arrays on the device.

    From each root a move to a leaf (`reach`), its legal moves, and its planes in bfloat16, channels last.
    """
    env, count = GoEnv(9), scale.wave
    backend = find_backend(scale.device)
    mask = backend.zeros((count, env.action_space), np.bool_)
    planes = backend.zeros((count, 9, 9, env.planes), np.int16).transpose(0, 3, 1, 2)
    reached = Reached(*(backend.zeros((count,), kind) for kind in (np.bool_, np.int8, np.float32)))
    batch = env.new_batch(2 * count, scale.device)
    here, there = (backend.upload(np.arange(first, first + count), np.int64) for first in (0, count))
    ones = backend.upload(np.ones(count), np.int32)
    moves = [
        backend.upload(actions, np.int32) for actions in game_of_all(env, scale.device, count, OPENING + scale.waves)
    ]
    seconds = []
    for _ in range(4):
        batch.reset(here)
        for actions in moves[:OPENING]:
            batch.play(here, actions)
        wait(scale)
        start = time.perf_counter()
        for actions in moves[OPENING:]:
            batch.reach(Leaves(here, actions[:, None], ones, there), reached)
            batch.legal_mask(there, mask)
            batch.planes(there, planes)
            here, there = there, here  # a leaf is the next wave's root
        wait(scale)
        seconds.append((time.perf_counter() - start) / scale.waves)
    return min(seconds[1:])  # the first one compiles


def game_of_all(env: GoEnv, device: str, count: int, plies: int) -> list[np.ndarray]:
    """Random legal moves of as many games for so many plies, int32 [count] each; passes only where nothing else is."""
    batch, slots, random = env.new_batch(count, device), np.arange(count), np.random.default_rng(1)
    moves = []
    for _ in range(plies):
        mask = batch.legal_mask(slots, np.empty((count, env.action_space), np.bool_))
        chances = random.random(mask.shape, np.float32) * mask
        chances[:, -1] = 1e-9
        moves.append(chances.argmax(axis=1).astype(np.int32))
        batch.play(slots, moves[-1])
    return moves


def network(scale: Scale) -> Iterator[Figure]:
    """The evaluator, planes and legal moves included, against a product of large matrices in the same minute."""
    env, (height, channels) = GoEnv(9), scale.tower
    net = NeuralNet(env, tower_height=height, channels=channels)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        net.eval().forecast(torch.zeros(1, env.planes, 9, 9))
    operations = counter.get_total_flops()
    evaluator = net.evaluator(**scale.where)
    batch, slots = positions(env, scale), np.arange(scale.wave)
    priors, values = np.empty((scale.wave, env.action_space), np.float32), np.empty(scale.wave, np.float32)

    def evaluate() -> float:
        for _ in range(10):
            evaluator.evaluate(batch, slots, priors, values)
        return 10 * scale.wave

    rate, product = best_rate(evaluate, scale), matrix_rate(scale)
    share = rate * operations / product
    yield Figure("product of matrices, bfloat16", f"{product / 1e12:.3g} TFLOP/s")
    yield Figure(
        f"evaluator, {height} x {channels}, 9x9, {evaluator.dtype}, batches of {scale.wave}",
        f"{rate:,.0f} positions/s ({operations / 1e6:.3g} MFLOP each)",
    )
    yield Figure("evaluator's share of the rate of matrices", f"{share:.1%}", "at least 30%", share >= 0.3)
    # Threads that wait for a GPU do not see what of the wait is for boards: their kernels are timed alone.
    boards = wave_seconds(scale) * rate / scale.wave
    yield Figure("boards and planes over the evaluator, of a wave", f"{boards:.1%}", "at most 5%", boards <= 0.05)


def positions(env: GoEnv, scale: Scale) -> GameBatch:
    """Positions of random games after some moves, where the network is."""
    batch, slots = env.new_batch(scale.wave, **scale.where), np.arange(scale.wave)
    for actions in game_of_all(env, scale.device, scale.wave, OPENING):
        batch.play(slots, actions)
    return batch


def matrix_rate(scale: Scale) -> float:
    """Operations per second of torch's product of square matrices, two for each multiplication and addition."""
    shape = (scale.matrix, scale.matrix)
    a, b = (torch.randn(shape, device=scale.torch_device).to(torch.bfloat16) for _ in range(2))

    def multiply() -> float:
        for _ in range(10):
            a @ b
        return 10 * 2 * scale.matrix**3

    return best_rate(multiply, scale)


def games(scale: Scale) -> Iterator[Figure]:
    """Self-play: between the first games' ends and the last games' beginnings, so that all places are taken."""
    env, (height, channels) = GoEnv(9), scale.tower
    net, total = NeuralNet(env, tower_height=height, channels=channels), 4 * scale.flight
    ends: list[float] = []
    busy: list[float | None] = []  # asked at the beginning and at the end of what counts
    one_at_a_time = threading.Lock()
    with GpuMeter() as meter:

        def tell(number: int, record: Any) -> None:
            with one_at_a_time:
                ends.append(time.perf_counter())
                if len(ends) in (scale.flight, total - scale.flight):
                    busy.append(meter.busy())

        selfplay(env, net, scale.readouts, total, games_in_flight=scale.flight, seed=0, on_game=tell, **scale.where)
    rate = (total - 2 * scale.flight) / max(ends[total - scale.flight - 1] - ends[scale.flight - 1], 1e-9)
    name = f"self-play, 9x9, {height} x {channels}, {scale.readouts} readouts"
    yield Figure(name, f"{rate:,.1f} games/s", "at least 500 games/s", rate >= 500)
    share = busy[-1]
    yield Figure(
        "GPU busy in self-play",
        "nobody tells" if share is None else f"{share:.0%}",
        "at least 85%",
        None if share is None else share >= 0.85,
    )


def training(scale: Scale) -> Iterator[Figure]:
    """A slice of a run by a recipe, left in a compact folder."""
    with tempfile.TemporaryDirectory() as place:
        folder, env = Path(place) / "run", RECIPES[scale.preset].make_env()
        how: dict[str, Any] = {"preset": scale.preset, "stop_after": scale.minutes, **scale.settings, **scale.where}
        train(env, folder=folder, compact=True, **how)
        sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
        rows = read_history(folder).metrics if (folder / METRICS).is_file() else []
    name = f"training by the recipe {scale.preset}"
    if not rows:
        yield Figure(name, f"no iteration came to its end in {scale.minutes} minutes")
        return
    last = rows[-1]
    later = rows[1:]  # the first one compiles
    seconds, positions_made = number(last, "seconds") or 0.0, number(last, "positions") or 0.0
    yield Figure(name, f"{positions_made / max(seconds, 1e-9):,.0f} positions/s")
    whole, largest = sum(sizes) / 2**20, max(sizes) / 2**20
    fits = whole <= 60 and largest <= 16
    yield Figure("its compact folder", f"{whole:.1f} MiB, {largest:.1f} a file", "at most 60 MiB, 16 a file", fits)
    try:
        shares = mean_shares(later)
    except ValueError as error:  # few of them
        yield Figure("what bounds training", str(error))
        return
    kind, share = max(shares.items(), key=lambda pair: pair[1])
    yield Figure("what bounds training", f"{kind} {share:.0%}")
    rest = overhead(shares)
    yield Figure("neither inference nor gradient steps", f"{rest:.1%}", "at most 12%", rest <= 0.12)
    busy = [found for row in later if (found := number(row, "gpu_busy")) is not None]
    yield Figure("GPU busy in training", f"{np.mean(busy):.0%}" if busy else "nobody tells")


SECTIONS: dict[str, Callable[[Scale], Iterator[Figure]]] = {
    "random moves": random_moves, "wave": wave, "network": network, "self-play": games, "training": training,
}  # fmt: skip
