"""Parts of one's own: a memory and a judge, each in one file, in a run and in its folder."""

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

from alphago import GameEnv, GameRecord, NeuralNet, Puct, ReplayMemory
from alphago.system.settings import from_data, to_data
from alphago.training.judge import Judge
from alphago.training.run import Run
from alphago.training.settings.learning_settings import Window
from alphago.training.settings.run_settings import RunSettings
from tests.training.small_runs import go_on, run, run_killed, run_settings, same


@dataclass(frozen=True)
class EveryOther:
    """A window of every other game."""

    size: int = 1000

    def make_memory(self, env: GameEnv, **given: Any) -> "EveryOtherMemory":
        del given["seed"]
        return EveryOtherMemory(env, self.size, **given)


class EveryOtherMemory(ReplayMemory):
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

    def make_judge(self, env: GameEnv, net: NeuralNet, folder: Path) -> "Counter":
        return Counter(self.every)


class Counter(Judge[Run]):
    name, decides = "counter", False

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

    def state(self) -> dict[str, Any]:
        return {"counted": self.counted}

    def restore(self, run: Run, tensors: Mapping[str, torch.Tensor], state: Mapping[str, Any] | None) -> None:
        self.counted = state["counted"] if state else 0


def test_a_memory_and_a_judge(tmp_path: Path) -> None:
    """config.json has their names, and the run goes on with them to the bit."""
    parts = {"memory": EveryOther(500), "judges": [Counting(5)], "start_training_after": 20}
    net, listener = run(tmp_path / "whole", **parts)
    assert sum(note.startswith("counted ") for note in listener.notes) >= 3
    assert listener.last["positions"] < 0.8 * sum(map(len, listener.records))
    run_killed(tmp_path / "parts", 25, **parts)
    settings = json.loads((tmp_path / "parts" / "config.json").read_text())["settings"]
    assert settings["memory"] == {"kind": f"{__name__}:EveryOther", "size": 500}
    again, listener = go_on(tmp_path / "parts")
    assert same(again, net)
    assert listener.noted("in the end")


@pytest.mark.parametrize(
    "given",
    [
        {"memory": Window(7), "start_training_after": 5},
        {"memory_size": 5000, "losses": "cgzero", "schedule": ((0.5, 0.1),)},
        {"gate": {"win_rate": 0.6, "games": 10}, "search": Puct(c_puct=2), "watch": "random@0,rave:10"},
    ],
    ids=str,
)
def test_what_is_saved_is_read(given: dict[str, Any]) -> None:
    settings = run_settings(**given).completed("cpu")
    assert from_data(RunSettings, json.loads(json.dumps(to_data(settings))), {}, "the run") == settings
