"""A run that goes on from its folder: as if nothing had happened, with other settings, or not at all."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from alphago import GoEnv, NeuralNet, Puct, train
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.training.history import read_history
from tests.training.conftest import STAGES
from tests.training.small_runs import (
    GO,
    SETTINGS,
    Small,
    files,
    games_in,
    go_on,
    interrupt_at,
    nadam,
    run,
    run_killed,
    same,
)


class TestExact:
    """On a CPU, to the last bit."""

    @pytest.mark.parametrize("saves", [24, *(pytest.param(saves, marks=pytest.mark.slow) for saves in (1, 9, 40))])
    def test_after_any_checkpoint(self, tmp_path: Path, undisturbed: Small, saves: int) -> None:
        """Before any move, and before any gradient step; metrics are of all steps, whenever they were taken."""
        folder, net, listener = undisturbed
        run_killed(tmp_path, saves, **STAGES)
        again, _ = run(tmp_path, **STAGES)
        assert same(again, net)
        for name in ("iteration", "games", "policy_loss", "value_loss"):
            assert [row[name] for row in read_history(tmp_path).metrics] == [row[name] for row in listener.rows]
        games, replayed = games_in(folder), games_in(tmp_path)
        assert [record.seed for record in replayed] == [record.seed for record in games]
        assert all(np.array_equal(a.policies, b.policies) for a, b in zip(games, replayed, strict=True))

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "settings",
        [
            {"tower_height": 1, "search": Puct()},
            {"first_games_in_flight": 1, "search": {"considered": 2}},  # of the usual search
        ],
    )
    def test_batch_norm_and_searches(self, tmp_path: Path, settings: dict[str, Any]) -> None:
        """The network that learns and its statistics, not only the averaged one that plays; and trees that last."""
        net, _ = run(tmp_path / "whole", 8, **settings)
        run_killed(tmp_path / "killed", 11, num_games=8, **settings)
        assert same(go_on(tmp_path / "killed")[0], net)

    @pytest.mark.slow
    def test_parts_of_ones_own(self, tmp_path: Path) -> None:
        """The config says what they are; own modules and functions have to be passed again, as they were."""

        def model() -> NeuralNet:
            torch.manual_seed(4)
            base = nn.Sequential(nn.Flatten(), nn.Linear(16 * 9, 8), nn.Tanh())
            return NeuralNet(GO, base, nn.Sequential(nn.Linear(8, 1), nn.Tanh()), nn.Linear(8, 10))

        changed = {"optimizer": nadam, "losses": "alphago-zero", "schedule": ((0.5, 0.1),), "gradient_norm": 1.0}
        settings = SETTINGS | changed
        whole = train(GO, 8, model=model(), folder=tmp_path / "whole", reports=[], **settings)
        stop = interrupt_at(3)
        train(GO, 8, model=model(), folder=tmp_path / "cut", reports=[stop], **settings)
        assert stop.stopped
        mine = model()
        for given, sentence in (
            ({"optimizer": nadam}, r"custom modules .*: pass one like it as model="),
            ({"model": mine}, r"has a custom optimizer, .*nadam: pass that function as optimizer="),
            ({"model": mine, "optimizer": "muon"}, r"has a custom optimizer, .*nadam: pass that function"),
        ):
            with pytest.raises(ValueError, match=sentence):
                go_on(tmp_path / "cut", **given)
        net, listener = go_on(tmp_path / "cut", model=mine, optimizer=nadam)
        assert net is mine
        assert same(net, whole)
        assert listener.settings == stop.settings

    @pytest.mark.slow
    def test_a_function_that_was_edited_is_told(self, tmp_path: Path) -> None:
        """And kept among the changes; once."""

        def steady(progress: float) -> float:
            return 1.0

        train(GO, 8, folder=tmp_path, reports=[interrupt_at(2)], schedule=steady, **SETTINGS)
        assert not any("the code of" in note for note in go_on(tmp_path, schedule=steady, stop_after=1e-6)[1].notes)
        steady.__code__ = (lambda progress: 0.5).__code__
        notes = go_on(tmp_path, schedule=steady, stop_after=1e-6)[1].notes
        assert sum(note.startswith(f"the code of {__name__}:") for note in notes) == 1
        assert not any("the code of" in note for note in go_on(tmp_path, schedule=steady)[1].notes)
        (change,) = json.loads((tmp_path / "config.json").read_text())["changes"]
        assert change["setting"].endswith("steady")


class TestOver:
    def test_nothing_happens_to_a_run_that_is_over(self, tmp_path: Path, undisturbed: Small) -> None:
        folder = Path(shutil.copytree(undisturbed.folder, tmp_path / "run"))
        before = files(folder)
        net, listener = go_on(folder)
        assert same(net, undisturbed.net)
        assert "this run ended after 16 games" in listener.notes[-1]
        assert listener.last["games"] == 16
        assert (listener.rows, listener.stopped) == ([], False)
        assert files(folder) == before

    @pytest.mark.slow
    def test_more_games(self, tmp_path: Path, undisturbed: Small) -> None:
        """Idle places are filled again; the curriculum does not turn back, though progress does."""
        folder = Path(shutil.copytree(undisturbed.folder, tmp_path / "run"))
        _, listener = go_on(folder, 24)
        assert listener.last["games"] == 24
        assert {row["board_size"] for row in listener.rows} == {3}
        assert "num_games is 24 from now on, not 16" in listener.notes
        seeds = [record.seed for record in games_in(folder)]
        assert len(set(seeds)) == len(seeds) == 24


class TestChanges:
    @pytest.mark.parametrize(
        ("env", "changed", "sentence"),
        [
            (GO.replace(komi=1.5), {}, "has komi 0.5, got 1.5"),
            (GoEnv(4, komi=0.5), {}, "has board_size 3, got 4"),
            (TicTacToeEnv(), {}, "has game 'go', got 'tic-tac-toe'"),
            (GO, {"tower_height": 2}, "has tower_height 0, got 2"),
            (GO, {"preset": "7x7"}, "has tower_height 0, got 4"),
            (GO, {"model": NeuralNet(GO, tower_height=0, channels=4)}, "has channels 8, got 4"),
            (GO, {"seed": 4}, "has seed 0, got 4"),
            (GO, {"curriculum": ()}, r"has curriculum \(\(2, 0.3\),\), got \(\)"),
            (GO, {"optimizer": "sgd"}, "has optimizer 'muon', got 'sgd'"),
            (GO, {"optimizer": nadam}, r"has optimizer 'muon', got '.*\.nadam'"),
            (GO, {"num_games": None}, "num_games or max_minutes must end the run, got None"),
        ],
        ids=lambda value: str(value).replace(hex(id(nadam)), "here"),
    )
    def test_what_cannot(self, killed: Path, env: Any, changed: dict[str, Any], sentence: str) -> None:
        """Both values are named, and nothing is touched."""
        before = files(killed)
        with pytest.raises(ValueError, match=sentence):
            go_on(killed, env=env, **changed)
        assert files(killed) == before

    def test_what_can(self, killed: Path) -> None:
        """It is told, kept in the config, and lasts."""
        _, listener = go_on(killed, learning_rate=0.5, readouts=2, num_games=24, losses="cody2007")
        assert {row["readouts"] for row in listener.rows[1:]} == {2}
        for note in ("num_games is 24 from now on, not 16", "readouts is 2 from now on, not 4"):
            assert note in listener.notes
        assert listener.settings["learning_rate"] == 0.5
        config = json.loads((killed / "config.json").read_text())
        assert config["settings"]["selfplay"]["readouts"] == 2
        changes = {change["setting"]: (change["was"], change["now"]) for change in config["changes"]}
        before, now = changes.pop("losses")
        assert (before["value"], now["value"], config["settings"]["learning"]["losses"]) == (1.0, 0.025, now)
        assert changes == {"num_games": (16, 24), "readouts": (4, 2), "learning_rate": (0.002, 0.5)}
        assert all(0 < change["games"] <= 16 for change in config["changes"])
        assert go_on(killed)[1].settings == listener.settings
