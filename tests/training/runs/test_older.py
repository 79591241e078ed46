"""What earlier versions wrote is read in the form of today."""

from pathlib import Path
from typing import Any

import pytest

from alphago.training.call.plan import saved_settings
from alphago.training.cgzero import CGZeroGames, Champions, MixedTargets, Pool
from alphago.training.judges.gate import Gate
from alphago.training.parts import plain_settings
from alphago.training.runs.older import newer_config, newer_state
from alphago.training.settings import TrainingSettings

# The settings that other names or parts have now, as they were by default.
OLD: dict[str, Any] = {
    "sizes": [], "pool": None, "champions": None, "gate": None, "random_move_share": 0.0, "random_move_plies": 12,
    "value_targets": "lambda", "result_share": 0.7, "result_growth": 0.3, "visits_until": 1.0, "played_from": 1.0,
}  # fmt: skip


def read(**settings: Any) -> TrainingSettings:
    """The settings of a run whose config has these."""
    kept = plain_settings(TrainingSettings())
    for name in ("memory", "judges", "gate", "targets", "seating"):
        del kept[name]
    return saved_settings(newer_config({"settings": {**kept, **OLD, **settings}}), Path("run"))


def test_the_usual_settings() -> None:
    assert read() == TrainingSettings()


def test_parts() -> None:
    pool = {"positions": 500, "subset": None, "epochs": 3, "rates": [[0, 2.0]]}
    settings = read(pool=pool, champions={"win_rate": 0.6, "games": 4}, random_move_share=0.1)
    assert settings.memory == Pool(500, epochs=3, rates=((0, 2.0),))
    assert settings.judges == (Champions(0.6, games=4),)
    assert settings.seating == CGZeroGames(0.1)
    assert read(gate={"win_rate": 0.6, "sprt": [0, 10]}).gate == Gate(0.6, sprt=(0, 10))


def test_targets() -> None:
    cgzeros = {"result_share": 0.9, "result_growth": 0.1, "visits_until": 0.2, "played_from": 0.95}
    assert read(value_targets="legal-moves", **cgzeros).targets == MixedTargets(search_share=0.03)
    late = read(visits_until=0.5, search_share=0.1).targets
    assert late == MixedTargets("lambda", 0.7, 0.3, 0.5, 1.0, search_share=0.1)


def test_several_boards_cannot_go_on() -> None:
    with pytest.raises(ValueError, match="several boards at the same time"):
        newer_config({"settings": {**OLD, "sizes": [[7, 0.5], [9, 0.5]]}})


def test_a_state() -> None:
    counts = {
        "games": 40, "positions": 9, "iterations": 3, "in_iteration": True, "readouts": 8, "samples_due": 2.5,
        "saved_games": 20, "compacted": 0,
    }  # fmt: skip
    board = {
        "memory": {"games": 4, "added": 90, "taken": 7}, "has_learned": True, "source": {"groups": []},
        "source_class": "alphago.training.group:SelfPlay", "adaptive": None,
    }  # fmt: skip
    found = newer_state({**counts, "stage": [1, 20, 30], "boards": [board], "steps": 5, "game_metrics": {}})
    assert found.pop("counts") == {**counts, "batches_taken": 7}
    assert found.pop("stage") == {
        "memory": {"games": 4, "added": 90, "taken": 7, "has_learned": True},
        "source": {"groups": []},
        "source_class": "alphago.training.selfplay:SelfPlay",
        "adaptive": None,
    }
    assert found == {"entered": [1, 20, 30], "steps": 5, "game_metrics": {}}
