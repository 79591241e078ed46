"""Hex and Gomoku with Swap2: their contract, how they are won, and how sides are swapped."""

import pytest
from gomoku_swap2 import GomokuSwap2Env
from hex import HexEnv

from alphago.env.board import StonesEnv
from alphago.env.check import check_game
from tests.random_games import random_game


@pytest.mark.parametrize("env", [HexEnv(3), GomokuSwap2Env(5, 4)], ids=repr)
def test_contract(env: StonesEnv) -> None:
    check_game(env, games=2)


def test_hex_is_won_by_joining_ones_edges() -> None:
    position = HexEnv(3).position().after(["B3", "A2", "B2", "C2", "B1"])
    assert (position.is_over, position.result) == (True, 1)
    position = HexEnv(3).position().after(["A1", "A3", "C1", "B3", "B1", "C3"])
    assert (position.is_over, position.result) == (True, -1)


def test_hex_always_has_a_winner() -> None:
    assert {random_game(HexEnv(4), seed)[-1].result for seed in range(10)} <= {1, -1}


def test_hex_swaps_once() -> None:
    """The first stone changes its colour and is mirrored, so that White's edges are where Black's were."""
    env = HexEnv(3)
    position = env.position().play("A2").play("swap")
    assert position.board.tolist() == [[0, -1, 0], [0, 0, 0], [0, 0, 0]]
    assert position.to_play == 1
    assert not position.legal_mask[-1]
    assert not env.position().legal_mask[-1]
    assert env.to_text(env.action_space - 1) == "swap"
    assert env.board_view.places[0][-1] == ()


def test_swap2_lets_the_second_player_choose() -> None:
    """White's stone, a swap, or two more stones after which the first player chooses."""
    env = GomokuSwap2Env(6, 4)
    opened = env.position().after(["A1", "B2", "C3"])
    assert (opened.to_play, opened.legal_mask[-2:].tolist()) == (-1, [True, True])
    assert "next a white stone" in opened.state_text
    white = opened.play("A6")
    assert (white.to_play, white.board[0, 0], white.legal_mask[-2:].any()) == (1, -1, False)
    swapped = opened.play("swap")
    assert (swapped.to_play, swapped.play("A6").board[0, 0]) == (1, -1)
    more = opened.after(["two-more", "A6", "B6"])
    assert (more.to_play, more.legal_mask[-2:].tolist()) == (1, [True, False])
    assert more.play("swap").to_play == -1


def test_swap2_is_won_by_who_owns_the_colour() -> None:
    """After a swap the second player has the black stones."""
    position = GomokuSwap2Env(6, 4).position().after(["A1", "F6", "B1", "swap", "F5", "C1", "F4", "D1"])
    assert (position.is_over, position.result) == (True, -1)
    assert position.last_point == position.env.from_text("D1")
