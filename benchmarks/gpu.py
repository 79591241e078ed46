"""Everything that a GPU is needed for, in one command: `make gpu`.

Runs the tests that need a device, compares millions of random moves with numba's, plays a few games more under
compute-sanitizer where that is installed, trains, plays and runs out of memory on purpose, measures, and prints one
table: figures beside what was wanted.  Nothing is installed and no network is needed: a bare checkout with
PYTHONPATH=. does, where there are torch, cupy, numba, numpy, tqdm and safetensors.  Each figure is told as it comes.  A
part that fails is told in the table, and the others go on; where all of it is cut off, by Ctrl-C or SIGTERM, the table
has what there was.  Where a GPU is at hand for minutes, `gpu_slices.py` runs the parts one by one, each with a limit.
"""

import argparse
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from gpu_equal import equal, play_games
from gpu_figures import BOARDS, QUICK, Figure, Scale
from gpu_networks import NETWORKS
from gpu_runs import runs

from alphago import GoEnv
from alphago.arena.standings import table
from alphago.cuda.contract import BackendMissing
from alphago.env.devices import choose_device
from alphago.nn.inference.hardware import describe_machine
from alphago.system.cores import available_cores

ROOT = Path(__file__).resolve().parents[1]
SECTIONS = {**BOARDS, **NETWORKS}
PARTS = ("tests", "equal", "memcheck", "racecheck", "runs", *SECTIONS)
TIME_LIMIT = 1200.0  # seconds of the tests, and of compute-sanitizer
APART = {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}  # each tensor's memory for itself, where an overrun is seen
MEMORY_ERROR = 9  # what compute-sanitizer is told to exit with


def tests(scale: Scale, quick: bool) -> Iterator[Figure]:
    """The kernels' builds and the gpu tests; on the host those that need no device, of quick ones one file."""
    if missing := [name for name in ("pytest", "hypothesis") if importlib.util.find_spec(name) is None]:
        yield Figure("gpu tests", f"not run: {' and '.join(missing)} not installed", "all pass")
        return
    on_device = scale.device == "cuda"
    texts = {path: path.read_text("utf-8") for path in sorted((ROOT / "tests").rglob("test_*.py"))}
    files = [path for path, text in texts.items() if "mark.gpu" in text or "device: str" in text]  # or the fixture
    chosen = [*files, ROOT / "tests" / "cuda"]
    if quick:
        chosen = [ROOT / "tests" / "cuda" / "test_callers.py"]
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
    arguments = ["-q", "-m", marked, "-W", "default", "-p", "no:cacheprovider", *side_by_side(), *map(str, paths)]
    done = run([sys.executable, "-m", "pytest", *arguments])
    lines = (done.stdout.strip() or done.stderr.strip() or "nothing was said").splitlines()
    if done.returncode:
        print("\n".join(lines[-40:]), flush=True)
    return Figure(name, lines[-1].strip("= "), "all pass", done.returncode == 0)


def side_by_side() -> list[str]:
    """pytest's options for tests side by side, where there are cores and xdist for that."""
    processes = min(6, available_cores() // 2)
    if processes < 2 or importlib.util.find_spec("xdist") is None:
        return []
    return ["-n", str(processes), "--dist", "load"]


def sanitized(scale: Scale, check: str) -> Iterator[Figure]:
    """Some games of the tests under a tool of compute-sanitizer: "memcheck" or "racecheck"."""
    name, wanted = f"compute-sanitizer, {check}", "0 errors" if check == "memcheck" else "0 hazards"
    tool = shutil.which("compute-sanitizer")
    if scale.device != "cuda" or tool is None:
        why = "the host build runs without it" if scale.device != "cuda" else "it is not installed"
        yield Figure(name, f"not run: {why}", wanted)
        return
    options = ["--tool", check, "--error-exitcode", str(MEMORY_ERROR)]
    games = (sys.executable, str(Path(__file__).resolve()), "--games-only", "--device", "cuda")
    done = run([tool, *options, *games], **APART)
    told = [line.strip("= ") for line in done.stdout.splitlines() if line.startswith("=========")]
    if done.returncode in (0, MEMORY_ERROR):
        summary = next((line for line in reversed(told) if "SUMMARY" in line), "it says nothing")
        yield Figure(name, summary, wanted, done.returncode == 0)
        return
    why = next((line for line in told if "rror" in line or "support" in line), f"exit code {done.returncode}")
    yield Figure(name, f"it does not run here: {why}", wanted)


def run(command: list[str], **more: str) -> subprocess.CompletedProcess[str]:
    """A command in the checkout, whose package it imports, with its output; more: variables of its environment."""
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **more}
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=env, timeout=TIME_LIMIT)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda", choices=("cuda", "host"), help="host: the CPU, to try this (cuda)")
    parser.add_argument("--quick", action="store_true", help="so little that the figures mean nothing")
    parser.add_argument("--minutes", type=float, default=1.5, help="of the slice of training (1.5)")
    parser.add_argument(
        "--only", choices=PARTS, action="append", metavar="PART", help=f"this part, or several: {', '.join(PARTS)}"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="add the figures to those in this file")
    parser.add_argument("--games-only", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    try:
        choose_device(GoEnv(9), options.device)
    except BackendMissing as error:
        raise SystemExit(f"make gpu: {error}") from None
    if options.games_only:
        play_games(options.device, apart=True)
        return
    scale = Scale(options.device, **QUICK) if options.quick else Scale(options.device, minutes=options.minutes)
    parts = {
        "tests": partial(tests, scale, options.quick),
        "equal": partial(equal, scale),
        **{check: partial(sanitized, scale, check) for check in ("memcheck", "racecheck")},
        "runs": partial(runs, scale),
        **{name: partial(section, scale) for name, section in SECTIONS.items()},
    }
    wanted = set(options.only or parts)
    figures: list[Figure] = []
    cut_off = False
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # whose time is over gets a table too
    try:
        for name, part in parts.items():
            if name in wanted:
                for figure in figures_of(name, part):
                    figures.append(figure)
                    if options.json is not None:
                        keep(options.json, name, figure)
    except KeyboardInterrupt:
        cut_off = True
    finally:
        signal.signal(signal.SIGTERM, before)
    print_table(figures)
    if cut_off or any(figure.measured.startswith("failed: ") for figure in figures):
        raise SystemExit("make gpu: it was cut off" if cut_off else 1)


def keep(path: Path, part: str, figure: Figure) -> None:
    """Add a figure to a file of rows: one list in JSON."""
    rows = json.loads(path.read_text("utf-8")) if path.is_file() else []
    path.write_text(
        json.dumps([*rows, {"part": part, **figure._asdict()}], indent=1, ensure_ascii=False) + "\n", "utf-8"
    )


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
