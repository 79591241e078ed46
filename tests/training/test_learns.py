"""What a recipe makes of a run: boards in turn, readouts that rise, a variant of the game, presets."""

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alphago.env.go import GoEnv
from alphago.nn.net import NeuralNet, load_model
from alphago.records.record import load_records
from alphago.training.recipes import PRESETS
from alphago.training.selfplay import SelfPlay
from alphago.training.session import train
from alphago.training.settings import TrainingSettings
from examples.tic_tac_toe import TicTacToeEnv
from tests.training.small_runs import GO, Listener, run

TIC_TAC_TOE = TicTacToeEnv()


class TestCurriculum:
    """Small boards first, the same weights all along."""

    def test_boards_in_turn(self, tmp_path: Path) -> None:
        net, listener = run(
            tmp_path / "run", env=GoEnv(4, komi=0.5), num_games=30, curriculum=((2, 0.2), (3, 0.4)), games_in_flight=4,
            plies_per_iteration=6,
        )  # fmt: skip
        sizes = [row["board_size"] for row in listener.rows]
        assert sizes == sorted(sizes)
        assert set(sizes) == {2, 3, 4}
        for size, end in ((2, 0.2), (3, 0.6)):
            last = max(row["games"] for row in listener.rows if row["board_size"] == size)
            assert 30 * end <= last <= 30 * end + 4 * 3
        for name in ("games", "positions", "steps"):
            values = [row[name] for row in listener.rows]
            assert values == sorted(values), name
        assert net.env == GoEnv(4, komi=0.5)
        assert net(net.env.position())[0].shape == (17,)
        load_model(tmp_path / "run" / "weights.safetensors", GoEnv(4))
        actions = {load_records(path)[0].policies.shape[1] for path in (tmp_path / "run" / "games").iterdir()}
        assert actions == {5, 10, 17}

    def test_compiling_takes_no_board_its_time(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A first iteration of most of a run's time leaves the smaller board its share of the rest."""
        run(tmp_path / "compiled", num_games=8, curriculum=((2, 0.5),))
        play = SelfPlay.go_on
        slow = iter([4.0])

        def compiling(selfplay: SelfPlay, *options: Any) -> bool:
            time.sleep(next(slow, 0.0))
            return play(selfplay, *options)

        monkeypatch.setattr(SelfPlay, "go_on", compiling)
        _, listener = run(tmp_path / "run", num_games=None, max_minutes=0.1, curriculum=((2, 0.6),))
        assert listener.rows[0]["seconds"] > 4.0
        assert listener.rows[1]["board_size"] == 2

    def test_numbers_of_games_go_on(self, tmp_path: Path) -> None:
        run(tmp_path / "run", env=GoEnv(3), num_games=20, curriculum=((2, 0.4),), games_in_flight=4)
        records = [r for path in sorted((tmp_path / "run" / "games").iterdir()) for r in load_records(path)]
        numbers = [record.seed[1] for record in records if record.seed]
        assert len(set(numbers)) == len(numbers)

    def test_a_network_for_one_board_is_refused(self, tmp_path: Path) -> None:
        dense = NeuralNet(GO, tower_height=0, channels=8, size_free=False)
        with pytest.raises(ValueError, match=r"GoEnv\(2.* it is for one board size"):
            train(GO, 4, model=dense, folder=tmp_path / "run", reports=[], curriculum=((2, 0.5),), readouts=2)

    def test_a_game_of_one_size_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="has one board size, got 2"):
            train(TIC_TAC_TOE, 4, folder=tmp_path / "run", reports=[], curriculum=((2, 0.5),), readouts=2)

    @pytest.mark.parametrize("wrong", [((2, 1.0),), ((2, 0.5), (3, 0.5)), ((2, 0),), (3, 4), ((2,),)])
    def test_shares(self, wrong: Any) -> None:
        with pytest.raises(ValueError, match=r"curriculum is pairs of a board size .* and a share of the run"):
            TrainingSettings(curriculum=wrong)


class TestReadouts:
    def test_they_rise_over_the_run(self, tmp_path: Path) -> None:
        _, listener = run(tmp_path / "run", num_games=40, first_readouts=2, readouts=16, plies_per_iteration=4)
        readouts = [row["readouts"] for row in listener.rows]
        assert readouts[0] == 2
        assert readouts == sorted(readouts)
        assert readouts[-1] > 8

    def test_how_many_were_done(self, tmp_path: Path) -> None:
        """Each move's root and its readouts; moves of the opening have none."""
        _, listener = run(tmp_path / "run", num_games=8, opening_plies=0, decided_value=1.0, games_in_flight=2)
        for row in listener.rows:
            assert row["readouts_per_second"] == pytest.approx(5 * row["moves_per_second"], rel=0.01)


class TestVariant:
    """Self-play learns Go from a variant of it, unless told otherwise."""

    GAME = GoEnv(4, komi=0.5)

    def first_passes(self, folder: Path, **settings) -> list[int]:
        run(folder, env=self.GAME, num_games=16, **settings)
        shards = sorted((folder / "games").glob("*.npz"))
        records = [record for path in shards for record in load_records(path)]
        # A pass that was the only legal action says nothing.
        chosen = [(record.moves == self.GAME.pass_action) & (record.legal_counts > 1) for record in records]
        return [int(np.flatnonzero(passes)[0]) for passes in chosen if passes.any()]

    def test_nobody_passes_early(self, tmp_path: Path) -> None:
        first = self.GAME.training_variant().first_pass
        assert first == 14
        assert all(ply >= first for ply in self.first_passes(tmp_path / "run"))

    def test_exact_rules(self, tmp_path: Path) -> None:
        assert min(self.first_passes(tmp_path / "run", exact_rules=True)) < 14

    def test_the_network_is_for_the_game_itself(self, tmp_path: Path) -> None:
        net, _ = run(tmp_path / "run", env=self.GAME, num_games=2)
        assert net.env == self.GAME
        load_model(tmp_path / "run" / "weights.safetensors", self.GAME)


class TestPresets:
    @pytest.mark.parametrize("name", PRESETS)
    def test_they_fit_together(self, name: str) -> None:
        preset = PRESETS[name]
        settings = TrainingSettings(**preset.settings)
        env = preset.make_env()
        if name != "paper":  # 23 million weights
            net = NeuralNet(env, **preset.network)
            assert all(net.resized(env.resized(size)).num_parameters for size, _ in settings.curriculum)

    def test_a_timed_run_takes_the_boards_recipe(self, tmp_path: Path) -> None:
        listener = Listener()
        net = train(GoEnv(7), folder=tmp_path / "run", reports=[listener], max_minutes=0.01)
        recipe = PRESETS["7x7"]
        assert (net.tower_height, net.channels) == (recipe.network["tower_height"], recipe.network["channels"])
        assert listener.settings["readouts"] == recipe.settings["readouts"]
        assert listener.settings["max_minutes"] == 0.01

    def test_a_counted_run_takes_none(self, tmp_path: Path) -> None:
        listener = Listener()
        train(GoEnv(7), 1, folder=tmp_path / "run", reports=[listener], readouts=1, tower_height=0, channels=8)
        assert listener.settings["samples_per_position"] == TrainingSettings().samples_per_position
        assert listener.settings["max_minutes"] is None

    def test_by_name(self, tmp_path: Path) -> None:
        listener = Listener()
        train(
            GO, 1, preset="9x9", folder=tmp_path / "run", reports=[listener], readouts=1, curriculum=(), max_minutes=1
        )
        assert listener.settings["samples_per_position"] == PRESETS["9x9"].settings["samples_per_position"]
        with pytest.raises(ValueError, match="no preset '8x8': there are '7x7', "):
            train(GO, 1, preset="8x8", folder=tmp_path / "other")
