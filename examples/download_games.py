"""Download a public collection of games and import it into a dataset: `python examples/download_games.py cgos9`.

Without a name it lists the collections.  Most of them state no licence: name the source if you pass games on or publish
a network that was trained on them.  Files that are there already are not downloaded again.
"""

import argparse
import os
import sys
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from alphago import import_games
from alphago.records.game_conversion import GameFilter
from alphago.system.cores import available_cores

TIMEOUT = 60.0  # seconds without any data
PIECE = 2**18  # bytes
GITHUB = "https://raw.githubusercontent.com"
ARCHIVES = "https://codeload.github.com"
YENW = f"{GITHUB}/yenw/computer-go-dataset/master"
GODMOVES = f"{GITHUB}/godmoves/Standard_Computer_Go_Dataset/master"
KGS_FILES = """
2001-19-2298 2002-19-3646 2003-19-7582 2004-19-12106 2005-19-13941 2006-19-10388 2007-19-11644 2008-19-14002
2009-19-18837 2010-19-17536 2011-19-19099 2012-19-13665 2013-19-13783 2014-19-13029 2015-19-8133 2016-19-12949
2017_01-19-733 2017_02-19-525 2017_03-19-717 2017_04-19-913 2017_05-19-847 2017_06-19-910
"""


@dataclass(frozen=True)
class Collection:
    """A collection of games.

    Attributes:
        what: a one-line description.
        source: the web page about the collection.
        files: addresses of the games.
        indexes: addresses of files with the games' results.
        licence: as stated on the page.
        filter: recommended keywords of GameFilter.
    """

    what: str
    source: str
    files: list[str]
    indexes: list[str] = field(default_factory=list)
    licence: str = "none stated"
    filter: dict[str, Any] = field(default_factory=dict)


def months(first: tuple[int, int], last: tuple[int, int]) -> list[str]:
    """Return all months from the first to the last, each given as (year, month), as texts such as "2005-11"."""
    numbers = range(12 * first[0] + first[1] - 1, 12 * last[0] + last[1])  # 12 * year + month, with January as 0
    return [f"{number // 12}-{number % 12 + 1:02d}" for number in numbers]


COLLECTIONS = {
    "tygem": Collection(
        "1.5 million games of 9 dan players on Tygem, 2005 to 2016; 19x19",
        "https://github.com/yenw/computer-go-dataset",
        [f"{YENW}/TYGEM/Kifu/{month}.zip" for month in months((2005, 11), (2016, 12))],
        [f"{YENW}/TYGEM/index/Kifu{year}.zip" for year in range(2005, 2017)],
        filter={"komi": 6.5, "rank": 9},
    ),
    "tom": Collection(
        "51 000 games of 9 dan players on TOM, 2003 to 2011; 19x19",
        "https://github.com/yenw/computer-go-dataset",
        [f"{YENW}/Tom/kifu/{month}" for month in months((2003, 9), (2011, 12))],
        [f"{YENW}/Tom/Kifu.index"],
        filter={"rank": 9},
    ),
    "kgs": Collection(
        "190 000 games with a player of 6 dan or more on KGS, 2001 to 2017; 19x19, many with handicap",
        "https://github.com/godmoves/Standard_Computer_Go_Dataset (from https://u-go.net/gamerecords)",
        [f"{GODMOVES}/KGS_6d_190000/KGS-{name}-.tar.gz" for name in KGS_FILES.split()],
    ),
    "cgos9": Collection(
        "10 000 games on 9x9: 4 400 of programs on CGOS, 5 000 of players rated 2100 or more on Go Quest, and others",
        "https://github.com/michaelnny/alpha_zero",
        [f"{ARCHIVES}/michaelnny/alpha_zero/tar.gz/refs/heads/main"],
        licence="MIT",
        filter={"size": 9, "min_rank": 1},
    ),
    "programs": Collection(
        "7 000 games of programs: AlphaGo, FineArt, Golaxy, Jin Mao Ce Shi, Master, Leela Zero and others; 19x19",
        "https://github.com/yenw/computer-go-dataset",
        [f"{ARCHIVES}/yenw/computer-go-dataset/tar.gz/refs/heads/master"],
        filter={"size": 19},
    ),
}


def file_name(address: str) -> str:
    """Return the name under which the file at an address is saved."""
    names = unquote(urlsplit(address).path).split("/")
    if "tar.gz" in names:  # an archive of a repository at GitHub: OWNER/NAME/tar.gz/refs/heads/BRANCH
        return f"{'-'.join(names[-3:])}.tar.gz"
    return names[-1]


def fetch(address: str, path: Path) -> bool:
    """Download a file unless it exists; return whether it exists then, or print why not."""
    if path.exists():
        return True
    part = path.with_name(f"{path.name}.part")
    try:
        with urllib.request.urlopen(address, timeout=TIMEOUT) as answer, open(part, "wb") as file:
            while data := answer.read(PIECE):
                file.write(data)
            if answer.length:  # bytes that the server announced, and did not send
                raise OSError("the server sent only a part of it")
    except OSError as error:  # all errors of urllib are OSErrors
        print(f"{address} cannot be fetched: {error}")
        return False
    print(f"{path}: {part.stat().st_size / 2**20:.1f} MiB")
    os.replace(part, path)
    return True


def fetch_all(addresses: list[str], folder: Path, mirror: str | None) -> list[Path]:
    """Download files into a folder, and return those that exist then.

    Args:
        mirror: an address that has files with the same names; None for the given addresses.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = {address: folder / file_name(address) for address in addresses}
    if mirror is not None:
        paths = {f"{mirror.rstrip('/')}/{quote(path.name)}": path for path in paths.values()}
    return [path for address, path in paths.items() if fetch(address, path)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", choices=COLLECTIONS, help="the collection")
    parser.add_argument("--folder", type=Path, default=Path("data"), help="for NAME and NAME.dataset (data)")
    parser.add_argument("--first", type=int, metavar="N", help="only the first N files of the collection (all)")
    parser.add_argument("--mirror", metavar="URL", help="download the files from URL/FILE instead")
    options = parser.parse_args()
    if options.name is None:
        for name, known in COLLECTIONS.items():
            print(f"{name:10} {known.what}\n{'':10} {known.source}; licence: {known.licence}; {len(known.files)} files")
        return
    collection = COLLECTIONS[options.name]
    folder = options.folder / options.name
    files = fetch_all(collection.files[: options.first], folder / "files", options.mirror)
    indexes = fetch_all(collection.indexes, folder / "indexes", options.mirror)
    if not files:
        sys.exit("no file of the collection could be fetched")
    (folder / "SOURCE.txt").write_text(f"{collection.what}\n{collection.source}\nlicence: {collection.licence}\n")
    dataset, filter = folder.with_suffix(".dataset"), GameFilter(**collection.filter)
    print(f"{dataset}: {import_games(files, dataset, filter=filter, index=indexes, workers=available_cores())}")


if __name__ == "__main__":
    main()
