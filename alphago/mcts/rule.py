"""`SearchRule`, the steps in which searches differ; and how a search's end becomes a move or a resignation."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from alphago.env.game import GameBatch, GameEnv
from alphago.mcts.kernels import nodes
from alphago.mcts.kernels.nodes import NONE, ROOT
from alphago.mcts.tree import Tree

CLEARLY = 0.5  # between a draw and a win; in drawn games values of 0.2 are common


class SearchRule(ABC):
    """The rule by which the trees of one search begin a move, choose children, and end with a policy and an action.

    `games` are int64 [n] throughout, of evaluated roots, and A is the number of actions.

    keeps_trees: whether a search continues in the part of the previous search's tree below the move played.
    select: the compiled wave with the rule's `choose`, made by `alphago.mcts.kernels.waves.select_by`.
    parameters: what `choose` reads, a NamedTuple of numbers and arrays; they may change from one search to the next,
        but not their types.
    room: nodes that `prepare` may add to a game's tree.
    """

    keeps_trees: bool
    select: Callable[..., tuple[int, int]]
    parameters: Any
    room: int = 0

    @abstractmethod
    def add_noise(
        self, tree: Tree, batch: GameBatch, games: np.ndarray, generators: Sequence[np.random.Generator]
    ) -> None:
        """Make the next search of the games explore, with one generator for each."""

    @abstractmethod
    def prepare(self, tree: Tree, games: np.ndarray, readouts: np.ndarray) -> None:
        """Begin a search of `readouts` simulations (int32 [n], more than 0) in each of the games."""

    @abstractmethod
    def settled(self, tree: Tree, budget: np.ndarray) -> np.ndarray:
        """Return the games (bool [B]) whose best action is certain before `budget` (int32 [B]) is used up."""

    @abstractmethod
    def policies(self, tree: Tree, games: np.ndarray) -> np.ndarray:
        """Return the policies that a network should learn from the searches, [n, A], each row of sum 1."""

    @abstractmethod
    def choose(self, tree: Tree, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        """Return the actions to play, int32 [n]: the best ones, or drawn where `by_chance` (bool [n]) is set.

        chance: [n], in [0, 1), the randomness to use.
        """

    @abstractmethod
    def selfplay_moves(
        self, tree: Tree, games: np.ndarray, early: np.ndarray, generators: Sequence[np.random.Generator]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return `policies` and the actions of self-play, int32 [n], after a search with noise.

        early: whether a game is in its first plies, bool [n], whose moves should vary.
        """


def only_child(tree: Tree) -> np.ndarray:
    """Return the games (bool [B]) whose root has one child and no more."""
    first = tree.first_child[:, ROOT]
    return (first != NONE) & (tree.next_sibling[np.arange(len(first)), first] == NONE)


def root_visits(tree: Tree, games: np.ndarray) -> np.ndarray:
    """Return the visits of the roots' actions, int32 [n, A]."""
    out = np.empty((len(games), tree.waiting.shape[2]), np.int32)
    nodes.root_visits(tree, games, out)
    return out


def temperature_plies(env: GameEnv) -> int:
    """Return the plies in which moves are drawn in proportion to visits: N^2 / 12, made even (AlphaGo.jl)."""
    return env.N * env.N // 12 // 2 * 2


def choose_actions(visits: np.ndarray, by_visits: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """Return one action for each row of `visits` [n, A] (or of any other shares), int32 [n].

    Where `by_visits` (bool [n]) is set the action is drawn in proportion to its visits, elsewhere it
    is the most visited one, drawn among equals.  `chance` [n], in [0, 1), is the randomness used.
    """
    most = visits == visits.max(axis=1, keepdims=True)
    sums = np.cumsum(np.where(by_visits[:, None], visits, most), axis=1)
    return np.argmax(sums > (chance * sums[:, -1])[:, None], axis=1).astype(np.int32)


def without_rash_passes(env: GameEnv, priors: np.ndarray, values: np.ndarray, outcomes: np.ndarray) -> np.ndarray:
    """Return the priors [n, A] with 0 for each pass that could throw the game away.

    A policy passes once a game is decided, with dead stones left on the board; if the other side passes too, they count
    as alive.  A search sees that a ply ahead.  Without one, a mover whose value [n] says that it wins plays on, if only
    by its second choice, where the board as it stands is lost (outcome [n], mover's view); where it is drawn, only if
    the value is clear.
    """
    if env.pass_action is None:
        return priors
    others = np.delete(priors, env.pass_action, axis=1).any(axis=1)
    priors = priors.copy()
    priors[(values > np.maximum(outcomes + CLEARLY, 0)) & others, env.pass_action] = 0
    return priors


def resigns(values: Any, threshold: float | None) -> Any:
    """Return whether movers with these root values, -1 .. 1, resign: where they are below the threshold; None is never.

    values: a number or an array, and so is the result.
    """
    return values < (-1.0 if threshold is None else threshold)
