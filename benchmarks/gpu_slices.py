"""Everything that a GPU is needed for where one is at hand for minutes: the parts of `make gpu` in an order, in slices.

    PYTHONPATH=. python3 benchmarks/gpu_slices.py --out out/1 --minutes 9.5
    PYTHONPATH=. python3 benchmarks/gpu_slices.py --out out/2 --minutes 9.5 --before out/1

Each part is a process of its own, stopped with all that it started when its time is over; whatever it prints is kept
in FOLDER/log.txt as it comes, figures in FOLDER/figures.json.  A part begins only if its time fits into what is left
of the slice; the next slice, which is told where the last one's folder is, goes on with those that are not done, and
with a run of training that was cut off.  `--list` shows the order, with each part's time.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
LOG, DONE, FIGURES = "log.txt", "parts.json", "figures.json"
GRACE = 20.0  # seconds from the signal to end until the signal that kills it
TIME_OVER = (124, -9, 137)  # exit codes of `timeout`: after the first signal, and after the second
# Minutes of the parts of `gpu.py`, in order: what a first visit should tell, then learning, then further checks.
FIRST = {"tests": 3, "self-play": 2.5, "anatomy": 1}
NEXT = {"network": 2.5, "gradient-step": 1.5, "katago": 1.5}
LAST = {"equal": 4, "runs": 8, "wave": 1, "random-moves": 2, "training": 3.5, "memcheck": 3, "racecheck": 3}
PEER = "--device cuda --games 4096 --height 6 --channels 96 --seconds 5 --turns 3 --readouts"  # of pgx_selfplay.py
# Runs whose folders `baseline.py --folder FOLDER/baseline` judges afterwards, on any machine: board and minutes.
RUNS = {"gpu-9x9": (9, 5), "gpu-19x19": (19, 30)}


class Part(NamedTuple):
    """A part of the order: a command line after `python`, the minutes that it gets, whether a later slice goes on."""

    name: str
    command: tuple[str, ...]
    minutes: float
    goes_on: bool = False


def order(options: argparse.Namespace) -> list[Part]:
    """Checks and figures, self-play beside pgx + mctx (where they are installed), and runs of training."""
    how = ("--device", options.device, *(["--quick"] if options.quick else []))
    how += ("--json", str(options.out / FIGURES))

    def parts(minutes: dict[str, float]) -> list[Part]:
        return [Part(name, ("benchmarks/gpu.py", *how, "--only", name), minutes[name]) for name in minutes]

    peer = ("benchmarks/pgx_selfplay.py", *PEER.split())
    peers = [Part(f"pgx-{readouts}", (*peer, str(readouts)), 2.5) for readouts in (16, 64)]
    where, runs = "cpu" if options.device == "host" else options.device, []
    for name, (size, minutes) in RUNS.items():
        folder = options.out / "baseline" / f"{size}x{size}-gpu{minutes}" / "gumbel" / "1" / "run"
        train = f"-m alphago train --board-size {size} --minutes {minutes} --device {where} --seed 1 --folder".split()
        runs.append(Part(name, (*train, str(folder)), min(minutes + 2, 8.5), goes_on=True))
    return [*parts(FIRST), *peers, *parts(NEXT), *runs, *parts(LAST)]


class Slice:
    """The parts that are run now, and what earlier slices left."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.out: Path = options.out
        self.until = time.monotonic() + 60 * options.minutes
        self.out.mkdir(parents=True, exist_ok=True)
        if options.before is not None:
            if not options.before.is_dir():
                raise SystemExit(f"gpu_slices: --before must be the folder of an earlier slice, got {options.before}")
            if not (self.out / DONE).is_file():  # unless this slice goes on itself
                shutil.copytree(options.before, self.out, dirs_exist_ok=True)
        path = self.out / DONE
        self.done: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.is_file() else {}

    def run(self, parts: list[Part]) -> None:
        """Run those parts that are not done, as far as the time reaches."""
        for part in parts:
            if part.name in self.done:
                continue
            left = (self.until - time.monotonic()) / 60
            if left < part.minutes:
                self.tell(f"{part.name}: {part.minutes:g} minutes do not fit into the {left:.1f} that are left")
                return
            self.one(part)

    def one(self, part: Part) -> None:
        """Run a part, and note how it ended."""
        self.tell(f"=== {part.name}, at most {part.minutes:g} minutes: {' '.join(part.command)}")
        began = time.monotonic()
        with (self.out / LOG).open("a", encoding="utf-8") as log:
            code = run_limited([sys.executable, *part.command], 60 * part.minutes, log)
        seconds = round(time.monotonic() - began, 1)
        if code is not None or not part.goes_on:
            self.done[part.name] = {"exit code": code, "seconds": seconds}
            (self.out / DONE).write_text(json.dumps(self.done, indent=1) + "\n", "utf-8")
        self.tell(f"=== {part.name}: {'stopped' if code is None else f'exit code {code}'} after {seconds:.0f} s")

    def tell(self, line: str) -> None:
        """Print a line, and keep it."""
        print(line, flush=True)
        with (self.out / LOG).open("a", encoding="utf-8") as log:
            log.write(line + "\n")


def run_limited(command: list[str], seconds: float, log: IO[str]) -> int | None:
    """Run a command in the checkout, print and keep what it says; return its exit code, None if its time was over.

    Then it and all that it started are asked to end (SIGTERM), and killed some seconds later if they did not.
    """
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONUNBUFFERED": "1"}
    env["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # JAX would take three quarters of the memory
    limited = ["timeout", f"--kill-after={GRACE:g}", f"{seconds:g}", *command]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "errors": "replace"}
    with subprocess.Popen(limited, cwd=ROOT, env=env, **pipes) as process:
        try:
            for line in process.stdout:
                print(line, end="", flush=True)
                log.write(line)
                log.flush()
        except KeyboardInterrupt:
            process.terminate()  # which `timeout` passes on
            raise
    return None if process.returncode in TIME_OVER else process.returncode


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
    parser.add_argument("--only", action="append", metavar="PART", help="this part, or several, done or not")
    parser.add_argument("--device", default="cuda", choices=("cuda", "host"), help="host: the CPU, to try this (cuda)")
    parser.add_argument("--quick", action="store_true", help="so little that the figures mean nothing")
    parser.add_argument("--list", action="store_true", help="print the order, and do nothing")
    options = parser.parse_args()
    options.out = options.out.resolve()
    parts = order(options)
    if unknown := set(options.only or ()) - {part.name for part in parts}:
        raise SystemExit(f"gpu_slices: no part {', '.join(sorted(unknown))}; {', '.join(part.name for part in parts)}")
    if options.list:
        for part in parts:
            print(f"{part.minutes:5g} min {part.name}")
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
