"""Random openings: how many plies they have, and their points."""

import numpy as np

from alphago.env.batch import GameBatch
from alphago.env.game import GameEnv
from alphago.env.games import selfplay_game
from alphago.mcts.rule import choose_actions

ENOUGH = 500  # openings of a match; 400 games have 200
MOST_PLIES = 6
FEW = 5  # points off the edge; on smaller boards of Go all points count, since the game is short


def opening_length(env: GameEnv) -> int:
    """Return the usual number of random plies at the start of a match's games: even, at least 2, at most MOST_PLIES.

    With it there are at least ENOUGH openings, if a ply always has as many choices as the first: 2 plies in Go from 7x7
    on and in Gomoku, 4 in Oware and Connect Four, 6 in Reversi.  Players without chance would otherwise repeat games,
    which an interval would count as independent.
    """
    allowed = env.position().legal_mask
    choices = int((allowed & selfplay_game(env).opening_actions).sum())
    if choices < FEW:  # then `random_points` soon finds none of them legal
        choices = int(allowed.sum())
    return next((plies for plies in range(2, MOST_PLIES, 2) if choices**plies >= ENOUGH), MOST_PLIES)


def random_points(board: GameBatch, games: np.ndarray, generators: list[np.random.Generator]) -> np.ndarray:
    """Return a random legal action for each game, int32 [n].

    An action is one of `SelfPlayGame.opening_actions`, or, if none of those is legal, any legal action.
    generators: the random generator of each game.
    """
    env = board.env
    legal = board.legal_mask(games, np.empty((len(games), env.action_space), np.bool_))
    allowed = legal & selfplay_game(env).opening_actions
    allowed[~allowed.any(axis=1)] = legal[~allowed.any(axis=1)]
    chance = np.array([generator.random() for generator in generators])
    return choose_actions(allowed.astype(np.int32), np.ones(len(games), np.bool_), chance)
