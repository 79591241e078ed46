"""Planted code: files with the names of libraries where a command starts other processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.campaign.tally import Area, rounds
from tests.campaign.test_damaged_files import OWNED

pytestmark = pytest.mark.campaign


def test_planted_modules() -> None:
    commands = (
        "train --board-size 3 --games 4 --tower-height 0 --channels 4 --readouts 2 --learners 2 --folder run",
        "play --board-size 3 --readouts 2 --level 1",
    )
    with Area("planted modules") as area:
        for name in ("json", "numpy", "torch", "numba", "alphago", "pickle"):
            Path(f"{name}.py").write_text(f"import os; os.mkdir({OWNED!r})\n")
        for number in rounds(4):
            words = commands[number % len(commands)].split()
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
            subprocess.run(
                [sys.executable, "-P", "-m", "alphago", *words],
                env=environment, input=b"quit\n", capture_output=True, timeout=900, check=False,
            )  # fmt: skip
            area.check(" ".join(words), not Path(OWNED).exists())
