"""Grades, pairs, parts, and the sheet of the worst moves."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from alphago.exams.exam_result import ExamResult
from alphago.exams.grading import Answers
from alphago.exams.positions import Exam
from tests.drawing.reading import texts
from tests.exams.small_exams import ENV, exam_of, row


@pytest.fixture
def exam(tmp_path: Path) -> Exam:
    """Four positions in which A1 is best, C1 loses 1, C3 loses 3 and C2 loses 30 points."""
    losses = {"A1": [0.0, 0.0], "C1": [1.0, 0.1], "C3": [3.0, 0.3], "C2": [30.0, 0.5]}
    rows = (row(f"B2 {other}", losses, black_win=0.5 + 0.1 * i) for i, other in enumerate(("A3", "B3", "A2", "B1")))
    return exam_of(tmp_path / "exam", *rows)


def answers(*moves: str, win: float = 0.5, lead: float = math.nan) -> Answers:
    actions = np.array([ENV.from_text(move) for move in moves])
    return Answers(actions, np.full(len(moves), win), np.full(len(moves), lead))


@pytest.fixture
def result(exam: Exam) -> ExamResult:
    weak, strong = answers("C1", "C3", "C2", "A1", lead=3.0), answers("C1", "C1", "C3", "A1", lead=2.0)
    return ExamResult(exam, ("weak", "strong"), (weak, strong))


class TestGrades:
    def test_by_hand(self, result: ExamResult) -> None:
        weak, strong = result.grades
        assert weak.positions == 4
        assert weak.points.value == pytest.approx((1 + 3 + 20 + 0) / 4)
        assert weak.points.margin == pytest.approx(1.959964 * np.std([1, 3, 20, 0], ddof=1) / 2)
        assert (strong.points.value, strong.rate.value) == (pytest.approx(1.25), pytest.approx(0.125))
        assert (weak.best.value, weak.blunders.value) == (0.25, 0.5)
        assert weak.win_error.value == pytest.approx(math.sqrt(np.mean(np.square([0, 0.1, 0.2, 0.3]))))
        assert weak.lead_error.value == 1
        assert strong.lead_error.value == 0
        assert math.isnan(weak.correlation.value)  # the same win rate everywhere

    def test_paired(self, result: ExamResult) -> None:
        """Differences of 0, -2, -17 and 0 points: their interval, not that of two means."""
        found = result.paired()
        assert found.points.value == pytest.approx(-19 / 4)
        assert found.points.margin == pytest.approx(1.959964 * np.std([0, -2, -17, 0], ddof=1) / 2)
        assert found.blunders.value == -0.25
        assert found.lead_error.value == -1
        back = result.paired(0, 1)
        assert back.points.value == -found.points.value
        assert back.points.margin == pytest.approx(found.points.margin)

    def test_by_parts(self, result: ExamResult) -> None:
        vars(result)["kinds"] = ["open", "ladder", "ladder", "open"]
        found = result.by_kind()
        assert list(found) == ["ladder", "open"]
        assert [grade.positions for grade in found.values()] == [2, 2]
        assert [grade.points.value for grade in found.values()] == pytest.approx([11.5, 0.5])
        assert [grade.positions for grade in result.by_phase().values()] == [4]

    def test_halves(self, result: ExamResult) -> None:
        assert 0 < result.halves(1).gap < result.halves(0).gap
        assert result.halves(1, 0).agreement < 1  # in half of the halvings, one half sees no difference

    def test_rows_are_plain_data(self, result: ExamResult) -> None:
        rows = json.loads(json.dumps(list(result.rows()), allow_nan=False))
        assert [one["player"] for one in rows if not {"phase", "kind", "minus"} & one.keys()] == ["weak", "strong"]
        (paired,) = [one for one in rows if "minus" in one]
        assert (paired["player"], paired["minus"], paired["points"]) == ("strong", "weak", -4.75)
        assert paired["correlation"] is None
        assert sum(one["positions"] for one in rows if "kind" in one and one["player"] == "weak") == 4

    def test_pairs(self, exam: Exam) -> None:
        """The same network or as many readouts; or all, if there is nothing alike."""
        pairs = {("a@0",): [], ("a@0", "b@64"): [(1, 0)]}
        pairs |= {("a@0", "a@64", "b@0", "b@64"): [(1, 0), (2, 0), (3, 1), (3, 2)]}
        assert {names: ExamResult(exam, names, ()).pairs for names in pairs} == pairs


def test_columns_of_the_table(result: ExamResult) -> None:
    lines = str(result).splitlines()
    assert lines[0].startswith("3x3: 4 positions; per move, losses cut at 20 points")
    assert lines[2].split("  ")[0] == "player"
    assert "correlation" not in lines[2]  # no player has one
    assert lines[3].split()[:4] == ["weak", "6.00", "±", "9.23"]
    assert any(line.startswith("strong - weak  −4.75 ± 8.06") for line in lines)
    assert lines[-1].split()[0] in ("open", "fight", "death")


class TestWorstMoves:
    def test_order(self, result: ExamResult) -> None:
        assert (result.worst(), result.worst(0, 2)) == ([2, 1, 0, 3], [2, 1])

    def test_the_sheet(self, result: ExamResult) -> None:
        text = " ".join(texts(result.sheet(0, 2)))
        assert text.startswith("The moves with which weak loses most, 4 positions;")
        assert "3. Black C2 after 2 moves loses 30.0 points, 50%; best A1; " in text
        assert "2. Black C3 after" in text
        assert result._repr_svg_() == str(result.sheet())

    def test_a_pass_can_be_drawn(self, tmp_path: Path) -> None:
        exam = exam_of(tmp_path / "x", row("B2", {"pass": [25.0, 0.7]}))
        assert "pass" in ExamResult(exam, ("one",), (answers("pass"),)).sheet()
