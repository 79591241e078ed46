"""Gomoku: lines on drawings, small boards solved, the naive twin, and what is refused."""

import pytest

from alphago import GomokuEnv, IllegalMove, check_game
from alphago.examples.tic_tac_toe import TicTacToeEnv
from tests.env.counting import count_games
from tests.naive.gomoku import NaiveGomoku
from tests.naive.plain import with_states


def play(env: GomokuEnv, moves: str):
    return env.position().after(moves.split())


SMALL = [((2, 2, 3), 4), ((4, 1, 3), 2), ((3, 3, 17), 4), ((5, 4, 5), 4), ((6, 3, 3), 2), ((9, 5, 17), 1)]
LARGE = [pytest.param((size,), 1, marks=pytest.mark.slow) for size in (15, 19, 25)]


@pytest.mark.parametrize(("options", "games"), [*SMALL, *LARGE])
def test_agrees_with_its_twin(options: tuple[int, ...], games: int) -> None:
    check_game(GomokuEnv(*options), with_states(GomokuEnv(*options), NaiveGomoku), games=games)


def test_counts_of_tic_tac_toe() -> None:
    """All 255 168 games: those of 5 to 9 plies that end there are 1440, 5328, 47952, 72576 and 127872."""
    counts = [9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872]
    assert count_games(GomokuEnv(3, 3, 3), 9) == counts
    assert count_games(TicTacToeEnv(), 6) == counts[:6]


class TestDescription:
    def test_another_size(self) -> None:
        assert GomokuEnv(9, 4, 5).resized(7) == GomokuEnv(7, 4, 5)
        with pytest.raises(ValueError, match="connect_row must be an integer from 1 to"):
            GomokuEnv(9).resized(4)

    def test_illegal_moves_say_why(self) -> None:
        with pytest.raises(IllegalMove, match=r"illegal move B2: Black has a stone there, in GomokuEnv.* after B2 A1"):
            play(GomokuEnv(3, 3), "B2 A1 B2")
