"""Own eyes, which random playouts do not fill: on drawings, and beside plain Go."""

import numpy as np
import pytest

from alphago.env.go import GoEnv
from alphago.env.go_position import GoPosition
from tests.diagrams import position
from tests.eyes import own_eyes
from tests.naive.go import is_own_eye, naive_go, random_board


def moves_by(drawn: GoPosition, mask: str) -> set[str]:
    """The actions in a mask of the position's batch."""
    out = getattr(drawn.batch, mask)(np.zeros(1, np.int64), np.empty((1, drawn.env.action_space), np.bool_))
    return {drawn.env.to_text(int(action)) for action in np.flatnonzero(out[0])}


@pytest.mark.parametrize("size", [2, 3, 5, 9])
def test_they_agree_with_plain_go(size: int) -> None:
    """On boards that are nearly full of stones of mostly one colour, where eyes true and false abound."""
    random = np.random.default_rng(size)
    env, found, false = GoEnv(size), 0, 0
    for number in range(60):
        mover = [1, -1][number % 2]
        stones = mover * random_board(size, [0.08, 0.22, 0.7], random)
        batch = env.new_batch(1)
        batch.reset(np.zeros(1, np.int64), stones=stones, to_play=mover)
        plain = naive_go(size).new(stones=stones, to_play=mover)
        wanted = [is_own_eye(plain.board, point, mover, size) for point in range(size * size)]
        assert own_eyes(batch.rows, size)[0].tolist() == wanted  # type: ignore[attr-defined]
        found += sum(wanted)
        surrounded = [is_own_eye(tuple(abs(s) for s in plain.board), p, 1, size) for p in range(size * size)]
        false += sum(surrounded) - sum(wanted)
    assert min(found, false) > 1


@pytest.mark.parametrize(
    ("drawing", "moves"),
    [
        (". . . . .\n. . X . .\n. X . X .\n. . X . .\n. . . . .", "all but C3"),
        (". X . X .\nX X X X X\n. . . . .\nO O O O O\n. . O . .", "A3 B3 C3 D3 E3"),  # the other side lives too
        (". O . X .\nX X X X X\n. . . . .\n. . . . .\n. . . . .", "all but"),  # the stone may be taken
    ],
)
def test_moves_that_a_person_might_play(drawing: str, moves: str) -> None:
    """No own eyes, and no points that belong to a side for good, unless a stone there still counts."""
    drawn = position(drawing, to_play="black")
    expected = {*moves.split(), "pass"}
    if moves.startswith("all but"):
        eyes = {drawn.env.to_text(int(action)) for action in np.flatnonzero(own_eyes(drawn.batch.rows, 5))}
        expected = moves_by(drawn, "legal_mask") - {*moves.split()[2:]} - eyes
    assert moves_by(drawn, "sensible_mask") == expected


WALLS = "\n".join([". X . O ."] * 5)  # the points between them are neither side's
SHORT_OF_LIBERTIES = "X . . O .\nO O O O .\n. . . . .\n. . . . .\n. . . . ."
ONE_LIBERTY = "X . O . .\nO O O . .\n. . . . .\n. . . . .\n. . . . ."


@pytest.mark.parametrize(
    ("drawing", "to_play", "moves"),
    [
        (WALLS, "black", "C1 C2 C3 C4 C5"),
        (WALLS, "white", "C1 C2 C3 C4 C5"),
        (SHORT_OF_LIBERTIES, "black", ""),  # B5 would leave one liberty, C5 stands alone
        (SHORT_OF_LIBERTIES, "white", "B5 C5"),
        (ONE_LIBERTY, "black", ""),  # B5 is suicide
        (ONE_LIBERTY, "white", "B5"),
    ],
)
def test_moves_onto_neutral_points(drawing: str, to_play: str, moves: str) -> None:
    drawn = position(drawing, env=GoEnv(5, suicide=True), to_play=to_play)
    assert moves_by(drawn, "neutral_mask") == set(moves.split())
