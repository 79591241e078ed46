"""The figures that matter for one machine, in about a minute: rules, tree, network, self-play.

Figures are the best of a few runs, since other work on the machine only ever slows one down; ratios are the
median of runs side by side.
The floors behind them, per 9x9 position on one core at 3 to 4 GHz: a light playout is about 105 moves of
some 60 to 80 ns; a simulation without a network is a descent, some moves, a legal mask and a backup,
1 to 4 us; 5 blocks of 64 channels are 61 MFLOP, so self-play with them is bound by the network.
"""

import argparse
import os
import platform
import time

import numpy as np
import torch

from alphago.cli.rates import network_rate, playout_rate, simulation_rate
from alphago.env.game import GameBatch
from alphago.env.go import GoEnv
from alphago.mcts.evaluator import Evaluator, HashEvaluator
from alphago.nn.machine import processor
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers, available_cores, one_torch_thread
from alphago.training.group import SelfPlaySettings
from alphago.training.selfplay import SelfPlay


class WithPlanes(HashEvaluator):
    """The hash evaluator, with the planes written as a network would need them."""

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        batch.planes(slots, np.empty((len(slots), batch.env.planes, *batch.env.plane_shape), np.float32))
        super().evaluate(batch, slots, priors, values)


class Counting:
    """An evaluator that counts the positions it passes on."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator, self.counts = evaluator, {}

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        key = id(batch)
        self.counts[key] = self.counts.get(key, 0) + len(slots)
        self.evaluator.evaluate(batch, slots, priors, values)


def selfplay_rates(evaluator: Evaluator, env: GoEnv, width: int, cores: int, readouts: int, plies: int) -> tuple:
    """Moves and network evaluations per second of self-play on all cores."""
    counting = Counting(evaluator)
    settings = SelfPlaySettings(readouts=readouts, games_in_flight=width * cores, resign_threshold=-1)
    games = SelfPlay(env, settings, range(1_000_000), seed=1)
    with one_torch_thread(), Workers(cores) as workers:
        games.run(workers, counting, 1)
        counting.counts.clear()
        before, start = games.moves, time.perf_counter()
        games.run(workers, counting, plies)
        seconds = time.perf_counter() - start
    return (games.moves - before) / seconds, sum(counting.counts.values()) / seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="how long to measure (1: about a minute)")
    scale = parser.parse_args().scale
    repeats = max(1, round(4 * scale))
    cores = available_cores()
    print(f"{platform.platform()}, {cores} of {os.cpu_count()} cores, torch {torch.__version__}")
    print(processor())

    print("\nrules, one core                                  playouts/s")
    for size in (9, 19):
        light = max(playout_rate(size, 0.2 * scale) for _ in range(repeats))
        full = max(playout_rate(size, 0.2 * scale, fill_eyes=True) for _ in range(repeats))
        print(f"  {size}x{size} light (own eyes spared)               {light:12,.0f}")
        print(f"  {size}x{size} uniform over legal points             {full:12,.0f}")

    print("\nsearch, one core, 9x9, 64 games x 400 readouts  simulations/s")
    rates = {}
    for name, evaluator in (("hash network", HashEvaluator()), ("hash network and planes", WithPlanes())):
        rates[name] = max(simulation_rate(evaluator, 9, 64, 0.2 * scale) for _ in range(repeats))
        print(f"  {name:<42} {rates[name]:12,.0f}")

    print(f"\nnetwork and self-play, {cores} cores           positions/s   moves/s   evaluations/s   ratio")
    for size, height, channels, readouts, width in ((9, 5, 64, 64, 128), (7, 4, 32, 32, 128)):
        env = GoEnv(size)
        evaluator = NeuralNet(env, tower_height=height, channels=channels).evaluator()
        runs = []
        for _ in range(repeats + 1):  # one beside the other, so that both meet the same machine
            alone = network_rate(evaluator, env, width, cores, scale)
            moves, evaluations = selfplay_rates(evaluator, env, width, cores, readouts, max(1, round(3 * scale)))
            runs.append((evaluations / alone, alone, moves, evaluations))
        ratio, alone, moves, evaluations = sorted(runs)[len(runs) // 2]  # the run with the median ratio
        name = f"{size}x{size}, {height} x {channels}, {readouts} readouts"
        print(f"  {name:<38} {alone:12,.0f} {moves:9,.0f} {evaluations:15,.0f} {ratio:7.2f}")


if __name__ == "__main__":
    main()
