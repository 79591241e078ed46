"""`alphago sgf`: files of games into a dataset, or what is wrong with them."""

import argparse
import sys
from collections import Counter
from pathlib import Path

from alphago.cli.options import add_settings, given_settings, integer, number
from alphago.records.converting import Converter, GameFilter
from alphago.records.dataset import Dataset, is_dataset
from alphago.records.dataset_writer import Split
from alphago.records.importing import ImportReport, converted, import_games, jobs
from alphago.records.sources import find_indexes, read_indexes
from alphago.system.cores import available_cores
from alphago.system.live_bar import LiveBar


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Reads games of Go from files, folders and archives into a dataset, from which alphago supervised learns. "
        "Games that it has already, also turned or reflected, are left out. The same command resumes where it was "
        "stopped. Without --to it only tells what is wrong with the games; of a dataset it tells what is in it."
    )
    parser.epilog = (
        "A PATH is an SGF file, a .tar.gz or .zip, a text with a game on each line (ID, a tab, ;B[pd];W[dp]…), or a "
        "folder of all of these."
    )
    parser.usage = f"{parser.prog} PATH... [--to DATASET] [OPTIONS]"
    parser.add_argument("paths", nargs="+", metavar="PATH", help="files, folders and archives; see below")
    parser.add_argument("--to", metavar="DATASET", help="the dataset's folder, new or not")
    parser.add_argument(
        "--index", action="append", metavar="FILE",
        help="with results and komi of texts with a game on each line (those beside and above them)",
    )  # fmt: skip
    parser.add_argument(
        "--workers", type=integer, default=None, metavar="N", help="processes (one for each core, at most 8)"
    )
    filters = parser.add_argument_group("which games are taken")
    add_settings(filters, GameFilter)
    split = parser.add_argument_group("how they are divided, by game")
    split.add_argument("--validation", type=number, metavar="X", help="share of games to choose the network by (0.05)")
    split.add_argument("--test", type=number, metavar="X", help="share of games to judge it by (0.05)")
    split.add_argument("--split-seed", type=integer, metavar="N", help="another division (0)")


def run(options: argparse.Namespace) -> int:
    if options.to is None and len(options.paths) == 1 and is_dataset(options.paths[0]):
        describe(Path(options.paths[0]))
        return 0
    filter = GameFilter(**given_settings(options, GameFilter))
    workers = options.workers if options.workers is not None else min(8, available_cores())
    if workers < 1:
        raise ValueError(f"--workers must be at least 1, got {workers}")
    with LiveBar(desc="reading", unit="game", bar_format="{desc}: {n} games, {elapsed}{postfix}") as bar:

        def progress(read: int, kept: int) -> None:
            bar.set_postfix_str(f"{kept} kept", refresh=False)
            bar.update(read - bar.n)

        if options.to is None:
            report = check(options, filter, workers, progress)
        else:
            report = import_games(
                options.paths, options.to, filter=filter, split=given_split(options), index=options.index,
                workers=workers, on_progress=progress,
            )  # fmt: skip
    print(report if options.to is not None else without_dataset(report))
    if options.to is not None and not report.total:
        print(f"alphago sgf: no game was taken into {options.to}", file=sys.stderr)
        return 1
    return 0


def given_split(options: argparse.Namespace) -> Split | None:
    """Return the division that was asked for; None if none was.  Raises ValueError for impossible shares."""
    given = {"validation": options.validation, "test": options.test, "seed": options.split_seed}
    given = {name: value for name, value in given.items() if value is not None}
    if not given:
        return None
    split = Split(**given)
    if not (split.validation >= 0 and split.test >= 0 and split.validation + split.test < 1):
        raise ValueError(
            f"--validation and --test must be shares from 0 that sum to less than 1, got {split.validation} and "
            f"{split.test}"
        )
    return split


def check(options: argparse.Namespace, filter: GameFilter, workers: int, progress: object) -> ImportReport:
    """Return what an import would take and leave out; duplicates are not looked for."""
    paths = options.paths
    indexes = [Path(one) for one in options.index] if options.index else find_indexes(paths)
    report = ImportReport(rejected=Counter())
    for batch in converted(Converter(filter, read_indexes(indexes)), jobs(paths), workers):
        report.kept += len(batch.games)
        report.rejected.update(batch.rejected)
        for reason, sentences in batch.examples.items():
            report.examples.setdefault(reason, sentences)
        progress(report.kept + sum(report.rejected.values()), report.kept)  # type: ignore[operator]
    return report


def without_dataset(report: ImportReport) -> str:
    """Return a report's lines without what concerns a dataset."""
    _, *others = str(report).splitlines()
    return "\n".join([f"{report.kept} games could be taken, {sum(report.rejected.values())} not", *others])


def describe(path: Path) -> None:
    """Print what is in a dataset, after comparing it with its digests."""
    dataset = Dataset(path)
    dataset.verify()
    print(dataset)
    for split in ("train", "validation", "test"):
        chosen = dataset.rows[dataset.select(split)]
        print(f"{len(chosen):10}  {split} games, {int(chosen['length'].sum())} positions")
    for one in dataset.index["imports"]:
        state = "" if one["complete"] else " (interrupted: repeat the command)"
        print(f"from {', '.join(str(source[0]) for source in one['sources'])}{state}")
        for reason, count in sorted(one["rejected"].items(), key=lambda pair: -pair[1]):
            print(f"{count:10}  left out: {reason}")
