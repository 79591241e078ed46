"""`alphago sgf`: import games of Go into a dataset, or report what is wrong with them."""

import argparse
import sys
import tempfile
from pathlib import Path

from alphago.cli.options import Parser, given_options, integer, number, option
from alphago.cli.settings_flags import add_flags, given_settings
from alphago.drawing.live_bar import LiveBar
from alphago.records.dataset import Dataset, is_dataset
from alphago.records.dataset_import import ImportReport, import_games
from alphago.records.dataset_writer import Split
from alphago.records.game_conversion import GameFilter
from alphago.system.cores import available_cores

MOST_PROCESSES = 8  # that read files of games, unless --workers asks for more


def add_options(parser: Parser) -> None:
    option(parser, "paths PATH", "files, folders and archives; see below", nargs="+")
    option(parser, "--to DATASET", "the dataset's folder, new or existing")
    text = "a file with results and komi of games in text files (index files beside and above the text files)"
    option(parser, "--index FILE", text, action="append")
    who = f"processes (one per core, at most {MOST_PROCESSES}); or HOST:PORT, folder:PATH"
    option(parser, "--workers WHO", who, default=min(MOST_PROCESSES, available_cores()))
    add_flags(parser, GameFilter, "the games to keep")
    split = parser.section("the dataset's splits")
    option(split, "--validation X", "share of games for choosing networks (0.05)", number)
    option(split, "--test X", "share of games for testing the result (0.05)", number)
    option(split, "--split-seed N", "random seed of the splits (0)", integer, dest="seed")
    for flag in ("--index", "--split-seed"):
        parser.set_brief_help(flag, "")  # an empty text leaves the option to --help-all


def run(options: argparse.Namespace) -> int:
    """Import games of Go from files, folders and archives into a dataset, on which alphago supervised trains.  Games
    that the dataset already has, also rotated or reflected ones, are left out.  The same command resumes an interrupted
    one. Without --to it only reports what is wrong with the games.  If PATH is a dataset, it describes the dataset.

    A PATH is an SGF file, a .tar.gz or .zip file, a text file with a game on each line (ID, a tab, ;B[pd];W[dp]…), or a
    folder of such files.
    """
    if options.to is None and len(options.paths) == 1 and is_dataset(options.paths[0]):
        describe(Path(options.paths[0]))
        return 0
    filter = GameFilter(**given_settings(options, GameFilter))
    with LiveBar(desc="reading", unit="game", bar_format="{desc}: {n} games, {elapsed}{postfix}") as bar:

        def progress(read: int, kept: int) -> None:
            """Show the numbers of games read and kept so far."""
            bar.set_postfix_str(f"{kept} kept", refresh=False)
            bar.update(read - bar.n)

        with tempfile.TemporaryDirectory() as folder:
            target = options.to or folder  # without --to, a dataset that is removed again
            split = given_split(options)
            more = given_options(options, "index", "workers")
            report = import_games(options.paths, target, filter=filter, split=split, on_progress=progress, **more)
    print(report if options.to is not None else without_dataset(report))
    if options.to is not None and not report.total:
        print(f"alphago sgf: no game was taken into {options.to}", file=sys.stderr)
        return 1
    return 0


def given_split(options: argparse.Namespace) -> Split | None:
    """Return the splits that the options set, None for the defaults; raise ValueError for invalid shares."""
    given = given_options(options, "validation", "test", "seed")
    if not given:
        return None
    split = Split(**given)
    if not (split.validation >= 0 and split.test >= 0 and split.validation + split.test < 1):
        got = f"{split.validation} and {split.test}"
        raise ValueError(f"--validation and --test must be shares from 0 that sum to less than 1, got {got}")
    return split


def without_dataset(report: ImportReport) -> str:
    """Return a report as text, with another first line, since nothing was written into a dataset."""
    _, *others = str(report).splitlines()
    return "\n".join([f"{report.kept} games could be taken, {sum(report.rejected.values())} not", *others])


def describe(path: Path) -> None:
    """Verify a dataset's digests, and print its contents."""
    dataset = Dataset(path)
    dataset.verify()
    print(dataset)
    for split in ("train", "validation", "test"):
        rows = dataset.rows[dataset.select(split)]
        print(f"{len(rows):10}  {split} games, {int(rows['length'].sum())} positions")
    if labelling := dataset.index.get("teacher"):
        print(f"labelled by {dataset.teacher} on {labelling['date']}, drawn from {labelling['drawn']['games']} games")
    for imported in dataset.index["imports"]:
        state = "" if imported["complete"] else " (interrupted: repeat the command)"
        print(f"from {', '.join(str(path) for path, *_ in imported['sources'])}{state}")
        for reason, count in sorted(imported["rejected"].items(), key=lambda pair: -pair[1]):
            print(f"{count:10}  left out: {reason}")
