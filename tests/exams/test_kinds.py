"""Phases and kinds of positions that are drawn, with losses that say where something is at stake."""

import numpy as np
import pytest

from alphago.env.go_position import GoPosition
from alphago.exams.kinds import GROUP_POINTS, URGENT_POINTS, decides_race, find_kind, find_phase, is_enclosed, urgency
from alphago.exams.positions import ExamPosition, exam_env
from tests.diagrams import position as drawn
from tests.exams.test_ladders import BROKEN, LADDER, stones_of

ENV = exam_env(7)
QUIET, FIGHT = URGENT_POINTS - 0.5, URGENT_POINTS + 0.5

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


def judged(position: GoPosition, best: str, elsewhere: float, plies: int = 20) -> ExamPosition:
    """A judgement by which every move but the best loses as much, after so many moves."""
    points = np.where(position.legal_mask, np.float32(elsewhere), np.float32(np.nan))
    points[ENV.from_text(best)] = 0
    return ExamPosition(9.0, tuple(range(plies)), 0.5, 0.0, ENV.from_text(best), points, points / 20)


def test_phases_are_by_the_number_of_moves() -> None:
    plies = {"opening": [(9, 0), (9, 12), (7, 7), (13, 25)], "middle game": [(9, 13), (9, 40), (7, 8)]}
    plies |= {"endgame": [(9, 41), (13, 90)]}  # by the board's size
    assert {phase: [p for p in listed if find_phase(*p) == phase] for phase, listed in plies.items()} == plies


class TestKinds:
    @pytest.mark.parametrize(
        ("drawing", "best", "elsewhere", "mover", "plies", "expected"),
        [
            (LADDER, "D2", QUIET, -1, 20, "open"),
            (LADDER, "D2", QUIET, -1, 30, "endgame"),
            (LADDER, "pass", FIGHT, -1, 20, "open"),
            (LADDER, "D2", FIGHT, -1, 20, "ladder"),  # the attacker begins it
            (LADDER, "F6", FIGHT, -1, 20, "other fight"),  # another move begins none
            (BROKEN, "D2", FIGHT, -1, 20, "other fight"),
            (LADDER, "F6", FIGHT, 1, 20, "ladder"),  # the defender breaks it, by a stone in its way
            (LADDER, "D2", FIGHT, 1, 20, "ladder"),  # or runs
            (RACE, "A1", FIGHT, 1, 20, "capture race"),  # six stones in the corner and three below them
            (EYE, "B1", FIGHT, 1, 20, "life and death"),  # a small area
            (LADDER, "F6", GROUP_POINTS, -1, 20, "life and death"),  # by what is at stake
        ],
    )
    def test_kind(self, drawing: str, best: str, elsewhere: float, mover: int, plies: int, expected: str) -> None:
        position = drawn(drawing, env=ENV, to_play=mover)
        assert find_kind(position, judged(position, best, elsewhere, plies)) == expected

    def test_chains_that_can_run_do_not_race(self) -> None:
        free = ". . . . .\n. X X O O\n. . . . .\n. . . . .\n. . . . ."
        assert not decides_race(stones_of(free), 2)

    def test_enclosed_areas(self) -> None:
        """By either colour, but not as wide as the rest of the board."""
        eye = stones_of(EYE)
        swapped = eye._replace(colours=tuple(-colour for colour in eye.colours))
        assert [is_enclosed(stones, 43) for stones in (eye, swapped)] == [True, True]
        assert not is_enclosed(eye, 0)

    def test_only_moves_elsewhere_count(self) -> None:
        """A move beside the best one belongs to the same fight."""
        position = drawn(LADDER, env=ENV, to_play=-1)
        one = judged(position, "D2", 5.0)
        near, far = ENV.from_text("F2"), ENV.from_text("G2")
        one.points[near] = 0.5
        assert urgency(one, 7) == 5
        one.points[far] = 0.5
        assert urgency(one, 7) == 0.5
