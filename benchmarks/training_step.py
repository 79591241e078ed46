"""How long a gradient step of a recipe takes with the compiled passes of alphago.nn.passes, and with torch's own.

The same random batch, both ways in turns; medians of the wall time, one after the other in one run.
"""

import argparse
import statistics
import time
from unittest import mock

import numpy as np

from alphago import NeuralNet
from alphago.nn import passes
from alphago.nn.machine import describe_machine
from alphago.nn.threads import Workers, available_cores, one_torch_thread
from alphago.training.learner import Learner
from alphago.training.memory import Sample
from alphago.training.presets import PRESETS
from alphago.training.settings import TrainingSettings


def random_batch(net: NeuralNet, count: int) -> Sample:
    """A batch of the right shapes."""
    random, env = np.random.default_rng(0), net.env
    points = env.plane_shape[0] * env.plane_shape[1]
    return Sample(
        planes=random.integers(0, 2, (count, env.planes, *env.plane_shape)).astype(np.float32),
        policy=random.dirichlet(np.ones(env.action_space), count).astype(np.float32),
        value=random.uniform(-1, 1, count).astype(np.float32),
        weight=np.ones(count, np.float32),
        score=random.normal(0, 9, count).astype(np.float32),
        ownership=random.integers(-1, 2, (count, points)).astype(np.int8),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=40, help="of each kind (40)")
    steps = parser.parse_args().steps
    machine = describe_machine()["machine"]
    print(f"{machine['processor']}, {machine['cores']} cores; milliseconds a step")
    for name in ("7x7", "9x9"):
        recipe = PRESETS[name]
        net = NeuralNet(recipe.make_env(), **recipe.network)
        settings = TrainingSettings(**recipe.settings)
        batch = random_batch(net, settings.batch_size)
        times: dict[bool, list[float]] = {True: [], False: []}
        with one_torch_thread(), Workers(available_cores()) as workers:
            learner = Learner(net, settings, workers)
            for step in range(2 * (steps + 3)):
                fast = step % 2 == 0
                with mock.patch.object(passes, "is_fast", passes.is_fast if fast else lambda features: False):
                    began = time.perf_counter()
                    learner.step(batch)
                    times[fast].append(1000 * (time.perf_counter() - began))
        mine, torchs = (statistics.median(times[kind][3:]) for kind in (True, False))
        print(f"{name}, {settings.batch_size} positions: {mine:.1f} with, {torchs:.1f} without: {mine / torchs:.2f}")


if __name__ == "__main__":
    main()
