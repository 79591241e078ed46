"""`alphago label`: label positions of games by a teacher, for `alphago supervised`."""

import argparse
import sys

from alphago.cli.options import Parser, add_settings, given_settings, integer, option
from alphago.cli.positions_bar import with_bar
from alphago.exams.drawn_positions import LabelSettings
from alphago.system.files import typed_path
from alphago.system.interrupts import INTERRUPTED
from alphago.system.validation import make_settings


def add_options(parser: Parser) -> None:
    parser.description = (
        "Labels positions of games of Go by a teacher: its policy, win rate, lead and ownership become a dataset, from "
        "which alphago supervised learns. The teacher is another program, or a network of this package with search. "
        "The same command resumes an interrupted one. A network that learns from labels is taught, and says by whom."
    )
    parser.usage = f"{parser.prog} GAMES... --to DATASET (--engine COMMAND | --network NET) [OPTIONS]"
    option(parser, "games GAMES", "SGF files, folders of them or of a run's games, or datasets", nargs="+")
    option(parser, "--to DATASET", "the dataset's folder, new or begun", required=True)
    option(parser, "--engine COMMAND", "a program that speaks KataGo's analysis protocol ('katago analysis …')")
    option(parser, "--network NET", "a network's file or name (9x9), or a run's folder")
    option(parser, "--board-size N", "size of the board (9)", integer, default=9)
    add_settings(parser, LabelSettings)


def run(options: argparse.Namespace) -> int:
    from alphago.exams.labelling import label_games, own_engine  # imported late, since it loads the readers of games

    if (options.engine is None) == (options.network is None):
        got = "none" if options.engine is None else "both"
        raise ValueError(f"there must be one teacher, --engine or --network, got {got}")
    engine = options.engine or own_engine(options.network)
    settings = make_settings(LabelSettings, **given_settings(options, LabelSettings))
    positions = with_bar(
        lambda tell: label_games(options.to, engine, options.games, options.board_size, settings, tell=tell)
    )
    if positions is None:
        return INTERRUPTED
    command = f"alphago supervised {typed_path(options.to)}"
    print(f"{positions} labelled positions are in {options.to}: {command} learns from them")
    if positions < settings.positions:
        print(
            "the games have no more positions: more games or a larger --per-game give more, in another dataset",
            file=sys.stderr,
        )
    return 0
