"""Gumbel search improves every policy: on solved games, what it teaches and plays is worth no less than the prior.

Danihelka et al. 2022, section 3 and appendix C.  That holds for true values of the actions considered, so each of
them is visited once here, and evaluated with the result of best play.
"""

from typing import NamedTuple

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from alphago import GameBatch, GoEnv, Gumbel, Position, SearchSettings
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.mcts.evaluator import Evaluator
from alphago.mcts.search import Search
from tests import diagrams
from tests.mcts.games import best_values
from tests.mcts.trees import ONE, improved, search_from


class Puzzle(NamedTuple):
    """A position whose actions are of different worth."""

    position: Position
    worth: np.ndarray  # float64 [A], each action's result with best play, the mover's view; 0 for illegal ones
    values: dict[bytes, float]  # of the position and of those one move later, by their planes, in the mover's view


def solved(position: Position) -> Puzzle:
    worth = np.zeros(position.env.action_space)
    values = {}
    for action, value in best_values(position).items():
        child = position.play(action)
        values[child.planes().tobytes()] = position.to_play * child.to_play * value
        worth[action] = value
    values[position.planes().tobytes()] = float(worth[position.legal_mask].max())
    assert len(set(worth[position.legal_mask])) > 1, "all actions are alike: nothing can be improved"
    return Puzzle(position, worth, values)


def tic_tac_toe(moves: str) -> Position:
    return TicTacToeEnv().position().after(moves.split())


PUZZLES = [
    solved(tic_tac_toe("A3 B2 B3")),
    solved(tic_tac_toe("A3 B3 A1 A2")),
    solved(tic_tac_toe("B2 A3 C1 A1")),
    solved(diagrams.play(GoEnv(2, komi=0.5, max_moves=5).position(), "B A1")),
    solved(diagrams.play(GoEnv(2, komi=1.5, max_moves=4).position(), "B A1, W pass")),
    solved(diagrams.position(". O X\nO O X\nX X .", env=GoEnv(3, max_moves=1), komi=2.5)),
    solved(diagrams.position(". X O\nX O O\nX O .", env=GoEnv(3, max_moves=3), komi=0.5)),
]


class TrueValues(Evaluator):
    """Knows the puzzle's results; the priors are `prior` at the puzzle and all alike elsewhere."""

    def __init__(self, puzzle: Puzzle, prior: np.ndarray) -> None:
        self.puzzle = puzzle
        self.prior = prior
        self.root = puzzle.position.planes().tobytes()

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        mask = batch.legal_mask(slots, np.empty(priors.shape, np.bool_))
        priors[:] = mask / mask.sum(axis=1, keepdims=True)
        for i, slot in enumerate(slots):
            planes = batch.env.position_of(batch, int(slot)).planes().tobytes()
            values[i] = self.puzzle.values[planes]
            if planes == self.root:
                priors[i] = self.prior


def per_action(low: float, high: float) -> st.SearchStrategy[list[float]]:
    return st.lists(st.floats(low, high, width=32), min_size=10, max_size=10)


def searched(puzzle: Puzzle, logits: list[float], noise: list[float], chosen: SearchSettings) -> Search:
    """The puzzle with each of the actions considered visited once."""
    legal = puzzle.position.legal_mask
    prior = np.where(legal, np.exp(logits[: len(legal)]), 0).astype(np.float32)
    search = search_from([puzzle.position], TrueValues(puzzle, prior / prior.sum()), chosen)
    search.rule.noise[0] = noise[: len(legal)]
    search.run(np.array([min(chosen.considered, legal.sum())], np.int32))
    return search


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    puzzle=st.sampled_from(PUZZLES),
    logits=per_action(-12, 0),
    noise=per_action(-3, 12),
    c_visit=st.sampled_from([0.0, 5.0, 50.0]),
    c_scale=st.floats(0.01, 4),
    considered=st.integers(1, 10),
)
def test_what_it_teaches_and_plays(puzzle, logits, noise, c_visit, c_scale, considered) -> None:
    """The improved policy's value, all actions visited, is no less than the prior's.

    For every draw of the noise, the action played is worth no less than the one that noise and prior alone would draw.
    """
    legal = puzzle.position.legal_mask
    prior = np.where(legal, np.exp(logits[: len(legal)]), 0)
    search = searched(puzzle, logits, noise, Gumbel(considered=10, c_visit=c_visit, c_scale=c_scale))
    assert (search.visits(ONE)[0][legal] == 1).all()
    policy = improved(search, ONE)[0][0].astype(np.float64)
    assert abs(policy.sum() - 1) < 1e-4
    assert policy @ puzzle.worth >= prior @ puzzle.worth / prior.sum() - 1e-5
    few = searched(puzzle, logits, noise, Gumbel(considered=considered, c_visit=c_visit, c_scale=c_scale))
    with np.errstate(divide="ignore"):
        drawn = np.log(prior) + noise[: len(legal)]
    likely = np.flatnonzero(drawn > drawn.max() - 1e-3)  # equal but for rounding
    assert puzzle.worth[improved(few, ONE)[1][0]] >= puzzle.worth[likely].min()
