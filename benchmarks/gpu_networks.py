"""What `benchmarks/gpu.py` measures of networks on a device: evaluator, self-play, gradient steps, training."""

import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gpu_figures import OPENING, Figure, Scale, game_of_all, matrix_rate, usual_rate, wave_seconds
from torch.utils.flop_counter import FlopCounterMode

from alphago import GoEnv, NeuralNet, selfplay, train
from alphago.env.batch import GameBatch
from alphago.nn.threads import Workers
from alphago.training.batches import random_sample, to_device
from alphago.training.history import METRICS, number, read_history
from alphago.training.learner import Learner
from alphago.training.metrics import mean_shares
from alphago.training.recipes import RECIPES
from alphago.training.selfplay import SelfPlay
from alphago.training.settings.learning_settings import LearningSettings
from alphago.training.settings.selfplay_settings import SelfPlaySettings, default_groups
from alphago.training.watch.gpu_meter import GpuMeter


def operations_of(net: NeuralNet) -> int:
    """Operations of the network for one position, two for each multiplication and addition."""
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        net.eval().forecast(torch.zeros(1, net.env.planes, *net.env.plane_shape))
    return int(counter.get_total_flops())


def network(scale: Scale) -> Iterator[Figure]:
    """The evaluator, planes and legal moves included, against a product of large matrices in the same minute."""
    env, (height, channels) = GoEnv(9), scale.tower
    net = NeuralNet(env, tower_height=height, channels=channels)
    operations = operations_of(net)
    evaluator = net.evaluator(**scale.where)
    batch, slots = positions(env, scale), np.arange(scale.wave)
    priors, values = np.empty((scale.wave, env.action_space), np.float32), np.empty(scale.wave, np.float32)

    def evaluate() -> float:
        for _ in range(10):
            evaluator.evaluate(batch, slots, priors, values)
        return 10.0 * scale.wave

    rate, product = usual_rate(evaluate, scale), matrix_rate(scale)
    share = rate * operations / product
    yield Figure("product of matrices, bfloat16", f"{product / 1e12:.3g} TFLOP/s")
    yield Figure(
        f"evaluator, {height} x {channels}, 9x9, {evaluator.dtype}, batches of {scale.wave}",
        f"{rate:,.0f} positions/s ({operations / 1e6:.3g} MFLOP each)",
    )
    yield Figure("evaluator's share of the rate of matrices", f"{share:.1%}", "at least 30%", share >= 0.3)
    # Threads that wait for a GPU do not see what of the wait is for boards: their kernels are timed alone.
    boards = wave_seconds(scale, env) * rate / scale.wave
    yield Figure("boards and planes over the evaluator, of a wave", f"{boards:.1%}", "at most 5%", boards <= 0.05)


def positions(env: GoEnv, scale: Scale) -> GameBatch:
    """Positions of random games after some moves, where the network is."""
    batch, slots = env.new_batch(scale.wave, **scale.where), np.arange(scale.wave)
    for actions in game_of_all(env, scale.device, scale.wave, OPENING):
        batch.play(slots, actions)
    return batch


def games(scale: Scale) -> Iterator[Figure]:
    """Self-play of whole games on 9x9."""
    name = f"self-play, 9x9, {scale.tower[0]} x {scale.tower[1]}, {scale.readouts} readouts"
    rate, busy = games_per_second(scale, GoEnv(9), scale.tower, scale.readouts, scale.flight)
    yield Figure(name, f"{rate:,.1f} games/s", "at least 500 games/s", rate >= 500)
    yield share_of_gpu("GPU busy in self-play", busy)


def large_games(scale: Scale) -> Iterator[Figure]:
    """The same on 19x19, with a larger network and twice as many readouts."""
    name = f"self-play, 19x19, {scale.large_tower[0]} x {scale.large_tower[1]}, {2 * scale.readouts} readouts"
    rate, busy = moves_per_second(scale, GoEnv(19), scale.large_tower, 2 * scale.readouts, scale.large_flight)
    yield Figure(name, f"{rate:,.0f} moves/s")
    yield share_of_gpu("GPU busy in self-play, 19x19", busy)


def share_of_gpu(name: str, busy: float | None) -> Figure:
    """How busy the GPU was, beside what is wanted."""
    if busy is None:
        return Figure(name, "nobody tells", "at least 85%")
    return Figure(name, f"{busy:.0%}", "at least 85%", busy >= 0.85)


def games_per_second(
    scale: Scale, env: GoEnv, tower: tuple[int, int], readouts: int, flight: int
) -> tuple[float, float | None]:
    """Games per second and how busy the GPU was.

    Between the first games' ends and the last games' beginnings, so that all places are taken.
    """
    net, total = NeuralNet(env, tower_height=tower[0], channels=tower[1]), 4 * flight
    ends: list[float] = []
    busy: list[float | None] = []  # asked at the beginning and at the end of what counts
    one_at_a_time = threading.Lock()
    with closing(GpuMeter()) as meter:

        def tell(number: int, record: Any) -> None:
            with one_at_a_time:
                ends.append(time.perf_counter())
                if len(ends) in (flight, total - flight):
                    busy.append(meter.busy())

        selfplay(env, net, readouts, total, games_in_flight=flight, seed=0, on_game=tell, **scale.where)
    return (total - 2 * flight) / max(ends[total - flight - 1] - ends[flight - 1], 1e-9), busy[-1]


def moves_per_second(
    scale: Scale, env: GoEnv, tower: tuple[int, int], readouts: int, flight: int
) -> tuple[float, float | None]:
    """Moves per second of many games, and how busy the GPU was; the first two plies do not count."""
    net = NeuralNet(env, tower_height=tower[0], channels=tower[1])
    settings = SelfPlaySettings(readouts=readouts, games_in_flight=flight, resign_threshold=-1.0)
    settings = settings.completed(flight, default_groups(scale.device))
    with Workers(settings.groups) as workers, closing(GpuMeter()) as meter:
        source = SelfPlay(env, settings, range(100 * flight), workers, seed=0, device=scale.device)
        source.publish(net)
        for plies in (2, scale.large_plies):  # the first ones compile, and capture graphs
            meter.busy()
            before, start = source.moves, time.perf_counter()
            source.begin(plies)
            source.advance()
            rate = (source.moves - before) / (time.perf_counter() - start)
        return rate, meter.busy()


def gradient_step(scale: Scale) -> Iterator[Figure]:
    """Gradient steps on a batch that is on the device, and with the batch on its way there."""
    env, (height, channels) = GoEnv(9), scale.tower
    net = NeuralNet(env, tower_height=height, channels=channels)
    operations = 3 * operations_of(net)  # a gradient takes twice a forward pass
    sample = random_sample(env, scale.wave)
    product = matrix_rate(scale)
    with Workers(1) as workers:
        settings = LearningSettings(batch_size=scale.wave)
        learner = Learner(net, settings, workers, torch.device(scale.torch_device))
        there = to_device(sample, learner.device)

        def steps(of: Any) -> float:
            for _ in range(10):
                learner.step(of)
            return 10.0

        rate, sent = (usual_rate(lambda of=of: steps(of), scale) for of in (there, sample))  # type: ignore[misc]
    share = rate * operations * scale.wave / product
    name = f"gradient step, {height} x {channels}, batch {scale.wave}"
    yield Figure(name, f"{1e3 / rate:.2f} ms, {1e3 / sent:.2f} with the batch's way", "", None)
    yield Figure("its share of the rate of matrices", f"{share:.1%}", "at least 25%", share >= 0.25)


def training(scale: Scale) -> Iterator[Figure]:
    """A slice of a run by a recipe."""
    with tempfile.TemporaryDirectory() as place:
        folder, env = Path(place) / "run", RECIPES[scale.preset].make_env()
        how: dict[str, Any] = {"preset": scale.preset, "stop_after": scale.minutes, **scale.settings, **scale.where}
        train(env, folder=folder, **how)
        rows = read_history(folder).metrics if (folder / METRICS).is_file() else []
    name = f"training by the recipe {scale.preset}"
    if not rows:
        yield Figure(name, f"no iteration came to its end in {scale.minutes} minutes")
        return
    last = rows[-1]
    later = rows[1:]  # the first one compiles
    seconds, positions_made = number(last, "seconds") or 0.0, number(last, "positions") or 0.0
    yield Figure(name, f"{positions_made / max(seconds, 1e-9):,.0f} positions/s")
    try:
        shares = mean_shares(later)
    except ValueError as error:  # few of them
        yield Figure("what bounds training", str(error))
        return
    kind, share = max(shares.items(), key=lambda pair: pair[1])
    yield Figure("what bounds training", f"{kind} {share:.0%}")
    rest = 1 - shares["net"] - shares["optimizer"]
    yield Figure("neither inference nor gradient steps", f"{rest:.1%}", "at most 12%", rest <= 0.12)
    busy = [found for row in later if (found := number(row, "gpu_busy")) is not None]
    yield Figure("GPU busy in training", f"{np.mean(busy):.0%}" if busy else "nobody tells")


NETWORKS: dict[str, Callable[[Scale], Iterator[Figure]]] = {
    "network": network,
    "self-play": games,
    "self-play-19x19": large_games,
    "gradient-step": gradient_step,
    "training": training,
}
