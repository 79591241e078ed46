"""A run's networks take an exam: in a run, and in its rows."""

from pathlib import Path

import pytest

from alphago.env.go import GoEnv
from alphago.env.oware import OwareEnv
from alphago.exams.grades import grade_of
from alphago.exams.grading import answer_all, mark
from alphago.mcts.evaluator import HashEvaluator
from alphago.training.judges.watched import WatchedExam, make_watched, watched_by_name
from alphago.training.settings.judge_settings import WatchList
from tests.exams.small_exams import row, write
from tests.training.small_runs import GO

POSITIONS = 24


@pytest.fixture
def file(tmp_path: Path) -> Path:
    moves = [f"{a}{i} {b}{j}" for a, b in ("AB", "BC", "CA") for i in (1, 2, 3) for j in (1, 2, 3)][:POSITIONS]
    return write(tmp_path / "exam", *(row(one, {"C3": [0.0, 0.0]} if "C3" not in one else {}) for one in moves))


def test_a_row(file: Path) -> None:
    """The grade of `answer_all`."""
    watched = WatchedExam(f"exam:{file}", 8, GO)
    tested = watched.test(HashEvaluator(), "cpu")
    found = tested.row
    assert (found["opponent"], found["readouts"], found["exam_positions"]) == (f"exam:{file}", 8, POSITIONS)
    answers = answer_all(watched.exam.positions_of(watched.env), HashEvaluator(), 8)
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
            make_watched(WatchList(("exam:nothing@0",)), GO)
        with pytest.raises(ValueError, match="env must be Go for an exam, got OwareEnv"):
            watched_by_name(f"exam:{file}@0", OwareEnv())
