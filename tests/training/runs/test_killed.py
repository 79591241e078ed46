"""`kill -9` at any instant: no file is unreadable, and nothing is lost but what came after the last checkpoint."""

import json
import multiprocessing
import random
from pathlib import Path
from typing import Any

import pytest

from alphago.nn.net import load_model
from alphago.records.record import load_records
from alphago.training.runs.folder import state_from_bytes
from alphago.training.settings.judge_settings import Gate
from tests.training.runs.killed import SETTINGS, train_here
from tests.training.small_runs import GO, run, same

pytestmark = pytest.mark.skipif(
    "forkserver" not in multiprocessing.get_all_start_methods(), reason="processes are forked here from a warm one"
)


# With candidates, whose matches are interrupted too.
JUDGED: dict[str, Any] = {"gate": Gate(0.5, games=2, readouts=2, every=4), "adaptive_resignation": True}


def all_readable(folder: Path) -> None:
    """Every file under a final name, as it lies there after a kill."""
    for path in folder.rglob("*"):
        if path.name.endswith(".part") or path.is_dir():
            continue
        if path.parent.name == "state":
            state_from_bytes(path.read_bytes())
        elif path.suffix == ".safetensors":
            load_model(path, GO)
        elif path.suffix == ".npz":
            load_records(path)
        elif path.suffix == ".jsonl":
            for line in path.read_bytes().split(b"\n")[:-1]:
                json.loads(line)
        else:
            assert path.name in ("config.json", "config.copy.json", "lock"), path


def kill_often(folder: Path, times: int, seed: int, settings: dict[str, Any]) -> None:
    """Starts a run and kills it, again and again, then lets it end; compares it with one that was left alone."""
    expected, _ = run(folder / "whole", **settings)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.training.runs.killed"])
    instants = random.Random(seed)
    path, begun, kills, patience = folder / "killed", -1, 0, 0.3
    while True:
        process = context.Process(target=train_here, args=(path, settings))
        process.start()
        process.join(instants.uniform(0, patience) if kills < times else 600)
        ended = not process.is_alive()
        process.kill()
        process.join()
        if path.exists():
            all_readable(path)
        if ended:
            assert process.exitcode == 0
            break
        kills += 1
        state = newest(path)
        assert state >= begun, "an older state than before"
        patience *= 1.3 if state == begun else 1.0  # a machine so slow that no checkpoint comes in time
        begun = state
    assert same(load_model(path, GO), load_model(folder / "whole", GO))
    assert same(load_model(path, GO), expected)


def newest(path: Path) -> int:
    """The newest state's number; 0 if there is none."""
    return max((int(file.stem) for file in (path / "state").glob("*.safetensors")), default=0)


@pytest.mark.slow
def test_a_hundred_times(tmp_path: Path) -> None:
    for seed in range(15):
        kill_often(tmp_path / str(seed), 12, seed, SETTINGS if seed % 5 else JUDGED)
