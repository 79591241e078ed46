"""How long a gradient step takes in float32 and in bfloat16, by the size of the network.

The same random batch, both ways in turns, on one thread; the least wall time of each.
"""

import argparse
import copy
import time
from dataclasses import replace

from alphago import GoEnv, NeuralNet
from alphago.nn.inference.hardware import describe_machine
from alphago.nn.threads import Workers, one_torch_thread
from alphago.training.learner import Learner
from alphago.training.precision import random_sample
from alphago.training.settings.learning_settings import LearningSettings

WARM_UP = 3  # steps of each kind that are not counted
SIZES = ["1x8:5:64", "2x16:5:64", "2x16:7:128", "4x32:7:128", "4x32:9:128", "4x64:9:256", "6x64:9:128", "6x96:9:256"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=11, help="of each kind (11)")
    parser.add_argument("--sizes", nargs="+", default=SIZES, metavar="HEIGHTxCHANNELS:BOARD:BATCH", help="networks")
    options = parser.parse_args()
    machine = describe_machine()["machine"]
    print(f"{machine['processor']}, bfloat16: {machine['bfloat16 on the CPU']}; milliseconds a step on one thread")
    for size in options.sizes:
        tower, board, batch = size.split(":")
        height, channels = map(int, tower.split("x"))
        net = NeuralNet(GoEnv(int(board)), tower_height=height, channels=channels)
        usual, sample = LearningSettings(batch_size=int(batch)), random_sample(net.env, int(batch))
        with one_torch_thread(), Workers(1) as workers:
            kinds = [replace(usual, bfloat16=flag) for flag in (False, True)]
            learners = [Learner(copy.deepcopy(net), kind, workers) for kind in kinds]
            times: list[list[float]] = [[], []]
            for _ in range(options.steps + WARM_UP):
                for learner, taken in zip(learners, times, strict=True):
                    began = time.perf_counter()
                    learner.step(sample)
                    taken.append(1000 * (time.perf_counter() - began))
        single, half = (min(taken[WARM_UP:]) for taken in times)
        weights = sum(parameter.numel() for parameter in net.parameters())
        print(f"{size:14} {weights:9,d} weights  float32 {single:7.1f}  bfloat16 {half:7.1f}  {single / half:.2f}x")


if __name__ == "__main__":
    main()
