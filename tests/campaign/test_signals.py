"""Every command, and a signal at a random instant: it ends as it should, says no traceback, and leaves no process."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.campaign.tally import Area, rounds, times

pytestmark = pytest.mark.campaign
GAMES = str(Path(__file__).parents[1] / "data")
SMALL = ["--board-size", "5", "--games", "100000", "--readouts", "4"]
COMMANDS = {
    "train": ["train", *SMALL, "--tower-height", "0", "--channels", "4", "--folder", "out"],
    "selfplay": ["selfplay", *SMALL, "--folder", "out"],
    "evaluate": ["evaluate", "random", "uct:50", "--board-size", "9", "--games", "1000", "--folder", "out"],
    "gtp": ["gtp", "7x7"],
    "analysis": ["analysis", "7x7"],
    "play": ["play", "--board-size", "7"],
    "web": ["web", "7x7", "--no-browser", "--port", "0"],
    "review": ["review", GAMES, "--readouts", "50"],
    "exam": ["exam", "9x9", "--readouts", "64"],
    "sgf": ["sgf", GAMES, "--to", "out", "--workers", "2"],
}
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP]


def members(group: int) -> list[int]:
    """The processes of a group that have not ended."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            found.append(int(path.parent.name))
    return found


def struck(words: list[str], number: signal.Signals, after: float) -> str:
    """Start a command, send it a signal after some seconds; return what is wrong with its end, "" for nothing."""
    process = subprocess.Popen(
        [sys.executable, "-m", "alphago", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background job ignores it
    )
    try:
        time.sleep(after)
        process.send_signal(number)
        if number == signal.SIGSTOP:
            time.sleep(1)
            process.send_signal(signal.SIGCONT)
            process.send_signal(signal.SIGINT)
        _, text = process.communicate(timeout=300)
    except subprocess.TimeoutExpired:
        return "it does not end"
    finally:
        time.sleep(0.2)
        left = members(process.pid) if process.poll() is not None else []
        if process.poll() is None or left:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    if "Traceback" in text and number != signal.SIGKILL:
        return text[-600:]
    if left:
        return f"processes are left: {left}"
    allowed = {0, 1, 130, -2, 143, -15, -9} if number != signal.SIGKILL else {0, 1, -9}
    return "" if process.returncode in allowed else f"code {process.returncode}: {text[-300:]}"


@pytest.mark.parametrize("verb", COMMANDS)
def test_a_signal_at_a_random_instant(verb: str) -> None:
    chance = random.Random(verb)
    with Area("signals") as area:
        for i in rounds(12):
            number = SIGNALS[i % 4] if times(12) >= 4 else chance.choice(SIGNALS)
            after = chance.uniform(0, 8) ** 2 / 4  # most early, while libraries and kernels are loaded
            words = [f"out{i}" if word == "out" and verb != "train" else word for word in COMMANDS[verb]]
            wrong = struck(words, number, after)
            area.check(f"{verb}, {number.name} after {after:.2f} s: {wrong}", not wrong)
