"""`alphago worker`: play games for a run on another machine."""

import argparse
import threading

from alphago.cli.models import add_device
from alphago.cli.options import Parser, integer, option
from alphago.cli.own_games import named_game
from alphago.env.games import USUAL_GAME, make_game
from alphago.system.cores import available_cores
from alphago.system.validation import check_int


def add_options(parser: Parser) -> None:
    option(parser, "address ADDRESS", "a Ray cluster, as HOST:PORT (needs alphago[ray])", nargs="?")
    option(parser, "--folder PATH", "or a folder that is shared with the run")
    option(parser, "--cores N", "groups of games to play at the same time (one per core)", integer)
    add_device(parser, "cpu", "of a run's self-play, with --folder")
    option(parser, "--game FILE.py:CLASS", "a game of your own, if the run is of one", named_game)


def run(options: argparse.Namespace) -> int:
    """Play games for a run of alphago train --workers.  A worker may join at any time, and leaves on Ctrl-C and
    SIGTERM: a folder's worker after at most one move, a Ray worker at once, whose tasks other workers do again.
    """
    from alphago.mcts.warm_up import warm_up
    from alphago.training.call.signals import stopped_by_interrupt
    from alphago.workers.ray_cluster import join_cluster
    from alphago.workers.shared_folder import FolderWorker

    if (options.address is None) == (options.folder is None):
        raise ValueError("either ADDRESS or --folder PATH must be given")
    if options.address is not None and options.device != "cpu":
        raise ValueError(f"--device must be cpu for the workers of a Ray cluster, got {options.device}; use --folder")
    if options.folder is not None:
        from alphago.nn.inference.hardware import find_device  # not for Ray, whose own process imports torch

        find_device(make_game(USUAL_GAME), options.device)  # raises if there is none; the run's game is not known yet
    cores = check_int("cores", available_cores() if options.cores is None else options.cores, least=1, most=1024)
    stop = threading.Event()
    if warm_up() is not None:
        print("compiling, once on this machine: the first task takes longer")
    with stopped_by_interrupt(stop):
        if options.address is not None:
            join_cluster(options.address, cores, stop)
        else:
            FolderWorker(options.folder, cores, device=options.device).work(stop)
    return 0
