"""How long a gradient step of a recipe takes, of a random batch: the median of the processor time."""

import argparse
import statistics
import time
from dataclasses import replace

from alphago import NeuralNet
from alphago.nn.inference.hardware import describe_machine
from alphago.nn.threads import Workers, one_torch_thread
from alphago.system.cores import available_cores
from alphago.system.settings import make_settings
from alphago.training.batches import random_sample
from alphago.training.learner import Learner
from alphago.training.recipes import RECIPES
from alphago.training.settings.run_settings import RunSettings

WARM_UP = 3  # steps that are not counted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=40, help="to be counted (40)")
    parser.add_argument("--batch-size", type=int, help="positions (the recipe's)")
    parser.add_argument("--channels", type=int, help="of the network (the recipe's)")
    parser.add_argument("--float32", action="store_true", help="also where bfloat16 is faster")
    parser.add_argument("--presets", nargs="+", choices=sorted(RECIPES), default=["7x7", "9x9"], help="recipes")
    options = parser.parse_args()
    machine = describe_machine()["machine"]
    print(f"{machine['processor']}, {machine['cores']} cores; milliseconds of a core a step")
    for name in options.presets:
        recipe = RECIPES[name]
        sizes = {"channels": options.channels} if options.channels else {}
        net = NeuralNet(recipe.make_env(), **{**recipe.network, **sizes})
        settings = make_settings(RunSettings, recipe.settings).learning
        size = options.batch_size or settings.batch_size
        settings = replace(settings, bfloat16=False) if options.float32 else settings
        batch = random_sample(net.env, size)
        times: list[float] = []
        with one_torch_thread(), Workers(available_cores()) as workers:
            learner = Learner(net, settings, workers)
            for _ in range(options.steps + WARM_UP):
                began = time.process_time()
                learner.step(batch)
                times.append(1000 * (time.process_time() - began))
        spent = statistics.median(times[WARM_UP:])
        kind = "bfloat16" if learner.autocast else "float32"
        rate = 1000 * size / spent
        print(f"{name}, {size} positions, {kind}: {spent:.1f}; {rate:,.0f} positions a core second", flush=True)


if __name__ == "__main__":
    main()
