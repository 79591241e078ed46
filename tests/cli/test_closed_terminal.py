"""A terminal that is closed while a command runs."""

import os
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from alphago.cli import main

fcntl, pty, termios = (pytest.importorskip(name) for name in ("fcntl", "pty", "termios"))  # not on Windows
ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_a_closed_terminal_ends_a_run_as_its_signal_does(tmp_path: Path) -> None:
    """It is saved, and the code is that of SIGHUP although the last words cannot be written."""
    terminal, side = pty.openpty()
    words = "train --board-size 3 --tower-height 0 --channels 4 --readouts 2 --games 100000 --folder"
    process = subprocess.Popen(
        [sys.executable, "-m", "alphago", *words.split(), str(tmp_path / "run")],
        stdin=side, stdout=side, stderr=side, cwd=ROOT, start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )  # fmt: skip
    os.close(side)
    until = time.monotonic() + 600
    while not (tmp_path / "run" / "metrics.jsonl").exists() and time.monotonic() < until:
        if select.select([terminal], [], [], 0.1)[0]:
            os.read(terminal, 65536)
    os.close(terminal)
    assert process.wait(600) == 129
    assert main(["info", str(tmp_path / "run")]) == 0
