"""From the root's visits to a move."""

import numpy as np
import pytest

from alphago.env.go import GoEnv
from alphago.mcts.root import choose_actions, temperature_plies, without_rash_passes
from examples.tic_tac_toe import TicTacToeEnv

EVENLY = (np.arange(1000) + 0.5) / 1000  # chances spread over 0 .. 1


def chosen(row: list, by_visits: bool, chance: np.ndarray = EVENLY) -> list[int]:
    """How often each action of a row comes out."""
    rows = np.tile(np.array(row), (len(chance), 1))
    actions = choose_actions(rows, np.full(len(chance), by_visits), chance)
    assert actions.dtype == np.int32
    return np.bincount(actions, minlength=len(row)).tolist()


@pytest.mark.parametrize(("size", "plies"), [(9, 6), (19, 30), (13, 14), (7, 4), (5, 2), (3, 0), (2, 0)])
def test_temperature_plies_are_alphago_jls(size: int, plies: int) -> None:
    """N^2 / 12 made even: 6 on 9x9, 30 on 19x19."""
    assert temperature_plies(GoEnv(size)) == plies


def test_temperature_plies_of_a_small_board() -> None:
    assert temperature_plies(TicTacToeEnv()) == 0


def test_in_proportion_to_visits() -> None:
    assert chosen([10, 5, 1, 0, 4], True) == [500, 250, 50, 0, 200]


def test_in_proportion_to_probabilities() -> None:
    assert chosen([0.5, 0.25, 0.0, 0.25], True) == [500, 250, 0, 250]


def test_the_most_visited() -> None:
    assert chosen([1, 5, 10, 2], False) == [0, 0, 1000, 0]


def test_ties_are_drawn_evenly() -> None:
    assert chosen([7, 2, 7, 0, 7, 7], False) == [250, 0, 250, 0, 250, 250]


def test_never_an_action_without_visits() -> None:
    ends = np.array([0.0, np.nextafter(1, 0)])
    assert chosen([0, 3, 0, 9, 0], True, ends) == [0, 1, 0, 1, 0]
    assert chosen([0, 9, 0, 9, 0], False, ends) == [0, 1, 0, 1, 0]


def test_the_first_and_the_last_action_can_be_chosen() -> None:
    """Sampling that skips action 0, or never draws the pass, was a defect of two older programs."""
    assert chosen([1, 0, 0, 0, 1], True) == [500, 0, 0, 0, 500]
    assert chosen([1, 0, 0, 0, 0], True) == [1000, 0, 0, 0, 0]
    assert chosen([0, 0, 0, 0, 1], False) == [0, 0, 0, 0, 1000]


def test_rows_are_independent() -> None:
    visits = np.array([[1, 1, 0], [0, 2, 1], [4, 0, 4], [3, 1, 0]])
    by_visits = np.array([True, False, False, True])
    assert choose_actions(visits, by_visits, np.array([0.6, 0.99, 0.4, 0.8])).tolist() == [1, 1, 0, 1]


@pytest.mark.parametrize(
    ("value", "outcome", "passes"),
    [(0.9, -1, False), (0.9, 0, False), (0.2, 0, True), (0.9, 1, True), (-0.9, -1, True), (-0.2, -1, False)],
)
def test_a_policy_passes_where_the_board_says_what_its_value_says(value: float, outcome: float, passes: bool) -> None:
    env = GoEnv(2)
    priors = np.array([[0.1, 0.2, 0.0, 0.0, 0.7], [0, 0, 0, 0, 1]], np.float32)  # the second has no other move
    ready = without_rash_passes(env, priors, np.full(2, value, np.float32), np.full(2, outcome, np.float32))
    assert ready.argmax(axis=1).tolist() == [4 if passes else 1, 4]
    assert without_rash_passes(TicTacToeEnv(), priors, np.ones(2), -np.ones(2)).tolist() == priors.tolist()
