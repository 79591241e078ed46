"""What `benchmarks/gpu.py` measures of networks on a device: evaluator, self-play, gradient steps, training."""

import itertools
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gpu_figures import OPENING, Figure, Scale, Shape, game_of_all, matrix_rate, usual_rate, wave_seconds
from torch.autograd import DeviceType
from torch.profiler import profile
from torch.utils.flop_counter import FlopCounterMode

from alphago import GoEnv, NeuralNet, train
from alphago.env.batch import GameBatch
from alphago.nn.net import load_model
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

ROOT = Path(__file__).resolve().parents[1]


def operations_of(net: NeuralNet) -> int:
    """Operations of the network for one position, two for each multiplication and addition."""
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        net.eval().forecast(torch.zeros(1, net.env.planes, *net.env.plane_shape))
    return int(counter.get_total_flops())


def network(scale: Scale) -> Iterator[Figure]:
    """Evaluators, planes and legal moves included, against a product of large matrices in the same minute."""
    env, product = GoEnv(9), matrix_rate(scale)
    yield Figure("product of matrices, bfloat16", f"{product / 1e12:.3g} TFLOP/s")
    for (height, channels), count in itertools.product(scale.towers, (scale.wave, scale.wave // 4)):
        net = NeuralNet(env, tower_height=height, channels=channels)
        evaluator = net.evaluator(**scale.where)
        rate = evaluator_rate(evaluator, positions(env, scale), count, scale)
        is_main = count == scale.wave and (height, channels) == scale.towers[0]
        share = rate * operations_of(net) / product
        name = f"evaluator, {height} x {channels}, 9x9, {evaluator.dtype}, batches of {count}"
        told = f"{rate:,.0f} positions/s, {share:.1%} of the rate of matrices"
        yield Figure(name, told, "at least 30%", share >= 0.3) if is_main else Figure(name, told)
        if is_main:  # threads that wait for a GPU do not see what of the wait is for boards: these are timed alone
            boards = wave_seconds(scale, env) * rate / count
            yield Figure(
                "boards and planes over the evaluator, of a wave", f"{boards:.1%}", "at most 5%", boards <= 0.05
            )


def katago(scale: Scale) -> Iterator[Figure]:
    """KataGo's network of the file ALPHAGO_KATAGO: planes and network, and how far the outputs are from the CPU's."""
    if not (path := os.environ.get("ALPHAGO_KATAGO")):
        yield Figure("KataGo's network", "not measured: ALPHAGO_KATAGO names no file")
        return
    for size, (dtype, most) in itertools.product((9, 19), (("float32", 1e-3), ("bfloat16", 2e-2))):
        net = load_model(f"katago:{path}", GoEnv(size))
        evaluator, batch, few = net.evaluator(dtype, **scale.where), positions(net.env, scale), np.arange(32)
        rate = evaluator_rate(evaluator, batch, scale.wave, scale)
        both = evaluated(evaluator, batch, 32), evaluated(net.evaluator("float32"), batch.extract(few), 32)
        apart = max(float(abs(one - other).max()) for one, other in zip(*both, strict=True))
        told = f"{rate:,.0f} positions/s, priors and values {apart:.1e} from the CPU's"
        yield Figure(f"KataGo's network, {size}x{size}, {dtype}", told, f"at most {most:g}", apart <= most)


def evaluated(evaluator: Any, batch: GameBatch, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Priors and values of the first positions of a batch, after ten evaluations."""
    out = np.empty((count, batch.env.action_space), np.float32), np.empty(count, np.float32)
    for _ in range(10):
        evaluator.evaluate(batch, np.arange(count), *out)
    return out


def evaluator_rate(evaluator: Any, batch: GameBatch, count: int, scale: Scale) -> float:
    """Evaluations per second of the first positions of a batch."""
    return usual_rate(lambda: 10.0 * len(evaluated(evaluator, batch, count)[1]), scale)


def positions(env: GoEnv, scale: Scale) -> GameBatch:
    """Positions of random games after some moves, where the network is."""
    batch, slots = env.new_batch(scale.wave, **scale.where), np.arange(scale.wave)
    for actions in game_of_all(env, scale.device, scale.wave, OPENING):
        batch.play(slots, actions)
    return batch


@contextmanager
def playing(scale: Scale, shape: Shape) -> Iterator[SelfPlay]:
    """Self-play whose first two plies, which compile and capture graphs, are played."""
    env, (height, channels) = GoEnv(shape.size), scale.towers[0]
    settings = SelfPlaySettings(readouts=shape.readouts, games_in_flight=shape.games, resign_threshold=-1.0)
    settings = settings.completed(shape.games, default_groups(scale.device))
    with Workers(settings.groups) as workers:
        source = SelfPlay(env, settings, range(10**6), workers, seed=0, device=scale.device)
        source.publish(NeuralNet(env, tower_height=height, channels=channels))
        source.begin(2)
        source.advance()
        yield source


def games(scale: Scale) -> Iterator[Figure]:
    """Moves per second of self-play, and how busy the GPU is."""
    for shape in scale.shapes:
        with playing(scale, shape) as source, closing(GpuMeter()) as meter:
            meter.busy()  # begins
            before, start = source.moves, time.monotonic()
            source.begin(None)
            source.advance(until=start + scale.seconds)
            rate, busy = (source.moves - before) / (time.monotonic() - start), meter.busy()
        size, count, readouts, wanted = shape
        name = f"self-play, {size}x{size}, {count} games x {readouts} readouts"
        target, held = ("", None) if wanted is None else (f"at least {wanted:,} moves/s", rate >= wanted)
        yield Figure(name, f"{rate:,.0f} moves/s", target, held)
        told, is_busy = ("unknown", None) if busy is None else (f"{busy:.0%}", busy >= 0.9)
        yield Figure(f"GPU busy, {name}", told, "at least 90%", is_busy)


def anatomy(scale: Scale) -> Iterator[Figure]:
    """A group's move of the first shape by torch's profiler: the GPU's time by kernel, and what the CPU asks of it."""
    plies, text = 4, "".join(path.read_text("utf-8") for path in (ROOT / "alphago").rglob("*.cu*"))
    with playing(scale, scale.shapes[0]) as source, profile() as profiler:
        source.begin(plies)
        source.advance()
        moves = plies * len(source.groups)
    averages = profiler.key_averages()
    kernels = [event for event in averages if event.device_type != DeviceType.CPU]
    # Names of macros end with a dtype.  All other kernels are the network's, or torch's and CuPy's for copies.
    ours = [event for event in kernels if re.search(rf"\b{re.escape(event.key.removesuffix('_bfloat16'))}\b", text)]
    spent, boards = (sum(event.self_device_time_total for event in of) for of in (kernels, ours))
    if not spent:
        yield Figure("a move taken apart", "not measured: the profiler sees no GPU")
        return
    share = boards / max(spent - boards, 1e-9)
    yield Figure("boards and tree over the network, of a move", f"{share:.1%}", "at most 5%", share <= 0.05)
    for event in sorted(kernels, key=lambda event: -event.self_device_time_total)[:25]:
        yield Figure(event.key[:60], f"{event.self_device_time_total / moves:,.0f} us, {event.count / moves:.1f} times")
    for event in averages:
        if event.key.startswith("cu") and event not in kernels:
            yield Figure(event.key, f"{event.count / moves:.1f} times, {event.self_cpu_time_total / moves:,.0f} us")


def gradient_step(scale: Scale) -> Iterator[Figure]:
    """Gradient steps on a batch that is on the device, and with the batch on its way there."""
    env, (height, channels) = GoEnv(9), scale.towers[0]
    net = NeuralNet(env, tower_height=height, channels=channels)
    operations = 3 * operations_of(net)  # a gradient takes twice a forward pass
    sample = random_sample(env, scale.wave)
    with Workers(1) as workers:
        settings = LearningSettings(batch_size=scale.wave)
        learner = Learner(net, settings, workers, torch.device(scale.torch_device))
        there = to_device(sample, learner.device)

        def steps(of: Any) -> float:
            for _ in range(10):
                learner.step(of)
            return 10.0

        rate, sent = (usual_rate(lambda of=of: steps(of), scale) for of in (there, sample))  # type: ignore[misc]
    share = rate * operations * scale.wave / matrix_rate(scale)
    name = f"gradient step, {height} x {channels}, batch {scale.wave}"
    yield Figure(name, f"{1e3 / rate:.2f} ms, {1e3 / sent:.2f} with the batch's way", "at most 10 ms", rate >= 100)
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
    last, later = rows[-1], rows[1:]  # the first one compiles
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
    yield Figure("GPU busy in training", f"{np.mean(busy):.0%}" if busy else "unknown")


NETWORKS: dict[str, Callable[[Scale], Iterator[Figure]]] = {
    "self-play": games,
    "anatomy": anatomy,
    "network": network,
    "gradient-step": gradient_step,
    "katago": katago,
    "training": training,
}
