"""Moves of one game of a search: by the network alone, and at a level below full strength."""

import math
from collections.abc import Sequence

import numpy as np

from alphago.env.position import Position
from alphago.mcts.analysis_search import AnalysisSearch, Forbidden
from alphago.mcts.kernels.nodes import ROOT
from alphago.mcts.level_choice import sure_losses, weights
from alphago.mcts.levels import POINTS, terms_of
from alphago.mcts.rule import choose_actions, without_rash_passes
from alphago.mcts.search import Search

CHANCES = 4  # a player of a level resigns only if it is behind by at least so many times the level's loss a move

# An action, None if the game is over; the probabilities of all moves, float64 [A], if it was drawn; and how many points
# the player must be behind to resign, since the opponent may still lose as many.
Move = tuple[int | None, np.ndarray | None, float]


def policy_move(search: Search, game: int, position: Position, rules: Sequence[Forbidden] = ()) -> int:
    """Return the action with the greatest prior among those that are not forbidden and not rash passes.

    A rash pass might lose a won game (see `without_rash_passes`).

    position: that of the game, whose root must be evaluated.
    """
    games = np.array([game])
    priors, values = search.priors(games), search.tree.value[games, ROOT]
    excluded = [action for rule in rules if rule.player == position.to_play for action in rule.actions]
    if np.delete(priors, excluded).any():  # as in the search, if all are forbidden, none counts as forbidden
        priors[0, excluded] = 0
    outcomes = np.array([position.to_play * position.outcome])
    return int(without_rash_passes(search.env, priors, values, outcomes)[0].argmax())


def level_move(search: AnalysisSearch, game: int, level: float, chance: float, deadline: float = math.inf) -> Move:
    """Return a move of a level below full strength, in a game that was searched with the level's readouts.

    chance: the random number, 0 .. 1, with which it is drawn.
    deadline: the value of time.monotonic() after which nothing more is searched.
    """
    terms = terms_of(level, search.env, search.has_forecasts)
    losses = sure_losses(search, np.array([game]), terms, deadline)
    shares = weights(losses, terms)
    least_behind = CHANCES * terms.target if terms.unit == POINTS else 0.0  # without points the value alone says it
    return int(choose_actions(shares, np.ones(1, np.bool_), np.array([chance]))[0]), shares[0], least_behind
