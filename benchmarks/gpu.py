"""Everything that a GPU is needed for, in one command: `make gpu`.

Runs the tests that need a device, once more a few of their games under compute-sanitizer where that is installed, then
the benchmarks and a slice of training, and prints one table: figures beside what was wanted.  Nothing is installed and
no network is needed: a bare checkout with PYTHONPATH=. does, where there are torch, cupy, numba, numpy, tqdm and
safetensors.  Each figure is told as it comes.  A part that fails is told in the table, and the others go on; where all
of it is cut off, by Ctrl-C or SIGTERM, the table has what there was.
"""

import argparse
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from gpu_figures import QUICK, SECTIONS, Figure, Scale

from alphago import GoEnv
from alphago.arena.standings import table
from alphago.cuda.backend import find_backend
from alphago.cuda.contract import BackendMissing
from alphago.cuda.device import import_cupy
from alphago.env.devices import choose_device
from alphago.nn.inference.hardware import describe_machine

ROOT = Path(__file__).resolve().parents[1]
TIME_LIMIT = 1200.0  # seconds of the tests, and of compute-sanitizer
MEMORY_ERROR = 9  # what compute-sanitizer is told to exit with


def tests(scale: Scale, quick: bool) -> Iterator[Figure]:
    """The kernels' builds and the gpu tests; on the host those that need no device, of quick ones one file."""
    if importlib.util.find_spec("pytest") is None:
        yield Figure("gpu tests", "not run: pytest is not installed", "all pass")
        return
    on_device = scale.device == "cuda"
    files = [path for path in sorted((ROOT / "tests").rglob("*.py")) if "mark.gpu" in path.read_text("utf-8")]
    chosen = [path.parent if path.name == "conftest.py" else path for path in files]
    if quick:
        chosen = [ROOT / "tests" / "cuda" / "test_policy.py"]
    usual = "not gpu and not slow"
    if on_device:
        yield tested(
            "builds of the kernels, nvcc's too where it is", usual, [ROOT / "tests" / "cuda" / "test_build.py"]
        )
        yield tested("gpu tests", "gpu", chosen)
    else:
        yield tested("tests", usual, chosen)


def tested(name: str, marked: str, paths: list[Path]) -> Figure:
    """What pytest says of the tests with such marks."""
    # Other versions of libraries warn of other things.
    arguments = ["-q", "-m", marked, "-W", "default", "-p", "no:cacheprovider", *map(str, paths)]
    done = run([sys.executable, "-m", "pytest", *arguments])
    lines = (done.stdout.strip() or done.stderr.strip() or "nothing was said").splitlines()
    if done.returncode:
        print("\n".join(lines[-40:]), flush=True)
    return Figure(name, lines[-1].strip("= "), "all pass", done.returncode == 0)


def memcheck(scale: Scale) -> Iterator[Figure]:
    """Some games of the tests under compute-sanitizer's memcheck."""
    name, wanted = "compute-sanitizer, memcheck", "0 errors"
    tool = shutil.which("compute-sanitizer")
    if scale.device != "cuda" or tool is None:
        why = "the host build runs without it" if scale.device != "cuda" else "it is not installed"
        yield Figure(name, f"not run: {why}", wanted)
        return
    options = ["--tool", "memcheck", "--error-exitcode", str(MEMORY_ERROR)]
    done = run([tool, *options, sys.executable, str(Path(__file__).resolve()), "--games-only", "--device", "cuda"])
    told = [line.strip("= ") for line in done.stdout.splitlines() if line.startswith("=========")]
    if done.returncode in (0, MEMORY_ERROR):
        summary = next((line for line in reversed(told) if "SUMMARY" in line), "it says nothing")
        yield Figure(name, summary, wanted, done.returncode == 0)
        return
    why = next((line for line in told if "rror" in line or "support" in line), f"exit code {done.returncode}")
    yield Figure(name, f"it does not run here: {why}", wanted)


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    """A command in the checkout, whose package it imports, with its output."""
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=env, timeout=TIME_LIMIT)


def play_games(device: str) -> None:
    """Every verb of the boards over random games, compared with numba's: what memcheck looks at."""
    from tests.cuda.boards import Twins

    if device == "cuda":
        # Each array gets memory of its own: what overruns one in CuPy's pool is in the next one, and nobody sees it.
        import_cupy().cuda.set_allocator(None)
    for size in (2, 9, 19):
        twins = Twins(GoEnv(size, planes="alive", suicide=size == 9), 6, find_backend(device))
        twins.exercise(np.random.default_rng(size), 60)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda", choices=("cuda", "host"), help="host: the CPU, to try this (cuda)")
    parser.add_argument("--quick", action="store_true", help="so little that the figures mean nothing")
    parser.add_argument("--minutes", type=float, default=1.5, help="of the slice of training (1.5)")
    parser.add_argument(
        "--only", choices=("tests", "memcheck", *SECTIONS), action="append", help="this part, or several"
    )
    parser.add_argument("--games-only", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    try:
        choose_device(GoEnv(9), options.device)
    except BackendMissing as error:
        raise SystemExit(f"make gpu: {error}") from None
    if options.games_only:
        play_games(options.device)
        return
    scale = Scale(options.device, **QUICK) if options.quick else Scale(options.device, minutes=options.minutes)
    parts = {
        "tests": partial(tests, scale, options.quick),
        "memcheck": partial(memcheck, scale),
        **{name: partial(section, scale) for name, section in SECTIONS.items()},
    }
    wanted = set(options.only or parts)
    figures: list[Figure] = []
    cut_off = False
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # whose time is over gets a table too
    try:
        for name, part in parts.items():
            if name in wanted:
                figures.extend(figures_of(name, part))
    except KeyboardInterrupt:
        cut_off = True
    finally:
        signal.signal(signal.SIGTERM, before)
    print_table(figures)
    if cut_off or any(figure.measured.startswith("failed: ") for figure in figures):
        raise SystemExit("make gpu: it was cut off" if cut_off else 1)


VERDICTS = {True: "yes", False: "no", None: "-"}


def print_table(figures: list[Figure]) -> None:
    """The machine and its figures."""
    machine = describe_machine()
    print(f"\n{machine['machine']['processor']}, {machine['machine']['cores']} cores")
    print(f"devices: {', '.join(machine['machine']['CUDA devices']) or 'none'}")
    print(", ".join(f"{name} {version}" for name, version in machine["versions"].items() if version), end="\n\n")
    rows = [[figure.name, figure.measured, figure.target, VERDICTS[figure.held]] for figure in figures]
    print(table([["figure", "measured", "wanted", "held"], *rows]), flush=True)


def figures_of(name: str, part: Callable[[], Iterator[Figure]]) -> Iterator[Figure]:
    """The figures of a part, told as they come; where it fails, one that says so."""
    print(f"{name} …", flush=True)
    try:
        for figure in part():
            wanted = f" ({figure.target}: {VERDICTS[figure.held]})" if figure.target else ""
            print(f"  {figure.name}: {figure.measured}{wanted}", flush=True)
            yield figure
    except Exception as error:  # whatever it is, a machine that is at hand for minutes should tell the rest
        traceback.print_exc()
        yield Figure(name, f"failed: {type(error).__name__}: {error}".splitlines()[0], "", False)


if __name__ == "__main__":
    main()
