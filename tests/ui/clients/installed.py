"""The programs that drive our engines, in the folder that ALPHAGO_CLIENTS names; CONTRIBUTING.md installs them."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

VARIABLE = "ALPHAGO_CLIENTS"
HERE = Path(__file__).parent
ROOT = Path(__file__).parents[3]
PATIENCE = 2400  # seconds for a client's whole program


def client(name: str, *parts: str) -> Path:
    """The file of a client below the folder of all; the test is skipped, with a sentence, where there is none."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        pytest.skip(f"{name} is not installed: {VARIABLE} must name the folder with it (CONTRIBUTING.md)")
    path = Path(folder, *parts).absolute()
    if not path.exists():
        pytest.skip(f"{name} is not installed: there is no {path} (CONTRIBUTING.md)")
    return path


def node() -> str:
    """The program of Node.js."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("Node.js is not installed, which runs the modules of Sabaki and Ogatak (CONTRIBUTING.md)")
    return found


def compiled(folder: Path, *sources: Path, roots: Sequence[Path] = ()) -> list[Any]:
    """The beginning of a command that runs a class of these Java files; they are compiled into the folder.

    roots: folders where further classes, which these use, are searched.
    """
    compiler, java = shutil.which("javac"), shutil.which("java")
    if compiler is None or java is None:
        pytest.skip("a JDK is not installed, which compiles the classes of Lizzie and GoGui (CONTRIBUTING.md)")
    names = folder / "sources"
    names.write_text("\n".join(f'"{path}"' for path in sources))
    sources = ["-sourcepath", os.pathsep.join(map(str, roots)), f"@{names}"]
    command = [compiler, "-nowarn", "-encoding", "UTF-8", "-d", folder, *sources]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return [java, "-Djava.awt.headless=true", "-cp", folder]


def our_command(folder: Path, *before: str, drop_arguments: bool = False) -> Path:
    """A program in the folder that is `alphago`, as a client finds it, whatever is installed.

    before: words before the client's own, which are left out with `drop_arguments`.
    """
    path = folder / "alphago"
    given = "" if drop_arguments else ' "$@"'
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m alphago {" ".join(before)}{given}\n')
    path.chmod(0o755)
    return path


def driven(command: list[Any], home: Path, **environment: str) -> str:
    """What a client's program prints; it must end without an error.

    It writes its settings to `home`, and its `alphago` is the one under test.
    """
    ours = {"HOME": str(home), "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "default"}
    words, environment = list(map(str, command)), {**os.environ, **ours, **environment}
    done = subprocess.run(words, cwd=home, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout
