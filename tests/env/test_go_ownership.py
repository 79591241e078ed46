"""Whose area each point is in, on drawings: stones, and empty regions beside one colour only."""

import numpy as np
import pytest

from alphago.env.go import GoEnv
from tests.diagrams import draw, owners, play, position, tidy

EDGES = """
    . X O . .
    X X O . .
    O O . . .
    . . . . X
    O . . X .
    """
# drawing -> owners
AREAS = {
    "the empty board": (". . / . .", ". . / . ."),
    "one stone owns everything": (". . . / . O . / . . .", "O O O / O O O / O O O"),
    "regions of each and one of nobody": (
        EDGES,
        """
        X X O . .
        X X O . .
        O O . . .
        . . . . X
        O . . X X
        """,
    ),
    "dead stones own their points": (
        """
        . X . .
        X X . .
        . . X .
        O . . .
        """,
        """
        X X . .
        X X . .
        . . X .
        O . . .
        """,
    ),
    "shared liberties of a seki are nobody's": (
        """
        O O X X
        O . X X
        O O X X
        O . X X
        """,
        """
        O O X X
        O . X X
        O O X X
        O . X X
        """,
    ),
    "two eyes": (
        """
        . X . O .
        X X X O O
        O O O O .
        . . . . .
        . . . . .
        """,
        """
        X X . O O
        X X X O O
        O O O O O
        O O O O O
        O O O O O
        """,
    ),
}


def rows(drawing: str) -> str:
    return drawing.replace("/", "\n")


@pytest.mark.parametrize("mover", ["black", "white"])
@pytest.mark.parametrize(("drawing", "wanted"), AREAS.values(), ids=AREAS.keys())
def test_areas(drawing: str, wanted: str, mover: str) -> None:
    shown = position(rows(drawing), komi=0, to_play=mover)
    assert draw(owners(shown)) == tidy(rows(wanted))
    assert shown.score() == owners(shown).sum()


def test_it_is_the_movers_view() -> None:
    alone = position(". X . / . . . / . . .".replace("/", "\n"))
    ownership = alone.batch.ownership(np.zeros(1, np.int64), np.zeros((1, 9), np.int8))
    assert (ownership == 1).all()
    theirs = play(alone, "B pass").batch.ownership(np.zeros(1, np.int64), np.zeros((1, 9), np.int8))
    assert (theirs == -1).all()


def test_it_follows_captures_and_does_not_change_the_position() -> None:
    taken = position(
        """
        O X .
        . X .
        . X .
        """,
        "B A2",
    )
    assert draw(owners(taken)) == tidy(rows("X X X / X X X / X X X"))
    planes, mask = taken.planes(), taken.legal_mask.copy()
    owners(taken)
    assert np.array_equal(taken.planes(), planes)
    assert np.array_equal(GoEnv(3).position_of(taken.batch, 0).legal_mask, mask)


def test_many_slots_at_once() -> None:
    env = GoEnv(3)
    batch = env.new_batch(3)
    batch.play(np.array([2]), np.array([4], np.int32))
    out = batch.ownership(np.array([2, 0]), np.full((2, 9), 5, np.int8))
    assert out.tolist() == [[-1] * 9, [0] * 9]
