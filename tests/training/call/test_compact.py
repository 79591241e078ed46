"""Runs in slices, and folders made small enough to be carried to another machine."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from alphago.cli import main
from alphago.nn.net import NeuralNet, load_model
from alphago.records.record import GameRecord
from alphago.training.call import compact
from alphago.training.call.compact import FILE_LIMIT, FOLDER_LIMIT, make_compact, thin_log, without_policies
from alphago.training.call.session import train
from alphago.training.history import read_history
from alphago.training.runs.folder import RunFolder
from alphago.training.runs.state import pack_arrays, unpack_arrays
from tests.training.conftest import STAGES
from tests.training.small_runs import (
    GO,
    RandomGames,
    Small,
    files,
    games_in,
    go_on,
    interrupt_at,
    run,
    same,
    spoil,
)

GAMES = 40


def total(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def room_for_half(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Limits that a compact folder reaches with about half of the games."""
    games = total(folder / "games")
    newest = sorted((folder / "state").iterdir())[-1].stat().st_size
    needed = total(folder) - games - total(folder / "state") - total(folder / "weights") + newest
    limit(patch, SPARE=2000, FOLDER_LIMIT=needed + 2000 + games // 2)


def limit(patch: pytest.MonkeyPatch, **limits: int) -> None:
    """Smaller files and folders than those that can be carried everywhere."""
    for name, size in limits.items():
        patch.setattr(compact, name, size)


class TestSlices:
    def test_slices_of_a_run(self, tmp_path: Path) -> None:
        """They stop, go on from each other, and their schedule is that of the whole run."""
        settings = {"max_minutes": 1e6, "learning_rate": 1e-3, "schedule": "cosine", "source": RandomGames}
        slices: list[list[dict[str, Any]]] = []
        while len(slices) < 2:  # on a busy machine a slice may be less than an iteration
            _, listener = run(tmp_path, 10**6, stop_after=0.01, **settings)
            assert listener.stopped
            assert listener.settings["max_minutes"] == 1e6
            slices += [listener.rows] if listener.rows else []
        rows = [*slices[0], *slices[1]]
        assert [row["iteration"] for row in rows] == list(range(1, len(rows) + 1))
        warm_up = min(1, (rows[-1]["steps"] + 1) / 200)
        assert rows[-1]["learning_rate"] == pytest.approx(1e-3 * warm_up, rel=0.01)

    def test_a_run_that_is_over_before(self, tmp_path: Path) -> None:
        _, listener = run(tmp_path, 4, stop_after=100, source=RandomGames)
        assert not listener.stopped
        assert listener.last["games"] == 4


class TestCompact:
    def test_it_goes_on_elsewhere(self, finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """With the newest games alone, and it says so."""
        before = [record.seed for record in games_in(finished)]
        with monkeypatch.context() as patch:
            room_for_half(finished, patch)
            net, listener = go_on(finished, compact=True)
            assert total(finished) <= compact.FOLDER_LIMIT
        assert listener.notes[-1].startswith("the run folder is compact: 0.")
        assert not list(finished.rglob("*.part"))
        files = {str(path.relative_to(finished)) for path in finished.rglob("*") if path.is_file()}
        assert len([name for name in files if name.startswith("state/")]) == 1
        assert not [name for name in files if name.startswith("weights/")]
        kept = [record.seed for record in games_in(finished)]
        assert GAMES / 4 < len(kept) < 3 * GAMES / 4
        assert kept == before[-len(kept) :]
        assert f"with the {len(kept)} newest of {GAMES} games in memory" in listener.notes[-1]
        assert same(load_model(finished, GO), net)

        elsewhere = tmp_path / "another" / "place"
        shutil.copytree(finished, elsewhere)
        shutil.rmtree(finished)
        _, listener = go_on(elsewhere, GAMES + 8)
        assert "its folder was made compact once: it goes on without its oldest games, so not bit-identical" in (
            listener.notes
        )
        assert {row["compacted"] for row in listener.rows} == {1}
        assert listener.last["games"] == GAMES + 8
        rows = read_history(elsewhere).metrics
        assert [row["iteration"] for row in rows] == list(range(1, len(rows) + 1))
        assert rows[0]["compacted"] == 0
        assert listener.last["memory"] < listener.last["positions"]
        config = json.loads((elsewhere / "config.json").read_text())
        assert config["compacted"] == [{"games": GAMES, "kept_games": len(kept), "of": GAMES}]
        go_on(elsewhere, compact=True)
        assert any("made compact 2 times" in note for note in go_on(elsewhere)[1].notes)

    def test_all_fits(self, tmp_path: Path, undisturbed: Small) -> None:
        """Then nothing is lost but older networks, and the run is what it would have been."""
        stop = interrupt_at(4)
        run(tmp_path, report=stop, compact=True, **STAGES)
        assert stop.stopped
        assert same(go_on(tmp_path, compact=True)[0], undisturbed.net)

    def test_files_in_pieces(self, finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """No file is larger than the limit, neither of games nor of the state; both are read again."""
        with monkeypatch.context() as patch, RunFolder(finished) as folder:
            limit(patch, FILE_LIMIT=4500, SPARE=500)
            folder.states.piece = 4500
            make_compact(folder, folder.restore(), 3)
        sizes = {path.name: path.stat().st_size for name in ("games", "state") for path in (finished / name).iterdir()}
        assert max(sizes.values()) <= 4500
        assert len([name for name in sizes if ".safetensors." in name]) > 10
        seeds = [record.seed for record in games_in(finished)]
        assert len(seeds) == GAMES
        _, listener = go_on(finished, GAMES + 4)
        assert listener.last["games"] == GAMES + 4
        assert listener.last["memory"] == listener.last["positions"]

    def test_a_board_that_is_not_played_any_more(self, tmp_path: Path) -> None:
        """Its games are in nobody's memory."""
        run(tmp_path, 24, curriculum=((2, 0.3),), compact=True, source=RandomGames)
        assert {record.policies.shape[1] for record in games_in(tmp_path)} == {10}
        assert go_on(tmp_path, 28, source=RandomGames)[1].last["games"] == 28

    def test_a_run_that_was_over(self, finished: Path) -> None:
        _, listener = go_on(finished, compact=True)
        assert listener.rows == []
        assert len(list((finished / "state").iterdir())) == 1

    @pytest.mark.parametrize("when", ["before the state", "after the state"])
    def test_killed_meanwhile(self, finished: Path, monkeypatch: pytest.MonkeyPatch, when: str) -> None:
        """First come files of games, then the state, then all that neither names goes: a kill leaves more of them."""
        before = files(finished)
        with monkeypatch.context() as patch:
            room_for_half(finished, patch)
            go_on(finished, compact=True)
        after = files(finished)
        if when == "before the state":
            after = {name: data for name, data in after.items() if name.startswith("games/")}
        for name, data in {**before, **after}.items():
            (finished / name).parent.mkdir(exist_ok=True)
            (finished / name).write_bytes(data)
        _, listener = go_on(finished, GAMES + 4, compact=True)
        assert listener.last["games"] == GAMES + 4
        names = {path.name for path in (finished / "games").iterdir()}
        with RunFolder(finished) as folder:
            folder.restore()
            assert names == {shard.name for shard in folder.shards.files}

    @pytest.mark.parametrize("how", ["flipped", pytest.param("gone", marks=pytest.mark.slow)])
    def test_damaged_games(self, finished: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
        """They are set aside when the run goes on, and go when it is made compact; the rest stays."""
        spoil(sorted((finished / "games").iterdir())[-1], how)
        with monkeypatch.context() as patch:
            room_for_half(finished, patch)
            go_on(finished, compact=True)
        kept = sorted((finished / "games").iterdir())
        assert kept
        assert not list(finished.rglob("*.damaged"))
        spoil(kept[0], how)
        _, listener = go_on(finished, GAMES + 4)
        assert any("games of the memory" in note for note in listener.notes)
        assert listener.last["games"] == GAMES + 4

    @pytest.mark.parametrize("how", ["gone", pytest.param("flipped", marks=pytest.mark.slow)])
    def test_games_that_are_damaged_meanwhile(self, finished: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
        """A file that would have to be cut is left out."""
        limit(monkeypatch, FILE_LIMIT=4500, SPARE=500)
        with RunFolder(finished) as folder:
            found = folder.restore()
            oldest = folder.shards.files[0]
            spoil(finished / "games" / oldest.name, how)
            kept = make_compact(folder, found, 3)
        assert kept.games == GAMES - (oldest.end - oldest.first)
        assert go_on(finished, GAMES + 4)[1].last["games"] == GAMES + 4

    def test_a_damaged_state(self, finished: Path) -> None:
        """There is no other one: a sentence says so."""
        go_on(finished, compact=True)
        (path,) = (finished / "state").iterdir()
        spoil(path, "cut")
        with pytest.raises(ValueError, match=r"is damaged .*; .*holds no state to go on from"):
            go_on(finished)

    @pytest.mark.slow
    def test_too_large_a_network(self, tmp_path: Path) -> None:
        large = NeuralNet(GO, tower_height=4, channels=400)
        with pytest.raises(ValueError, match=r"the network of a compact run must be at most 20 MiB, got \d\d MiB"):
            train(GO, 4, model=large, folder=tmp_path / "run", reports=[], compact=True)
        assert not (tmp_path / "run").exists()

    def test_too_much_else(self, finished: Path) -> None:
        """The run is saved, with all of its games."""
        with open(finished / "film.mkv", "wb") as file:
            file.truncate(FOLDER_LIMIT)
        games = total(finished / "games")
        with pytest.raises(ValueError, match=r"is saved, but cannot be compact: without any games it takes 60 MiB"):
            go_on(finished, GAMES + 4, compact=True)
        assert total(finished / "games") > games
        assert go_on(finished)[1].last["games"] == GAMES + 4


class TestParts:
    def test_logs(self, tmp_path: Path) -> None:
        """The newest lines stay, older ones are thinned."""
        path = tmp_path / "metrics.jsonl"
        path.write_text("".join(json.dumps({"iteration": i, "seconds": i}) + "\n" for i in range(1000)))
        before = path.stat().st_size
        thin_log(path, before)
        assert path.stat().st_size == before
        thin_log(path, before // 3)
        assert path.stat().st_size <= before // 3
        numbers = [json.loads(line)["iteration"] for line in path.read_text().splitlines()]
        assert numbers[0] == 0
        assert numbers[-100:] == list(range(900, 1000))
        assert numbers == sorted(set(numbers))
        path.write_text("one long line\n" * 3)
        thin_log(path, 20)
        assert path.read_text() == "one long line\n"
        thin_log(tmp_path / "none.jsonl", 10)

    def test_policies_of_games_in_progress(self) -> None:
        arrays = {"lengths": np.array([2, 3, 1, 4]), "moves": np.arange(10, dtype=np.int16)}
        arrays |= {"policies": np.ones((10, 5), np.uint16), "weights": np.ones(10, np.float32)}
        lighter = unpack_arrays(without_policies(pack_arrays(arrays), 0.5))
        assert lighter["policies"].all(axis=1).tolist() == [True] * 5 + [False] * 5
        assert lighter["weights"].tolist() == [1] * 5 + [0] * 5
        assert lighter["moves"].tolist() == list(range(10))

    @pytest.mark.slow
    def test_the_limits(self, tmp_path: Path) -> None:
        """Memory, games in progress and weights of a large run on a large board."""
        random = np.random.default_rng(0)
        plies, actions = 200, 362

        def game(number: int) -> GameRecord:
            policies = random.integers(0, 65536, (plies, actions), dtype=np.uint16)
            kinds = {"moves": np.int16, "values": np.float32, "surprises": np.float32}
            kinds |= {"legal_counts": np.int16, "movers": np.int8}
            columns: dict[str, Any] = {name: np.zeros(plies, kind) for name, kind in kinds.items()}
            weights = np.ones(plies, np.float32)
            return GameRecord(**columns, policies=policies, weights=weights, outcome=1.0, score=0.5, seed=(0, number))

        run(tmp_path, 4)
        with RunFolder(tmp_path) as folder:
            found = folder.restore()
            for part in (300, 400, 5):
                folder.shards.add([game(number) for number in range(part)], 3)
                folder.shards.write()
            found.data["stage"]["memory"]["games"] = 709
            flying = {"policies": random.integers(0, 65536, (60_000, actions), dtype=np.uint16)}
            flying |= {"lengths": np.full(300, 200), "weights": np.ones(60_000, np.float32)}
            found.tensors["selfplay3.games"] = pack_arrays(flying)
            found.tensors["net.large"] = torch.rand(5_000_000)
            kept = make_compact(folder, found, 3)
        assert total(tmp_path) == kept.size
        assert FOLDER_LIMIT - 2**20 < kept.size <= FOLDER_LIMIT
        assert max(path.stat().st_size for path in tmp_path.rglob("*")) <= FILE_LIMIT
        with RunFolder(tmp_path) as folder:
            again = folder.restore()
            records, notes = folder.shards.latest(again.data["stage"]["memory"]["games"], 3)
        assert notes == []
        assert [record.seed for record in records[-5:]] == [(0, number) for number in range(5)]
        assert len(records) == kept.games > 100


class TestCommandLine:
    def test_slices(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        folder = str(tmp_path / "run")
        small = "--board-size 3 --minutes 50 --readouts 2 --tower-height 0 --channels 4 --stop-after 0.01 --compact"
        for text in ("stopped after", "its folder was made compact once"):
            assert main(["train", *small.split(), "--folder", folder]) == 0
            told = capsys.readouterr().err
            assert text in told
            assert "the run folder is compact: " in told
        assert json.loads((tmp_path / "run" / "config.json").read_text())["settings"]["max_minutes"] == 50

    def test_nonsense(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["train", "--games", "1", "--stop-after", "-2", "--folder", str(tmp_path / "run")]) == 2
        assert capsys.readouterr().err.startswith("alphago train: --stop-after, in minutes, must be")
