"""A run's networks take an exam: in a run, and in its rows."""

from pathlib import Path

import pytest

from alphago.env.go import GoEnv
from alphago.env.oware import OwareEnv
from alphago.exams.grades import grade_of
from alphago.exams.grading import ExamPlayer, mark
from alphago.mcts.evaluator import HashEvaluator
from alphago.training.call.session import train
from alphago.training.history import EVALUATIONS, read_rows
from alphago.training.judges.watched import make_watched, watched_by_name
from alphago.training.judges.watched_exam import WatchedExam
from tests.exams.small_exams import row, write
from tests.training.small_runs import GO, TINY, Listener

POSITIONS = 24


@pytest.fixture
def file(tmp_path: Path) -> Path:
    moves = [f"{a}{i} {b}{j}" for a, b in ("AB", "BC", "CA") for i in (1, 2, 3) for j in (1, 2, 3)][:POSITIONS]
    return write(tmp_path / "exam", *(row(one, {"C3": [0.0, 0.0]} if "C3" not in one else {}) for one in moves))


def test_a_row(file: Path) -> None:
    """The grade of `ExamPlayer`."""
    watched = WatchedExam(f"exam:{file}", 8, GO)
    tested = watched.test(HashEvaluator(), "cpu")
    found = tested.row
    assert (found["opponent"], found["readouts"], found["exam_positions"]) == (f"exam:{file}", 8, POSITIONS)
    answers = ExamPlayer(watched.exam, watched.env, HashEvaluator(), 8).answer_all(1)
    assert found["exam_points"] == grade_of(mark(watched.exam, answers)).points.value
    assert found["exam_points_low"] <= found["exam_points"] <= found["exam_points_high"]
    assert f"loses {found['exam_points']:.2f} ±" in tested.summary
    assert tested.part == tested.least == 1


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
