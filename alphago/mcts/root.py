"""From the root's visits to a move."""

import numpy as np

from alphago.env.game import GameEnv
from alphago.mcts.search import Search


def temperature_plies(env: GameEnv) -> int:
    """Plies in which moves are drawn in proportion to visits: N^2 / 12, made even (AlphaGo.jl; 30 on 19x19)."""
    return env.N * env.N // 12 // 2 * 2


def choose_actions(visits: np.ndarray, by_visits: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """One action for each row of `visits` [n, A], int32 [n].

    Where `by_visits` (bool [n]) is set the action is drawn in proportion to its visits, elsewhere it
    is the most visited one, drawn among equals.  `chance` [n], in [0, 1), is the randomness used.
    """
    most = visits == visits.max(axis=1, keepdims=True)
    sums = np.cumsum(np.where(by_visits[:, None], visits, most), axis=1)
    return np.argmax(sums > (chance * sums[:, -1])[:, None], axis=1).astype(np.int32)


def without_rash_passes(env: GameEnv, priors: np.ndarray, values: np.ndarray, outcomes: np.ndarray) -> np.ndarray:
    """Return the priors [n, A] with 0 for each pass that could throw a won game away.

    A policy passes when it takes the game to be decided, with dead stones still on the board; if the other side passes
    too, they count as alive.  A search sees that one ply ahead; without one, a mover whose value [n] says that it wins
    does not pass until the outcome [n] of the board as it stands (mover's view) says so too.
    """
    if env.pass_action is None:
        return priors
    others = np.delete(priors, env.pass_action, axis=1).any(axis=1)
    priors = priors.copy()
    priors[(values > 0) & (outcomes <= 0) & others, env.pass_action] = 0
    return priors


def chosen_actions(search: Search, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """One action for each of some searched games (int64 [n]), int32 [n].

    PUCT: as `choose_actions` from visits.  Gumbel: the action with which sequential halving ended; where `by_chance`
    (bool [n]) is set, drawn from the improved policy.
    """
    if not search.settings.gumbel:
        return choose_actions(search.visits(games), by_chance, chance)
    policies, actions = search.improved(games)
    return np.where(by_chance, choose_actions(policies, by_chance, chance), actions)
