"""Counting finished games of Go: dead groups, areas, komi, and what may be proposed."""

import numpy as np
import pytest

from alphago.env.go import GoEnv
from alphago.env.go_count import GoCount, count_as_alive
from alphago.examples.tic_tac_toe import TicTacToeEnv

# Black holds the left two columns and White the right two; each has a dead stone behind the other's wall.
WALLS = np.array([[0, 1, 0, -1, 0], [-1, 1, 0, -1, 0], [0, 1, 0, -1, 1], [0, 1, 0, -1, 1], [0, 1, 0, -1, 0]], np.int8)
ENV = GoEnv(5, komi=2.5)
OWNERS = np.sign([[2, 1, 0, -1, -2]] * 5)  # the dead stones are where the other side owns


def test_dead_groups_are_proposed_and_turned() -> None:
    count = GoCount(ENV.position(board=WALLS))
    assert str(count) == "B 7 + 0, W 6 + 2.5: W+1.5"  # nobody owns what both sides reach
    found = count.proposed(OWNERS)
    assert sorted(map(ENV.to_text, found.dead)) == ["A4", "E2", "E3"]
    assert str(found) == "B 10 + 0, W 10 + 2.5: W+2.5"
    assert found.owners.tolist() == OWNERS.tolist()
    assert {name: len(points) for name, points in found.territory().items()} == {"TB": 5, "TW": 5}
    turned = found.toggled(ENV.from_text("E2"))  # a click on one stone turns its group
    assert turned == GoCount(found.position, frozenset([ENV.from_text("A4")]))
    assert turned.toggled(ENV.from_text("E3")) == found
    assert str(turned) == "B 12 + 0, W 5 + 2.5: B+4.5 (the engine counts W+2.5)"
    assert turned.toggled(ENV.from_text("E3")).other_result == ""
    assert count.proposed(None) == count


def test_pass_alive_stones_are_never_proposed() -> None:
    board = np.array([[0, 1, 0, 1, 0], [1, 1, 1, 1, 1], *[[0, 0, 0, 0, 0]] * 3], np.int8)
    assert not GoCount(ENV.position(board=board)).proposed(-np.ones((5, 5))).dead


@pytest.mark.parametrize(("komi", "text"), [(-3, "B 25 + 3, W 0 + 0: B+28"), (25, "B 25 + 0, W 0 + 25: 0")])
def test_komi_of_either_side(komi: float, text: str) -> None:
    assert str(count_as_alive(GoEnv(5).position(komi=komi).after(["C3", "pass", "pass"]))) == text


@pytest.mark.parametrize("point", [0, 25, -1])
def test_a_point_without_a_stone(point: int) -> None:
    with pytest.raises(ValueError, match="a point with a stone must be named, got "):
        GoCount(ENV.position("C3")).toggled(point)


@pytest.mark.parametrize(
    ("env", "moves"),
    [
        (ENV, ["C3", "pass"]),
        (GoEnv(5, max_moves=2), ["C3", "B2"]),
        (GoEnv(5, turns=1), ["pass", "pass"]),
        (TicTacToeEnv(), ["A1"]),
    ],
)
def test_games_that_did_not_end_by_two_passes_are_not_counted(env, moves) -> None:
    assert count_as_alive(env.position().after(moves)) is None


def test_the_position_before_the_passes() -> None:
    count = count_as_alive(ENV.position("A1", to_play="white").after(["C3", "pass", "pass"]))
    assert (count.before.moves, count.before.is_over) == ((ENV.from_text("C3"),), False)
