"""The parts of `make gpu` in slices: order, limits, what is kept, and runs of training that go from slice to slice."""

import json
import sys
import time
from argparse import Namespace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from alphago.env.game import GameEnv
from alphago.training.history import METRICS
from alphago.training.watch.report import Report
from tests.benchmarks.bench import Bench
from tests.devices import needs_compiler

HANGS = "import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']); "
HANGS += "print('begun', flush=True); time.sleep(600)"


@pytest.fixture
def slices(bench: Bench) -> ModuleType:
    import gpu_slices

    return gpu_slices


def options(tmp_path: Path, **given: object) -> Namespace:
    usual = {"minutes": 60.0, "before": None, "device": "host", "quick": True, "runs": tmp_path / "runs"}
    return Namespace(**{**usual, "out": tmp_path / "out", **given})


def part(slices: ModuleType, name: str, code: str, minutes: float = 1.0, run: str = "") -> object:
    return slices.Part(name, ("-c", code), minutes, run)


def test_the_order(bench: Bench) -> None:
    """All parts of gpu.py are in it, and no part takes longer than a slice of ten minutes."""
    import gpu

    lines = [line.split() for line in bench.run("gpu_slices.py", "--list").splitlines()]
    assert [name for _, _, name in lines] == [*gpu.PARTS, "gpu-9x9", "gpu-19x19"]
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
    ends = {name: (row["exit code"], row["over"]) for name, row in done.items()}
    assert ends == {"first": (0, True), "second": (1, True)}
    after = tmp_path / "next"
    slices.Slice(options(tmp_path, out=after, before=tmp_path / "out", minutes=80.0)).run(parts)
    assert "\nthree\n" in (after / "log.txt").read_text().removeprefix(log)
    assert (after / "log.txt").read_text().count("\none\n") == 1
    with pytest.raises(SystemExit, match="--before must be the folder of an earlier slice, got "):
        slices.Slice(options(tmp_path, before=tmp_path / "nowhere"))


def test_a_part_that_takes_too_long_is_stopped(slices: ModuleType, tmp_path: Path) -> None:
    """With what it started, which would keep its output open and the device busy."""
    with (tmp_path / "log").open("w") as log:
        began = time.monotonic()
        assert slices.run_limited([sys.executable, "-c", HANGS], 2.0, log) is None
    assert time.monotonic() - began < 60
    assert (tmp_path / "log").read_text() == "begun\n"


def test_a_part_that_does_not_heed_is_killed(
    slices: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "GRACE", 0.1)
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    with (tmp_path / "log").open("w") as log:
        assert slices.run_limited([sys.executable, "-c", deaf], 2.0, log) is None


def test_a_run_goes_from_slice_to_slice(slices: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packed into files of a size that is carried; once it is over, only what it was for."""
    monkeypatch.setattr(slices, "PIECE", 20_000)
    goes_on = """
import os, sys
from pathlib import Path
run = Path("RUN")
(run / "state").mkdir(parents=True, exist_ok=True)
count = len(list((run / "state").iterdir()))
(run / "state" / f"{count}.safetensors").write_bytes(os.urandom(30_000))
(run / "weights.safetensors").write_bytes(b"weights")
raise SystemExit(0 if count == 1 else 75)
"""
    states = []
    for number, folder in enumerate(("one", "two")):
        here = options(
            tmp_path,
            out=tmp_path / folder,
            runs=tmp_path / f"runs {folder}",
            before=tmp_path / "one" if number else None,
        )
        run = here.runs / "gpu-9x9"
        slices.Slice(here).run([part(slices, "train", goes_on.replace("RUN", str(run)), run="gpu-9x9")])
        states.append(sorted((path.name, path.read_bytes()) for path in (run / "state").iterdir()))
    assert states[1][0] == states[0][0]  # what the second slice found
    sizes = [path.stat().st_size for path in sorted((tmp_path / "one").glob("gpu-9x9.tar.*"))]
    assert sizes[:-1] == [20_000] * (len(sizes) - 1)
    (packed,) = (tmp_path / "two").glob("gpu-9x9.tar.*")
    slices.unpack([packed], tmp_path / "end")
    assert [path.name for path in (tmp_path / "end").rglob("*") if path.is_file()] == ["weights.safetensors"]
    rows = [json.loads((tmp_path / folder / "parts.json").read_text())["train"] for folder in ("one", "two")]
    assert [(row["exit code"], row["over"]) for row in rows] == [(75, False), (0, True)]


def test_the_summary_begins_with_what_was_missed(slices: ModuleType, tmp_path: Path) -> None:
    rows = [
        {"part": "wave", "name": "a wave", "measured": "70 us", "target": "at most 80 us", "held": True},
        {"part": "network", "name": "share", "measured": "20%", "target": "at least 30%", "held": False},
        {"part": "network", "name": "product", "measured": "790 TFLOP/s", "target": "", "held": None},
    ]
    (tmp_path / "figures.json").write_text(json.dumps(rows))
    assert list(slices.summary(tmp_path)) == [
        "  NO  share: 20% (at least 30%)",
        " yes  a wave: 70 us (at most 80 us)",
        "   -  product: 790 TFLOP/s",
    ]


def test_an_unknown_part(bench: Bench, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="gpu_slices: no part tea; tests, equal, "):
        bench.run("gpu_slices.py", "--out", str(tmp_path), "--only", "tea")


@pytest.mark.parametrize(("stopped", "code"), [(True, 75), (False, 0)])
def test_the_exit_code_says_whether_a_run_is_over(bench: Bench, tmp_path: Path, stopped: bool, code: int) -> None:
    calls: list[dict[str, Any]] = []

    def trained(env: GameEnv, *, reports: list[Report], **how: Any) -> None:
        calls.append(how)
        for report in reports:
            report.finish({}, tmp_path, stopped)

    bench.patch.setattr("alphago.train", trained)
    bench.patch.setattr("alphago.training.watch.report.ConsoleReport.finish", lambda self, *ended: None)
    with pytest.raises(SystemExit) as caught:
        bench.run("gpu_training.py", "--preset", "19x19", "--minutes", "30", "--stop-after", "9", "--folder", "runs/a")
    assert caught.value.code == code
    run = {"preset": "19x19", "folder": Path("runs/a"), "device": "cuda"}
    assert calls == [{**run, "stop_after": 9.0, "max_minutes": 30.0}]


@needs_compiler
@pytest.mark.slow
def test_training_in_slices(bench: Bench, tmp_path: Path) -> None:
    """A slice that ends before the run, and one that ends it."""
    arguments = ("--preset", "7x7", "--device", "host", "--small", "--folder", str(tmp_path / "run"))
    codes = []
    for stop_after in ("0.01", "60"):
        with pytest.raises(SystemExit) as caught:
            bench.run("gpu_training.py", *arguments, "--stop-after", stop_after)
        codes.append(caught.value.code)
    assert codes == [75, 0]
    last = json.loads((tmp_path / "run" / METRICS).read_text().splitlines()[-1])
    assert last["games"] >= 32
