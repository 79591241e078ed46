"""Phases and kinds of positions that are drawn, with losses that say where something is at stake."""

import numpy as np
import pytest

from alphago.env.go_position import GoPosition
from alphago.exams.kinds import (
    BEGINNINGS,
    GROUP,
    KINDS,
    NEAR,
    PHASES,
    URGENT,
    is_enclosed,
    is_race,
    kind_of,
    kinds,
    phase_of,
    phases,
    urgency,
)
from alphago.exams.ladders import Stones
from alphago.exams.positions import ExamPosition, exam_env, find_exam
from tests.exams.test_ladders import BROKEN, LADDER, stones_of

ENV = exam_env(7)
QUIET, FIGHT = URGENT - 0.5, URGENT + 0.5

RACE = """
. . . . . . .
. . . . . . .
. . . . . . .
O O O O O . .
X X X X O . .
O O O X O . .
. . . X O . .
"""
EYE = """
. . . . . . .
. . . . . . .
. . . . . . .
O O O O O . .
X X X X O . .
. . . X O . .
. . . X O . .
"""


def board(drawing: str, mover: int = 1) -> GoPosition:
    """The drawing as a position; X Black, O White."""
    return ENV.position(board=np.array(stones_of(drawing).colours, np.int8).reshape(7, 7), to_play=mover)


def judged(position: GoPosition, best: str, elsewhere: float, plies: int = 20) -> ExamPosition:
    """A judgement by which every move but the best loses as much, after so many moves."""
    points = np.where(position.legal_mask, np.float32(elsewhere), np.float32(np.nan))
    points[ENV.from_text(best)] = 0
    return ExamPosition(9.0, tuple(range(plies)), 0.5, 0.0, ENV.from_text(best), points, points / 20)


def kind(drawing: str, best: str, elsewhere: float = FIGHT, mover: int = 1, plies: int = 20) -> str:
    position = board(drawing, mover)
    return kind_of(position, judged(position, best, elsewhere, plies))


class TestPhases:
    @pytest.mark.parametrize(
        ("size", "plies", "phase"),
        [
            *((9, 0, "opening"), (9, 12, "opening"), (7, 7, "opening"), (13, 25, "opening")),
            *((9, 13, "middle game"), (9, 40, "middle game"), (7, 8, "middle game")),
            *((9, 41, "endgame"), (13, 90, "endgame")),
        ],
    )
    def test_by_the_number_of_moves(self, size: int, plies: int, phase: str) -> None:
        assert phase_of(size, plies) == phase

    def test_there_is_a_name_for_each(self) -> None:
        assert len(PHASES) == len(BEGINNINGS) + 1


class TestKinds:
    @pytest.mark.parametrize(("plies", "expected"), [(20, "open"), (30, "endgame")])
    def test_quiet(self, plies: int, expected: str) -> None:
        assert kind(LADDER, "D2", QUIET, -1, plies) == expected

    def test_a_pass_is_quiet(self) -> None:
        assert kind(LADDER, "pass", FIGHT, -1) == "open"

    def test_the_attacker_begins_a_ladder(self) -> None:
        assert kind(LADDER, "D2", mover=-1) == "ladder"

    def test_another_move_begins_none(self) -> None:
        assert kind(LADDER, "F6", mover=-1) == "other fight"

    def test_a_ladder_that_is_broken(self) -> None:
        assert kind(BROKEN, "D2", mover=-1) == "other fight"

    @pytest.mark.parametrize("best", ["F6", "D2"])
    def test_the_defender_breaks_it_or_runs(self, best: str) -> None:
        """A stone in the way of the ladder saves the chain, as a move beside it does."""
        assert kind(LADDER, best, mover=1) == "ladder"

    def test_a_capture_race(self) -> None:
        """Black's six stones in the corner and White's three below them."""
        assert kind(RACE, "A1") == "capture race"

    def test_chains_that_can_run_do_not_race(self) -> None:
        free = ". . . . .\n. X X O O\n. . . . .\n. . . . .\n. . . . ."
        assert not is_race(stones_of(free), 2)

    def test_life_and_death_in_a_small_area(self) -> None:
        assert kind(EYE, "B1") == "life and death"

    def test_life_and_death_by_what_is_at_stake(self) -> None:
        assert kind(LADDER, "F6", GROUP, -1) == "life and death"

    def test_a_wide_area_is_none(self) -> None:
        assert not is_enclosed(Stones(7, (0,) * 49), 24)

    def test_only_moves_elsewhere_count(self) -> None:
        """A move beside the best one belongs to the same fight."""
        position = board(LADDER, -1)
        one = judged(position, "D2", 5.0)
        near, far = ENV.from_text("F2"), ENV.from_text("G2")
        assert NEAR == 2
        one.points[near] = 0.5
        assert urgency(one, 7) == 5
        one.points[far] = 0.5
        assert urgency(one, 7) == 0.5

    def test_every_packaged_position_has_one(self) -> None:
        exam = find_exam("7x7")
        assert set(kinds(exam)) <= set(KINDS)
        assert set(phases(exam)) == set(PHASES)
        assert len(kinds(exam)) == len(phases(exam)) == len(exam)
