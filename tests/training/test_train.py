"""`train`: what a run leaves behind, when it trains and when it stops, and which settings it refuses."""

import json
import math
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from alphago.training.watch.game_metrics import describe_games

from alphago.arena.match import evaluate
from alphago.env.go import GoEnv
from alphago.env.go_position import GoPosition
from alphago.mcts.evaluator import HashEvaluator
from alphago.mcts.search import SearchSettings
from alphago.nn.model_files import read_weights
from alphago.nn.net import NeuralNet, load_model
from alphago.nn.threads import available_cores
from alphago.records.record import GameRecord, load_records
from alphago.system.validation import UNSET
from alphago.training.judges.resignation import Resignation
from alphago.training.runs.folder import RunFolder
from alphago.training.runs.resume import Asked, new_run, saved_settings
from alphago.training.selfplay import SelfPlay, selfplay
from alphago.training.session import train
from alphago.training.settings import NUMBERS, WHOLE, TrainingSettings
from examples.tic_tac_toe import TicTacToeEnv
from tests.training.small_runs import Listener

GO, TIC_TAC_TOE = GoEnv(3, komi=0.5), TicTacToeEnv()
TINY = {"tower_height": 0, "channels": 8, "readouts": 4, "batch_size": 16, "start_training_after": 40}


def run(folder: Path, env=GO, num_games: int = 24, **settings) -> tuple[NeuralNet, Listener]:
    listener = Listener()
    net = train(env, num_games, folder=folder, reports=[listener], **{**TINY, **settings})
    return net, listener


def weights(net: NeuralNet) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in net.state_dict().items()}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, NeuralNet, Listener]:
    """One small run that several tests look at."""
    folder = tmp_path_factory.mktemp("runs") / "small"
    net, listener = run(folder, num_games=40, ckp_freq=10, plies_per_iteration=4, seed=3)
    return folder, net, listener


class TestRunFolder:
    def test_files(self, finished: tuple[Path, NeuralNet, Listener]) -> None:
        folder, _, listener = finished
        names = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
        checkpoints = {name for name in names if name.startswith("weights/")}
        games = {name for name in names if name.startswith("games/")}
        states = {name for name in names if name.startswith("state/")}
        named = {"config.json", "config.copy.json", "metrics.jsonl", "weights.safetensors", "lock"}
        assert names == named | checkpoints | games | states
        assert len(states) == 2
        assert "weights/games-0000040.safetensors" in checkpoints
        assert 3 <= len(checkpoints) <= 5
        assert listener.weights == folder / "weights.safetensors"
        assert not listener.stopped

    def test_when_to_resign_is_kept_with_the_weights(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        judged: list[int] = []

        def found(records: list[GameRecord]) -> Resignation | None:
            judged.append(len(records))
            return Resignation(-0.75, 60, 0.05) if len(records) > 8 else None

        monkeypatch.setattr("alphago.training.run.calibrated", found)
        run(tmp_path / "run", num_games=16)
        assert judged[0] == 0 < judged[-1]
        notes = load_model(tmp_path / "run").notes
        assert notes | {"resign_threshold": "-0.750", "resignations_wrong": "0.0500"} == notes
        run(tmp_path / "short", num_games=8)
        assert load_model(tmp_path / "short").notes.keys() == {"games"}

    def test_config(self, finished: tuple[Path, NeuralNet, Listener]) -> None:
        folder, net, _ = finished
        config = json.loads((folder / "config.json").read_text())
        assert config["game"] == "go"
        assert GoEnv(**config["env"]) == GO
        assert config["network"] == net.config
        assert (config["network"]["tower_height"], config["network"]["channels"]) == (0, 8)
        again = saved_settings(config, folder)
        assert (again.num_games, again.seed, again.batch_size) == (40, 3, 16)

    def test_metrics(self, finished: tuple[Path, NeuralNet, Listener]) -> None:
        folder, _, listener = finished
        rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
        assert rows == listener.rows
        assert listener.last == rows[-1]
        wanted = {
            "iteration", "seconds", "games", "positions", "memory", "steps", "skipped_steps", "learning_rate",
            "moves_per_second", "readouts_per_second", "policy_loss", "value_loss", "value_correlation",
            "policy_entropy", "target_entropy", "top_move_agreement", "gradient_norm", "game_length", "pass_rate",
            "black_wins", "draws", "resignations", "capped",
        }  # fmt: skip
        for number, row in enumerate(rows, start=1):
            assert wanted <= row.keys()
            assert row["iteration"] == number
            assert all(value is None or math.isfinite(value) for value in row.values())
        for name in ("seconds", "games", "positions", "steps"):
            values = [row[name] for row in rows]
            assert values == sorted(values), name
        assert rows[-1]["games"] == 40
        trained = [row for row in rows if row["policy_loss"] is not None]
        assert trained
        for row in trained:
            assert 0 < row["policy_loss"] < 10
            assert 0 <= row["value_loss"] <= 4
            assert -1 <= row["value_correlation"] <= 1
            assert 0 <= row["top_move_agreement"] <= 1
        for row in rows:
            if row["game_length"] is not None:
                assert 0 < row["game_length"] <= GO.max_moves
                assert 0 <= row["pass_rate"] <= 1
                assert 0 <= row["black_wins"] <= 1

    def test_checkpoints_load(self, finished: tuple[Path, NeuralNet, Listener]) -> None:
        folder, net, _ = finished
        latest = load_model(folder / "weights.safetensors", GO)
        for name, tensor in latest.state_dict().items():
            assert torch.equal(tensor, net.state_dict()[name]), name
        assert not net.training
        position = GO.position()
        assert np.allclose(net(position)[0], latest(position)[0], atol=1e-6)  # other layouts of the same weights
        for path in (folder / "weights").iterdir():
            load_model(path, GO)
            assert read_weights(path)[1]["extra"]["games"] == str(int(path.stem.removeprefix("games-")))
        tens = sorted(int(path.stem.removeprefix("games-")) // 10 for path in (folder / "weights").iterdir())
        assert tens[-1] == 4
        assert len(set(tens)) == len(tens)

    def test_games_load(self, finished: tuple[Path, NeuralNet, Listener]) -> None:
        folder, _, listener = finished
        records, expected = [], 0
        for path in sorted((folder / "games").iterdir()):
            begin, end = map(int, path.stem.removeprefix("games-").split("-"))
            loaded = load_records(path)
            assert (begin, len(loaded)) == (expected, end - begin)
            expected = end
            records += loaded
        assert sorted(record.seed for record in records) == [(3, number) for number in range(40)]
        assert sum((record.weights > 0).sum() for record in records) == listener.last["positions"]
        for record in records:
            last = record.position(GO)
            assert isinstance(last, GoPosition)
            assert last.is_over or last.pass_alive.all()  # a settled game ends

    def test_the_network_learnt_something(self, finished: tuple[Path, NeuralNet, Listener]) -> None:
        _, net, listener = finished
        assert listener.last["steps"] > 10
        assert listener.last["skipped_steps"] == 0
        torch.manual_seed(3)
        fresh = NeuralNet(GO, tower_height=0, channels=8)
        changed = [not torch.equal(a, b) for a, b in zip(net.parameters(), fresh.parameters(), strict=True)]
        assert all(changed)


class TestWhenItTrains:
    def test_start_training_after_counts_positions(self, tmp_path: Path) -> None:
        """Not games, as AlphaGo.jl's README says."""
        _, listener = run(tmp_path, start_training_after=100, plies_per_iteration=2, samples_per_position=1)
        for row in listener.rows:
            assert (row["steps"] > 0) == (row["positions"] >= 100), row
        at_start = next(row for row in listener.rows if row["steps"])
        assert at_start["games"] < 24 < 100

    def test_never(self, tmp_path: Path) -> None:
        net, listener = run(tmp_path, num_games=8, start_training_after=10_000)
        assert listener.last["steps"] == 0
        assert listener.last["policy_loss"] is None
        assert (tmp_path / "weights.safetensors").exists()
        assert np.isfinite(net(GO.position())[0]).all()

    @pytest.mark.parametrize("batch_size", [1, 7, 33, 100])
    def test_any_batch_size(self, tmp_path: Path, batch_size: int) -> None:
        """AlphaGo.jl broke on anything but multiples of 32."""
        _, listener = run(tmp_path, num_games=12, batch_size=batch_size, samples_per_position=2, groups=2)
        assert listener.last["steps"] == 2 * listener.last["positions"] // batch_size
        assert listener.last["skipped_steps"] == 0

    @pytest.mark.parametrize("samples", [0.5, 3.0])
    def test_samples_per_position(self, tmp_path: Path, samples: float) -> None:
        """On average over the run, those from before the start included."""
        _, listener = run(tmp_path, samples_per_position=samples, batch_size=8)
        drawn = listener.last["steps"] * 8
        assert drawn == pytest.approx(samples * listener.last["positions"], abs=8)

    def test_no_samples(self, tmp_path: Path) -> None:
        assert run(tmp_path, num_games=8, samples_per_position=0)[1].last["steps"] == 0

    def test_epochs_are_steps_on_each_batch(self, tmp_path: Path) -> None:
        once, thrice = (run(tmp_path / str(n), num_games=12, epochs=n, samples_per_position=1)[1] for n in (1, 3))
        assert thrice.last["steps"] == pytest.approx(3 * once.last["steps"], rel=0.4)
        assert thrice.last["steps"] == 3 * (thrice.last["positions"] // 16)

    def test_the_memory_is_bounded(self, tmp_path: Path) -> None:
        _, listener = run(tmp_path, memory_size=60)
        longest = GO.max_moves
        assert listener.last["positions"] > 100
        assert all(row["memory"] < 60 + longest for row in listener.rows)
        assert listener.last["memory"] >= 60

    def test_checkpoints_every_ckp_freq_games(self, tmp_path: Path) -> None:
        _, listener = run(tmp_path, num_games=20, ckp_freq=5, games_in_flight=1, plies_per_iteration=1)
        saved = sorted(int(path.stem.removeprefix("games-")) for path in (tmp_path / "weights").iterdir())
        assert saved == [5, 10, 15, 20]
        assert listener.last["games"] == 20


class TestGamesInFlight:
    @pytest.mark.parametrize(("num_games", "flight"), [(1, 1), (7, 1), (8, 1), (100, 12), (1024, 128), (25_000, 256)])
    def test_several_generations(self, num_games: int, flight: int) -> None:
        """Never so many side by side that all are played by the untrained network."""
        assert TrainingSettings(num_games=num_games).selfplay().games_in_flight == flight

    @pytest.mark.parametrize(("num_games", "flight"), [(100, 12), (25_000, 3125), (None, 4096)])
    def test_a_gpu_wants_more(self, num_games: int | None, flight: int) -> None:
        settings = TrainingSettings(num_games=num_games, max_minutes=1)
        assert settings.selfplay("cuda").games_in_flight == flight

    def test_a_run_that_begins_on_a_gpu(self) -> None:
        """It keeps what it began with; what the call says goes before what the recipe says of GPUs."""
        begun = [
            new_run(Asked(GoEnv(7), UNSET, None, None, {}, UNSET, said, device)).settings
            for device, said in (
                ("cuda", {}),
                ("cuda", {"ckp_freq": 7, "groups": 2, "games_in_flight": 9}),
                ("cpu", {}),
            )
        ]
        told = [
            (settings.games_in_flight, settings.first_games_in_flight, settings.groups, settings.ckp_freq)
            for settings in begun
        ]
        assert told == [(4096, None, 4, 50_000), (9, None, 2, 7), (256, 64, available_cores(), 2000)]

    @pytest.mark.parametrize(
        ("most", "first", "games", "side_by_side"),
        [(256, 64, 0, 64), (256, 64, 1039, 64), (256, 64, 2048, 128), (256, 64, 10**6, 256), (256, None, 0, 256),
         (12, 64, 0, 12), (12, 64, 10**6, 12), (5, 1, 0, 2)],
    )  # fmt: skip
    def test_few_at_the_beginning(self, most: int, first: int | None, games: int, side_by_side: int) -> None:
        """A sixteenth of the games so far, and one for each board at least."""
        settings = TrainingSettings(games_in_flight=most, first_games_in_flight=first, sizes=((5, 0.5), (7, 0.5)))
        assert settings.side_by_side(games) == side_by_side

    def test_they_rise(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("alphago.training.settings.GENERATION", 0.25)
        asked, rooms = [], []
        begin = SelfPlay.begin

        def noted(selfplay: SelfPlay, evaluator: Any, plies: int, readouts: int, side_by_side: int) -> None:
            begin(selfplay, evaluator, plies, readouts, side_by_side)
            asked.append(side_by_side)
            rooms.append(sum(group.room for group in selfplay.groups))

        monkeypatch.setattr(SelfPlay, "begin", noted)
        run(tmp_path, num_games=20, games_in_flight=4, first_games_in_flight=2)
        assert rooms == asked == sorted(asked)
        assert (asked[0], asked[-1]) == (2, 4)

    def test_every_thread_has_a_game(self, tmp_path: Path) -> None:
        """Or its games would never be played."""
        _, listener = run(tmp_path, num_games=5, games_in_flight=4, first_games_in_flight=1, groups=3)
        assert listener.last["games"] == 5

    def test_as_asked(self) -> None:
        assert TrainingSettings(num_games=100, games_in_flight=64).selfplay().games_in_flight == 64

    def test_settings_reach_selfplay(self) -> None:
        search = SearchSettings(c_puct=2.0)
        settings = TrainingSettings(
            readouts=33, groups=3, temperature_plies=5, resign_threshold=-0.8, no_resign_share=0.2, search=search
        ).selfplay()
        assert (settings.readouts, settings.groups, settings.temperature_plies) == (33, 3, 5)
        assert (settings.resign_threshold, settings.no_resign_share) == (-0.8, 0.2)
        assert settings.search is search

    def test_all_games_are_played_however_many_at_once(self, tmp_path: Path) -> None:
        for flight in (1, 5, 50):
            _, listener = run(tmp_path / str(flight), num_games=9, games_in_flight=flight)
            assert listener.last["games"] == 9


class TestReproducibility:
    def test_the_same_seed_gives_the_same_network(self, tmp_path: Path) -> None:
        nets = [run(tmp_path / str(i), num_games=16, groups=1, seed=seed)[0] for i, seed in enumerate((5, 5, 6))]
        first, same, other = (weights(net) for net in nets)
        assert all(torch.equal(first[name], same[name]) for name in first)
        assert not all(torch.equal(first[name], other[name]) for name in first)

    def test_torchs_own_random_state_is_left_alone(self, tmp_path: Path) -> None:
        before = torch.get_rng_state()
        run(tmp_path, num_games=2)
        assert torch.equal(torch.get_rng_state(), before)

    def test_threads_are_put_back(self, tmp_path: Path) -> None:
        before = threading.active_count()
        torch.set_num_threads(2)
        run(tmp_path, num_games=4, groups=2)
        assert torch.get_num_threads() == 2
        assert threading.active_count() == before


class TestStopping:
    def test_max_minutes(self, tmp_path: Path) -> None:
        """At the next move, not after all the plies of an iteration."""
        start = time.monotonic()
        _, listener = run(
            tmp_path, GoEnv(5), num_games=100_000, max_minutes=0.02, plies_per_iteration=10_000, games_in_flight=16
        )
        assert 1.0 < time.monotonic() - start < 8
        assert not listener.stopped
        assert 0 < listener.last["games"] < 100_000
        load_model(tmp_path / "weights.safetensors", GoEnv(5))

    def test_a_run_that_is_over_before(self, tmp_path: Path) -> None:
        assert run(tmp_path, num_games=4, max_minutes=60)[1].last["games"] == 4

    def test_interrupt_saves_and_stops(self, tmp_path: Path) -> None:
        """The first Ctrl-C; here in this process, at the second iteration."""
        listener = Listener(lambda number: os.kill(os.getpid(), signal.SIGINT) if number == 2 else None)
        handler = signal.getsignal(signal.SIGINT)
        net = train(GO, 100_000, folder=tmp_path, reports=[listener], plies_per_iteration=4, **TINY)
        assert listener.stopped
        assert len(listener.rows) == 2
        assert signal.getsignal(signal.SIGINT) is handler
        saved = load_model(tmp_path / "weights.safetensors", GO)
        assert all(torch.equal(a, b) for a, b in zip(saved.parameters(), net.parameters(), strict=True))
        played = sum(len(load_records(path)) for path in (tmp_path / "games").iterdir())
        assert played == listener.last["games"]

    def test_ctrl_c_from_outside(self, tmp_path: Path) -> None:
        """A program that is interrupted ends with exit code 0, behind a progress bar that is closed."""
        program = textwrap.dedent(
            f"""
            from alphago import GoEnv, train
            train(GoEnv(3), 10**6, folder={str(tmp_path / "run")!r}, readouts=2, tower_height=0, channels=8,
                  start_training_after=40, batch_size=16, games_in_flight=4, groups=1)
            """
        )
        root = Path(__file__).parents[2]
        process = subprocess.Popen(
            [sys.executable, "-c", program], stderr=subprocess.PIPE, text=True, cwd=root,
            env={**os.environ, "PYTHONPATH": str(root)},
        )  # fmt: skip
        try:
            deadline = time.monotonic() + 60
            metrics = tmp_path / "run" / "metrics.jsonl"
            while not (metrics.exists() and metrics.read_text().count("\n") > 2):
                assert process.poll() is None, process.communicate()[1]
                assert time.monotonic() < deadline
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=30)
        finally:
            process.kill()
        assert process.returncode == 0, errors
        assert "Traceback" not in errors
        assert "stopped after" in errors
        load_model(tmp_path / "run" / "weights.safetensors", GoEnv(3))

    def test_a_second_interrupt_ends_it_at_once(self, tmp_path: Path) -> None:
        def twice(number: int) -> None:
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)

        threads = threading.active_count()
        with pytest.raises(KeyboardInterrupt):
            train(GO, 100_000, folder=tmp_path, reports=[Listener(twice)], **TINY)
        assert threading.active_count() == threads

    def test_in_another_thread(self, tmp_path: Path) -> None:
        """Where Python allows no signal handler."""
        results: list[NeuralNet] = []
        thread = threading.Thread(target=lambda: results.append(run(tmp_path, num_games=4)[0]))
        thread.start()
        thread.join(timeout=60)
        assert len(results) == 1

    def test_an_error_leaves_no_thread(self, tmp_path: Path) -> None:
        class Breaks(torch.nn.Module):
            """Fine for a while."""

            def __init__(self) -> None:
                super().__init__()
                self.calls = 0
                self.layer = torch.nn.Linear(16 * 9, 8)

            def forward(self, planes: torch.Tensor) -> torch.Tensor:
                self.calls += 1
                if self.calls > 60:
                    raise RuntimeError("the base is gone")
                return self.layer(planes.flatten(1))

        value = torch.nn.Sequential(torch.nn.Linear(8, 1), torch.nn.Tanh())
        net = NeuralNet(GO, Breaks(), value, torch.nn.Linear(8, 10))
        threads = threading.active_count()
        settings = {name: TINY[name] for name in ("readouts", "batch_size")}
        with pytest.raises((RuntimeError, ValueError)):
            train(GO, 500, model=net, folder=tmp_path, reports=[], start_training_after=0, **settings)
        assert threading.active_count() == threads


def test_runs_that_begin_in_the_same_second_have_folders_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("alphago.training.runs.folder.time.strftime", lambda _: "now")
    make, names = RunFolder.__init__, []

    def made(self: RunFolder, path: Path) -> None:
        """The other one begins between this one's choice of a name and its lock."""
        names.append(path.name)
        if len(names) == 1:
            train(GO, 1, reports=[], **TINY)
        make(self, path)

    monkeypatch.setattr(RunFolder, "__init__", made)
    train(GO, 1, reports=[], **TINY)
    assert names == ["go3-now", "go3-now-2"]


class TestModel:
    def test_it_goes_on_with_a_network(self, tmp_path: Path) -> None:
        net, _ = run(tmp_path / "first", num_games=12)
        before = weights(net)
        options = {name: TINY[name] for name in ("readouts", "batch_size", "start_training_after")}
        again = train(GO, 12, model=net, folder=tmp_path / "second", reports=[], **options)
        assert again is net
        assert any(not torch.equal(before[name], tensor) for name, tensor in weights(net).items())

    def test_it_goes_on_with_another_board(self, tmp_path: Path) -> None:
        """The same weights: the network that was given has learned too."""
        net, _ = run(tmp_path / "first", num_games=4)
        before = weights(net)
        options = {name: TINY[name] for name in ("readouts", "batch_size", "start_training_after")}
        larger = train(GoEnv(4), 12, model=net, folder=tmp_path / "second", reports=[], **options)
        assert (larger.env, net.env) == (GoEnv(4), GO)
        assert any(not torch.equal(before[name], tensor) for name, tensor in weights(net).items())
        assert all(torch.equal(a, b) for a, b in zip(weights(net).values(), weights(larger).values(), strict=True))

    def test_it_goes_on_with_another_komi(self, tmp_path: Path) -> None:
        """What comes back is for the game that was trained, as the run's own file is."""
        net, _ = run(tmp_path / "first", num_games=4)
        other = train(GO.replace(komi=2.5), 2, model=net, folder=tmp_path / "second", reports=[], readouts=2)
        assert (other.env.komi, net.env.komi) == (2.5, 0.5)
        assert load_model(tmp_path / "second").env == other.env

    def test_its_notes_are_those_of_the_run(self, tmp_path: Path) -> None:
        """A threshold of other weights says nothing of these."""
        net, _ = run(tmp_path / "first", num_games=4)
        net.notes = {"resign_threshold": "-0.5"}
        net = train(GO, 12, model=net, folder=tmp_path / "second", reports=[], readouts=2)
        assert net.notes == load_model(tmp_path / "second").notes
        assert (net.notes["games"], net.resign_threshold) == ("12", -1.0)

    def test_without_training_it_stays_what_it_was(self, tmp_path: Path) -> None:
        net = load_model(run(tmp_path / "first", num_games=12)[1].weights, GO)
        before = weights(net)
        train(GO, 2, model=net, folder=tmp_path / "second", reports=[], readouts=2)
        assert all(torch.equal(before[name], tensor) for name, tensor in weights(net).items())

    def test_a_size_and_a_model(self, tmp_path: Path) -> None:
        net = NeuralNet(GO, tower_height=0, channels=8)
        with pytest.raises(ValueError, match="tower_height and channels describe a new network"):
            train(GO, 2, model=net, tower_height=3, folder=tmp_path / "run", reports=[])
        assert not (tmp_path / "run").exists()

    def test_a_model_of_another_game(self, tmp_path: Path) -> None:
        net = NeuralNet(GoEnv(5), tower_height=0, channels=8, size_free=False)
        with pytest.raises(ValueError, match=r"for GoEnv\(5\) was wanted for GoEnv\(3, komi=0.5\), but it is for one"):
            train(GO, 2, model=net, folder=tmp_path / "run", reports=[])
        with pytest.raises(ValueError, match="but it plays that game only"):
            train(TIC_TAC_TOE, 2, model=NeuralNet(GO, tower_height=0, channels=8), folder=tmp_path / "run", reports=[])
        assert not (tmp_path / "run").exists()


class TestFolders:
    def test_a_folder_that_is_not_empty(self, tmp_path: Path) -> None:
        (tmp_path / "notes.txt").write_text("mine")
        with pytest.raises(FileExistsError, match="is not empty: choose another folder for a new run"):
            run(tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]

    def test_an_empty_folder_will_do(self, tmp_path: Path) -> None:
        run(tmp_path, num_games=2)
        assert (tmp_path / "config.json").exists()

    def test_a_file_in_the_way(self, tmp_path: Path) -> None:
        (tmp_path / "run").write_text("mine")
        with pytest.raises(FileExistsError, match="cannot be made: a file is there"):
            run(tmp_path / "run")

    def test_a_folder_that_cannot_be_made(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("mine")
        with pytest.raises(OSError, match=r"the run folder cannot be made: .*run"):
            run(tmp_path / "file" / "run")

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="permissions do not bind this user")
    def test_a_read_only_folder(self, tmp_path: Path) -> None:
        tmp_path.chmod(0o500)
        try:
            with pytest.raises(PermissionError, match="the run folder cannot be made"):
                run(tmp_path / "run")
        finally:
            tmp_path.chmod(0o700)

    def test_the_default_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """runs/<game>-<date>-<time>; two runs of one second do not meet."""
        monkeypatch.chdir(tmp_path)
        for _ in range(2):
            train(GO, 1, reports=[], **{**TINY, "readouts": 1})
        names = sorted(path.name for path in (tmp_path / "runs").iterdir())
        assert len(names) == 2
        assert all(name.startswith("go3-") for name in names)


class TestSettings:
    def test_an_unknown_keyword_names_near_misses(self, tmp_path: Path) -> None:
        with pytest.raises(TypeError, match="train has no keyword 'batchsize': did you mean batch_size"):
            run(tmp_path / "run", batchsize=32)
        with pytest.raises(TypeError, match="train has no keyword 'num_readouts': did you mean"):
            run(tmp_path / "run", num_readouts=32)
        assert not (tmp_path / "run").exists()

    @pytest.mark.parametrize(
        ("settings", "text"),
        [
            ({"num_games": 0}, "num_games must be an integer >= 1, got 0"),
            ({"num_games": 2.5}, "num_games must be an integer >= 1, got 2.5"),
            ({"batch_size": -1}, "batch_size must be an integer >= 1, got -1"),
            ({"batch_size": True}, "batch_size must be an integer >= 1, got True"),
            ({"readouts": 0}, "readouts must be an integer >= 1, got 0"),
            ({"epochs": 0}, "epochs must be an integer >= 1, got 0"),
            ({"ckp_freq": 0}, "ckp_freq must be an integer >= 1, got 0"),
            ({"memory_size": 0}, "memory_size must be an integer >= 1, got 0"),
            ({"plies_per_iteration": 0}, "plies_per_iteration must be an integer >= 1, got 0"),
            ({"start_training_after": -1}, "start_training_after must be an integer >= 0, got -1"),
            ({"samples_per_position": float("nan")}, "samples_per_position must be a number >= 0, got nan"),
            ({"learning_rate": -1e-3}, "learning_rate must be a number >= 0, got -0.001"),
            ({"seed": -1}, "seed must be an integer >= 0, got -1"),
            ({"seed": 2**63}, "seed is less than 2 to the power of 63, got 9223372036854775808"),
            ({"learning_rate": None}, "learning_rate has to have a value, got None"),
            ({"num_games": None, "max_minutes": None}, "a run ends by num_games or by max_minutes, both came as None"),
            ({"max_minutes": 0}, "max_minutes must be a number > 0, got 0"),
            ({"games_in_flight": 0}, "games_in_flight must be an integer >= 1, got 0"),
            ({"games_in_flight": 2.5}, "games_in_flight must be an integer >= 1, got 2.5"),
            ({"first_readouts": -5}, "first_readouts must be an integer >= 1, got -5"),
            ({"weight_averaging": float("nan")}, "weight_averaging is 0 to 1, got nan"),
            ({"weight_averaging": 1}, "weight_averaging is less than 1"),
            ({"search_share": 2}, "search_share is 0 to 1, got 2"),
            ({"surprise_share": 5}, "surprise_share is 0 to 1, got 5"),
            ({"gate": True}, "gate, a win rate, is a number, got True"),
            ({"gate": "0.55"}, "gate, a win rate, is a number, got '0.55'"),
            ({"curriculum": ((40, 0.5),)}, "board_size must be an integer from 2 to 25, got 40"),
            ({"sizes": ((4, 0.5), (5, 0.5))}, "sizes have to name the board that is trained for"),
            ({"resign_threshold": -2}, "resign_threshold is -1 to 1, got -2"),
            ({"no_resign_share": 2}, "no_resign_share is 0 to 1, got 2"),
            ({"groups": 0}, "groups must be an integer >= 1, got 0"),
            ({"memory_size": 30}, r"start_training_after \(40\) is more than memory_size \(30\)"),
            ({"tower_height": -1}, "tower_height must be an integer >= 0, got -1"),
        ],
        ids=str,
    )
    def test_bad_values(self, tmp_path: Path, settings: dict, text: str) -> None:
        """Said before anything is written: the folder stays free for the next attempt."""
        with pytest.raises(ValueError, match=text):
            run(tmp_path / "run", **settings)
        assert not (tmp_path / "run").exists()

    def test_numpy_numbers(self, tmp_path: Path) -> None:
        given = {name: np.int64(2) for name in WHOLE} | {"batch_size": np.int32(8), "groups": np.int8(1)}
        given |= {name: np.float32(0.5) for name in NUMBERS} | {"resign_threshold": np.float64(-0.5)}
        given["gradient_norm"] = np.float32(3)
        given |= {"gate": np.float32(0.5), "max_minutes": np.float32(0.01)}
        run(tmp_path, **given)
        kept = json.loads((tmp_path / "config.json").read_text())["settings"]
        assert {name: kept[name] for name in WHOLE} == {name: int(given[name]) for name in WHOLE}
        assert kept["learning_rate"] == 0.5
        assert kept["gate"]["win_rate"] == 0.5


def test_describe_games() -> None:
    nothing = describe_games([], GO)
    assert set(nothing.values()) == {None}
    search = SearchSettings()
    records = selfplay(GO, HashEvaluator(), 8, 10, search=search, resign_threshold=-1.0)
    told = describe_games(records, GO)
    assert told.keys() == nothing.keys()
    assert told["game_length"] == pytest.approx(np.mean([len(record) for record in records]))
    passes = sum((record.moves == GO.pass_action).sum() for record in records)
    assert told["pass_rate"] == pytest.approx(passes / sum(len(record) for record in records))
    assert told["resignations"] == 0
    assert told["black_wins"] + told["draws"] <= 1
    no_pass = describe_games(selfplay(TIC_TAC_TOE, HashEvaluator(), 4, 2, search=search), TIC_TAC_TOE)
    assert no_pass["pass_rate"] is None


class TestLearns:
    """Tic-tac-toe from random weights, in about eight seconds."""

    settings: dict[str, Any] = {
        "num_games": 500, "readouts": 40, "tower_height": 1, "channels": 32, "batch_size": 128,
        "start_training_after": 150, "samples_per_position": 12, "temperature_plies": 9, "learning_rate": 1e-2,
        "search": SearchSettings(dirichlet_weight=0.5, dirichlet_alpha=1.0), "groups": 1,
    }  # fmt: skip

    def learns(self, folder: Path, seed: int) -> None:
        """200 games in either colour against random: hardly one is lost with a search, few are without.

        A network that is sure of a wrong reply can hide the five plies that refute it from 200 readouts; whether it is
        hangs on the last bits of what the processor computes.
        """
        net = train(TIC_TAC_TOE, folder=folder, reports=[], seed=seed, **self.settings)
        searching = evaluate(TIC_TAC_TOE, net, "random", 400, readouts=200, seed=seed)
        assert searching.losses <= 2, searching
        assert searching.wins > 320
        raw = evaluate(TIC_TAC_TOE, net, "random", 400, readouts=0, seed=seed)
        assert raw.losses < 40, raw
        untrained = NeuralNet(TIC_TAC_TOE, tower_height=1, channels=32)
        assert evaluate(TIC_TAC_TOE, untrained, "random", 400, readouts=0, seed=seed).losses > 60

    def test_hardly_loses_to_random(self, tmp_path: Path) -> None:
        self.learns(tmp_path, seed=1)

    @pytest.mark.slow
    @pytest.mark.parametrize("seed", [2, 3, 4])
    def test_whatever_the_seed(self, tmp_path: Path, seed: int) -> None:
        self.learns(tmp_path, seed)


def test_the_loop_prints_nothing_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path, num_games=2)
    assert capsys.readouterr() == ("", "")


def test_the_console_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train(GO, 6, folder=tmp_path / "games", **TINY)
    errors = capsys.readouterr().err
    assert f"training in {tmp_path / 'games'}" in errors
    assert "finished after 6 games" in errors
    assert "6/6" in errors
    train(GO, 6, folder=tmp_path / "timed", max_minutes=10, **TINY)
    errors = capsys.readouterr().err
    assert "/600 s" in errors
