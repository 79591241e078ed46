"""The parts of `make gpu` in slices: order, limits, what is kept, and runs of training that go from slice to slice."""

import json
import sys
import time
from argparse import Namespace
from pathlib import Path
from types import ModuleType

import pytest

from tests.benchmarks.bench import Bench

HANGS = "import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']); "
HANGS += "print('begun', flush=True); time.sleep(600)"


@pytest.fixture
def slices(bench: Bench) -> ModuleType:
    import gpu_slices

    return gpu_slices


def options(tmp_path: Path, **given: object) -> Namespace:
    usual = {"minutes": 60.0, "before": None, "device": "host", "quick": True}
    return Namespace(**{**usual, "out": tmp_path / "out", **given})


def part(slices: ModuleType, name: str, code: str, minutes: float = 1.0) -> object:
    return slices.Part(name, ("-c", code), minutes)


def test_the_order(bench: Bench) -> None:
    """All parts of gpu.py are in it, and no part takes longer than a slice of ten minutes."""
    import gpu

    lines = [line.split() for line in bench.run("gpu_slices.py", "--list").splitlines()]
    assert [name for _, _, name in lines] == [*gpu.PARTS, "gpu-9x9"]
    assert all(float(minutes) < 9 for minutes, _, _ in lines)


def test_what_parts_say_is_kept_and_they_run_once(slices: ModuleType, tmp_path: Path) -> None:
    """A part that fails is over too; the next slice, which takes over, begins with the first that is not."""
    parts = [
        part(slices, "first", "print('one')"),
        part(slices, "second", "raise SystemExit('two')"),
        part(slices, "third", "print('three')", minutes=70),
    ]
    slices.Slice(options(tmp_path)).run(parts)
    log = (tmp_path / "out" / "log.txt").read_text()
    assert "\none\n" in log
    assert "\ntwo\n=== second: exit code 1 after " in log
    assert "third: 70 minutes do not fit into the " in log
    done = json.loads((tmp_path / "out" / "parts.json").read_text())
    assert {name: row["exit code"] for name, row in done.items()} == {"first": 0, "second": 1}
    after = tmp_path / "next"
    slices.Slice(options(tmp_path, out=after, before=tmp_path / "out", minutes=80.0)).run(parts)
    assert "\nthree\n" in (after / "log.txt").read_text().removeprefix(log)
    assert (after / "log.txt").read_text().count("\none\n") == 1
    with pytest.raises(SystemExit, match="--before must be the folder of an earlier slice, got "):
        slices.Slice(options(tmp_path, before=tmp_path / "nowhere"))


@pytest.mark.slow
@pytest.mark.parametrize("deaf", ["", "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); "])
def test_a_part_that_takes_too_long_is_stopped(
    slices: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deaf: str
) -> None:
    """With what it started, which would keep its output open and the device busy; killed if it does not heed."""
    monkeypatch.setattr(slices, "GRACE", 0.1 if deaf else slices.GRACE)
    with (tmp_path / "log").open("w") as log:
        began = time.monotonic()
        assert slices.run_limited([sys.executable, "-c", deaf + HANGS], 2.0, log) is None
    assert time.monotonic() - began < 60
    assert (tmp_path / "log").read_text() == "begun\n"
