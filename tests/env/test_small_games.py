"""Gomoku, Connect Four and Reversi: their plain twins, positions that others have solved, and what is refused."""

import re

import pytest
from plain_connect_four import PlainConnectFourEnv

from alphago import ConnectFourEnv, GameEnv, GomokuEnv, ReversiEnv, check_game
from alphago.arena.alphabeta import best_move
from tests.naive.gomoku import NaiveGomoku
from tests.naive.plain import with_states
from tests.naive.reversi import NaiveReversi

SMALL = [((2, 2, 3), 4), ((4, 1, 3), 2), ((3, 3, 17), 4), ((5, 4, 5), 4), ((6, 3, 3), 2), ((9, 5, 17), 1)]
GAMES = [*((GomokuEnv(*options), games) for options, games in SMALL), (ReversiEnv(4), 3), (ReversiEnv(6), 1)]
LARGE = [*map(GomokuEnv, (15, 19, 25)), *map(ReversiEnv, (8, 10, 12))]


@pytest.mark.parametrize(("env", "games"), [*GAMES, *(pytest.param(env, 1, marks=pytest.mark.slow) for env in LARGE)])
def test_a_game_agrees_with_its_twin(env: GameEnv, games: int) -> None:
    check_game(env, with_states(env, NaiveGomoku if env.name == "gomoku" else NaiveReversi), games=games)


def test_connect_four_agrees_with_the_plain_game() -> None:
    """That of examples/, which docs/add_a_game.md explains."""
    check_game(ConnectFourEnv(), PlainConnectFourEnv(), games=4)


def test_another_size() -> None:
    assert GomokuEnv(9, 4, 5).resized(7) == GomokuEnv(7, 4, 5)
    with pytest.raises(ValueError, match="connect_row must be an integer from 1 to"):
        GomokuEnv(9).resized(4)


# Best play of both sides on 6x6, from Joel Feinstein's page "Perfect play in 6x6 Othello from two alternative starting
# positions" (maths.nottingham.ac.uk/plp/pmzjff/Othello/6x6sol.html), which names the points as on the middle of 8x8.
BEST_LINE = """
    C5 B3 C2 D5 E3 E4 D6 C6 B6 D2 D1 F3 B4 B5 F4 F5 E5 B1 A3 C1 A1 A5 B2 A2 E1 E2 A4 A6 F2 F1 pass E6 F6
"""


def test_the_second_player_wins_by_4_on_6x6() -> None:
    """At the end of the published line, and by search from 14 empty points on."""
    line = list(ReversiEnv(6).position().after(BEST_LINE.split()).replay())
    assert (line[-1].is_over, line[-1].score()) == (True, -4)
    for position in line[18:-1]:
        found = best_move(position)
        assert found.margin == -4 * position.to_play, position
        assert found.outcome == -position.to_play


def test_a_side_without_stones_has_lost() -> None:
    """The shortest game that takes every stone of White's."""
    end = ReversiEnv().position().after(["E3", "F5", "E6", "F3", "G4", "D3", "E2", "F4", "C4"])
    assert (end.is_over, end.result, end.score()) == (True, 1, 13)


@pytest.mark.parametrize(
    ("env", "moves", "text"),
    [
        (ConnectFourEnv(), "A A A A A A A", "illegal move A: the column is full, in ConnectFourEnv() after A A A"),
        (ConnectFourEnv(), "H", "'H' is not a column of ConnectFourEnv(): expected A to G"),
        (ReversiEnv(), "pass", "illegal move pass: Black can place a stone, so must not pass, in ReversiEnv("),
        (ReversiEnv(), "A1", "illegal move A1: it encloses no stones"),
        (ReversiEnv(), "D5", "illegal move D5: White has a stone there"),
    ],
)
def test_illegal_moves_say_why(env: GameEnv, moves: str, text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        env.position().after(moves.split())
