"""Random openings: how many plies they have, and their points."""

import numpy as np

from alphago.env.batch import GameBatch
from alphago.env.game import GameEnv
from alphago.env.games import selfplay_game
from alphago.mcts.rule import choose_actions

ENOUGH = 500  # number of possible openings that is enough for a match; 400 games have 200 openings
MOST_PLIES = 6
FEW = 5  # with fewer points off the edge than this, as on small boards of Go, openings use all points


def opening_length(env: GameEnv) -> int:
    """Return the default number of random plies at the start of a match's games: 2, 4 or MOST_PLIES.

    It is the least number with ENOUGH openings, if every ply has as many choices as the first: 2 plies in Go from 7x7
    on and in Gomoku, 4 in Oware and Connect Four, 6 in Reversi.  With fewer openings deterministic players would repeat
    games, which an interval would count as independent.
    """
    legal = env.position().legal_mask
    choices = int((legal & selfplay_game(env).opening_actions).sum())
    if choices < FEW:  # `random_points` soon has to use all legal actions
        choices = int(legal.sum())
    for plies in range(2, MOST_PLIES, 2):
        if choices**plies >= ENOUGH:
            return plies
    return MOST_PLIES


def random_points(board: GameBatch, games: np.ndarray, generators: list[np.random.Generator]) -> np.ndarray:
    """Return a random legal action for each game, int32 [n].

    The action is drawn from `SelfPlayGame.opening_actions`; if none of them is legal, from all legal actions.
    generators: the random generator of each game.
    """
    env = board.env
    legal = board.legal_mask(games, np.empty((len(games), env.action_space), np.bool_))
    allowed = legal & selfplay_game(env).opening_actions
    has_none = ~allowed.any(axis=1)
    allowed[has_none] = legal[has_none]
    chance = np.array([generator.random() for generator in generators])
    return choose_actions(allowed.astype(np.int32), np.ones(len(games), np.bool_), chance)
