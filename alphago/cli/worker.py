"""`alphago worker`: play games for a run on another machine."""

import argparse
import threading

from alphago.cli.options import Parser, integer
from alphago.cli.own_games import named_game
from alphago.system.cores import available_cores
from alphago.system.validation import check_int


def add_options(parser: Parser) -> None:
    parser.description = (
        "Plays games for a run of alphago train --workers. A worker may join at any time; on Ctrl-C and SIGTERM it "
        "leaves after at most one move, and nothing is lost."
    )
    parser.usage = f"{parser.prog} [ADDRESS] [OPTIONS]"
    parser.add_argument(
        "address", nargs="?", metavar="ADDRESS", help="a Ray cluster, as HOST:PORT (needs alphago[ray])"
    )
    parser.add_argument("--folder", metavar="PATH", help="or a folder that is shared with the run")
    parser.add_argument(
        "--cores", type=integer, metavar="N", help="groups of games to play at the same time (one per core)"
    )
    parser.add_argument(
        "--game", type=named_game, metavar="MODULE:CLASS", help="a game of your own, if the run is of one"
    )


def run(options: argparse.Namespace) -> int:
    from alphago.mcts.warm_up import warm_up
    from alphago.training.watch.run_clock import stopped_by_interrupt
    from alphago.workers.ray_cluster import join_cluster
    from alphago.workers.shared_folder import FolderWorker

    if (options.address is None) == (options.folder is None):
        raise ValueError("either ADDRESS or --folder PATH must be given")
    cores = check_int("cores", options.cores or available_cores(), 1, 1024)
    stop = threading.Event()
    warm_up()
    with stopped_by_interrupt(stop):
        if options.address is not None:
            join_cluster(options.address, cores, stop)
        else:
            FolderWorker(options.folder, cores).work(stop)
    return 0
