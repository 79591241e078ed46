"""The rules of Go on drawings."""

import copy

import numpy as np
import pytest

from alphago.env.go import GoEnv
from alphago.env.kernels.playouts import random_action
from alphago.env.position import IllegalMove
from tests.diagrams import beside, draw, is_legal, play, position, tidy
from tests.env.test_go_ko import KO
from tests.env.test_go_planes import HISTORY

# --- captures --------------------------------------------------------------------------------------


def test_four_chains_are_captured_by_one_stone() -> None:
    before, captures = beside(
        """
        . . X . .    . . X . .
        . X O X .    . X . X .
        X O . O X    X . X . X
        . X O X .    . X . X .
        . . X . .    . . X . .
        """
    )
    captured = position(before, "B C3")
    assert draw(captured) == captures
    # White's stones would be suicide now, each surrounded by Black.
    assert not any(is_legal(captured, point) for point in ("C4", "C2", "B3", "D3"))


def test_a_chain_that_touches_the_stone_three_times_is_captured_once() -> None:
    before, captures = beside(
        """
        X X X X X    X X X X X
        X O O O X    X . . . X
        X O . O X    X . X . X
        X O X O X    X . X . X
        X X . X X    X X . X X
        """
    )
    captured = position(before, "B C3")
    assert draw(captured) == captures
    assert is_legal(captured, "C4")


def test_of_two_chains_in_atari_the_first_to_move_takes() -> None:
    drawing = "X X . . / O O X . / X . . . / . . . .".replace("/", "\n")
    assert draw(position(drawing, "B B2")) == tidy("X X . . / . . X . / X X . . / . . . .".replace("/", "\n"))
    taken = position(drawing, "W C4", to_play="white")
    assert draw(taken) == tidy(". . O . / O O X . / X . . . / . . . .".replace("/", "\n"))


# --- suicide ---------------------------------------------------------------------------------------


def test_suicide_is_illegal() -> None:
    single = position(
        """
        . X . . .
        X . . . .
        . . . . .
        . . . . .
        . . . . .
        """,
        to_play="white",
    )
    assert not is_legal(single, "A5")
    assert is_legal(single, "B4")
    several = position(
        """
        . O X . .
        X X . . .
        . . . . .
        . . . . .
        . . . . .
        """,
        to_play="white",
    )
    assert not is_legal(several, "A5")


def test_an_own_eye_may_be_filled_while_another_is_left() -> None:
    two_eyes = """
        . X . X .
        X X X X .
        . . . . .
        . . . . .
        . . . . .
        """
    assert is_legal(position(two_eyes), "A5")
    assert not is_legal(position(two_eyes, to_play="white"), "A5")
    assert not is_legal(position(two_eyes, to_play="white"), "C5")


# --- shapes ----------------------------------------------------------------------------------------


def test_snapback() -> None:
    before, once = beside(
        """
        X O . . X    X O . O X
        X O O O X    X O O O X
        . X X X .    . X X X .
        . . . . .    . . . . .
        . . . . .    . . . . .
        """
    )
    taken = position(before, "B C5, W D5")
    assert draw(taken) == once
    assert draw(play(taken, "B C5")) == once.replace("O O O", ". . .").replace("X O . O X", "X . X . X")


SEKI = """
    O O X X
    O . X X
    O O X X
    O . X X
    """


@pytest.mark.parametrize("colour", ["black", "white"])
@pytest.mark.parametrize("point", ["B3", "B1"])
def test_in_a_seki_both_may_fill_and_are_then_taken(colour: str, point: str) -> None:
    seki = position(SEKI, to_play=colour, komi=0)
    assert is_legal(seki, point)
    other = "B1" if point == "B3" else "B3"
    filled = seki.play(seki.env.from_text(point))
    taken = filled.play(seki.env.from_text(other))
    assert (taken.board == seki.to_play).sum() == 0


# --- the end of the game ---------------------------------------------------------------------------


def test_two_passes_end_the_game() -> None:
    start = GoEnv(5).position()
    assert not play(start, "B pass").is_over
    ended = play(start, "B pass, W pass")
    assert ended.is_over
    assert not ended.legal_mask.any()
    assert ended.result == -1
    assert ended.score() == -7.5
    assert "game over, W+7.5" in str(ended)


def test_a_move_between_two_passes_keeps_the_game_going() -> None:
    start = GoEnv(5).position()
    going = play(start, "B pass, W C3, B pass, W B2, B pass")
    assert not going.is_over
    assert play(going, "W pass").is_over


def test_the_move_cap_is_seven_fifths_of_the_board() -> None:
    caps = {size: GoEnv(size).max_moves for size in (2, 3, 5, 7, 9, 13, 19)}
    assert caps == {2: 5, 3: 12, 5: 35, 7: 68, 9: 113, 13: 236, 19: 505}


def test_at_the_move_cap_the_game_is_scored_as_it_stands() -> None:
    start = GoEnv(3, max_moves=3, komi=0.5).position()
    going = play(start, "B B2, W pass")
    assert not going.is_over
    ended = play(going, "B A1")
    assert ended.is_over
    assert not ended.legal_mask.any()
    assert ended.score() == 8.5
    assert ended.result == 1
    with pytest.raises(IllegalMove, match=r"illegal move pass: the game is over, in GoEnv\(3, komi=0.5"):
        ended.play(9)


# --- what went wrong in earlier programs -----------------------------------------------------------


def test_deep_copies_keep_history_ko_and_the_end() -> None:
    ended = position(KO, "B C4, W pass, B pass")
    assert copy.deepcopy(ended).is_over
    taken = copy.deepcopy(position(KO, "B C4", env=HISTORY))
    assert np.array_equal(taken.planes(), position(KO, "B C4", env=HISTORY).planes())
    assert taken.planes()[2:16].any()
    assert not is_legal(taken, "B4")
    assert play(taken, "W pass, B pass").is_over


@pytest.mark.parametrize("planes", [None, 17])
def test_copying_back_undoes_captures_of_both_colours(planes: int | None) -> None:
    """Elsewhere a copy brought back only one player's captures, and lost the planes of earlier boards."""
    taken = position(KO, "B C4", env=GoEnv(5, planes=planes))
    batch = taken.env.new_batch(2)
    game, spare = np.array([0]), np.array([1])
    batch.copy(np.array([0]), game, of=taken.batch)
    batch.copy(game, spare)
    for point in ("A1", "E3", "B4", "D5"):  # White retakes the ko
        batch.play(game, np.array([taken.env.from_text(point)], np.int32))
    moved = taken.env.position_of(batch, 0)
    assert (moved.board != taken.board).sum() == 5
    batch.copy(spare, game)
    back = taken.env.position_of(batch, 0)
    assert draw(back) == draw(taken)
    assert np.array_equal(back.planes(), taken.planes())
    assert np.array_equal(back.legal_mask, taken.legal_mask)
    assert back.score() == taken.score()


def test_random_play_chooses_every_legal_point_equally_often() -> None:
    """Elsewhere the lowest-numbered legal point was never played, and a single one ended in an error."""
    state = np.array([1], np.int64)
    row = position(
        """
        . X . .
        X X X X
        O O O O
        O O . O
        """
    ).batch.rows[0]
    counts = np.bincount([random_action(row, state, True) for _ in range(3000)], minlength=17)
    assert set(np.flatnonzero(counts)) == {0, 2, 3, 14}
    assert counts[[0, 2, 3, 14]].min() > 650
    single = position("X . / . O".replace("/", "\n"), to_play="black").batch.rows[0]
    assert {random_action(single, state, True) for _ in range(50)} == {1, 2}
    nothing = play(GoEnv(2).position(), "B A1, W A2, B B2").batch.rows[0]
    assert random_action(nothing, state, True) == 4
