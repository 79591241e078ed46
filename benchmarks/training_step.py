"""How long a gradient step of a recipe takes with this package's passes (alphago.nn.passes), and with torch's own.

They differ in float32 alone.  The same random batch, both ways in turns; medians of the processor time.
"""

import argparse
import statistics
import time
from contextlib import nullcontext
from dataclasses import replace
from unittest import mock

from figures import Figures, add_option

from alphago import NeuralNet
from alphago.nn import passes
from alphago.nn.inference.hardware import describe_machine
from alphago.nn.threads import Workers, one_torch_thread
from alphago.system.cores import available_cores
from alphago.system.settings import make
from alphago.training.batches import random_sample
from alphago.training.learner import Learner
from alphago.training.recipes import RECIPES
from alphago.training.settings.run_settings import RunSettings

WARM_UP = 3  # steps of each kind that are not counted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=40, help="of each kind (40)")
    parser.add_argument("--batch-size", type=int, help="positions (the recipe's)")
    parser.add_argument("--channels", type=int, help="of the network (the recipe's)")
    parser.add_argument("--float32", action="store_true", help="also where bfloat16 is faster")
    parser.add_argument("--presets", nargs="+", choices=sorted(RECIPES), default=["7x7", "9x9"], help="recipes")
    add_option(parser)
    options = parser.parse_args()
    figures = Figures(options.json)
    machine = describe_machine()["machine"]
    print(f"{machine['processor']}, {machine['cores']} cores; milliseconds of a core a step")
    for name in options.presets:
        recipe = RECIPES[name]
        sizes = {"channels": options.channels} if options.channels else {}
        net = NeuralNet(recipe.make_env(), **{**recipe.network, **sizes})
        settings = make(RunSettings, recipe.settings).learning
        size = options.batch_size or settings.batch_size
        settings = replace(settings, bfloat16=False) if options.float32 else settings
        batch = random_sample(net.env, size)
        times: dict[bool, list[float]] = {True: [], False: []}
        with one_torch_thread(), Workers(available_cores()) as workers:
            learner = Learner(net, settings, workers)
            for step in range(2 * (options.steps + WARM_UP)):
                fast = step % 2 == 0
                with nullcontext() if fast else mock.patch.object(passes, "suits_kernels", return_value=False):
                    began = time.process_time()
                    learner.step(batch)
                    times[fast].append(1000 * (time.process_time() - began))
        mine, torchs = (statistics.median(times[kind][WARM_UP:]) for kind in (True, False))
        figures.add(f"step-{net.env.N}", mine / torchs)
        rate = 1000 * size / mine
        told = f"{mine:.1f} with, {torchs:.1f} without: {mine / torchs:.2f}; {rate:,.0f} positions a core second"
        kind = "bfloat16" if learner.autocast else "float32"
        print(f"{name}, {size} positions, {kind}: {told}", flush=True)
    figures.save()


if __name__ == "__main__":
    main()
