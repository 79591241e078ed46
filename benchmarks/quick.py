"""The figures that matter for one machine, in about two minutes: rules, tree, network, self-play.

Figures are the best of a few runs, since other work on the machine only ever slows one down; ratios are the
median of runs side by side.
The floors behind them, per 9x9 position on one core at 3 to 4 GHz: a light playout is about 105 moves of
some 60 to 80 ns; a simulation without a network is a descent, some moves, a legal mask and a backup,
1 to 4 us; 5 blocks of 64 channels are 61 MFLOP, so self-play with them is bound by the network.

*Depth* is the mean number of moves from the root to where a simulation ended.  Threads search as self-play does: the
games are shared out, and each thread has a search of its own.  Without a network few games make waves of some 50 us,
after each of which threads wait for Python's lock; eight times as many show what is left without that.
"""

import argparse
import os
import platform
import time
from statistics import median
from typing import NamedTuple

import numpy as np
import torch
from figures import Figures, add_option

from alphago.cli.rates import network_rate, playout_rate, random_starts, simulation_rate
from alphago.env.batch import GameBatch
from alphago.env.go import GoEnv
from alphago.mcts.evaluator import Evaluator, HashEvaluator
from alphago.mcts.kernels.nodes import ROOT
from alphago.mcts.puct import Puct
from alphago.mcts.search import Search
from alphago.nn.inference.hardware import processor
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers, one_torch_thread
from alphago.system.cores import available_cores
from alphago.training.selfplay import SelfPlay
from alphago.training.settings.selfplay_settings import SelfPlaySettings

GAMES, READOUTS = 64, 400  # of the search without a network
NETWORKS = ((9, 5, 64, 64), (7, 4, 32, 32))  # board, blocks, channels, readouts of self-play


class WithPlanes(HashEvaluator):
    """The hash evaluator, with the planes written as a network would need them."""

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        batch.planes(slots, np.empty((len(slots), batch.env.planes, *batch.env.plane_shape), np.float32))
        super().evaluate(batch, slots, priors, values)


class Counting(Evaluator):
    """An evaluator that counts the positions it passes on."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator, self.counts = evaluator, {}

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        key = id(batch)
        self.counts[key] = self.counts.get(key, 0) + len(slots)
        self.evaluator.evaluate(batch, slots, priors, values)


class Rates(NamedTuple):
    """Per second: positions that the evaluator does by itself, moves of self-play, and its evaluations."""

    alone: float
    moves: float
    evaluations: float

    @property
    def ratio(self) -> float:
        return self.evaluations / self.alone


def mean_depth(evaluator: Evaluator, games: int) -> float:
    """Moves from the root to the ends of a search's simulations, in the mean."""
    env = GoEnv(9)
    search = Search(env, evaluator, games, Puct())
    random_starts(search.batch, games, 10)
    search.run(np.full(games, READOUTS, np.int32))
    visits = search.tree.visits  # [games, N]; a simulation of depth d visits d nodes below the root
    return float(visits.sum() - visits[:, ROOT].sum()) / (games * READOUTS)


def threads_rate(evaluator: Evaluator, games: int, threads: int, seconds: float) -> float:
    """Simulations per second of as many searches as threads, which share the games."""
    with Workers(threads) as workers:
        return sum(workers.run([lambda: simulation_rate(evaluator, 9, games // threads, seconds)] * threads))


def selfplay_rates(evaluator: Evaluator, env: GoEnv, width: int, cores: int, readouts: int, plies: int) -> tuple:
    """Moves and network evaluations per second of self-play on all cores."""
    counting = Counting(evaluator)
    settings = SelfPlaySettings(readouts=readouts, resign_threshold=-1, opening_plies=0).completed(width * cores, cores)
    with one_torch_thread(), Workers(cores) as workers:
        games = SelfPlay(env, settings, range(1_000_000), workers, seed=1)
        games.evaluator = counting
        games.begin(1)
        games.advance()
        counting.counts.clear()
        before, start = games.moves, time.perf_counter()
        games.begin(plies)
        games.advance()
        seconds = time.perf_counter() - start
    return (games.moves - before) / seconds, sum(counting.counts.values()) / seconds


def print_rules(scale: float, repeats: int, figures: Figures) -> None:
    print("\nrules, one core                                  playouts/s")
    for size in (9, 19):
        light = max(playout_rate(size, 0.2 * scale) for _ in range(repeats))
        full = max(playout_rate(size, 0.2 * scale, fill_eyes=True) for _ in range(repeats))
        figures.add(f"playouts-light-{size}", light)
        figures.add(f"playouts-uniform-{size}", full)
        print(f"  {size}x{size} light (own eyes spared)               {light:12,.0f}")
        print(f"  {size}x{size} uniform over legal points             {full:12,.0f}", flush=True)


def print_search(scale: float, repeats: int, games: int, cores: int, figures: Figures) -> None:
    print(f"\nsearch, one core, 9x9, {games} games x {READOUTS} readouts  simulations/s   depth")
    for name, evaluator in (("hash network", HashEvaluator()), ("hash network and planes", WithPlanes())):
        rate = max(simulation_rate(evaluator, 9, games, 0.2 * scale) for _ in range(repeats))
        depth = mean_depth(evaluator, games)
        figures.add("search-hash" if name == "hash network" else "search-hash-planes", rate)
        figures.add("search-depth", depth)
        print(f"  {name:<42} {rate:12,.0f} {depth:7.1f}", flush=True)
    if cores < 2:
        return
    for count in (games, 8 * games):
        pairs = [[threads_rate(HashEvaluator(), count, n, 0.5 * scale) for n in (1, cores)] for _ in range(repeats + 1)]
        ratio = median(many / one for one, many in pairs)
        figures.add(f"search-threads-{count}", ratio)
        print(f"  {f'hash network, {cores} threads, {count} games':<42} {max(many for _, many in pairs):12,.0f}")
        print(f"  {cores} threads over one: {ratio:.2f}", flush=True)


def print_selfplay(scale: float, repeats: int, width: int, cores: int, figures: Figures) -> None:
    moves, _ = selfplay_rates(HashEvaluator(), GoEnv(9), 2048, 1, 2, round(150 * scale))  # rules, records, Python
    figures.add("selfplay-hash", moves)
    print(f"\nself-play, one core, 9x9, hash network, 2 readouts {moves:12,.0f} moves/s", flush=True)
    print(f"\nnetwork and self-play, {cores} cores           positions/s   moves/s   evaluations/s   ratio")
    for size, height, channels, readouts in NETWORKS:
        env = GoEnv(size)
        evaluator = NeuralNet(env, tower_height=height, channels=channels).evaluator()
        runs = []
        for _ in range(repeats + 1):
            alone = network_rate(evaluator, env, width, cores, scale)
            played = selfplay_rates(evaluator, env, width, cores, readouts, max(1, round(3 * scale)))
            runs.append(Rates(alone, *played))
        runs.sort(key=lambda run: run.ratio)
        middle = runs[len(runs) // 2]  # the run with the median ratio
        name = f"{size}x{size}, {height} x {channels}, {readouts} readouts"
        told = f"{middle.alone:10,.0f} {middle.moves:9,.0f} {middle.evaluations:15,.0f} {middle.ratio:7.2f}"
        print(f"  {name:<40} {told}", flush=True)
        figures.add(f"selfplay-moves-{size}", middle.moves)
        figures.add(f"selfplay-ratio-{size}", middle.ratio, runs[0].ratio, runs[-1].ratio)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0, help="how long to measure (1: about two minutes)")
    parser.add_argument("--width", type=int, default=128, help="games of self-play on each core, and its batches (128)")
    parser.add_argument("--games", type=int, default=GAMES, help=f"of the search without a network ({GAMES})")
    add_option(parser)
    options = parser.parse_args()
    figures = Figures(options.json)
    scale, repeats, cores = options.scale, max(1, round(4 * options.scale)), available_cores()
    print(f"{platform.platform()}, {cores} of {os.cpu_count()} cores, torch {torch.__version__}")
    print(processor(), flush=True)
    print_rules(scale, repeats, figures)
    print_search(scale, repeats, options.games, cores, figures)
    print_selfplay(scale, repeats, options.width, cores, figures)
    figures.save()


if __name__ == "__main__":
    main()
