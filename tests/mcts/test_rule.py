"""From the end of a search to a move or a resignation, and what a further rule takes."""

from types import SimpleNamespace

import numpy as np
import pytest

from alphago import GoEnv, ReversiEnv
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.mcts import rule
from tests import diagrams

EVENLY = (np.arange(1000) + 0.5) / 1000  # chances spread over 0 .. 1


def chosen(row: list, by_visits: bool, chance: np.ndarray = EVENLY) -> list[int]:
    """How often each action of a row comes out."""
    rows = np.tile(np.array(row), (len(chance), 1))
    actions = rule.choose_actions(rows, np.full(len(chance), by_visits), chance)
    assert actions.dtype == np.int32
    return np.bincount(actions, minlength=len(row)).tolist()


@pytest.mark.parametrize(("size", "plies"), [(9, 6), (19, 30), (13, 14), (7, 4), (5, 2), (3, 0), (2, 0)])
def test_temperature_plies_are_alphago_jls(size: int, plies: int) -> None:
    """N^2 / 12 made even: 6 on 9x9, 30 on 19x19."""
    assert rule.temperature_plies(GoEnv(size)) == plies


@pytest.mark.parametrize(
    ("row", "by_visits", "counts"),
    [
        ([10, 5, 1, 0, 4], True, [500, 250, 50, 0, 200]),
        ([0.5, 0.25, 0.0, 0.25], True, [500, 250, 0, 250]),
        ([1, 5, 10, 2], False, [0, 0, 1000, 0]),
        ([7, 2, 7, 0, 7, 7], False, [250, 0, 250, 0, 250, 250]),  # ties are drawn evenly
        ([1, 0, 0, 0, 1], True, [500, 0, 0, 0, 500]),  # the first and the last action can be chosen
        ([1, 0, 0, 0, 0], True, [1000, 0, 0, 0, 0]),
        ([0, 0, 0, 0, 1], False, [0, 0, 0, 0, 1000]),
    ],
)
def test_drawn_in_proportion_or_the_most_visited(row: list, by_visits: bool, counts: list[int]) -> None:
    assert chosen(row, by_visits) == counts


def test_never_an_action_without_visits() -> None:
    ends = np.array([0.0, np.nextafter(1, 0)])
    assert chosen([0, 3, 0, 9, 0], True, ends) == [0, 1, 0, 1, 0]
    assert chosen([0, 9, 0, 9, 0], False, ends) == [0, 1, 0, 1, 0]


@pytest.mark.parametrize(
    ("value", "komi", "passes"),
    [(0.9, 1, False), (0.9, 0, False), (0.2, 0, True), (0.9, -1, True), (-0.2, 1, True), (0.1, 1, False)],
)
def test_a_policy_passes_where_the_board_says_what_its_value_says(value: float, komi: float, passes: bool) -> None:
    """Black's board is empty: it is lost with a komi above 0, and won with one below."""
    batch, games = GoEnv(2).position(komi=komi).batch, np.zeros(2, np.int64)
    priors = np.array([[0.1, 0.2, 0.0, 0.0, 0.7], [0, 0, 0, 0, 1]], np.float32)  # the second has no other move
    ready = rule.without_rash_passes(batch, games, priors, np.full(2, value, np.float32))
    assert ready.argmax(axis=1).tolist() == [4 if passes else 1, 4]
    without_passes = TicTacToeEnv().position().batch
    assert rule.without_rash_passes(without_passes, games, priors, np.ones(2)).tolist() == priors.tolist()


# Black has a wall and an eye behind it; or nothing is left but own eyes, and the move is a threat in a ko.
WALL, EYES = ". X . .\n. X . .\nX X . .\n. X . .", ". X . X .\nX X X X X\nX X X X X\nX X X X X\n. X . X ."


@pytest.mark.parametrize(
    ("drawing", "komi", "chosen", "value", "played"),
    [
        (WALL, 0, "A1", 0.9, "pass"),
        (WALL, 0, "A1", 0.5, "D2"),
        (WALL, 0, "C3", 0.9, "C3"),
        (WALL, 0, "pass", 0.5, "pass"),
        (WALL, 99, "A1", 0.9, "D2"),
        (WALL, 99, "C3", 0.9, "C3"),
        (EYES, -30, "A5", 0.9, "pass"),
        (EYES, 30, "A5", 0.9, "A5"),
    ],
)
def test_a_pass_instead_of_an_own_eye_but_none_that_loses(
    drawing: str, komi: float, chosen: str, value: float, played: str
) -> None:
    """Black believes to win; with a great komi the board says otherwise.

    While the game is not decided, no pass takes the place of a move.
    """
    position = diagrams.position(drawing, env=GoEnv(len(diagrams.board(drawing)), komi=komi), komi=komi)
    weights = position.legal_mask[None] / 2.0
    weights[0, position.env.from_text("D2")] *= 2
    games, actions = np.zeros(1, np.int64), np.array([position.env.from_text(chosen)], np.int32)
    found = rule.without_idle_moves(position.batch, games, actions, weights, np.full(1, value, np.float32))
    assert found.dtype == np.int32
    assert position.env.to_text(int(found[0])) == played


@pytest.mark.parametrize(
    ("moves", "value", "likely", "played"),
    [
        ("", 0.5, "C2", "C2"),
        ("", -0.5, "C4", "C4"),
        ("", 0.9, "C2", "pass"),  # decided
        ("", 0.5, None, "pass"),  # the search must not play a neutral point
        ("A3 pass", 0.5, "C2", "pass"),  # a second pass wins
        ("A3 pass", -0.5, "C2", "pass"),
        ("A3 E3 pass", 0.5, "C2", "C2"),  # it would lose
    ],
)
def test_the_last_neutral_points_of_an_open_game(moves: str, value: float, likely: str | None, played: str) -> None:
    """Two walls, with a column between them that is neither side's; whoever is to move chose a pass."""
    env = GoEnv(5, komi=-0.5)
    position = diagrams.position("\n".join([". X . O ."] * 5), env=env, komi=-0.5).after(moves.split())
    weights = np.zeros((1, 26))
    weights[0, [env.from_text("A1"), env.from_text("E1")]] = 0.9
    if likely:
        weights[0, env.from_text(likely)] = 0.1
    actions = np.array([env.pass_action], np.int32)
    found = rule.without_early_passes(position.batch, np.zeros(1, np.int64), actions, weights, np.full(1, value))
    assert found.dtype == np.int32
    assert env.to_text(int(found[0])) == played


@pytest.mark.parametrize(
    ("threshold", "expected"), [(-0.9, [True, False, False]), (None, [False] * 3), (-1, [False] * 3)]
)
def test_who_resigns(threshold: float | None, expected: list[bool]) -> None:
    """A value as low as the threshold is not below it."""
    values = np.array([-1.0, -0.875, 0.5], np.float32)
    assert rule.resigns(values, threshold).tolist() == expected
    assert [rule.resigns(float(value), threshold) for value in values] == expected


@pytest.mark.parametrize(
    ("position", "holds"),
    [
        (GoEnv(9, komi=7).position(), True),
        (GoEnv(9, komi=7.5, max_moves=400, planes=17).position().after(["C3", "D4"]), True),
        (GoEnv(9, komi=0.5).position(), False),
        (GoEnv(9, komi=7).position(komi=20), False),
        (GoEnv(9, komi=7, suicide=True).position(), False),
        (GoEnv(9, komi=7).position(handicap=2), False),
        (GoEnv(9, komi=7).position().after(["C3", "D4"], [1, 1]), False),
        (GoEnv(13, komi=7).position(), False),
        (ReversiEnv().position(), False),
    ],
)
def test_a_threshold_holds_where_it_was_measured(position, holds) -> None:
    network = SimpleNamespace(resign_threshold=-0.8, measured_in=GoEnv(9, komi=7))
    assert rule.measured_threshold(network, position) == (-0.8 if holds else -1)
    assert rule.measured_threshold(object(), position) == -1
