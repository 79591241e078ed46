"""Runs the tests in every surrounding that they have to pass in: `python tests/matrix.py`.

    python tests/matrix.py --only avx2 one-core       # some of the rows
    python tests/matrix.py --only oldest -- tests/env -x   # what follows -- is pytest's

The Python that runs it needs the project's `dev` packages (`.venv/bin/python`, after `make test`); the row `oldest`
makes itself one in build/matrix, with pip.  There lies each row's output.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from sysconfig import get_path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "matrix"
VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
NOBODY = 65534  # any user but root will do
USER: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": []}


class NotHere(Exception):
    """Something that a row needs is not on this machine."""


@dataclass(frozen=True)
class Row:
    """The surroundings of a run of the tests.

    environment: variables to set.  oldest: whether the package's dependencies have the oldest versions that
    pyproject.toml allows.
    """

    environment: dict[str, str] = field(default_factory=dict)
    oldest: bool = False
    one_core: bool = False
    ordinary_user: bool = False


# ONEDNN_MAX_CPU_ISA limits torch's oneDNN and OpenVINO's own copy of it alike.
ROWS = {
    "default": Row(),
    "avx2": Row({"ONEDNN_MAX_CPU_ISA": "AVX2"}),
    "avx512-vnni": Row({"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_VNNI"}),
    "avx512-bf16": Row({"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_BF16"}),
    "aten-avx2": Row({"ATEN_CPU_CAPABILITY": "avx2"}),
    "one-core": Row(one_core=True),
    "oldest": Row(oldest=True),
    "ordinary-user": Row(ordinary_user=True),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=ROWS, default=list(ROWS), metavar="ROW", help="rows to run")
    parser.add_argument("--workers", type=int, default=2, help="tests side by side")
    parser.add_argument("pytest", nargs="*", help="arguments for pytest, after --")
    options = parser.parse_args()
    BUILD.mkdir(parents=True, exist_ok=True)
    lines = ["| row | tests | minutes |", "| --- | --- | ---: |"]
    fine = True
    for name in options.only:
        began = time.monotonic()
        try:
            told, passed = run(name, ROWS[name], options.workers, options.pytest)
        except NotHere as error:
            told, passed = str(error), False
        lines.append(f"| {name} | {told} | {(time.monotonic() - began) / 60:.1f} |")
        print(lines[-1], flush=True)
        fine &= passed
    print("", *lines, sep="\n")
    return 0 if fine else 1


def run(name: str, row: Row, workers: int, arguments: list[str]) -> tuple[str, bool]:
    """Runs the tests in one surrounding: how many passed, failed and so on, as pytest says, and whether all is well."""
    python = oldest_python() if row.oldest else Path(sys.executable)
    with tree(row) as root, (BUILD / f"{name}.log").open("w+") as log:
        command = [str(python), "-m", "pytest", "-n", str(workers), "--dist", "loadfile", "-p", "no:cacheprovider"]
        options: dict[str, Any] = {}
        if row.one_core:
            if shutil.which("taskset") is None:
                raise NotHere("no taskset")
            command = ["taskset", "-c", str(min(os.sched_getaffinity(0))), *command]
        environment = {**os.environ, **row.environment, "PYTHONPATH": str(root)}
        environment["NUMBA_CACHE_DIR"] = str(BUILD / f"numba-{VERSION}")
        if root != ROOT:
            environment |= {"HOME": str(root.parent), "TMPDIR": str(root.parent / "tmp")}
            environment["NUMBA_CACHE_DIR"] = str(root.parent / "numba")
            environment.pop("XDG_CACHE_HOME", None)
            options = USER
            command[0] = python_for_user(root.parent / "venv")
        done = subprocess.run(
            [*command, *arguments], cwd=root, env=environment, stdout=log, stderr=log, check=False, **options
        )
        log.seek(0)
        text = log.read()
    for line in re.findall(r"^(?:FAILED|ERROR) .*", text, re.MULTILINE):
        print(f"{name}: {line}", flush=True)
    return text.rstrip().rpartition("\n")[2].strip("= "), done.returncode == 0


@contextmanager
def tree(row: Row) -> Iterator[Path]:
    """The checkout; for an ordinary user, where root runs this, a copy that is that user's."""
    if not row.ordinary_user or os.geteuid() != 0:
        yield ROOT
        return
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "checkout"
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
        for file in filter(None, listed):
            if (ROOT / file).is_file():
                (root / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / file, root / file)
        (root.parent / "tmp").mkdir()
        for path in (root.parent, *root.parent.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
        yield root


def python_for_user(folder: Path) -> str:
    """The running Python, or where that is root's alone another one of its version, with the same packages."""
    for path in (sys.executable, *(f"{place}/python{VERSION}" for place in os.get_exec_path())):
        if runs(path):
            if path == sys.executable:
                return path
            subprocess.run([path, "-m", "venv", "--without-pip", folder], check=True)
            (folder / "lib" / f"python{VERSION}" / "site-packages" / "same.pth").write_text(get_path("purelib"))
            return str(folder / "bin" / "python")
    raise NotHere(f"no Python {VERSION} that others than root may run")


def runs(path: str) -> bool:
    """Whether an ordinary user may run this Python."""
    try:
        return not subprocess.run([path, "-c", ""], cwd="/", check=False, capture_output=True, **USER).returncode
    except OSError:
        return False


def oldest_python() -> Path:
    """The Python of a virtual environment of oldest versions, made anew where pyproject.toml or constraints.txt are."""
    folder = BUILD / "venv-oldest"
    python, done = folder / "bin" / "python", folder / "installed"
    needs = [ROOT / "pyproject.toml", ROOT / "constraints.txt"]
    if not (done.exists() and all(done.stat().st_mtime >= path.stat().st_mtime for path in needs)):
        install = ["install", "--prefer-binary", "-c", oldest_constraints(), "-e", ".[dev]"]
        with (BUILD / "oldest-install.log").open("w") as log:
            for step in ([sys.executable, "-m", "venv", "--clear", folder], [python, "-m", "pip", *install]):
                if subprocess.run(step, cwd=ROOT, stdout=log, stderr=log, check=False).returncode:
                    raise NotHere(f"not installed, see {log.name}")
        done.touch()
    return python


def oldest_constraints() -> Path:
    """Write a file of constraints with the oldest allowed versions of what the package needs, and return its path.

    The tools of the tests have the versions of constraints.txt; what the package's own dependencies need is free.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    needs = {name for extra in ("export", "notebook", "plot", "tensorboard", "web") for name in extras[extra]}
    lowest = dict(re.findall(r"^([\w-]+)>=([\d.]+)", "\n".join([*project["dependencies"], *needs]), re.MULTILINE))
    tools = {re.split(r"[<>=\[]", name)[0] for name in extras["dev"]} - set(lowest)
    pinned = (ROOT / "constraints.txt").read_text().splitlines()
    lines = [line for line in pinned if line.partition("==")[0] in tools]
    path = BUILD / "oldest.txt"
    path.write_text("\n".join([*lines, *(f"{name}=={version}" for name, version in lowest.items())]) + "\n")
    return path


if __name__ == "__main__":
    sys.exit(main())
