"""Chains, moves and ladders on drawn boards."""

from itertools import pairwise

import pytest

from alphago.env.go import GoEnv
from alphago.exams.ladders import Reading, Stones
from tests.diagrams import board
from tests.random_games import random_game


def stones_of(drawing: str) -> Stones:
    """The stones of a drawing: X Black, O White."""
    return Stones.of(board(drawing))


LADDER = """
. . . . . . .
. . . . . . .
. . . . . . .
. . . . . . .
. O . . . . .
. O X . . . .
. . O . . . .
"""
POINT = 5 * 7 + 2  # Black's stone, which runs to the upper right
BROKEN = LADDER.replace(". . . . . . .\n" * 4, ". . . . . . .\n. . . . . X .\n" + ". . . . . . .\n" * 2)


class TestLadders:
    def test_it_runs_to_the_edge(self) -> None:
        """With a move of White for each of Black's eight, and one that takes; all are legal."""
        line = Reading().attack(stones_of(LADDER), POINT)
        assert line is not None
        assert len(line) == 17
        after = GoEnv(7).position(board=board(LADDER), to_play="white").after(line)
        assert after.board.ravel()[POINT] == 0

    @pytest.mark.parametrize(
        ("drawing", "point", "line"),
        [
            (BROKEN, POINT, None),
            (". O . . .\nO X O . .\n. . . . .\n. . . . .\n. . . . .", 6, (11,)),  # an atari that takes is one move
            (". . . . .\n. X O . .\n. . . . .\n. . . . .\n. . . . .", 6, None),  # three liberties are free
            (LADDER.replace(". . O . . . .", ". X O . . . ."), POINT, None),  # the defender takes the attacker's stone
        ],
    )
    def test_short_ones_and_none(self, drawing: str, point: int, line: tuple[int, ...] | None) -> None:
        assert Reading().attack(stones_of(drawing), point) == line

    def test_a_ko_is_not_taken_back_at_once(self) -> None:
        """Black's stone took one: White must not take it back, and may after two moves elsewhere."""
        taken = stones_of(". X O .\nX O . O\n. X O .\n. . . .").play(1, 6)
        assert taken is not None
        assert Reading().attack(taken, 6) is None
        later = taken.play(-1, 15)
        assert later is not None
        assert Reading().attack(later, 6) == (5,)

    def test_the_reader_gives_up(self) -> None:
        assert Reading(1).attack(stones_of(LADDER), POINT) is None


class TestStones:
    def test_against_the_rules_of_the_game(self) -> None:
        """Random games: every legal move leaves the game's board."""
        env = GoEnv(5)
        for seed in range(20):
            for position, after in pairwise(random_game(env, seed, 40)):
                action = after.moves[-1]
                if action != env.pass_action:
                    stones = Stones.of(position.board).play(position.to_play, action)
                    assert stones is not None
                    assert stones.colours == tuple(after.board.ravel().tolist())

    def test_suicide(self) -> None:
        assert stones_of(". O .\nO . .\n. . .").play(1, 0) is None
        assert stones_of(". O X\nO X .\nX . .").play(1, 0) is not None  # it captures

    def test_chains(self) -> None:
        stones = stones_of("X X .\n. X O\n. . O")
        chains = list(stones.chains())
        assert [(sorted(chain.stones), sorted(chain.liberties)) for chain in chains] == [
            ([0, 1, 4], [2, 3, 7]),
            ([5, 8], [2, 7]),
        ]
        assert list(stones.touching(chains[0])) == [chains[1]]
