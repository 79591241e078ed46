"""Parts of one's own: a memory and a judge, each in one file, in a run and in its folder."""

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

from alphago.env.game import GameEnv
from alphago.nn.net import NeuralNet
from alphago.records.record import GameRecord
from alphago.training.cgzero import Champions, Pool
from alphago.training.judges.gate import Gate
from alphago.training.parts import plain_part, saved_part
from alphago.training.run import Run
from alphago.training.window import Window, WindowMemory
from tests.training.small_runs import go_on, run, run_killed, same


@dataclass(frozen=True)
class EveryOther:
    """A window of every other game."""

    size: int = 1000

    def make_memory(self, env: GameEnv, **given: Any) -> "EveryOtherMemory":
        made = Window(self.size, 8.0).make_memory(env, **given)
        return EveryOtherMemory(made.settings, made.games, made.start)


class EveryOtherMemory(WindowMemory):
    seen = 0  # games that were given to it, which its folder has

    def remember(self, records: Sequence[GameRecord]) -> float:
        self.seen += len(records)
        return super().remember(every_other(records))

    def state(self) -> dict[str, Any]:
        return {**super().state(), "games": self.seen}

    def restore(self, records: Iterable[GameRecord], state: Mapping[str, Any]) -> None:
        super().restore(every_other(records), state)
        self.seen = state["games"]


def every_other(records: Iterable[GameRecord]) -> list[GameRecord]:
    return [record for record in records if record.seed and record.seed[1] % 2]


@dataclass(frozen=True)
class Counting:
    """Says every so many games how many there are."""

    every: int
    chooses = False
    seating = None

    def make_judge(self, env: GameEnv, net: NeuralNet, folder: Path) -> "Counter":
        return Counter(self.every)


class Counter:
    name, decides, best, company, ends_run = "counter", False, None, None, False

    def __init__(self, every: int) -> None:
        self.every, self.counted = every, 0

    def due(self, run: Run) -> bool:
        return run.games >= self.counted + self.every

    def judge(self, run: Run, stop: threading.Event) -> bool:
        self.counted = run.games
        run.note(f"counted {self.counted}")
        return True

    def conclusion(self, longer: str) -> str:
        return f"counted {self.counted} in the end"

    def tensors(self) -> Mapping[str, torch.Tensor]:
        return {}

    def state(self) -> dict[str, Any]:
        return {"counted": self.counted}

    def restore(self, run: Run, tensors: Mapping[str, torch.Tensor], state: Mapping[str, Any] | None) -> None:
        self.counted = state["counted"] if state else 0

    def close(self) -> None:
        pass


def test_a_memory_and_a_judge(tmp_path: Path) -> None:
    """config.json has their names, and the run goes on with them to the bit."""
    parts = {"memory": EveryOther(500), "judges": [Counting(5)], "start_training_after": 20}
    net, listener = run(tmp_path / "whole", **parts)
    assert sum(note.startswith("counted ") for note in listener.notes) >= 3
    assert listener.last["positions"] < 0.8 * sum(map(len, listener.records))
    usual, _ = run(tmp_path / "usual", start_training_after=20)
    assert not same(net, usual)
    run_killed(tmp_path / "parts", 25, **parts)
    settings = json.loads((tmp_path / "parts" / "config.json").read_text())["settings"]
    assert settings["memory"] == {"part": f"{__name__}:EveryOther", "size": 500}
    again, listener = go_on(tmp_path / "parts")
    assert same(again, net)
    assert listener.noted("in the end")


@pytest.mark.parametrize("part", [None, Window(7), Pool(500), Gate(0.6, sprt=(0, 10)), Champions(recent=2)], ids=str)
def test_what_is_saved_is_read(part: Any) -> None:
    assert saved_part(json.loads(json.dumps(plain_part(part))), Path("run")) == part


def test_one_that_cannot_be_imported() -> None:
    saved = {"part": "nowhere:Nothing", "size": 3}
    with pytest.raises(ValueError, match="the run in run has a part of its own, nowhere:Nothing, which cannot be imp"):
        saved_part(saved, Path("run"))
    Nothing = dataclass(frozen=True)(type("Nothing", (), {"__annotations__": {"size": int}, "__module__": "nowhere"}))
    assert saved_part(saved, Path("run"), [None, Nothing(5)]) == Nothing(3)
