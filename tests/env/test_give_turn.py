"""Turns that are skipped in Go: no move, no pass, no ply, for any rule."""

import numpy as np
import pytest

from alphago import GoEnv, ReversiEnv
from alphago.env.kernels.go_planes import LAST_MOVE, PASSED, SECOND_LAST_MOVE

KO = ["B3", "C4", "C2", "D4", "D2", "E3", "C3", "D3"]  # Black's D3 takes White's C3, and White may not take back
KO_MOVERS = [1, 1, 1, -1, -1, -1, -1, 1]


def test_several_moves_of_one_colour() -> None:
    position = GoEnv(5).position().after(["C3", "B2", "D4"], [1, 1, -1])
    assert (position.moves_text(), position.move_number, position.to_play) == ("B C3, B B2, W D4", 3, 1)
    assert position.give_turn(1) is position
    with pytest.raises(ValueError, match="to_play must be"):
        position.give_turn(0)
    assert [one.to_play for one in position.replay()] == [1, -1, -1, 1]
    assert position.again_in(GoEnv(5, planes=17)).moves_text() == position.moves_text()


@pytest.mark.parametrize(("ko", "may_retake"), [("simple", True), ("positional", False), ("situational", False)])
def test_ko(ko: str, may_retake: bool) -> None:
    """A turn of Black's that is skipped ends a simple ko as a move elsewhere would; superko looks at boards."""
    env = GoEnv(5, ko=ko)
    position = env.position().after(KO, KO_MOVERS)
    assert not position.legal_mask[env.from_text("C3")]
    skipped = position.play("A1").give_turn(-1) if ko == "simple" else position.give_turn(1).give_turn(-1)
    assert bool(skipped.legal_mask[env.from_text("C3")]) == may_retake


def test_passes_of_one_colour_end_no_game() -> None:
    position = GoEnv(5).position().after(["C3", "pass", "pass"], [1, 1, 1])
    assert not position.is_over
    over = position.play("pass")
    assert over.is_over
    going = over.give_turn(1)  # play goes on
    assert (going.is_over, going.moves, going.legal_mask.sum()) == (False, over.moves, 25)


def test_what_a_network_sees() -> None:
    """No pass; Black's own move is its second last, as it always is, and what White did last is unknown."""
    planes = GoEnv(5).position().after(["C3"]).give_turn(1).planes()
    assert not planes[PASSED].any()
    assert not planes[LAST_MOVE].any()
    assert np.flatnonzero(planes[SECOND_LAST_MOVE]).tolist() == [12]
    history = GoEnv(5, planes=5).position().after(["C3"]).give_turn(1).planes()
    assert history.sum(axis=(1, 2)).tolist() == [1, 0, 0, 0, 25]


def test_other_games_skip_no_turns() -> None:
    with pytest.raises(ValueError, match="it must be the turn of White, got that of Black in ReversiEnv"):
        ReversiEnv().position().give_turn(-1)
