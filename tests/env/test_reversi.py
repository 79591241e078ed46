"""Reversi: numbers of games, drawings, passes, and the naive twin."""

import pytest

from alphago import IllegalMove, Position, ReversiEnv, check_game
from alphago.arena.alphabeta import best_move
from tests.env.counting import count_games
from tests.naive.plain import with_states
from tests.naive.reversi import NaiveReversi

# Best play of both sides on 6x6, from Joel Feinstein's page "Perfect play in 6x6 Othello from two alternative starting
# positions" (maths.nottingham.ac.uk/plp/pmzjff/Othello/6x6sol.html), which names the points as on the middle of 8x8.
BEST_LINE = """
    C5 B3 C2 D5 E3 E4 D6 C6 B6 D2 D1 F3 B4 B5 F4 F5 E5 B1 A3 C1 A1 A5 B2 A2 E1 E2 A4 A6 F2 F1 pass E6 F6
"""


def best_line() -> list[Position]:
    """All positions of the line."""
    return list(ReversiEnv(6).position().after(BEST_LINE.split()).replay())


def play(moves: str, size: int = 8):
    return ReversiEnv(size).position().after(moves.split())


@pytest.mark.parametrize(
    ("size", "games"), [(4, 3), (6, 1), *(pytest.param(size, 1, marks=pytest.mark.slow) for size in (8, 10, 12))]
)
def test_agrees_with_its_twin(size: int, games: int) -> None:
    check_game(ReversiEnv(size), with_states(ReversiEnv(size), NaiveReversi), games=games)


@pytest.mark.parametrize("depth", [7, pytest.param(9, marks=pytest.mark.slow)])
def test_numbers_of_games(depth: int) -> None:
    """As Othello programs count them; the first pass is at ply 9."""
    assert count_games(ReversiEnv(), depth) == [4, 12, 56, 244, 1396, 8200, 55092, 390216, 3005288][:depth]


def test_the_second_player_wins_by_4_on_6x6() -> None:
    """At the end of the published line, and by search from 14 empty points on."""
    line = best_line()
    assert (line[-1].is_over, line[-1].score()) == (True, -4)
    for position in line[18:-1]:
        found = best_move(position)
        assert found.margin == -4 * position.to_play, position
        assert found.outcome == -position.to_play


def test_a_side_without_stones_has_lost() -> None:
    """The shortest game that takes every stone of White's."""
    end = play("E3 F5 E6 F3 G4 D3 E2 F4 C4")
    assert (end.is_over, end.result, end.score()) == (True, 1, 13)
    assert not end.legal_mask.any()


def test_illegal_moves_say_why() -> None:
    with pytest.raises(IllegalMove, match="illegal move pass: Black can place a stone, so must not pass, in Reversi"):
        play("pass")
    with pytest.raises(IllegalMove, match="illegal move A1: it encloses no stones"):
        play("A1")
    with pytest.raises(IllegalMove, match="illegal move D5: White has a stone there"):
        play("D5")
