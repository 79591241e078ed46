"""How fast files of games become a dataset, beside sgfmill reading and replaying the same files; and its memory.

Without paths it makes games of its own: random moves on 19x19.  `--memory` reads the texts ten times as often and
compares the memory of this process at a tenth and at the end.
"""

import argparse
import contextlib
import tempfile
import time
from pathlib import Path

import numpy as np
from figures import Figures, add_option
from sgfmill import sgf, sgf_moves

from alphago.env.go import GoEnv
from alphago.records.converting import GameFilter
from alphago.records.importing import import_games
from alphago.records.sgf import SgfGame, format_sgf

LETTERS = "abcdefghijklmnopqrs"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--games", type=int, default=2000, help="that are made where there is no --sgf")
    parser.add_argument("--length", type=int, default=200, help="moves of each")
    parser.add_argument("--sgf", type=Path, help="a folder of SGF files to read instead")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory", action="store_true", help="measure memory too, over ten times as many games")
    add_option(parser)
    options = parser.parse_args()
    figures = Figures(options.json)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        files = make_games(folder, options.games, options.length, options.sgf)
        import_games(files[:2], folder / "warm", filter=GameFilter(min_moves=0))  # compiles
        theirs, ours = sgfmill_rate(files), rate(files, folder / "one.dataset", 1)
        sgf_rate = rate(files, folder / "sgf.dataset", options.workers)
        text_rate = rate([folder / "lines"], folder / "text.dataset", options.workers)
        print(f"sgfmill, one process: {theirs:,.0f} games per second of processor")
        print(f"SGF, one process: {ours:,.0f} games per second of processor, {ours / theirs:.2f} times as many")
        print(f"SGF, {options.workers} processes: {sgf_rate:,.0f} games/s (500 wanted)")
        print(f"text, {options.workers} processes: {text_rate:,.0f} games/s (1000 wanted)")
        figures.add("sgf-import", sgf_rate)
        figures.add("text-import", text_rate)
        if options.memory:
            print(memory(folder, options))
    figures.save()


def make_games(folder: Path, count: int, length: int, given: Path | None) -> list[Path]:
    """SGF files, and the same games as lines of the file "lines"."""
    (folder / "sgf").mkdir()
    lines = [text_of(number, random_moves(number, length)) for number in range(count)]
    (folder / "lines").write_text("".join(lines))
    if given is not None:
        return sorted(path for path in given.rglob("*") if path.suffix.lower() == ".sgf")
    for number in range(count):
        game = SgfGame(19, random_moves(number, length), 7.5, result="B+R", players=("a", "b"))
        (folder / "sgf" / f"{number:06d}.sgf").write_bytes(format_sgf(game))
    return sorted((folder / "sgf").iterdir())


def random_moves(number: int, length: int) -> tuple[int, ...]:
    """Moves at random on 19x19; so early in a game hardly one is illegal, and such a one is left out."""
    generator, env = np.random.default_rng(number), GoEnv(19)
    batch, slot = env.new_batch(1), np.zeros(1, np.int64)
    moves: list[int] = []
    mask = np.zeros((1, env.action_space), np.uint8)
    while len(moves) < length:
        legal = np.flatnonzero(batch.legal_mask(slot, mask)[0, :-1])
        moves.append(int(generator.choice(legal)))
        batch.play(slot, np.array(moves[-1:], np.int32))
    return tuple(moves)


def text_of(number: int, moves: tuple[int, ...]) -> str:
    plays = (f";{'BW'[i % 2]}[{LETTERS[move % 19]}{LETTERS[move // 19]}]" for i, move in enumerate(moves))
    return f"{number}\t{''.join(plays)}\n"


def rate(paths: list[Path], target: Path, workers: int) -> float:
    """Games a second, the start of the processes included; of one process, games per second of its processor."""
    clock = time.process_time if workers == 1 else time.monotonic
    began = clock()
    report = import_games(paths, target, filter=GameFilter(min_moves=0, any_result=True), workers=workers)
    return (report.kept + sum(report.rejected.values())) / (clock() - began)


def sgfmill_rate(files: list[Path]) -> float:
    """Games per second of processor of sgfmill: parsing, and its board for the moves."""
    chosen = files[: max(1, len(files) // 10)]
    began = time.process_time()
    for path in chosen:
        with contextlib.suppress(ValueError):  # what it does not take
            board, plays = sgf_moves.get_setup_and_moves(sgf.Sgf_game.from_bytes(path.read_bytes()))
            for colour, point in plays:
                if point is not None:
                    board.play(*point, colour)
    return len(chosen) / (time.process_time() - began)


def memory(folder: Path, options: argparse.Namespace) -> str:
    """What this process holds after a tenth of ten times as many games, and after all."""
    (folder / "many").mkdir()
    for part in range(10):
        numbers = range(part * options.games, (part + 1) * options.games)
        lines = [text_of(n, random_moves(10**6 + n, options.length)) for n in numbers]
        (folder / "many" / f"{part}").write_text("".join(lines))
    held: list[int] = []
    import_games(
        [folder / "many"],
        folder / "many.dataset",
        filter=GameFilter(min_moves=0, any_result=True),
        workers=options.workers,
        on_progress=lambda read, kept: held.append(resident()),
    )
    first, last = held[len(held) // 10], held[-1]
    return f"memory of this process: {first >> 20} MiB after a tenth, {last >> 20} MiB after all: {last / first:.2f}"


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


if __name__ == "__main__":
    main()
