"""A run from iteration to iteration: what it leaves behind, its boards in turn and side by side, its judges."""

import json
import math
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from alphago import GameRecord, GoEnv, NeuralNet, load_model
from alphago.nn.inference.frozen_net import frozen_copy
from alphago.nn.model_files import read_weights
from alphago.records.record import RecordBuilder, load_records
from alphago.training.judge import Judge
from alphago.training.loop import train_loop
from alphago.training.metrics import WORK
from alphago.training.run import Run
from alphago.training.source import GameSource
from alphago.training.stage import Stage
from tests.training.small_runs import (
    GO,
    GO4,
    RandomGames,
    Small,
    Sources,
    games_in,
    go_on,
    opened,
    run,
    run_killed,
    run_settings,
    same,
)

SOUND_RUN = Path(__file__).parent / "watch" / "sound_run.jsonl"


class TestWhatItLeaves:
    def test_files(self, finished_run: Small) -> None:
        folder, _, listener = finished_run
        names = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
        parts = {part: {name for name in names if name.startswith(part)} for part in ("weights/", "games/", "state/")}
        named = {"config.json", "config.copy.json", "metrics.jsonl", "weights.safetensors", "lock"}
        assert names == named.union(*parts.values())
        assert len(parts["state/"]) == 2
        assert "weights/games-0000040.safetensors" in parts["weights/"]
        assert listener.weights == folder / "weights.safetensors"
        assert not listener.stopped

    def test_metrics(self, finished_run: Small) -> None:
        folder, _, listener = finished_run
        rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
        assert rows == listener.rows
        assert listener.last == rows[-1]
        for number, row in enumerate(rows, start=1):
            assert row.keys() >= json.loads(SOUND_RUN.read_text().splitlines()[0]).keys()
            assert row["iteration"] == number
            shares = {kind: row[f"{kind}_share"] for kind in WORK}  # all of its time is accounted for
            assert sum(shares.values()) == pytest.approx(1)
            assert min(shares.values()) >= 0
            spent = {kind for kind, share in shares.items() if share > 0}
            assert spent >= {"net", "tree", "boards", "games", "sampling"}
            assert (shares["transfer"], row["gpu_busy"]) == (0, None)
            assert row["processor_share"] > 0
            assert all(value is None or math.isfinite(value) for value in row.values())
        assert listener.rises("seconds", "processor_seconds", "games", "positions", "steps")
        assert max(row["optimizer_share"] for row in rows) > 0
        assert (rows[-1]["games"], rows[-1]["skipped_steps"]) == (40, 0)
        trained = [row for row in rows if row["policy_loss"] is not None]
        assert trained[-1]["steps"] > 10

    def test_checkpoints_load(self, finished_run: Small) -> None:
        folder, net, _ = finished_run
        latest = load_model(folder / "weights.safetensors", GO)
        assert same(latest, net)
        assert not net.training
        tens = []
        for path in sorted((folder / "weights").iterdir()):
            load_model(path, GO)
            games = int(path.stem.removeprefix("games-"))
            assert read_weights(path)[1]["extra"]["games"] == str(games)
            tens.append(games // 10)
        assert tens == [1, 2, 3, 4], "a checkpoint every `ckp_freq` games"

    def test_games_load(self, finished_run: Small) -> None:
        folder, _, listener = finished_run
        expected = 0
        for path in sorted((folder / "games").iterdir()):
            begin, end = map(int, path.stem.removeprefix("games-").split("-"))
            assert (begin, len(load_records(path))) == (expected, end - begin)
            expected = end
        records = games_in(folder)
        assert sorted(record.seed for record in records) == [(3, number) for number in range(40)]
        assert sum((record.weights > 0).sum() for record in records) == listener.last["positions"]
        assert all(record.position(GO).is_over for record in records)

    @pytest.mark.slow
    def test_when_to_resign_is_kept_with_the_weights(self, tmp_path: Path) -> None:
        """Once there are games enough in which low values were right."""

        class ClearGames(RandomGames):
            def game(self, number: int) -> GameRecord:
                """Black is sure of its loss, and loses."""
                builder = RecordBuilder(seed=(self.seed, number))
                for value, mover in ((-0.9, 1), (0.9, -1)):
                    builder.add(9, np.eye(10, dtype=np.float32)[9], value, 10, mover)
                return builder.finish(-1.0, -0.5, False, 10)

        for games, names in ((4, {"games"}), (60, {"resign_threshold", "resignations_judged", "resignations_wrong"})):
            run(tmp_path / str(games), games, source=ClearGames)
            notes = load_model(tmp_path / str(games)).notes
            assert names <= notes.keys()
            assert ("resign_threshold" in notes) == (games == 60)
        assert (float(notes["resign_threshold"]), notes["resignations_wrong"]) == (-0.45, "0.0000")


@pytest.mark.parametrize("dtype", ["float32", "int8", None])
def test_self_play_computes_in_what_the_settings_say(tmp_path: Path, dtype: str | None) -> None:
    with opened(tmp_path, tower_height=1, selfplay_dtype=dtype) as run:
        evaluator = run.stage.source.evaluator  # type: ignore[attr-defined]
        assert evaluator.dtype == run.player.evaluator(run.settings.selfplay_dtype).dtype


def test_games_side_by_side_become_more(tmp_path: Path) -> None:
    """With the run, never above a sixteenth of the games so far."""
    sources = Sources()
    settings = {"games_in_flight": 4, "first_games_in_flight": 2, "samples_per_position": 0, "ckp_freq": 100}
    run(tmp_path, 70, source=sources, **settings)
    counts = [count for _, _, count in sources.made[0].asked]
    assert counts == sorted(counts)
    assert set(counts) == {2, 3, 4}
    assert counts.index(3) == 24  # after 48 games


class TestSource:
    """A run asks for games; who plays them is its caller's business."""

    def test_one_of_ones_own(self, tmp_path: Path) -> None:
        """Whole games of random moves: the run learns from them and keeps them, and tells when to play what."""
        sources = Sources()
        net, listener = run(tmp_path, 16, source=sources)
        (source,) = sources.made
        checked: GameSource = source
        assert checked.begun == 16
        assert len(listener.rows) == len(source.asked) == 4
        assert set(source.asked) == {(6, 4, 4)}
        assert [record.seed for record in games_in(tmp_path)] == [(0, number) for number in range(16)]
        assert listener.last["positions"] == source.moves
        assert listener.last["steps"] > 10
        assert not same(source.published[0], net)
        assert len(source.published) == 1 + sum(row["steps"] > 0 for row in listener.rows)
        assert source.closed == 1

    @pytest.mark.slow
    def test_one_for_each_stage_and_call(self, tmp_path: Path) -> None:
        """Each is made once, also where a run goes on, and closed once, also after an error."""
        whole, cut, again = Sources(), Sources(), Sources()
        run(tmp_path / "whole", 8, source=whole, curriculum=((2, 0.5),))
        run_killed(tmp_path / "cut", 9, source=cut)
        go_on(tmp_path / "cut", source=again)
        assert [[source.closed for source in sources.made] for sources in (whole, cut, again)] == [[1, 1], [1], [1]]

    @pytest.mark.slow
    def test_another_one_goes_on(self, tmp_path: Path) -> None:
        """What a run learned from is its own, wherever its next games come from."""
        run(tmp_path, 8, source=RandomGames)
        with pytest.raises(ValueError, match=r"source must .* \S+:RandomGames, which .*, got alphago\S+:SelfPlay"):
            go_on(tmp_path, 12)
        assert go_on(tmp_path, 12, source=Sources())[1].last["games"] == 12


class TestStages:
    """Small boards first, the same weights all along."""

    def test_boards_in_turn(self, tmp_path: Path) -> None:
        settings = {"curriculum": ((2, 0.2), (3, 0.4)), "source": RandomGames, "samples_per_position": 1}
        net, listener = run(tmp_path, 30, GO4, **settings)
        sizes = [row["board_size"] for row in listener.rows]
        assert list(dict.fromkeys(sizes)) == [2, 3, 4]
        for size, end in ((2, 0.2), (3, 0.6)):
            last = max(row["games"] for row in listener.rows if row["board_size"] == size)
            assert 30 * end <= last < 30 * end + 4
        assert listener.rises("games", "positions", "steps")
        assert net.env == GO4
        assert net(net.env.position())[0].shape == (17,)
        load_model(tmp_path / "weights.safetensors", GO4)
        records = games_in(tmp_path)
        assert {record.policies.shape[1] for record in records} == {5, 10, 17}
        assert sorted(record.seed for record in records) == [(0, number) for number in range(30)]

    def test_komi_of_each_board(self) -> None:
        """The run's own is as it was given, the others have their usual one."""
        nine = GoEnv(9, komi=5.5)
        boards, ends = zip(*run_settings(curriculum=((5, 0.1), (9, 0.1), (7, 0.1))).lessons(nine), strict=True)
        assert boards == (GoEnv(5), nine, GoEnv(7), nine)
        assert ends == pytest.approx([0.1, 0.2, 0.3, 1.0])
        assert run_settings(curriculum=((7, 0.1), (9, 0.2))).lessons(nine) == [(GoEnv(7), 0.1), (nine, 1.0)]

    def test_readouts_rise(self, tmp_path: Path) -> None:
        settings = {"first_readouts": 2, "readouts": 16, "samples_per_position": 0}
        _, listener = run(tmp_path, 24, source=RandomGames, **settings)
        first, *_, last = (row["readouts"] for row in listener.rows)
        assert listener.rises("readouts")
        assert (first, last > 8) == (2, True)

    def test_how_many_readouts_were_done(self, tmp_path: Path) -> None:
        """Each move's root and its readouts; moves of the opening have none."""
        _, listener = run(tmp_path, 4, opening_plies=0)
        for row in listener.rows:
            assert row["readouts_per_second"] == pytest.approx(5 * row["moves_per_second"])


class FirstForEver(Judge[Run]):
    """A Judge that lets the run's first network play for ever, and ends the run at its third look."""

    name, saved = "first", ("looks",)

    def __init__(self) -> None:
        self.best: NeuralNet | None = None
        self.looks = 0

    @property
    def ends_run(self) -> bool:
        return self.looks >= 3

    def due(self, run: Run) -> bool:
        return run.learner.steps > 0  # also at the end, where it has judged

    def judge(self, run: Run, stop: threading.Event) -> None:
        self.best = self.best or frozen_copy(run.learner.net)
        self.looks += 1
        run.note(f"look {self.looks}")

    def hand_over(self, stage: Stage) -> None:
        self.handed = stage.source

    def tensors(self) -> Mapping[str, torch.Tensor]:
        return {"first.looks": torch.tensor(self.looks)}

    def restore(self, run: Run, tensors: Mapping[str, torch.Tensor], state: Mapping[str, Any] | None) -> None:
        super().restore(run, tensors, state)
        self.best = run.learner.net
        assert state is None or tensors["first.looks"] == self.looks


def test_a_judge_of_ones_own(tmp_path: Path) -> None:
    """It is asked between iterations, may choose the network that plays and is saved, and ends the run."""
    judge, sources = FirstForEver(), Sources()
    with opened(tmp_path, 1000, extra=[judge], source=sources) as run:
        (listener,) = run.reporter.reports
        train_loop(run, threading.Event())
        assert (run.is_over, run.games < 1000, run.interrupted) == (True, True, "")
        assert run.player is not run.learner.net
        assert same(load_model(tmp_path), run.player)
        assert judge.handed is run.stage.source  # where it may leave more than the best network
    assert judge.best is not None
    assert [note for note in listener.notes if note.startswith("look")] == ["look 1", "look 2", "look 3"]
    assert len(sources.made[0].published) == 3  # the first, that of the first steps, and from then on the best
    assert same(sources.made[0].published[-1], judge.best)
    again = FirstForEver()
    with opened(tmp_path, 1000, extra=[again], source=Sources()) as run:
        assert (again.looks, run.is_over) == (3, True)
