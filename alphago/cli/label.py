"""`alphago label`: label positions of games by a teacher, for `alphago supervised`."""

import argparse
import sys
from collections.abc import Callable

from alphago.cli.options import Parser, integer, option
from alphago.cli.settings_flags import add_flags, given_settings
from alphago.drawing.live_bar import LiveBar
from alphago.exams.drawn_positions import LabelSettings
from alphago.system.files import typed_path
from alphago.system.interrupts import INTERRUPTED

Tell = Callable[[int, int], object]  # called with the number of positions so far, and the number to make in all


def add_options(parser: Parser) -> None:
    option(parser, "games GAMES", "SGF files, folders of them or of a run's games, or datasets", nargs="+")
    option(parser, "--to DATASET", "the dataset's folder, new or begun", required=True)
    option(parser, "--engine COMMAND", "a program that speaks KataGo's analysis protocol ('katago analysis …')")
    option(parser, "--network NET", "or a network's file or name (9x9, katago:FILE), or a run's folder")
    option(parser, "--board-size N", "size of the board (9)", integer, default=9)
    add_flags(parser, LabelSettings, "the positions")


def run(options: argparse.Namespace) -> int:
    """Label positions of games of Go by a teacher: its policy, win rate, lead and ownership become a dataset, from
    which alphago supervised learns.  The teacher is another program, or a network of this package with search.  The
    same command resumes an interrupted one.  alphago info names the teacher of a network that has learned from labels.
    """
    from alphago.exams.position_labels import label_games, own_engine  # imported late: it loads the readers of games

    if (options.engine is None) == (options.network is None):
        got = "none" if options.engine is None else "both"
        raise ValueError(f"there must be one teacher, --engine or --network, got {got}")
    engine = options.engine or own_engine(options.network)
    settings = LabelSettings(**given_settings(options, LabelSettings))
    return with_bar(
        lambda tell: label_games(options.to, engine, options.games, options.board_size, settings, tell=tell),
        settings.positions,
        # The end of a sentence, which begins with the number of positions that were made.
        ending=f"labelled positions are in {options.to}: alphago supervised {typed_path(options.to)} learns from them",
        advice="the games have no more positions: more games or a larger --per-game give more, in another dataset",
    )


def with_bar(make: Callable[[Tell], int], wanted: int, ending: str, advice: str) -> int:
    """Make positions while a bar shows the progress, for `label` and `exam --make`; return the exit code.

    The exit code is INTERRUPTED after Ctrl-C, else 0, also if there are fewer positions than wanted.

    Args:
        make: makes the positions, calls its argument, a Tell, after each, and returns their number.
        wanted: the number of positions to make.
        ending: the end of the sentence to print, after the number of positions.
        advice: what to print if there are fewer positions than wanted.
    """
    try:
        with LiveBar(unit="position") as bar:

            def tell(positions: int, total: int) -> None:
                """Move the bar to a number of positions out of `total`."""
                if bar.total is None:  # the first call: positions made before do not count for the speed
                    bar.total, bar.initial, bar.n = total, positions, positions
                bar.update(positions - bar.n)

            positions = make(tell)
    except KeyboardInterrupt:
        print("stopped; the same command goes on", file=sys.stderr)
        return INTERRUPTED
    print(f"{positions} {ending}")
    if positions < wanted:
        print(advice, file=sys.stderr)
    return 0
