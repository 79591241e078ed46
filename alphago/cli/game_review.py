"""`alphago review`: comment on games of Go."""

import argparse
import itertools
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from alphago.cli.models import add_device, load
from alphago.cli.options import Parser, integer, option
from alphago.drawing.image import save_drawing
from alphago.env.go import GoEnv
from alphago.env.position import IllegalMove
from alphago.system.files import explain_os_error, write_atomic
from alphago.system.validation import printable

SUFFIX = ".reviewed"


def add_options(parser: Parser) -> None:
    parser.hints["--game"] = "games to review are games of Go, in SGF files"
    option(parser, "games PATH", "SGF files, or folders of SGF files", nargs="+")
    option(parser, "--model MODEL", "a network's name, file or run folder, or katago:FILE (the packaged one)")
    option(parser, "--readouts N", "simulations per position (200)", integer, default=200)
    option(parser, "--to FOLDER", "folder for the output (beside each game)")
    option(parser, "--graph", "draw a graph too", action=argparse.BooleanOptionalAction, default=True)
    option(parser, "--symmetries", "average the network over all symmetries of the board (slower)", action="store_true")
    add_device(parser)


def run(options: argparse.Namespace) -> int:
    """Review games of Go: write an SGF file with win rates, scores, best lines and mistakes, and a graph."""
    reviewer = Reviewer(options)
    for path, folder in sources(options.games, options.to):
        reviewer.review(path, folder)
    return 1 if reviewer.failures else 0


class Reviewer:
    """Reviews the games of files, one after another, and counts the games that cannot be reviewed."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        # By board size; raises ValueError if there is none.
        self.network: Callable[[int], Any] = cache(lambda size: load(options.model, size, game=GoEnv.name)[1])
        self.taken: set[str] = set()  # paths written by this command, without suffix, in lower case
        self.failures = 0

    def fail(self, message: str) -> None:
        print(f"alphago review: {message}", file=sys.stderr)
        self.failures += 1

    def review(self, path: Path, folder: Path) -> None:
        """Review all games of a file, each up to the first fault of its text, and print faults and summaries.

        Args:
            folder: the folder of the reviews.
        """
        from alphago.records.sgf import salvage_sgf
        from alphago.ui.review import review_game

        options = self.options
        try:
            with explain_os_error(f"{path} cannot be read"):
                games = list(salvage_sgf(path))
        except (ValueError, OSError) as error:
            self.fail(str(error))
            return
        has_several = len(games) > 1
        for number, game in enumerate(games, 1):
            if game.faults and not game.moves:
                self.fail(game.faults[0].of(str(path)))
                continue
            for fault in game.faults:
                told = f"alphago review: {fault.of(str(path))}; {len(game.moves)} moves are reviewed"
                print(printable(told), file=sys.stderr)
            place = self.place(folder, f"{path.stem}-{number}" if has_several else path.stem)
            title = f"{path}, game {number}" if has_several else str(path)
            try:
                network = self.network(game.board_size)
                review = review_game(
                    game, network, options.readouts, symmetries=options.symmetries, device=options.device
                )
                folder.mkdir(parents=True, exist_ok=True)
                write_atomic(place.with_name(f"{place.name}.sgf"), review.sgf())
                if options.graph:
                    save_drawing(review.graph(), place.with_name(f"{place.name}.png"))
                print(printable(f"{title}\n{review.summary()}"))
            except (IllegalMove, ValueError) as error:
                self.fail(f"{path}: {error}")

    def place(self, folder: Path, stem: str) -> Path:
        """Return the path of a game's review, without suffix; it ends in a number if this command has written there.

        Args:
            stem: the name of the review's files, without SUFFIX.
        """
        place = folder / f"{stem}{SUFFIX}"
        for number in itertools.count(2):
            if str(place).lower() not in self.taken:  # some file systems ignore case
                break
            place = folder / f"{stem}-{number}{SUFFIX}"
        self.taken.add(str(place).lower())
        return place


def sources(names: list[str], to: str | None) -> list[tuple[Path, Path]]:
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
        top, found = (path, sorted(path.rglob("*"))) if path.is_dir() else (path.parent, [path])
        for file in found:
            is_sgf = file.suffix.lower() == ".sgf" and file.is_file() and not file.stem.endswith(SUFFIX)
            if is_sgf or file == path:  # a file that is named itself may have any suffix
                folder = file.parent if to is None else Path(to) / file.parent.relative_to(top)
                files.setdefault(file.resolve(), (file, folder))
    if not files:
        raise ValueError(f"there must be SGF files to review, got none in {', '.join(names)}")
    return list(files.values())
