"""`alphago review`: comment on games of Go."""

import argparse
import itertools
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from alphago.cli.models import add_device, load
from alphago.cli.options import Parser, integer, option
from alphago.drawing.image import save_drawing
from alphago.env.go import GoEnv
from alphago.env.position import IllegalMove
from alphago.system.files import explain_os_error, write_atomic
from alphago.system.validation import printable

if TYPE_CHECKING:
    from alphago.records.sgf import SgfGame
    from alphago.ui.review import Review

SUFFIX = ".reviewed"


def add_options(parser: Parser) -> None:
    parser.others["--game"] = "games to review are games of Go, in SGF files"
    parser.description = (
        "Reviews games of Go: writes an SGF file with win rates, scores, best lines and mistakes, and a graph."
    )
    option(parser, "games PATH", "SGF files, or folders of SGF files", nargs="+")
    option(parser, "--model MODEL", "a network's name, file or run folder (the package's network for the board)")
    option(parser, "--readouts N", "simulations per position (200)", integer, default=200)
    option(parser, "--to FOLDER", "folder for the output (beside each game)")
    option(parser, "--graph", "draw a graph too", action=argparse.BooleanOptionalAction, default=True)
    option(parser, "--symmetries", "average the network over all symmetries of the board (slower)", action="store_true")
    add_device(parser)


def run(options: argparse.Namespace) -> int:
    reviewer = Reviewer(options)
    for source in sources(options.games):
        reviewer.review(source)
    return 1 if reviewer.failures else 0


class Source(NamedTuple):
    """An SGF file to review, and its folder relative to the one that was named on the command line."""

    path: Path
    below: Path


class Reviewer:
    """Reviews the games of files, one after another, and counts those that cannot be reviewed."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.networks: dict[int, Any] = {}  # by board size: the network, or why there is none
        self.taken: set[str] = set()  # paths written by this command, without suffix, in lower case
        self.failures = 0

    def fail(self, message: str) -> None:
        print(f"alphago review: {message}", file=sys.stderr)
        self.failures += 1

    def network(self, size: int) -> Any:
        """Return the network for a board size, which is loaded once; raise ValueError if there is none."""
        if size not in self.networks:
            try:
                self.networks[size] = load(self.options.model, size, None, GoEnv.name)[1]
            except ValueError as error:
                self.networks[size] = error
        found = self.networks[size]
        if isinstance(found, ValueError):
            raise found
        return found

    def review(self, source: Source) -> None:
        """Review all games of a file, each up to its first fault, which is printed."""
        from alphago.records.sgf import salvage_sgf

        path = source.path
        try:
            with explain_os_error(f"{path} cannot be read"):
                games = list(salvage_sgf(path))
        except (ValueError, OSError) as error:
            self.fail(str(error))
            return
        for number, game in enumerate(games, 1):
            if game.faults and not game.moves:
                self.fail(game.faults[0].of(str(path)))
                continue
            for fault in game.faults:
                told = f"alphago review: {fault.of(str(path))}; {len(game.moves)} moves are reviewed"
                print(printable(told), file=sys.stderr)
            several = len(games) > 1
            place = self.place(source, path.stem + (f"-{number}" if several else ""))
            try:
                self.review_game(game, place, f"{path}{f', game {number}' if several else ''}")
            except (IllegalMove, ValueError) as error:
                self.fail(f"{path}: {error}")

    def review_game(self, game: "SgfGame", place: Path, title: str) -> None:
        """Review one game, write the review's files (`place` without suffix), and print its summary."""
        from alphago.ui.review import review_game

        options = self.options
        review = review_game(
            game, self.network(game.board_size), options.readouts, symmetries=options.symmetries, device=options.device
        )
        write(place.parent, place.name, review, options.graph)
        print(printable(f"{title}\n{review.summary()}"))

    def place(self, source: Source, stem: str) -> Path:
        """Return the path of a game's review, without suffix; a path that this command has written gets a number."""
        folder = Path(self.options.to) / source.below if self.options.to else source.path.parent
        names = (f"{stem}{f'-{count}' if count > 1 else ''}{SUFFIX}" for count in itertools.count(1))
        place = next(folder / name for name in names if str(folder / name).lower() not in self.taken)
        self.taken.add(str(place).lower())
        return place


def write(folder: Path, name: str, review: "Review", graph: bool) -> None:
    """Write a review's SGF file NAME.sgf, and with `graph` its picture NAME.png, to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_atomic(folder / f"{name}.sgf", review.sgf())
    if graph:
        save_drawing(review.graph(), folder / f"{name}.png")


def sources(names: list[str]) -> list[Source]:
    """Return the given files, and the SGF files in the given folders, without reviews (NAME.reviewed.sgf), each once.

    Raises FileNotFoundError if a path does not exist, ValueError if there are no SGF files.
    """
    files: dict[Path, Source] = {}  # by resolved path
    for name in names:
        path = Path(name)
        if path.is_dir():
            for file in sorted(file for file in path.rglob("*") if file.suffix.lower() == ".sgf" and file.is_file()):
                if not file.stem.endswith(SUFFIX):
                    files.setdefault(file.resolve(), Source(file, file.parent.relative_to(path)))
        elif path.exists():
            files.setdefault(path.resolve(), Source(path, Path()))
        else:
            raise FileNotFoundError(f"a game must be an SGF file or a folder of them, got {name}")
    if not files:
        raise ValueError(f"there must be SGF files to review, got none in {', '.join(names)}")
    return list(files.values())
