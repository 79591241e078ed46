"""Gomoku: lines on drawings, small boards solved, the naive twin, and what AlphaGo.jl's version got wrong."""

import numpy as np
import pytest

from alphago.arena.alphabeta import best_move
from alphago.env.check import check_game
from alphago.env.gomoku import GomokuEnv
from alphago.env.position import IllegalMove
from tests.env.counting import count_games, solve
from tests.naive.gomoku import NaiveGomokuEnv


def play(env: GomokuEnv, moves: str):
    return env.position().after(moves.split())


@pytest.mark.parametrize(
    ("options", "games"),
    [((2, 2, 3), 4), ((4, 1, 3), 2), ((3, 3, 17), 4), ((5, 4, 5), 4), ((6, 3, 3), 2), ((9, 5, 17), 1)],
)
def test_agrees_with_its_twin(options: tuple[int, int, int], games: int) -> None:
    check_game(GomokuEnv(*options), NaiveGomokuEnv(*options), games=games)


@pytest.mark.slow
@pytest.mark.parametrize("size", [15, 19, 25])
def test_agrees_with_its_twin_on_large_boards(size: int) -> None:
    check_game(GomokuEnv(size), NaiveGomokuEnv(size), games=1)


@pytest.mark.parametrize(
    ("size", "connect", "result"), [(2, 2, 1), (3, 2, 1), (3, 3, 0), (4, 3, 1), (4, 2, 1), (2, 1, 1)]
)
def test_small_boards_are_solved(size: int, connect: int, result: int) -> None:
    """Tic-tac-toe is a draw; three in a row is won on 4x4, and two in a row everywhere."""
    assert solve(GomokuEnv(size, connect, 3)) == result


@pytest.mark.slow
def test_four_in_a_row_on_4x4_is_a_draw() -> None:
    assert solve(GomokuEnv(4, 4, 3)) == 0


def test_counts_of_tic_tac_toe() -> None:
    """All 255 168 games: those of 5 to 9 plies that end there are 1440, 5328, 47952, 72576 and 127872."""
    assert count_games(GomokuEnv(3, 3, 3), 9) == [9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872]


def test_numbers_of_games() -> None:
    """On paper: no game ends before the ninth ply."""
    assert count_games(GomokuEnv(9), 3) == [81, 81 * 80, 81 * 80 * 79]
    assert count_games(GomokuEnv(15), 2) == [225, 225 * 224]


@pytest.mark.parametrize(
    ("size", "row", "outcome"), [(3, 3, 0), (4, 3, 1), pytest.param(4, 4, 0, marks=pytest.mark.slow)]
)
def test_solved_by_alpha_beta(size: int, row: int, outcome: int) -> None:
    assert best_move(GomokuEnv(size, row).position()).outcome == outcome


class TestLines:
    @pytest.mark.parametrize(
        "line",
        ["A1 B1 C1 D1 E1", "J1 J2 J3 J4 J5", "A1 B2 C3 D4 E5", "E9 F8 G7 H6 J5", "A9 A8 A7 A6 A5", "F9 E9 G9 D9 H9"],
    )
    def test_five_in_a_row_win(self, line: str) -> None:
        """Along each direction and each edge, whichever stone comes last."""
        others = ["B4", "C6", "E2", "G4"]
        for last in range(5):
            own = line.split()
            own.append(own.pop(last))
            moves = " ".join(f"{mine} {other}" for mine, other in zip(own, others, strict=False))
            before = play(GomokuEnv(9), moves)
            assert not before.is_over
            after = before.play(before.env.from_text(own[-1]))
            assert (after.is_over, after.result, after.score()) == (True, 1, 1)

    def test_white_wins_too(self) -> None:
        end = play(GomokuEnv(9), "A1 A5 A2 B5 A3 C5 A4 D5 J1 E5")
        assert (end.is_over, end.result) == (True, -1)

    def test_more_than_five_win(self) -> None:
        """Freestyle: six in a row are a win, made by the stone that joins two and three."""
        end = play(GomokuEnv(9), "A1 A9 B1 B9 D1 D9 E1 E9 F1 F8 C1")
        assert (end.is_over, end.result) == (True, 1)

    def test_a_line_does_not_go_round_the_edge(self) -> None:
        """F3 G3 H3 J3 and A2 follow each other in memory."""
        assert not play(GomokuEnv(9), "F3 A9 G3 B9 H3 C9 J3 D9 A2").is_over

    def test_a_full_board_is_a_draw(self) -> None:
        end = play(GomokuEnv(3, 3), "B2 A1 A2 C2 B1 B3 A3 C1 C3")
        assert (end.is_over, end.result, end.score()) == (True, 0, 0)

    def test_a_line_on_the_last_point_is_no_draw(self) -> None:
        end = play(GomokuEnv(3, 3), "A1 A2 B2 B1 C1 A3 B3 C2 C3")
        assert (end.is_over, end.result) == (True, 1)


class TestWhatAlphaGoJlGotWrong:
    def test_nothing_is_legal_after_the_end(self) -> None:
        end = play(GomokuEnv(9), "A1 A5 B1 B5 C1 C5 D1 D5 E1")
        assert not end.legal_mask.any()
        with pytest.raises(IllegalMove, match="illegal move F5: the game is over"):
            end.play(end.env.from_text("F5"))

    def test_there_is_no_pass(self) -> None:
        """Its action for a pass lay one behind the last."""
        env = GomokuEnv(9)
        assert (env.action_space, env.pass_action) == (81, None)
        with pytest.raises(ValueError, match="'pass' is not a point"):
            env.from_text("pass")
        with pytest.raises(IllegalMove, match="no action 81"):
            env.position().play(81)

    def test_planes_stay_as_many_as_were_asked_for(self) -> None:
        """It kept half of them under the same name."""
        assert GomokuEnv(9).planes == GomokuEnv(9).config["planes"] == len(GomokuEnv(9).position().planes()) == 17

    @pytest.mark.parametrize("connect", [0, 10, -1])
    def test_a_line_that_nobody_could_make(self, connect: int) -> None:
        with pytest.raises(ValueError, match=rf"connect_row must be an integer from 1 to 9, got {connect}"):
            GomokuEnv(9, connect)

    def test_boards_larger_than_19_have_names(self) -> None:
        env = GomokuEnv(25)
        assert [env.to_text(action) for action in (0, 24, 600, 624)] == ["A25", "Z25", "A1", "Z1"]
        assert "Z" in str(env.position())

    def test_older_boards_are_older(self) -> None:
        """Plane 2 k is the mover's board k plies ago, plane 2 k + 1 the other side's; none before the start."""
        planes = play(GomokuEnv(3, 3, 9), "A3 B2 C1").planes().reshape(9, 9)  # White is to move
        points = [np.flatnonzero(plane).tolist() for plane in planes]
        assert points == [[4], [0, 8], [4], [0], [], [0], [], [], []]


class TestDescription:
    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            ({"board_size": 1}, "board_size must be an integer from 2 to 25, got 1"),
            ({"board_size": 26}, "board_size must be an integer from 2 to 25, got 26"),
            ({"planes": 4}, r"planes must be odd \(2 per remembered board, 1 for the mover\), got 4"),
            ({"planes": 1}, "planes must be an integer >= 3, got 1"),
        ],
    )
    def test_bad_numbers(self, options: dict, sentence: str) -> None:
        with pytest.raises(ValueError, match=sentence):
            GomokuEnv(**options)

    @pytest.mark.parametrize("name", ["board_size", "connect_row", "planes"])
    @pytest.mark.parametrize("number", [True, 9.0, "9", None])
    def test_no_numbers(self, name: str, number: object) -> None:
        with pytest.raises(ValueError, match=f"{name} must be an integer"):
            GomokuEnv(**{name: number})

    def test_defaults_are_alphago_jls(self) -> None:
        assert GomokuEnv().config == {"board_size": 15, "connect_row": 5, "planes": 17}

    def test_another_size(self) -> None:
        assert GomokuEnv(9, 4, 5).resized(7) == GomokuEnv(7, 4, 5)
        with pytest.raises(ValueError, match="connect_row must be an integer from 1 to"):
            GomokuEnv(9).resized(4)

    @pytest.mark.parametrize("text", ["I1", "K1", "A0", "A10", "", "A", "1A", "A١"])
    def test_no_points(self, text: str) -> None:
        with pytest.raises(ValueError, match=r"expected A1 to J9 \(no column I\)"):
            GomokuEnv(9).from_text(text)

    def test_illegal_moves_say_why(self) -> None:
        with pytest.raises(IllegalMove, match=r"illegal move B2: Black has a stone there, in GomokuEnv.* after B2 A1"):
            play(GomokuEnv(3, 3), "B2 A1 B2")


def test_drawing() -> None:
    assert str(play(GomokuEnv(3, 3, 3), "B2 A1 C2")).splitlines() == [
        "    A B C",
        " 3  . . .  3",
        " 2  . X(X) 2",
        " 1  O . .  1",
        "    A B C",
        "   move 3: White (O) to play",
    ]
    assert str(play(GomokuEnv(3, 3, 3), "B2 A1 C2 A3 A2")).endswith("   move 5: game over, B+1")
