"""A run's networks take an exam: unit by unit, in a run, and in its rows."""

import threading
from pathlib import Path

import numpy as np
import pytest

from alphago.env.go import GoEnv
from alphago.env.oware import OwareEnv
from alphago.exams.grading import ExamPlayer
from alphago.mcts.evaluator import HashEvaluator
from alphago.training.call.session import train
from alphago.training.history import EVALUATIONS, read_rows
from alphago.training.judges.watched import make_watched, watched_by_name
from alphago.training.judges.watched_exam import UNIT, WatchedExam
from tests.exams.small_exams import row, write
from tests.training.small_runs import GO, TINY, Listener

NEVER = threading.Event()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A unit of positions, and half of another."""
    moves = [f"{a}{i} {b}{j}" for a, b in ("AB", "BC", "CA") for i in (1, 2, 3) for j in (1, 2, 3)][: UNIT + UNIT // 2]
    return write(tmp_path / "exam", *(row(one, {"C3": [0.0, 0.0]} if "C3" not in one else {}) for one in moves))


class TestTests:
    def test_units_are_the_whole(self, file: Path) -> None:
        """One after another, or at once: the same grade, that of `ExamPlayer`."""
        watched = WatchedExam(f"exam:{file}", 8, GO)
        parts, whole = (watched.test(HashEvaluator(), "cpu", 0) for _ in range(2))
        assert (parts.done, parts.units) == (0, 2)
        parts.go_on(1, NEVER)
        assert parts.done == 1
        parts.go_on(1, NEVER)
        whole.go_on(9, NEVER)
        assert parts.done == whole.done == 2
        assert whole.row() == parts.row()
        answers = ExamPlayer(watched.exam, watched.env, HashEvaluator(), 8).answer_all(1)
        assert np.concatenate([unit.actions for unit in whole.answers]).tolist() == answers.actions.tolist()

    def test_a_row(self, file: Path) -> None:
        watched = WatchedExam(f"exam:{file}", 0, GO)
        taken = watched.test(HashEvaluator(), "cpu", 0)
        taken.go_on(2, NEVER)
        found = taken.row()
        assert (found["opponent"], found["readouts"], found["exam_positions"]) == (f"exam:{file}", 0, UNIT + UNIT // 2)
        assert found["exam_points_low"] <= found["exam_points"] == taken.grade.points.value <= found["exam_points_high"]
        assert "exam_lead_error" not in found  # a run's evaluators do not forecast scores
        assert f"loses {found['exam_points']:.2f} ±" in taken.summary()


class TestNames:
    def test_the_packages_exam(self) -> None:
        watched = watched_by_name("exam@0", GoEnv(7))
        assert isinstance(watched, WatchedExam)
        assert (watched.name, watched.readouts, len(watched.exam)) == ("exam@0", 0, 80)
        assert watched_by_name("exam", GoEnv(9)).name == "exam@64"

    def test_what_cannot_be(self, file: Path) -> None:
        with pytest.raises(ValueError, match="there must be an exam for the board, got 5x5"):
            watched_by_name("exam@0", GoEnv(5))
        with pytest.raises(ValueError, match="must be an exam on the run's board, 5x5, got one on 3x3"):
            watched_by_name(f"exam:{file}@0", GoEnv(5))
        with pytest.raises(FileNotFoundError, match="the exam nothing cannot be read"):
            make_watched(["exam:nothing@0"], GO)
        with pytest.raises(ValueError, match="env must be Go for an exam, got OwareEnv"):
            watched_by_name(f"exam:{file}@0", OwareEnv())


@pytest.mark.slow
def test_in_a_run(file: Path, tmp_path: Path) -> None:
    """A row at the end, with the run's games and processor seconds, and a sentence."""
    listener = Listener()
    names = [f"exam:{file}@0", f"exam:{file}@4"]
    train(GO, 20, folder=tmp_path / "run", watch=names, watch_share=0.9, reports=[listener], **TINY)
    rows = read_rows(tmp_path / "run" / EVALUATIONS, "opponent")
    for readouts in (0, 4):
        own = [one for one in rows if one["readouts"] == readouts]
        assert own[-1]["games"] == 20
        assert all({"processor_seconds", "exam_points", "exam_win_error", "watch_seconds"} <= one.keys() for one in own)
    assert listener.noted("points a move in 24 positions")
