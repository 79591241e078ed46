"""What earlier versions wrote is read in the form of today."""

import json
from pathlib import Path
from typing import Any

import pytest

from alphago.mcts.gumbel import Gumbel
from alphago.mcts.puct import Puct
from alphago.nn.loss import LOSSES
from alphago.training.cgzero import CGZeroGames, CGZeroPuct, Champions, MixedTargets, Pool
from alphago.training.judges.gate import Gate
from alphago.training.run_parts import RUN, run_settings
from alphago.training.runs.config import parse_config
from alphago.training.runs.older import newer_config, newer_state
from alphago.training.settings.run_settings import RunSettings
from alphago.training.supervised.supervised_settings import SUPERVISED
from alphago.training.watch_names import WatchList

VERSION_1 = Path(__file__).parent / "version_1"  # configs of runs of that version


def read(name: str = "go5", **settings: Any) -> RunSettings:
    """The settings of a run of version 1, of which some are changed."""
    config = json.loads((VERSION_1 / f"{name}.json").read_text())
    config["settings"] |= settings
    return RUN.load(newer_config(config)["settings"], {}, "the run")


FIXED = {"bfloat16": False, "selfplay_dtype": "float32", "groups": 2, "games_in_flight": 16, "readouts": 16}


def test_a_run_with_a_gate() -> None:
    given = {"num_games": 96, "seed": 3, "ckp_freq": 32, "batch_size": 32, "start_training_after": 200}
    more = {"learning_rate": 0.01, "gate": 0.55, "adaptive_resignation": True, "no_resign_share": 0.3}
    assert read() == run_settings(**given, **more, **FIXED).filled("cpu")
    assert read().selfplay.search == Gumbel(considered=8)


def test_a_search() -> None:
    assert read("go7puct").selfplay.search == Puct(c_puct=1.3, leaves=2, dirichlet_weight=0.3)
    assert read(temperature_plies=4).selfplay.temperature_plies is None


def test_cgzero() -> None:
    settings = read("oware")
    assert settings.memory == Pool(1500)
    assert settings.judges == (Champions(0.556),)
    assert settings.selfplay.seating == CGZeroGames(0.015)
    assert settings.targets == MixedTargets()
    assert settings.learning.losses == LOSSES["cgzero"]
    search = settings.selfplay.search
    assert isinstance(search, CGZeroPuct)
    assert (search.c_puct_growth, search.c_puct_limit, search.near_best) == (0.0034, 2.975, 0.95)


def test_given_games() -> None:
    config = newer_config(json.loads((VERSION_1 / "sup.json").read_text()))
    assert config["given"] == {"dataset": None}
    expected = {"num_games": 54, "ckp_freq": 2, "seed": 9, "threads": 2, "bfloat16": False}
    assert SUPERVISED.load(config["settings"], {}, "the run") == SUPERVISED.make(expected)
    assert "given" not in newer_config(json.loads((VERSION_1 / "go5.json").read_text()))


def test_parts() -> None:
    assert read(gate={"win_rate": 0.6, "sprt": [0, 10]}).judges == (Gate(0.6, sprt=(0, 10)),)
    assert read(watch=["random@0"], watch_share=0.1).watch == WatchList(("random@0",), 0.1)


def nadam(parameters: Any, learning_rate: float, weight_decay: float) -> Any:
    """An optimizer of one's own."""


def test_a_function() -> None:
    """Version 1 had its name with a dot in place of the colon."""
    config = json.loads((VERSION_1 / "go5.json").read_text())
    config["settings"]["optimizer"] = f"{__name__}.nadam"
    newer = newer_config(config)["settings"]
    assert RUN.load(newer, {"optimizer": nadam}, "the run").learning.optimizer is nadam
    with pytest.raises(ValueError, match=r"^the run has a custom optimizer, .*nadam: pass that function as optimizer="):
        RUN.load(newer, {}, "the run")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"sizes": [[7, 0.5], [9, 0.5]]}, "several boards at the same time"),
        ({"search": {"gumbel": False, "dirichlet_decay": 0.1}}, "Dirichlet noise that decreases"),
        ({"search": {"value_noise": 0.1}}, "noise on the values of a Gumbel search"),
        ({"value_targets": "plies"}, "value targets by plies"),
        ({"visits_until": 0.5}, "value targets by lambda"),
    ],
)
def test_what_cannot_go_on(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        read(**settings)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"version": 3}, "is of version 3, and this program reads versions up to 2"),
        ({"settings": {}}, r"is of another version, or incomplete \(settings: 'readouts'\)"),
        ({"version": 2}, "is of another version, or incomplete"),
    ],
)
def test_a_config_of_another_form(tmp_path: Path, changes: dict[str, Any], sentence: str) -> None:
    config = json.loads((VERSION_1 / "go5.json").read_text()) | changes
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ValueError, match=sentence):
        parse_config(tmp_path / "config.json")


COUNTS = {"games": 40, "positions": 9, "iterations": 3, "in_iteration": True, "readouts": 8, "samples_due": 2.5}
COUNTS |= {"saved_games": 20, "compacted": 0}


def test_a_state() -> None:
    board = {"memory": {"games": 4, "added": 90, "taken": 7}, "has_learned": True, "source": {"groups": []}}
    board |= {"source_class": "alphago.training.group:SelfPlay", "adaptive": None}
    found = newer_state({**COUNTS, "stage": [1, 20, 30], "boards": [board], "steps": 5, "game_metrics": {}})
    assert found.pop("counts") == {**COUNTS, "batches_taken": 7}
    assert found.pop("stage") == {
        "memory": {"games": 4, "added": 90, "taken": 7, "has_learned": True},
        "source": {"groups": []},
        "source_class": "alphago.training.selfplay:SelfPlay",
        "adaptive": None,
    }
    assert found == {"entered": [1, 20, 30], "steps": 5, "game_metrics": {}}


@pytest.mark.parametrize(("waiting", "in_iteration"), [(0, True), (7, False)])
def test_a_state_of_given_games(waiting: int, in_iteration: bool) -> None:
    """An iteration whose games were still waiting begins again."""
    counts = {**COUNTS, "positions": 0, "readouts": 64}
    source = {"taken": 40, "moves": 95, "waiting": waiting, "digest": "abc"}
    board = {"memory": {"games": 0, "added": 90}, "has_learned": True, "adaptive": None, "source": source}
    board |= {"source_class": "alphago.training.supervised.source:GivenSource"}
    found = newer_state({**counts, "stage": [0, 0, 0], "boards": [board], "steps": 5})
    new = {"positions": 90, "batches_taken": 0, "in_iteration": in_iteration}
    assert found == {"counts": {**counts, **new}, "steps": 5, "digest": "abc"}
