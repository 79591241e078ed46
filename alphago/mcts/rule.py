"""`SearchRule`, the steps in which searches differ, and how the end of a search becomes a move or a resignation."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from alphago.env.game import GameBatch, GameEnv
from alphago.mcts.kernels import nodes
from alphago.mcts.kernels.nodes import NONE, ROOT
from alphago.mcts.tree import Tree

CLEARLY = 0.5  # a value above it says that the mover wins; in drawn games values of 0.2 are common


class SearchRule(ABC):
    """The rule by which the trees of one search begin a move, choose children, and end with a policy and an action.

    `games` are int64 [n] throughout and their roots are evaluated; A is the number of actions, B that of all games.
    keeps_trees: whether a search continues in the previous search's tree, below the move played.
    select: `alphago.mcts.kernels.waves.select`, compiled with the rule's `choose` by `select_by`.
    parameters: what `choose` reads, a NamedTuple of numbers and arrays; values may change from one search to the next,
        types may not.
    room: number of nodes that `prepare` may add to a game's tree.
    """

    keeps_trees: bool
    select: Callable[..., tuple[int, int]]
    parameters: Any
    room: int = 0

    @abstractmethod
    def begin_move(self, games: np.ndarray, plies: np.ndarray) -> None:
        """Set the constants that depend on how many plies (int32 [n]) the games have had."""

    @abstractmethod
    def add_noise(
        self, tree: Tree, batch: GameBatch, games: np.ndarray, generators: Sequence[np.random.Generator]
    ) -> None:
        """Add random noise to the games' roots for the next search; `generators` has one generator per game."""

    @abstractmethod
    def prepare(self, tree: Tree, games: np.ndarray, readouts: np.ndarray) -> None:
        """Prepare a search of `readouts` simulations (int32 [n], each more than 0) in the games."""

    @abstractmethod
    def settled(self, tree: Tree, budget: np.ndarray) -> np.ndarray:
        """Return the games (bool [B]) whose best action cannot change within `budget` (int32 [B]) more simulations."""

    @abstractmethod
    def policies(self, tree: Tree, games: np.ndarray) -> np.ndarray:
        """Return the policies that a network should learn from the searches, [n, A], each row of sum 1."""

    @abstractmethod
    def choose(self, tree: Tree, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        """Return the actions to play, int32 [n]: the best ones, or drawn where `by_chance` (bool [n]) is set.

        chance: [n], in [0, 1), the random numbers to use.
        """

    @abstractmethod
    def selfplay_moves(
        self, tree: Tree, games: np.ndarray, early: np.ndarray, generators: Sequence[np.random.Generator]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return `policies` and the actions that self-play plays, int32 [n], after a search with noise.

        early: bool [n], whether a game is in its first plies, whose moves should vary.
        """


def only_child(tree: Tree) -> np.ndarray:
    """Return the games (bool [B]) whose root has exactly one child."""
    first = tree.first_child[:, ROOT]
    return (first != NONE) & (tree.next_sibling[np.arange(len(first)), first] == NONE)


def root_visits(tree: Tree, games: np.ndarray) -> np.ndarray:
    """Return the visits of the roots' actions, int32 [n, A]."""
    out = np.empty((len(games), tree.waiting.shape[2]), np.int32)
    nodes.root_visits(tree, games, out)
    return out


def temperature_plies(env: GameEnv) -> int:
    """Return how many first moves of a game are drawn in proportion to visits: N^2 / 12, made even (AlphaGo.jl)."""
    return env.N * env.N // 12 // 2 * 2


def choose_actions(visits: np.ndarray, by_visits: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """Return one action for each row of `visits` [n, A] (or of other weights), int32 [n].

    Where `by_visits` (bool [n]) is set the action is drawn in proportion to its visits; elsewhere it is the most
    visited one, drawn among equals. chance: [n], in [0, 1), the random numbers to use.
    """
    most = visits == visits.max(axis=1, keepdims=True)
    sums = np.cumsum(np.where(by_visits[:, None], visits, most), axis=1)
    return np.argmax(sums > (chance * sums[:, -1])[:, None], axis=1).astype(np.int32)


def without_rash_passes(env: GameEnv, priors: np.ndarray, values: np.ndarray, outcomes: np.ndarray) -> np.ndarray:
    """Return the priors [n, A] with 0 for passes that might end a game which the mover's value says it wins.

    Under area scoring dead stones left on the board count as alive, so that a pass can lose a won game. outcomes: [n],
    the mover's result of the board as it stands. On a lost board any value ([n], mover's view) above 0 forbids the
    pass, on a drawn one only values above CLEARLY. A pass with no alternative is kept.
    """
    if env.pass_action is None:
        return priors
    others = np.delete(priors, env.pass_action, axis=1).any(axis=1)
    priors = priors.copy()
    priors[(values > np.maximum(outcomes + CLEARLY, 0)) & others, env.pass_action] = 0
    return priors


def resigns(values: Any, threshold: float | None) -> Any:
    """Return whether players resign: where their root value, -1 .. 1 from their own view, is below the threshold.

    values: a number or an array, and the result likewise. threshold: None for never.
    """
    return values < (-1.0 if threshold is None else threshold)
