"""Public collections of games: addresses, sources and licences, and how to fetch them.

The package contains no games.  Most collections state no licence: name the source if you pass games on or publish a
network that was trained on them.
"""

import contextlib
import os
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from alphago.system.files import explain_os_error, name_in_errors

TIMEOUT = 60.0  # seconds without any data
PIECE = 2**18  # bytes between two calls of `on_progress`
PART = ".part"  # suffix of a file that is still being fetched
MOST_FAILURES = 3  # failed files, with none fetched, after which there is probably no network

GITHUB = "https://raw.githubusercontent.com"
ARCHIVES = "https://codeload.github.com"
YENW = f"{GITHUB}/yenw/computer-go-dataset/master"
GODMOVES = f"{GITHUB}/godmoves/Standard_Computer_Go_Dataset/master"
KGS_FILES = """
2001-19-2298 2002-19-3646 2003-19-7582 2004-19-12106 2005-19-13941 2006-19-10388 2007-19-11644 2008-19-14002
2009-19-18837 2010-19-17536 2011-19-19099 2012-19-13665 2013-19-13783 2014-19-13029 2015-19-8133 2016-19-12949
2017_01-19-733 2017_02-19-525 2017_03-19-717 2017_04-19-913 2017_05-19-847 2017_06-19-910
"""


def months(first: tuple[int, int], last: tuple[int, int]) -> list[str]:
    """Return all months from the first to the last, each given as (year, month), as texts such as "2005-11"."""
    numbers = range(12 * first[0] + first[1] - 1, 12 * last[0] + last[1])  # 12 * year + month, with January as 0
    return [f"{number // 12}-{number % 12 + 1:02d}" for number in numbers]


@dataclass(frozen=True)
class Collection:
    """A public collection of games.

    what: a one-line description.  source: the web page about the collection.
    files: addresses of the games.  indexes: addresses of files with the games' results.
    licence: as stated on the page.  filter: recommended keywords of GameFilter.
    """

    what: str
    source: str
    files: tuple[str, ...]
    indexes: tuple[str, ...] = ()
    licence: str = "none stated"
    filter: dict[str, Any] = field(default_factory=dict)


COLLECTIONS = {
    "tygem": Collection(
        "1.5 million games of 9 dan players on Tygem, 2005 to 2016; 19x19",
        "https://github.com/yenw/computer-go-dataset",
        tuple(f"{YENW}/TYGEM/Kifu/{month}.zip" for month in months((2005, 11), (2016, 12))),
        tuple(f"{YENW}/TYGEM/index/Kifu{year}.zip" for year in range(2005, 2017)),
        filter={"komi": 6.5, "rank": 9},
    ),
    "tom": Collection(
        "51 000 games of 9 dan players on TOM, 2003 to 2011; 19x19",
        "https://github.com/yenw/computer-go-dataset",
        tuple(f"{YENW}/Tom/kifu/{month}" for month in months((2003, 9), (2011, 12))),
        (f"{YENW}/Tom/Kifu.index",),
        filter={"rank": 9},
    ),
    "kgs": Collection(
        "190 000 games with a player of 6 dan or more on KGS, 2001 to 2017; 19x19, many with handicap",
        "https://github.com/godmoves/Standard_Computer_Go_Dataset (from https://u-go.net/gamerecords)",
        tuple(f"{GODMOVES}/KGS_6d_190000/KGS-{name}-.tar.gz" for name in KGS_FILES.split()),
    ),
    "cgos9": Collection(
        "10 000 games on 9x9: 4 400 of programs on CGOS, 5 000 of players rated 2100 or more on Go Quest, and others",
        "https://github.com/michaelnny/alpha_zero",
        (f"{ARCHIVES}/michaelnny/alpha_zero/tar.gz/refs/heads/main",),
        licence="MIT",
        filter={"size": 9, "min_rank": 1},
    ),
    "programs": Collection(
        "7 000 games of programs: AlphaGo, FineArt, Golaxy, Jin Mao Ce Shi, Master, Leela Zero and others; 19x19",
        "https://github.com/yenw/computer-go-dataset",
        (f"{ARCHIVES}/yenw/computer-go-dataset/tar.gz/refs/heads/master",),
        filter={"size": 19},
    ),
}


def address_name(address: str) -> str:
    """Return the file name under which an address is saved."""
    path = unquote(urlsplit(address).path)
    names = [name for name in path.split("/") if name not in ("", ".", "..")]
    if "tar.gz" in names:  # an archive of a repository at GitHub: OWNER/NAME/tar.gz/refs/heads/BRANCH
        return f"{'-'.join(names[-3:])}.tar.gz"
    return names[-1] if names else "games"


def fetch(address: str, folder: Path, on_progress: Callable[[int], object] | None = None) -> Path:
    """Download a file into a folder and return its path.

    A file that exists is not downloaded again; an interrupted download is continued.

    on_progress: called with the number of bytes received since the last call.

    Raises OSError if the server refuses or the network fails.
    """
    with explain_os_error(f"the folder {folder} cannot be made"):
        folder.mkdir(parents=True, exist_ok=True)
    path = folder / address_name(address)
    if path.exists():
        return path
    part = path.with_name(path.name + PART)
    bytes_before = part.stat().st_size if part.exists() else 0
    try:
        received, expected = receive(address, part, bytes_before, on_progress)
    except urllib.error.HTTPError as error:
        error.close()
        is_complete = error.code == 416 and bytes_before > 0  # 416: nothing follows the bytes that the file has
        if not is_complete:
            raise OSError(f"{address} cannot be fetched: the server answers {error.code} {error.reason}") from None
    except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
        reason = getattr(error, "reason", error)
        raise OSError(
            f"{address} cannot be fetched: {reason}; the part received is kept, and the next call resumes there"
        ) from None
    else:
        if expected is not None and received < expected:
            raise OSError(
                f"{address} was fetched in part, {received} of {expected} bytes: the same call fetches the rest"
            )
    os.replace(part, path)
    return path


def receive(
    address: str, part: Path, bytes_before: int, on_progress: Callable[[int], object] | None
) -> tuple[int, int | None]:
    """Download to a file; a server that can send the rest of a file continues the download, others begin it again.

    bytes_before: number of bytes that the file has already.  on_progress: as in `fetch`.
    Returns the number of bytes received now, and the number that the server has announced, None if it has not.
    """
    request = urllib.request.Request(address, headers={"Range": f"bytes={bytes_before}-"} if bytes_before else {})
    received = 0
    with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
        sends_rest = bytes_before > 0 and answer.status == 206  # 206: only the bytes that were asked for
        with open(part, "ab" if sends_rest else "wb", buffering=0) as file:
            while data := answer.read(PIECE):
                with name_in_errors(part):
                    file.write(data)
                received += len(data)
                if on_progress is not None:
                    on_progress(len(data))
        expected = answer.headers.get("Content-Length")
    return received, None if expected is None else int(expected)


def fetch_collection(
    collection: Collection, folder: Path, on_progress: Callable[[int], object] | None = None
) -> tuple[list[Path], list[Path], list[str]]:
    """Download a collection.

    Returns the files of games, the indexes of results, and an error message for each file that could not be fetched.

    on_progress: called with the number of bytes received since the last call.

    Raises OSError if no file of games can be fetched.
    """
    files: list[Path] = []
    indexes: list[Path] = []
    missing: list[str] = []
    for kind, addresses, fetched in (("files", collection.files, files), ("indexes", collection.indexes, indexes)):
        for address in addresses:
            try:
                fetched.append(fetch(address, folder / kind, on_progress))
            except OSError as error:
                missing.append(str(error))
                if not files and len(missing) >= MOST_FAILURES:
                    break
    if not files:
        raise OSError(missing[0])
    with contextlib.suppress(OSError):
        (folder / "SOURCE.txt").write_text(f"{collection.what}\n{collection.source}\nlicence: {collection.licence}\n")
    return files, indexes, missing
