"""Who plays self-play's games where it is not one network alone: champions, each other and recent networks."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator
from alphago.nn.net import NeuralNet

BEST, SECOND, RECENT = 0, 1, 2  # roles; a game keeps its roles, whichever network has them by then
Shares = tuple[float, float, float]  # of the three kinds of games, of sum 1
BEST_ALONE: Shares = (1.0, 0.0, 0.0)


class Lineup(NamedTuple):
    """The networks that play beside the best one, and what share of the games each kind of pairing has.

    Three kinds, as in CGZero (marchete 2020): the best network against itself; against the second best; and one of
    these two, either as often, against a network of a recent generation, which was drawn for the present one.
    """

    second: NeuralNet
    recent: NeuralNet
    shares: Shares

    def resized(self, env: GameEnv) -> "Lineup":
        """Return the lineup for another board of the game, with the same weights."""
        return self._replace(second=self.second.resized(env), recent=self.recent.resized(env))


def draw_roles(shares: Shares, generator: np.random.Generator) -> tuple[int, int]:
    """Return the roles of Black and White in a new game; `generator` is the game's."""
    kind, champion, colour = generator.random(3)
    if kind < shares[0]:
        return BEST, BEST
    one, other = (BEST, SECOND) if kind < shares[0] + shares[1] else (BEST if champion < 0.5 else SECOND, RECENT)
    return (one, other) if colour < 0.5 else (other, one)


def learns(roles: np.ndarray) -> np.ndarray:
    """Return whether the moves of these roles are learned from: the champions' are, a recent network's are not."""
    return roles != RECENT


class Seats:
    """Who plays Black and White in the games of a group, by slot."""

    def __init__(self, width: int) -> None:
        self.roles = np.zeros((width, 2), np.int8)  # of Black and of White
        self.evaluators: tuple[Evaluator, ...] = ()  # by role; one alone plays all games
        self.shares = BEST_ALONE

    def use(self, evaluators: tuple[Evaluator, ...], shares: Shares) -> None:
        """Continue with other networks; with one alone all games are its own from now on."""
        self.evaluators, self.shares = evaluators, shares
        if len(evaluators) == 1:
            self.roles[:] = BEST

    def begin(self, slot: int, generator: np.random.Generator) -> None:
        """Seat the players of a new game, with the game's generator where there is a choice."""
        self.roles[slot] = draw_roles(self.shares, generator) if len(self.evaluators) > 1 else (BEST, BEST)

    def state(self, slot: int) -> dict[str, list[int]]:
        """Return the roles in a slot as plain data; {} where the best network plays itself."""
        return {"roles": self.roles[slot].tolist()} if self.roles[slot].any() else {}

    def restore(self, slot: int, state: Mapping[str, Any]) -> None:
        """Continue a game in a slot; where there are no other networks any more the best one plays on alone."""
        self.roles[slot] = state.get("roles", (BEST, BEST)) if len(self.evaluators) > 1 else (BEST, BEST)

    def to_move(self, games: np.ndarray, movers: np.ndarray) -> np.ndarray:
        """Return the role of the player to move in each game, int8 [n]; movers: int8 [n], +1 Black, -1 White."""
        return self.roles[games, (movers < 0).astype(np.int64)]

    def mixed(self, games: np.ndarray) -> np.ndarray:
        """Return those of the games (int64 [n]) whose two players are not the same."""
        return games[self.roles[games, 0] != self.roles[games, 1]]
