"""Parts in a run and in its folder: a memory of one's own, and what settings say of all."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from alphago import GameEnv, GameRecord, Puct, ReplayMemory
from alphago.system.settings import from_data, to_data
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


def test_a_memory(tmp_path: Path) -> None:
    """config.json has its name, and the run goes on with it to the bit."""
    parts = {"memory": EveryOther(500), "start_training_after": 20}
    net, listener = run(tmp_path / "whole", **parts)
    assert listener.last["positions"] < 0.8 * sum(map(len, listener.records))
    run_killed(tmp_path / "parts", 25, **parts)
    settings = json.loads((tmp_path / "parts" / "config.json").read_text())["settings"]
    assert settings["memory"] == {"kind": f"{__name__}:EveryOther", "size": 500}
    assert same(go_on(tmp_path / "parts")[0], net)


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
