"""A run that ends within any write: no file is unreadable, and nothing is lost but what came after the last save."""

import json
import os
import random
import threading
from contextlib import suppress
from itertools import chain, repeat
from pathlib import Path
from typing import Any
from unittest.mock import DEFAULT, Mock

import pytest

from alphago.nn.net import load_model
from alphago.records.record import load_records
from alphago.training.loop import train_loop
from alphago.training.runs.config import parse_config
from alphago.training.runs.folder import state_from_bytes
from alphago.training.settings.judge_settings import Gate
from tests.training.small_runs import GO, EagerSaving, Killed, games_in, opened, run, same

SETTINGS: dict[str, Any] = {"num_games": 12, "samples_per_position": 3.0}
# With candidates, whose matches are interrupted too.
JUDGED: dict[str, Any] = {"gate": Gate(0.5, games=2, readouts=2, every=4), "adaptive_resignation": True}


def newest_state(folder: Path) -> int:
    """Read every file of a run as it lies there after a kill; return the newest state's number, 0 if there is none."""
    for path in filter(Path.is_file, folder.rglob("*")):
        if path.parent.name == "state":
            state_from_bytes(path.read_bytes())
        elif path.suffix == ".safetensors":
            load_model(path, GO)
        elif path.suffix == ".npz":
            load_records(path)
        elif path.suffix == ".jsonl":
            list(map(json.loads, path.read_bytes().splitlines()))
        elif path.name != "lock":
            parse_config(path)
    return max((int(file.stem) for file in folder.glob("state/*")), default=0)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [SETTINGS, JUDGED], ids=["without judges", "with candidates"])
def test_killed_again_and_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any]) -> None:
    """Saves come before every move and gradient step; each time after another number of written files comes the end."""
    expected, _ = run(tmp_path / "whole", **settings)
    folder, numbers, begun = tmp_path / "killed", random.Random(0), [0]  # the newest state after each kill
    for _ in range(1000):
        end = chain(repeat(DEFAULT, numbers.randrange(16)), repeat(Killed))
        with suppress(Killed), monkeypatch.context() as patch:
            patch.setattr("os.replace", Mock(wraps=os.replace, side_effect=end))
            with opened(folder, saving=EagerSaving(), **settings) as going_on:
                train_loop(going_on, threading.Event())
                going_on.checkpoint()
            break
        begun.append(newest_state(folder))
    assert begun == sorted(begun)
    assert same(load_model(folder, GO), expected)
    whole, pieces = ([game.seed for game in games_in(path)] for path in (tmp_path / "whole", folder))
    assert pieces == whole
    assert len(set(begun)) > 5
