"""`alphago review`: comment on games of Go."""

import argparse
import itertools
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from alphago.cli.models import add_device, load
from alphago.cli.options import Parser, integer, option
from alphago.drawing.image import save_drawing
from alphago.env.go import GoEnv
from alphago.env.position import IllegalMove
from alphago.records.sgf import SgfGame, salvage_sgf
from alphago.system.files import explain_os_error, write_atomic
from alphago.system.validation import printable

SUFFIX = ".reviewed"


def add_options(parser: Parser) -> None:
    parser.why_no_option["--game"] = "games to review are games of Go, in SGF files"
    option(parser, "games PATH", "SGF files, or folders of SGF files", nargs="+")
    option(parser, "--model MODEL", "a network's name, file or run folder, or katago:FILE (the packaged one)")
    option(parser, "--readouts N", "simulations per position (200)", integer, default=200)
    option(parser, "--to FOLDER", "folder for the output (beside each game)")
    option(parser, "--graph", "draw a graph too", action=argparse.BooleanOptionalAction, default=True)
    option(parser, "--symmetries", "average the network over all symmetries of the board (slower)", action="store_true")
    add_device(parser)


def run(options: argparse.Namespace) -> int:
    """Review games of Go: write an SGF file with win rates, scores, best lines and mistakes, and a graph."""
    # The network for a board size, which `load` returns after the game; raises ValueError if there is none.
    network_for = cache(lambda size: load(options.model, size, game=GoEnv.name)[1])
    written: set[str] = set()  # paths of the reviews so far: no review replaces another one of this command
    code = 0
    for path, folder in files_to_review(options.games, options.to):
        for fault in review(path, folder, options, network_for, written):
            print(f"alphago review: {fault}", file=sys.stderr)
            code = 1
    return code


def review(
    path: Path, folder: Path, options: argparse.Namespace, network_for: Callable[[int], Any], written: set[str]
) -> Iterator[str]:
    """Review all games of a file, each up to the first fault of its text, and print a summary of each.

    A fault after which the game's first moves can still be reviewed is printed; the command does not fail for it.

    Args:
        folder: the folder of the reviews.
        network_for: returns the network for a size of the board.
        written: the paths written by this command, to which the new ones are added, see `free_place`.

    Yields:
        A sentence about each game that cannot be reviewed.
    """
    try:
        with explain_os_error(f"{path} cannot be read"):
            games = list(salvage_sgf(path))
    except (ValueError, OSError) as error:
        yield str(error)
        return
    has_several = len(games) > 1
    for number, game in enumerate(games, 1):
        if game.faults and not game.moves:
            yield game.faults[0].of(str(path))  # a sentence with the path and the place in the file
            continue
        for fault in game.faults:
            told = f"alphago review: {fault.of(str(path))}; {len(game.moves)} moves are reviewed"
            print(printable(told), file=sys.stderr)
        place = free_place(folder, f"{path.stem}-{number}" if has_several else path.stem, written)
        title = f"{path}, game {number}" if has_several else str(path)
        try:
            summary = write_review(game, network_for(game.board_size), place, options)
            print(printable(f"{title}\n{summary}"))
        except (IllegalMove, ValueError) as error:
            yield f"{path}: {error}"


def write_review(game: SgfGame, network: object, place: Path, options: argparse.Namespace) -> str:
    """Review a game, write the files of the review, and return its summary.

    Args:
        place: the path of the files, without their suffixes.
    """
    from alphago.ui.review import review_game

    made = review_game(game, network, options.readouts, symmetries=options.symmetries, device=options.device)
    place.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(place.with_name(f"{place.name}.sgf"), made.sgf())
    if options.graph:
        save_drawing(made.graph(), place.with_name(f"{place.name}.png"))
    return made.summary()


def free_place(folder: Path, stem: str, written: set[str]) -> Path:
    """Return the path of a game's review, without the files' suffixes, such as "games/a.reviewed".

    The name gets a number, such as "games/a-2.reviewed", if this command has written a review of the name before.

    Args:
        stem: the name of the review's files, without SUFFIX.
        written: the paths so far, in lower case, since some file systems ignore case; the returned path is added.
    """
    place = folder / f"{stem}{SUFFIX}"
    for number in itertools.count(2):
        if str(place).lower() not in written:
            break
        place = folder / f"{stem}-{number}{SUFFIX}"
    written.add(str(place).lower())
    return place


def files_to_review(names: list[str], to: str | None) -> list[tuple[Path, Path]]:
    """Return the SGF files to review, each file once, with the folders of their reviews.

    Args:
        names: paths of files and folders; from folders, reviews (NAME.reviewed.sgf) are left out.
        to: the folder of all reviews, with the subfolders of the given folders; None for the folder of each file.

    Raises:
        FileNotFoundError: if a path does not exist.
        ValueError: if there are no SGF files.
    """
    files: dict[Path, tuple[Path, Path]] = {}  # by resolved path
    for name in names:
        path = Path(name)
        if not path.exists():
            raise FileNotFoundError(f"a game must be an SGF file or a folder of them, got {name}")
        top = path if path.is_dir() else path.parent  # the review of top/sub/a.sgf stands in to/sub
        candidates = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in candidates:
            is_sgf = file.suffix.lower() == ".sgf" and file.is_file() and not file.stem.endswith(SUFFIX)
            if is_sgf or file == path:  # a file that is named itself may have any suffix
                folder = file.parent if to is None else Path(to) / file.parent.relative_to(top)
                files.setdefault(file.resolve(), (file, folder))
    if not files:
        raise ValueError(f"there must be SGF files to review, got none in {', '.join(names)}")
    return list(files.values())
