"""What becomes of a wild corpus of SGF files: games, faults by reason, crashes and hangs; and beside Sabaki's parser.

Reads every file of folders and archives, each under a time limit, then `--hostile` files that accidents make of them,
with all their variations, and files made to take long.  With `--sabaki FOLDER`, in which `npm install @sabaki/sgf` was
run, the moves on the main line of each game that Sabaki's parser opens are compared with those read here: all of them,
or all up to the first fault that is named.
"""

import argparse
import json
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from types import FrameType
from typing import Any

from alphago.env.game import PLAYER_NAMES
from alphago.env.go import GoEnv
from alphago.records.sgf import SgfGame, format_sgf, salvage_sgf
from alphago.records.sgf.writing import point_text
from alphago.records.sources import pieces
from alphago.system.live_bar import LiveBar

SCRIPT = Path(__file__).with_name("main_lines.cjs")
AT_ONCE = 200  # files that Sabaki's parser is given at a time
WHOLE, LEGAL, MORE, OTHER = "whole", "as far as legal", "more than Sabaki", "otherwise"
INSERTS = (b"(", b")", b"[", b"]", b";", b"\\", b"(;", b"B[aa]", b"\xff\xfe", b"AB[aa:zz]", b";AE[aa]", b";AB[dd]W[ee]")
LETTERS = "abcdefghijklmnopqrs"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path, help="files, folders, archives; none for games made here")
    parser.add_argument("--hostile", type=int, default=400, help="files with accidents to make from them")
    parser.add_argument("--scale", type=float, default=1.0, help="length of the files made to take long")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for a file, after which it counts as a hang")
    parser.add_argument("--sabaki", type=Path, metavar="FOLDER", help="the folder with node_modules/@sabaki/sgf")
    options = parser.parse_args()
    wild = read_corpus(options.paths) if options.paths else made_games()
    hostile = list(hostile_files(wild, options.hostile))
    slow = [(name, text.encode()) for name, text in slow_files(options.scale).items()]
    print(
        f"{len(wild)} files, {len(hostile)} with accidents, {len(slow)} slow ones; at most {options.limit:g} s for each"
    )
    for name, files in (("wild", wild), ("with accidents", hostile), ("slow", slow)):
        tally = Tally(options.limit)
        with LiveBar(total=len(files), desc=name) as bar:
            for file in files:
                tally.read(*file, all_lines=name != "wild")
                bar.update(1)
        print(f"\n{name}: {tally}")
        if options.sabaki is not None and name != "slow":
            print(compare(files, options.sabaki, options.limit))


# --- files ---


def read_corpus(paths: Sequence[Path]) -> list[tuple[str, bytes]]:
    """Names and contents of all files that may hold games."""
    return [(piece.name, piece.data) for piece in pieces(paths) if piece.data]


def made_games() -> list[tuple[str, bytes]]:
    """A few games on 9x9, for a machine without a corpus."""
    games = [SgfGame(9, tuple(range(number, 81, 7)), 6.5, result="B+R") for number in range(7)]
    return [(f"made-{number}.sgf", format_sgf(game)) for number, game in enumerate(games)]


def hostile_files(wild: Sequence[tuple[str, bytes]], count: int) -> Iterator[tuple[str, bytes]]:
    """Files with accidents."""
    generator = random.Random(0)
    small = [file for file in wild if len(file[1]) < 100_000]
    for number in range(count):
        name, data = generator.choice(small)
        yield f"{name} with accidents {number}", with_accidents(data, generator)


def with_accidents(data: bytes, generator: random.Random) -> bytes:
    """A file in which bytes are changed, cut out, doubled or put in, or which is in another encoding."""
    text = bytearray(data)
    for _ in range(generator.randint(1, 6)):
        at = generator.randrange(max(1, len(text)))
        accident = generator.randrange(6)
        if accident == 0:
            text[at : at + 1] = bytes([generator.randrange(256)])
        elif accident == 1:
            del text[at : at + generator.randint(1, 40)]
        elif accident == 2:
            text[at:at] = generator.choice(INSERTS)
        elif accident == 3:
            text = text[:at]
        elif accident == 4:
            text[at:at] = text[at : at + 200]
        else:
            encoding = generator.choice(["utf-16", "utf-8", "cp932"])
            text = bytearray(bytes(text).decode("latin-1").encode(encoding, "replace"))
    return bytes(text)


def slow_files(scale: float) -> dict[str, str]:
    """Files that take from minutes to hours in a reader without limits, by name."""
    letters, times = LETTERS[: round(19 * scale**0.25)], round(10_000 * scale)
    rectangles = "".join(f"[{a}{b}:{c}{d}]" for a, b, c, d in product(letters, repeat=4))
    cycle = ";B[aa];AE[ee];W[ca];AE[ee];B[ba];AE[ee];W[];AE[ee]"
    return {
        "rectangles": f"(;SZ[19]AB{rectangles}AE[aa];W[aa])",
        "a rectangle many times": "(;SZ[25]" + "AB[aa:xy]" * (20 * times) + ";W[yy])",
        "a comb": "(;SZ[5]" + "(;C[]" * (10 * times) + ")(;B[aa])" * (10 * times) + ")",
        "brackets": "(" * (100 * times),
        "brackets in brackets": "(;SZ[5]" + "(;" * (10 * times) + "B[aa]" + ")" * (10 * times) + ")",
        "set-ups that change nothing": f"(;SZ[5]AB[ba][da][cb]AW[ab][bb]PL[B]{cycle * times})",
        "set-ups that change something": "(;SZ[19]" + ";B[aa];AE[aa]" * (2 * times) + ")",
        "an open value": "(;SZ[5]C[" + "a\\" * (100 * times),
        "open values": "(;SZ[5]" + "C[" * (100 * times),
        "passes": "(;SZ[5]" + ";B[]" * (10 * times) + ")",
    }


# --- our reader ---


class Hang(BaseException):
    """The time for a file is over; no `except Exception` may swallow it."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise Hang in the `with` block after so many seconds."""

    def give_up(number: int, frame: FrameType | None) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Tally:
    """What was read of the files so far."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.files = self.games = self.sound = self.moves = 0
        self.faults: Counter[str] = Counter()
        self.crashes: list[str] = []
        self.hangs: list[str] = []
        self.slowest = (0.0, "")

    def read(self, name: str, data: bytes, *, all_lines: bool) -> None:
        """Read a file: its games, and with `all_lines` its variations too, though they are not counted."""
        self.files += 1
        began = time.perf_counter()
        try:
            with limited(self.limit):
                games = list(salvage_sgf(data, name=name))
                for _ in salvage_sgf(data, name=name, all_lines=True) if all_lines else ():
                    pass
        except Hang:
            self.hangs.append(name)
            return
        except Exception as error:
            self.crashes.append(f"{name}: {type(error).__name__}: {error}")
            return
        self.slowest = max(self.slowest, (time.perf_counter() - began, name))
        self.games += len(games)
        self.moves += sum(len(game.moves) for game in games)
        self.sound += sum(not game.faults for game in games)
        self.faults.update(game.faults[0].kind for game in games if game.faults)

    def __str__(self) -> str:
        lines = [
            f"{self.files} files, {self.games} games, {self.moves} moves; {self.sound} games without a fault",
            *(f"{count:8}  {kind}" for kind, count in self.faults.most_common()),
            f"{len(self.crashes)} crashes, {len(self.hangs)} hangs; the slowest file took {self.slowest[0]:.1f} s",
            *self.crashes,
            *self.hangs,
        ]
        return "\n".join(lines)


def plays_of(game: SgfGame) -> list[str]:
    """The moves of a game as the file names them, such as "Bdd" and "W" for a pass."""
    env = GoEnv(game.board_size)
    turns = zip(game.movers, game.moves, strict=True)
    return [PLAYER_NAMES[mover][0] + point_text(env, action) for mover, action in turns]


# --- Sabaki's ---


def compare(files: Sequence[tuple[str, bytes]], folder: Path, limit: float) -> str:
    """Compare the games of the files with what Sabaki's parser reads, and return the figures."""
    node = shutil.which("node")
    if node is None or not (folder / "node_modules" / "@sabaki" / "sgf").is_dir():
        return "Sabaki's parser is not installed: it needs Node.js and `npm install @sabaki/sgf` in the folder"
    opened, ends, examples = 0, Counter[str](), list[str]()
    faults: Counter[str] = Counter()
    for begin in range(0, len(files), AT_ONCE):
        group = files[begin : begin + AT_ONCE]
        for (name, data), theirs in zip(group, sabaki(node, folder, [data for _, data in group], limit), strict=True):
            opened += theirs is not None
            for end, kind in judged(theirs or [], data):
                ends[end] += 1
                faults.update([kind] * bool(kind))
                if end == OTHER:
                    examples.append(name)
    ended = ", ".join(f"{count} {kind}" for kind, count in faults.most_common())
    lines = [
        f"Sabaki's parser opens {opened} of {len(files)} files, with {ends.total()} games that have moves",
        *(f"{ends[end]:8}  read {end}" for end in (WHOLE, LEGAL, MORE, OTHER)),
        f"what ends those read as far as legal: {ended}",
        *examples[:20],
    ]
    return "\n".join(lines)


def sabaki(node: str, folder: Path, contents: Sequence[bytes], limit: float) -> list[Any]:
    """What Sabaki's parser reads of files: for each a list of games, or None if it does not open the file in time."""
    found: list[Any] = []
    with tempfile.TemporaryDirectory() as made:
        paths = [Path(made, f"{number}.sgf") for number in range(len(contents))]
        for path, data in zip(paths, contents, strict=True):
            path.write_bytes(data)
        while len(found) < len(contents):
            names = "\n".join(map(str, paths[len(found) :])).encode()
            try:
                told = subprocess.run(
                    [node, str(SCRIPT), str(folder)], input=names, capture_output=True, timeout=limit
                ).stdout
            except subprocess.TimeoutExpired as error:
                told = error.stdout or b""
            found += [json.loads(line) for line in told.splitlines(keepends=True) if line.endswith(b"\n")]
            found += [None] * (len(found) < len(contents))  # the file at which it hung or died
    return found


def judged(theirs: Sequence[Sequence[str]], data: bytes) -> Iterator[tuple[str, str]]:
    """Yield for each game with moves that Sabaki reads in a file how it is read here, and which fault ends it, or "".

    theirs: the moves of each game.
    """
    games = list(salvage_sgf(data)) if any(theirs) else []
    ours = [plays_of(game) for game in games]
    for place, moves in enumerate(theirs):
        if not moves:
            continue
        size = games[place].board_size if place < len(games) else 19
        wanted = [move[:1] if move[1:] == "tt" and size <= 19 else move for move in moves]
        same = place if len(theirs) == len(games) else nearest(wanted, ours)
        plays, faults = ours[same], [fault.kind for fault in games[same].faults]
        part, rest = wanted[: len(plays)], wanted[len(plays) :]
        if part == plays and all(len(move) == 1 for move in rest):
            yield WHOLE, ""
        elif faults and "\n".join(plays) in "\n".join(wanted):
            yield LEGAL, faults[-1]
        elif len(plays) > len(wanted):
            yield MORE, ""
        else:
            yield OTHER, ""


def nearest(moves: Sequence[str], games: Sequence[Sequence[str]]) -> int:
    """The number of the game that begins with the most of these moves."""

    def common(plays: Sequence[str]) -> int:
        equal = (a == b for a, b in zip(moves, plays, strict=False))
        return next((count for count, same in enumerate(equal) if not same), min(len(moves), len(plays)))

    return max(range(len(games)), key=lambda number: common(games[number]))


if __name__ == "__main__":
    main()
