"""The search finds the winning move of small solved games, whatever the prior says."""

import numpy as np
import pytest

from alphago import GoEnv, Position, Puct
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.mcts.evaluator import FunctionEvaluator
from alphago.mcts.kernels.nodes import ROOT
from tests import diagrams
from tests.mcts.games import best_values
from tests.mcts.trees import children, run, search_from

TIC_TAC_TOE = TicTacToeEnv()


def misled(puzzle: Position, good: list[int]) -> FunctionEvaluator:
    """Rules out the good actions of the puzzle, all but 0.001 each, and knows nothing else: values are 0."""
    others = np.where(puzzle.legal_mask, 1.0, 0.0)
    others[good] = 0
    policy = others * (1 - 0.001 * len(good)) / others.sum()
    policy[good] = 0.001

    def read(position: Position) -> tuple[np.ndarray, float]:
        same = np.array_equal(position.planes(), puzzle.planes()) and position.to_play == puzzle.to_play
        return (policy if same else position.legal_mask), 0.0

    return FunctionEvaluator(read)


# The drawing, komi, moves that follow, who is to move, the only move that wins, and plies until the board is scored.
GO_PUZZLES = {
    "the last move takes": (". O X\nO O X\nX X .", 2.5, "", "black", "A3", 1),
    "takes before it is taken": (". X O\nX O O\nX O .", 0.5, "", "black", "C1", 3),
    "White has passed, Black is ahead; others fill an eye": (". X X\nX X X\nX X .", 0.5, "W pass", "white", "pass", 3),
    "White is ahead and Black has passed": ("O .\n. O", 0.5, "B pass", "black", "pass", 3),
}


@pytest.mark.parametrize(
    ("drawing", "komi", "moves", "to_play", "best", "limit"), GO_PUZZLES.values(), ids=GO_PUZZLES.keys()
)
def test_go_against_the_prior(drawing: str, komi: float, moves: str, to_play: str, best: str, limit: int) -> None:
    env = GoEnv(len(diagrams.board(drawing)), max_moves=limit)
    position = diagrams.position(drawing, moves, env=env, komi=komi, to_play=to_play)
    winning = [action for action, value in best_values(position).items() if value > 0]
    assert [env.to_text(action) for action in winning] == [best], "the puzzle has another solution"
    search = search_from([position], misled(position, winning), Puct())
    visits = run(search, 2000)[0]
    assert visits.argmax() == winning[0]
    assert search.tree.prior[0, children(search.tree, 0, ROOT)[winning[0]]] <= 0.0011
    assert search.root_values(np.zeros(1, np.int64))[0] > 0.5
