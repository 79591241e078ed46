"""`alphabeta:N` in games without an evaluation: plain minimax's moves, whoever is to move."""

import numpy as np
import pytest
from go_variants import TwoStonesGoEnv

from alphago.arena.alphabeta import best_action
from alphago.arena.match import evaluate
from alphago.env.game import GameEnv
from alphago.env.position import Position
from alphago.examples.plain_connect_four import PlainConnectFourEnv
from alphago.examples.tic_tac_toe import TicTacToeEnv
from tests.random_games import going_on


def outcome(position: Position, depth: int) -> float:
    """Black's result of best play, sooner results farther from 0; 0 where depth ends."""
    if position.is_over or depth == 0:
        return position.result * (1 + depth) if position.is_over else 0.0
    values = [outcome(position.play(int(action)), depth - 1) for action in np.flatnonzero(position.legal_mask)]
    return max(values) if position.to_play == 1 else min(values)


@pytest.mark.parametrize(
    ("env", "plies", "depth"),
    [(TicTacToeEnv(), 3, 6), (PlainConnectFourEnv(), 24, 2), (TwoStonesGoEnv(3), 10, 3)],
    ids=repr,
)
def test_agrees_with_minimax(env: GameEnv, plies: int, depth: int) -> None:
    decided = 0
    for seed in range(4):
        position = going_on(env, seed, plies)
        best = outcome(position, depth)
        assert outcome(position.play(best_action(position, depth)), depth - 1) == best
        decided += best != 0
    assert decided


def test_an_anchor_of_a_game_of_ones_own() -> None:
    """It sees a win and a threat of three in a line, and plays the same again."""
    assert evaluate(TicTacToeEnv(), "alphabeta:2", "random", 10, random_opening=1).wins >= 8
    assert evaluate(TicTacToeEnv(), "alphabeta:2", "alphabeta:2", 2).distinct == 1
