"""`alphago data`: download public collections of games and import them into a dataset."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from alphago.cli.options import add_settings, given_settings, integer, option
from alphago.cli.who_works import add_files_workers, chosen_processes
from alphago.records.converting import GameFilter
from alphago.records.downloads import COLLECTIONS, Collection, address_name, fetch_collection
from alphago.records.importing import import_games
from alphago.system.live_bar import LiveBar
from alphago.system.validation import near_misses


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Downloads a public collection of games and imports it into a dataset. Without NAME it lists the collections, "
        "with source and licence. Downloaded files are kept, and the same command resumes an interrupted one."
    )
    parser.usage = f"{parser.prog} [NAME] [OPTIONS]"
    option(parser, "name NAME", f"one of {', '.join(COLLECTIONS)}", nargs="?")
    option(parser, "--to DATASET", "the dataset's folder, new or existing (data/NAME.dataset)")
    option(parser, "--downloads PATH", "folder for the downloaded files (data/NAME)")
    option(parser, "--first N", "only the first N files of the collection (all)", integer)
    option(parser, "--mirror URL", "download the files from URL/FILE instead")
    add_files_workers(parser)
    add_settings(parser.add_argument_group("the games to keep"), GameFilter)


def run(options: argparse.Namespace) -> int:
    if options.name is None:
        for name, known in COLLECTIONS.items():
            print(f"{name:10} {known.what}")
            print(f"{'':10} {known.source}; licence: {known.licence}; {len(known.files)} files")
        return 0
    if options.name not in COLLECTIONS:
        raise ValueError(f"no collection {options.name!r}: {near_misses(options.name, list(COLLECTIONS))}")
    workers = chosen_processes(options.workers)  # raises before anything is downloaded
    collection = restrict(COLLECTIONS[options.name], first=options.first, mirror=options.mirror)
    print(f"{collection.what}\nfrom {collection.source}, licence: {collection.licence}")
    folder = Path(options.downloads or Path("data") / options.name)
    with LiveBar(desc="fetching", unit="B", unit_scale=True) as bar:
        files, indexes, missing = fetch_collection(collection, folder, bar.update)
    for sentence in missing[:5]:  # enough to see why
        print(sentence)
    filter = GameFilter(**(collection.filter | given_settings(options, GameFilter)))
    with LiveBar(desc="reading", unit="game", bar_format="{desc}: {n} games, {elapsed}{postfix}") as bar:
        target = options.to or Path("data") / f"{options.name}.dataset"
        report = import_games(
            files,
            target,
            filter=filter,
            index=indexes,
            workers=workers,
            on_progress=lambda read, kept: bar.update(read - bar.n),
        )
    print(f"{target}: {report}")
    return 0


def restrict(collection: Collection, *, first: int | None, mirror: str | None) -> Collection:
    """Return a collection with its first files only, and with the addresses of a mirror if a mirror is given.

    first: number of files; None for all.  mirror: the address of a folder with the files; None for the original folder.
    Raises ValueError if `first` is less than 1.
    """
    if first is not None and first < 1:
        raise ValueError(f"--first must be at least 1, got {first}")
    files, indexes = collection.files[:first], collection.indexes
    if mirror is not None:
        files, indexes = mirrored(files, mirror), mirrored(indexes, mirror)
    return replace(collection, files=files, indexes=indexes)


def mirrored(addresses: Sequence[str], mirror: str) -> tuple[str, ...]:
    """Return the addresses of the same files in the folder `mirror`."""
    return tuple(f"{mirror.rstrip('/')}/{quote(address_name(address))}" for address in addresses)
