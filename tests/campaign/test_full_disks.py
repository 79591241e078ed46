"""A disk that is full at each write in turn, and files that may not grow."""

import errno
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from alphago.nn.net import load_model
from tests.campaign.tally import Area, rounds, times
from tests.training.small_runs import GO, run, same

pytestmark = pytest.mark.campaign
GAMES = str(Path(__file__).parents[1] / "data")
VERBS = {
    "selfplay": ["selfplay", "--board-size", "3", "--games", "2", "--readouts", "2", "--folder", "out"],
    "evaluate": ["evaluate", "random", "uct:1", "--board-size", "3", "--games", "2", "--folder", "out"],
    "sgf": ["sgf", GAMES, "--to", "out", "--workers", "1"],
    "export": ["export", "7x7", "--format", "w32", "--out", "out"],
    "plot": ["plot", "--network", "7x7", "--out", "out.svg"],
    "review": ["review", f"{GAMES}/9x9/990828.sgf", "--readouts", "2", "--out", "out.sgf"],
}


class Disk:
    """A disk on which the file number `full` cannot be flushed any more; 0 for none."""

    def __init__(self, full: int) -> None:
        self.full, self.written, self.flush = full, 0, os.fsync

    def __call__(self, handle: int) -> None:
        self.written += 1
        if self.full and self.written >= self.full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.flush(handle)


def test_training_at_each_write_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was whole stays whole: once there is room, the run ends with the weights of an undisturbed one."""
    whole, _ = run(Path("whole"), 12)
    with Area("full disk at each write of a run") as area:
        for full in rounds(40):
            folder = Path(f"full-{full}")
            with area.attempt(f"write {full + 1}", OSError), monkeypatch.context() as patch:
                patch.setattr("alphago.system.files.os.fsync", Disk(full + 1))
                run(folder, 12)
            with area.attempt(f"going on after write {full + 1}"):
                run(folder, 12)
                assert same(load_model(folder, GO), whole)


@pytest.mark.parametrize("verb", VERBS)
def test_files_that_may_not_grow(verb: str) -> None:
    """As a quota does: the call fails in a sentence, and nothing half-written has a final name."""
    with Area("files that may not grow") as area:
        for size in (0, 700, 20_000)[: times(3)]:
            code, text = limited(VERBS[verb], size)
            area.check(f"{verb} with {size} bytes: {code}, {text[-300:]}", code in (0, 2) and "Traceback" not in text)


def limited(words: list[str], size: int) -> tuple[int, str]:
    """Run a command whose files may not have more than some bytes, with kernels that were compiled before.

    Python writes no bytecode: of a file that may not grow it keeps the beginning, and fails at each later import of it.
    """

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    done = subprocess.run(
        [sys.executable, "-m", "alphago", *words],
        preexec_fn=limit,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    return done.returncode, done.stderr
