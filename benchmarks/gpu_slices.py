"""Everything that a GPU is needed for where one is at hand for minutes: the parts of `make gpu` in an order, in slices.

    PYTHONPATH=. python3 benchmarks/gpu_slices.py --out out/1 --minutes 9.5
    PYTHONPATH=. python3 benchmarks/gpu_slices.py --out out/2 --minutes 9.5 --before out/1

Each part is a process of its own, stopped with all that it started when its time is over; whatever it prints is kept
in FOLDER/log.txt as it comes, figures in FOLDER/figures.json.  A part begins only if its time fits into what is left
of the slice; the next slice, which is told where the last one's folder is, goes on with those that are not done.
Training goes on in slices too: its run folder is packed into a few files of FOLDER, which the next slice
unpacks, on another machine if need be.  `--list` shows the order, with each part's time.
"""

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[1]
LOG, DONE, FIGURES = "log.txt", "parts.json", "figures.json"
GRACE = 20.0  # seconds from the signal to end until the signal that kills it
PIECE = 16 * 2**20 - 2**16  # bytes of a file of a packed run
UNFINISHED = 75  # exit code of a part that goes on in the next slice


@dataclass(frozen=True)
class Part:
    """A part of the order: a command line after `python`, and the minutes that it gets."""

    name: str
    command: tuple[str, ...]
    minutes: float
    run: str = ""  # the folder in runs that it goes on with


def order(options: argparse.Namespace) -> list[Part]:
    """Equal, it runs, where the time goes, figures, training."""
    how = ("--device", options.device, *(["--quick"] if options.quick else []))
    figures = ("--json", str(options.out / FIGURES))

    def measured(name: str, minutes: float) -> Part:
        return Part(name, ("benchmarks/gpu.py", *how, *figures, "--only", name), minutes)

    def trained(preset: str, minutes: float) -> Part:
        run = f"gpu-{preset}"
        told = ("--preset", preset, "--minutes", f"{minutes:g}", "--device", options.device)
        small = ("--small",) if options.quick else ()
        return Part(run, ("benchmarks/gpu_training.py", *told, "--folder", f"{options.runs / run}", *small), 3, run)

    checks = {"tests": 6, "equal": 4, "memcheck": 3, "racecheck": 3, "runs": 8, "profile": 2}
    rates = {"random-moves": 2, "wave": 1, "network": 2, "self-play": 3, "self-play-few": 1, "self-play-19x19": 3}
    learning = {"gradient-step": 1.5, "training": 3.5, "peers": 8}
    minutes = checks | rates | learning
    return [*(measured(name, minutes[name]) for name in minutes), trained("9x9", 5), trained("19x19", 30)]


class Slice:
    """The parts that are run now, and what earlier slices left."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.out: Path = options.out
        self.runs: Path = options.runs
        self.until = time.monotonic() + 60 * options.minutes
        self.out.mkdir(parents=True, exist_ok=True)
        if options.before is not None:
            self.take_over(options.before)
        path = self.out / DONE
        self.done: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.is_file() else {}

    def take_over(self, before: Path) -> None:
        """Go on with what an earlier slice left in its folder: log, figures, parts done, and runs."""
        if not before.is_dir():
            raise SystemExit(f"gpu_slices: --before must be the folder of an earlier slice, got {before}")
        for name in (LOG, DONE, FIGURES):
            if (before / name).is_file():
                shutil.copyfile(before / name, self.out / name)
        for first in sorted(before.glob("*.tar.00")):
            unpack(sorted(before.glob(f"{first.name[:-2]}*")), self.runs)

    @property
    def left(self) -> float:
        """Minutes of this slice that are left."""
        return (self.until - time.monotonic()) / 60

    def run(self, parts: list[Part]) -> None:
        """Run those parts that are not done, as far as the time reaches."""
        for part in parts:
            if self.done.get(part.name, {}).get("over"):
                continue
            if self.left < part.minutes:
                self.tell(f"{part.name}: {part.minutes:g} minutes do not fit into the {self.left:.1f} that are left")
                return
            self.one(part)

    def one(self, part: Part) -> None:
        """Run a part, and note how it ended; its run is packed."""
        limit = self.left - 0.5 if part.run else part.minutes
        command = [sys.executable, *part.command, *(["--stop-after", f"{limit - 0.5:.2f}"] if part.run else [])]
        self.tell(f"=== {part.name}, at most {limit:.1f} minutes: {' '.join(command[1:])}")
        began = time.monotonic()
        with (self.out / LOG).open("a", encoding="utf-8") as log:
            code = run_limited(command, 60 * limit, log)
        seconds = round(time.monotonic() - began, 1)
        stopped = code is None
        self.done[part.name] = {"exit code": code, "seconds": seconds, "over": code != UNFINISHED}
        (self.out / DONE).write_text(json.dumps(self.done, indent=1) + "\n", "utf-8")
        self.tell(f"=== {part.name}: {'stopped' if stopped else f'exit code {code}'} after {seconds:.0f} s")
        if part.run:
            pack(self.runs / part.run, self.out, whole=code in (UNFINISHED, None))

    def tell(self, line: str) -> None:
        """Print a line, and keep it."""
        print(line, flush=True)
        with (self.out / LOG).open("a", encoding="utf-8") as log:
            log.write(line + "\n")


def run_limited(command: list[str], seconds: float, log: IO[str]) -> int | None:
    """Run a command in the checkout, print and keep what it says; return its exit code, None if its time was over.

    Then it is asked to end (SIGTERM), and killed some seconds later if it did not, with all processes that it started.
    """
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONUNBUFFERED": "1"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "errors": "replace"}
    process = subprocess.Popen(command, cwd=ROOT, env=env, start_new_session=True, **pipes)
    reader = threading.Thread(target=copy_lines, args=(process.stdout, log), daemon=True)
    reader.start()
    stopped = False
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        stopped = True
        end(process, signal.SIGTERM)
    except KeyboardInterrupt:
        end(process, signal.SIGTERM)
        raise
    finally:
        kill_group(process.pid, signal.SIGKILL)  # what it started and left behind
        reader.join(5)
        if process.stdout is not None and not reader.is_alive():
            process.stdout.close()
    return None if stopped else process.returncode


def end(process: subprocess.Popen[str], first: signal.Signals) -> None:
    """End a process: with a signal that it can heed, then for certain."""
    kill_group(process.pid, first)
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        kill_group(process.pid, signal.SIGKILL)
        process.wait()


def kill_group(group: int, number: signal.Signals) -> None:
    """Send a signal to a process that leads a group of its own, and to all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)


def copy_lines(source: IO[str] | None, log: IO[str]) -> None:
    """Print and keep lines as they come."""
    for line in source or ():
        print(line, end="", flush=True)
        log.write(line)
        log.flush()


def pack(run: Path, out: Path, whole: bool) -> list[Path]:
    """Pack a run's folder into files of at most PIECE bytes, NAME.tar.00 and so on, in place of earlier ones.

    whole: with all that it needs to go on; else its networks, settings and metrics.
    """
    for old in out.glob(f"{run.name}.tar.*"):
        old.unlink()
    if not run.is_dir():
        return []
    archive = out / f"{run.name}.tar"
    kept = [path for path in sorted(run.rglob("*")) if path.is_file() and (whole or is_result(path.relative_to(run)))]
    with tarfile.open(archive, "w") as packed:
        for path in kept:
            packed.add(path, f"{run.name}/{path.relative_to(run)}")
    pieces = [out / f"{archive.name}.{number:02d}" for number in range(-(-archive.stat().st_size // PIECE))]
    with archive.open("rb") as source:
        for piece in pieces:
            piece.write_bytes(source.read(PIECE))
    archive.unlink()
    return pieces


def is_result(path: Path) -> bool:
    """Whether a file of a run's folder, by its path in it, is what one trains for."""
    return path.parent == Path() and path.suffix in (".safetensors", ".json", ".jsonl")


def unpack(pieces: list[Path], runs: Path) -> None:
    """Unpack a run's folder into `runs`, in place of one of that name."""
    runs.mkdir(parents=True, exist_ok=True)
    joined = runs / f".{pieces[0].stem}.part"
    try:
        with joined.open("wb") as target:
            for piece in pieces:
                target.write(piece.read_bytes())
        shutil.rmtree(runs / pieces[0].name.removesuffix(".tar.00"), ignore_errors=True)
        with tarfile.open(joined) as packed:
            packed.extractall(runs, filter="data")
    finally:
        joined.unlink(missing_ok=True)


def summary(out: Path) -> Iterator[str]:
    """Yield the figures so far, those that were missed first."""
    path = out / FIGURES
    rows = json.loads(path.read_text("utf-8")) if path.is_file() else []
    for row in sorted(rows, key=lambda row: row["held"] is not False):
        verdict = {True: "yes", False: "NO", None: "-"}[row["held"]]
        yield f"{verdict:>4}  {row['name']}: {row['measured']}" + (f" ({row['target']})" if row["target"] else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("out"), metavar="FOLDER", help="what is kept (out)")
    parser.add_argument("--before", type=Path, metavar="FOLDER", help="the folder of an earlier slice")
    parser.add_argument("--minutes", type=float, default=60.0, help="of this slice (60)")
    parser.add_argument("--runs", type=Path, default=Path("runs"), metavar="FOLDER", help="where training is (runs)")
    parser.add_argument("--only", action="append", metavar="PART", help="this part, or several, done or not")
    parser.add_argument("--device", default="cuda", choices=("cuda", "host"), help="host: the CPU, to try this (cuda)")
    parser.add_argument("--quick", action="store_true", help="so little that the figures mean nothing")
    parser.add_argument("--list", action="store_true", help="print the order, and do nothing")
    options = parser.parse_args()
    options.out, options.runs = options.out.resolve(), options.runs.resolve()
    parts = order(options)
    if unknown := set(options.only or ()) - {part.name for part in parts}:
        raise SystemExit(f"gpu_slices: no part {', '.join(sorted(unknown))}; {', '.join(part.name for part in parts)}")
    if options.list:
        for part in parts:
            print(f"{part.minutes:5g} min{'+' if part.run else ' '} {part.name}")
        return
    here = Slice(options)
    if options.only:
        parts = [part for part in parts if part.name in options.only]
        for part in parts:
            here.done.pop(part.name, None)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        here.run(parts)
    except KeyboardInterrupt:
        here.tell("cut off: the next slice begins with this part")
    finally:
        print("\n".join(summary(here.out)), flush=True)


if __name__ == "__main__":
    main()
