"""Seating: which network plays which move of a Group's games, and which moves are learned."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator


class Players(NamedTuple):
    """The evaluators that play self-play: that of the run's network, then those of its Company, with the shares."""

    evaluators: tuple[Evaluator, ...]
    shares: tuple[float, ...] = ()


class Moves(NamedTuple):
    """The next move of each of n games, before it is played; A actions."""

    games: np.ndarray  # int64 [n], the games' slots
    plies: np.ndarray  # int32 [n], the number of moves before this move
    movers: np.ndarray  # int8 [n], the player to move, 1 Black, -1 White
    searched: np.ndarray  # bool [n], whether the move is searched; otherwise the network's policy chooses it
    legal: np.ndarray  # bool [n, A]
    priors: np.ndarray  # float32 [n, A], the network's policy
    values: np.ndarray  # float32 [n], the root's value in the mover's view
    policies: np.ndarray  # float32 [n, A], the policy target; zeros if the move was not searched
    actions: np.ndarray  # int32 [n], the move
    weights: np.ndarray  # float32 [n], the position's weight in training; 0 for a position that is not learned


class Seating(Protocol):
    """Decides which network plays which move of a Group's games, and which moves are learned.

    A Group asks its Seating at each move, and saves the Seating's state with the games.
    """

    def use(self, evaluators: tuple[Evaluator, ...], shares: tuple[float, ...]) -> None:
        """Let these networks play from now on, in games in progress too.

        evaluators: the evaluator of the run's network, then those of its Company.  shares: the Company's.
        """

    def begin(self, slot: int, generator: np.random.Generator) -> None:
        """Begin a game in a slot; generator: the game's random generator."""

    def evaluators(self, games: np.ndarray, movers: np.ndarray) -> Sequence[tuple[np.ndarray, Evaluator]]:
        """Return pairs of a mask, bool [n], and the evaluator that searches the next move of the games in the mask.

        games: int64 [n], slots.  movers: int8 [n], the players to move.
        """

    def mixed(self, games: np.ndarray) -> np.ndarray:
        """Return the slots among `games` (int64 [n]) in which the two players' networks differ."""

    def alter(self, moves: Moves, generators: Sequence[np.random.Generator]) -> np.ndarray:
        """Change `moves.actions` and `moves.weights` in place where this seating wants other moves played or learned.

        generators: the random generators of the n games.
        Returns where the move changes the game's course, so that no move before it is learned: bool [n].
        """

    def state(self, slot: int) -> dict[str, Any]:
        """Return what `restore` needs for the game in a slot, as plain data."""

    def restore(self, slot: int, state: Mapping[str, Any]) -> None:
        """Continue a saved game in a slot; state: has the entries that the method `state` returned."""


class SeatingSettings(Protocol):
    """The settings of a seating, a frozen dataclass, whose `make_seating` makes the seating."""

    def make_seating(self, env: GameEnv, width: int) -> Seating:
        """Return the seating of a Group with `width` slots that plays `env`."""


class OneNetwork:
    """The Seating of AlphaZero: one network plays all moves, and all searched moves are learned."""

    def use(self, evaluators: tuple[Evaluator, ...], shares: tuple[float, ...]) -> None:
        self.evaluator = evaluators[0]

    def begin(self, slot: int, generator: np.random.Generator) -> None:
        pass

    def evaluators(self, games: np.ndarray, movers: np.ndarray) -> Sequence[tuple[np.ndarray, Evaluator]]:
        return [(np.ones(len(games), np.bool_), self.evaluator)]

    def mixed(self, games: np.ndarray) -> np.ndarray:
        return games[:0]

    def alter(self, moves: Moves, generators: Sequence[np.random.Generator]) -> np.ndarray:
        return np.zeros(len(moves.games), np.bool_)

    def state(self, slot: int) -> dict[str, Any]:
        return {}

    def restore(self, slot: int, state: Mapping[str, Any]) -> None:
        pass


def draw_moves(env: GameEnv, weights: np.ndarray, generators: Sequence[np.random.Generator]) -> np.ndarray:
    """Draw a random move for each of n games, int32 [n].

    weights: float32 [n, A], to which the actions' probabilities are proportional.  Changed in place: the weight of a
        pass becomes 0 if another action has a positive weight.
    generators: the random generators of the n games.
    """
    if env.pass_action is not None:
        can_move = np.delete(weights, env.pass_action, axis=1).any(axis=1)
        weights[can_move, env.pass_action] = 0
    sums = np.cumsum(weights, axis=1)
    random = np.array([generator.random() for generator in generators])
    drawn = random[:, None] * sums[:, -1:]
    return np.argmax(sums > drawn, axis=1).astype(np.int32)  # the first action whose sum exceeds the number drawn
