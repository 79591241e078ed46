"""Shared by the benchmarks beside OpenSpiel: its rollouts, one core, and both sides in turns."""

import argparse
import os
import platform
import sys
from collections.abc import Callable
from importlib.metadata import version
from statistics import median

from figures import Figures, add_option, rate

from alphago.nn.inference.hardware import processor

try:
    import pyspiel
except ImportError as error:
    sys.exit(f"{error.name} is not installed: pip install -r benchmarks/requirements.txt")


def add_options(parser: argparse.ArgumentParser, rollouts: int) -> None:
    parser.add_argument("--rollouts", type=int, default=rollouts, help="OpenSpiel's games in one call")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of one measurement")
    parser.add_argument("--turns", type=int, default=7, help="how often each side runs")
    add_option(parser)


def take_one_core() -> str:
    """Keep this process on one core, and return the machine and OpenSpiel's version."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
    return f"{platform.platform()}, {processor()}, one core; OpenSpiel {version('open_spiel')}"


def openspiel_rollouts(game: "pyspiel.Game", rollouts: int) -> Callable[[], int]:
    """Return what plays so many games in C++ and returns their number."""
    evaluator = pyspiel.RandomRolloutEvaluator(rollouts, 1)
    options = {"max_simulations": 1, "max_memory_mb": 0, "solve": False, "seed": 1, "verbose": False}
    bot, start = pyspiel.MCTSBot(game, evaluator, uct_c=1.0, **options), game.new_initial_state()

    def work() -> int:
        bot.mcts_search(start)
        return rollouts

    return work


def in_turns(
    ours: Callable[[], int], theirs: Callable[[], int], options: argparse.Namespace
) -> tuple[float, float, list[float]]:
    """Return our games per second and theirs, medians of the turns, and each turn's ratio."""
    ours()  # compiles
    theirs()
    turns = [(rate(ours, options.seconds), rate(theirs, options.seconds)) for _ in range(options.turns)]
    mine, other = (median(side) for side in zip(*turns, strict=True))
    return mine, other, [mine / other for mine, other in turns]


def add_figure(figures: Figures, name: str, ratios: list[float]) -> str:
    """Keep the median of the ratios, and return it as text with the least and the greatest."""
    figures.add(f"openspiel-{name}", median(ratios), min(ratios), max(ratios))
    return f"{median(ratios):.1f} (from {min(ratios):.1f} to {max(ratios):.1f})"
