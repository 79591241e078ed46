"""`alphago data`: known public collections of games, fetched and made a dataset."""

import argparse
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from alphago.cli.options import add_settings, given_settings, integer
from alphago.records.converting import GameFilter
from alphago.records.downloads import COLLECTIONS, Collection, address_name, fetch_collection
from alphago.records.importing import import_games
from alphago.system.cores import available_cores
from alphago.system.live_bar import LiveBar
from alphago.system.validation import near_misses


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Downloads a known public collection of games and makes it a dataset. Without a name it lists them, with "
        "source and licence. What was fetched is kept, and the same command resumes."
    )
    parser.usage = f"{parser.prog} [NAME] [OPTIONS]"
    parser.add_argument("name", nargs="?", metavar="NAME", help=f"one of {', '.join(COLLECTIONS)}")
    parser.add_argument("--to", metavar="DATASET", help="the dataset's folder, new or not (data/NAME.dataset)")
    parser.add_argument("--downloads", metavar="PATH", help="where what is fetched is kept (data/NAME)")
    parser.add_argument("--first", type=integer, metavar="N", help="only the first N files of the collection (all)")
    parser.add_argument("--mirror", metavar="URL", help="fetch the files from this address instead, by their names")
    parser.add_argument("--workers", type=integer, metavar="N", help="processes (one for each core, at most 8)")
    add_settings(parser.add_argument_group("which games are taken"), GameFilter)


def run(options: argparse.Namespace) -> int:
    if options.name is None:
        for name, one in COLLECTIONS.items():
            print(f"{name:10} {one.what}\n{'':10} {one.source}; licence: {one.licence}; {len(one.files)} files")
        return 0
    if options.name not in COLLECTIONS:
        raise ValueError(f"no collection {options.name!r}: {near_misses(options.name, list(COLLECTIONS))}")
    collection = chosen(COLLECTIONS[options.name], options.first, options.mirror)
    print(f"{collection.what}\nfrom {collection.source}, licence: {collection.licence}")
    folder = Path(options.downloads or Path("data") / options.name)
    with LiveBar(desc="fetching", unit="B", unit_scale=True) as bar:
        files, indexes, missing = fetch_collection(collection, folder, bar.update)
    for sentence in missing[:5]:
        print(sentence)
    filter = GameFilter(**{**collection.filter, **given_settings(options, GameFilter)})
    with LiveBar(desc="reading", unit="game", bar_format="{desc}: {n} games, {elapsed}{postfix}") as bar:
        target = options.to or Path("data") / f"{options.name}.dataset"
        report = import_games(
            files, target, filter=filter, index=indexes, workers=options.workers or min(8, available_cores()),
            on_progress=lambda read, kept: bar.update(read - bar.n),
        )  # fmt: skip
    print(f"{target}: {report}")
    return 0


def chosen(collection: Collection, first: int | None, mirror: str | None) -> Collection:
    """Return the first files of a collection, from another server if a mirror is named."""
    if first is not None and first < 1:
        raise ValueError(f"--first must be at least 1, got {first}")
    files, indexes = collection.files[:first], collection.indexes
    if mirror is not None:
        files, indexes = (
            tuple(f"{mirror.rstrip('/')}/{quote(address_name(address))}" for address in addresses)
            for addresses in (files, indexes)
        )
    return replace(collection, files=files, indexes=indexes)
