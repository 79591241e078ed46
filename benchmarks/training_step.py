"""How long a gradient step of a recipe takes with the compiled passes of alphago.nn.passes, and with torch's own.

The same random batch, both ways in turns; medians of the wall time, one after the other in one run.
"""

import argparse
import statistics
import time
from unittest import mock

from figures import Figures, add_option

from alphago import NeuralNet
from alphago.nn import passes
from alphago.nn.inference.hardware import describe_machine
from alphago.nn.threads import Workers, one_torch_thread
from alphago.system.cores import available_cores
from alphago.training.learner import Learner
from alphago.training.precision import random_sample
from alphago.training.recipes import RECIPES
from alphago.training.run_parts import run_settings

WARM_UP = 3  # steps of each kind that are not counted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=40, help="of each kind (40)")
    parser.add_argument("--presets", nargs="+", choices=sorted(RECIPES), default=["7x7", "9x9"], help="recipes")
    add_option(parser)
    options = parser.parse_args()
    figures = Figures(options.json)
    machine = describe_machine()["machine"]
    print(f"{machine['processor']}, {machine['cores']} cores; milliseconds a step")
    for name in options.presets:
        recipe = RECIPES[name]
        net = NeuralNet(recipe.make_env(), **recipe.network)
        settings = run_settings(**recipe.settings).learning
        batch = random_sample(net.env, settings.batch_size)
        times: dict[bool, list[float]] = {True: [], False: []}
        with one_torch_thread(), Workers(available_cores()) as workers:
            learner = Learner(net, settings, workers)
            for step in range(2 * (options.steps + WARM_UP)):
                fast = step % 2 == 0
                suits = passes.suits_kernels if fast else lambda features: False
                with mock.patch.object(passes, "suits_kernels", suits):
                    began = time.perf_counter()
                    learner.step(batch)
                    times[fast].append(1000 * (time.perf_counter() - began))
        mine, torchs = (statistics.median(times[kind][WARM_UP:]) for kind in (True, False))
        figures.add(f"step-{net.env.N}", mine / torchs)
        rate = 1000 * settings.batch_size / mine
        told = f"{mine:.1f} with, {torchs:.1f} without: {mine / torchs:.2f}; {rate:,.0f} positions/s with them"
        print(f"{name}, {settings.batch_size} positions: {told}", flush=True)
    figures.save()


if __name__ == "__main__":
    main()
