"""`alphago review`: comment on games of Go."""

import argparse
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from alphago.cli.models import add_device, load
from alphago.cli.options import Parser, integer
from alphago.env.game import IllegalMove
from alphago.env.go import GoEnv
from alphago.system.files import write_atomic

if TYPE_CHECKING:
    from alphago.ui.review import Review

SUFFIX = ".reviewed"


def add_options(parser: Parser) -> None:
    parser.others["--game"] = "games to review are games of Go, in SGF files"
    parser.description = (
        "Reviews games of Go: writes an SGF file with win rates, scores, best lines and mistakes, and a graph."
    )
    parser.add_argument("games", nargs="+", metavar="PATH", help="SGF files, or folders of SGF files")
    parser.add_argument(
        "--model", metavar="MODEL", help="a network's name, file or run folder (the package's network for the board)"
    )
    parser.add_argument("--readouts", type=integer, default=200, metavar="N", help="simulations per position (200)")
    parser.add_argument("--to", metavar="FOLDER", help="folder for the output (the folder of each game)")
    parser.add_argument("--graph", action=argparse.BooleanOptionalAction, default=True, help="draw a graph too")
    parser.add_argument(
        "--symmetries", action="store_true", help="average the network over all symmetries of the board (slower)"
    )
    add_device(parser)


def run(options: argparse.Namespace) -> int:
    from alphago.records.sgf import read_sgf_games
    from alphago.ui.review import review_game

    paths = files_of(options.games)
    networks: dict[int, object] = {}
    failures = 0
    for path in paths:
        try:
            games = read_sgf_games(path)
        except ValueError as error:
            print(f"alphago review: {error}", file=sys.stderr)
            failures += 1
            continue
        for number, game in enumerate(games, 1):
            name = path.stem + (f"-{number}" if len(games) > 1 else "") + SUFFIX
            size = game.board_size
            try:
                if size not in networks:
                    networks[size] = load(options.model, size, None, GoEnv.name)[1]
                review = review_game(
                    game, networks[size], options.readouts, symmetries=options.symmetries, device=options.device
                )
            except IllegalMove as error:
                print(f"alphago review: {path}: {error}", file=sys.stderr)
                failures += 1
                continue
            write(Path(options.to) if options.to else path.parent, name, review, options.graph)
            print(f"{path}{f', game {number}' if len(games) > 1 else ''}\n{review.summary()}")
    return 1 if failures else 0


def write(folder: Path, name: str, review: "Review", graph: bool) -> None:
    """Write a review's SGF file NAME.sgf, and with `graph` its picture NAME.png, to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_atomic(folder / f"{name}.sgf", review.sgf())
    if graph:
        picture = io.BytesIO()
        review.figure().savefig(picture, format="png", dpi=120)
        write_atomic(folder / f"{name}.png", picture.getvalue())


def files_of(names: list[str]) -> list[Path]:
    """Return the given files, and the SGF files in the given folders, without reviews (NAME.reviewed.sgf).

    Raises FileNotFoundError if a path does not exist, ValueError if there are no SGF files.
    """
    files: list[Path] = []
    for name in names:
        path = Path(name)
        if path.is_dir():
            found = sorted(file for file in path.rglob("*") if file.suffix.lower() == ".sgf")
            files += [file for file in found if not file.stem.endswith(SUFFIX)]
        elif path.exists():
            files.append(path)
        else:
            raise FileNotFoundError(f"a game must be an SGF file or a folder of them, got {name}")
    if not files:
        raise ValueError(f"there must be SGF files to review, got none in {', '.join(names)}")
    return files
