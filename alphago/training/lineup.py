"""The networks that play each game of self-play: the best one alone, or with a second best and a recent network."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator
from alphago.nn.net import NeuralNet

BEST, SECOND, RECENT = 0, 1, 2  # roles; a game keeps its roles when other networks take them over
Shares = tuple[float, float, float]  # shares of the three kinds of games (see Lineup), which sum to 1
BEST_ALONE: Shares = (1.0, 0.0, 0.0)


class Lineup(NamedTuple):
    """The networks that play self-play beside the best one, and the shares of the three kinds of games.

    The kinds are as in CGZero (marchete 2020), in the order of `shares`:
    - the best network against itself
    - the best network against the second best
    - the best or second best network, with equal probability, against a network of a recent generation

    second: the second best network.
    recent: the network of a recent generation, drawn once for each generation.
    """

    second: NeuralNet
    recent: NeuralNet
    shares: Shares

    def resized(self, env: GameEnv) -> "Lineup":
        """Return the lineup with networks for the board of `env` and the same weights."""
        return self._replace(second=self.second.resized(env), recent=self.recent.resized(env))


def draw_roles(shares: Shares, generator: np.random.Generator) -> tuple[int, int]:
    """Draw the roles (BEST, SECOND or RECENT) of Black and White in a new game.

    shares: see Lineup.  generator: the game's random generator.
    """
    kind, champion, colour = generator.random(3)
    if kind < shares[0]:
        return BEST, BEST
    one, other = (BEST, SECOND) if kind < shares[0] + shares[1] else (BEST if champion < 0.5 else SECOND, RECENT)
    return (one, other) if colour < 0.5 else (other, one)


def learns(roles: np.ndarray) -> np.ndarray:
    """Return for each role whether training uses the moves of a player in this role: bool, in the shape of `roles`.

    Training uses the moves of the best and the second best network, but not those of a recent network.
    """
    return roles != RECENT


class Seats:
    """The roles of Black and White in each slot of a Group, and the evaluators that have these roles."""

    def __init__(self, width: int) -> None:
        self.roles = np.zeros((width, 2), np.int8)  # the roles of Black and of White in each slot
        self.evaluators: tuple[Evaluator, ...] = ()  # the evaluator of each role; a single one plays all games
        self.shares = BEST_ALONE

    def use(self, evaluators: tuple[Evaluator, ...], shares: Shares) -> None:
        """Give the roles to other evaluators; a single evaluator plays both sides of all games from now on.

        evaluators: the evaluator of each role, or only the best network's.  shares: see Lineup.
        """
        self.evaluators, self.shares = evaluators, shares
        if len(evaluators) == 1:
            self.roles[:] = BEST

    def begin(self, slot: int, generator: np.random.Generator) -> None:
        """Draw the roles of a new game in `slot` by the game's `generator`, if there are several evaluators."""
        self.roles[slot] = draw_roles(self.shares, generator) if len(self.evaluators) > 1 else (BEST, BEST)

    def state(self, slot: int) -> dict[str, list[int]]:
        """Return the roles in a slot as plain data, {"roles": [Black's, White's]}; {} if both are BEST."""
        return {"roles": self.roles[slot].tolist()} if self.roles[slot].any() else {}

    def restore(self, slot: int, state: Mapping[str, Any]) -> None:
        """Restore a slot's roles from the result of `state`; if there is a single evaluator, both roles become BEST."""
        self.roles[slot] = state.get("roles", (BEST, BEST)) if len(self.evaluators) > 1 else (BEST, BEST)

    def to_move(self, games: np.ndarray, movers: np.ndarray) -> np.ndarray:
        """Return the role (BEST, SECOND or RECENT) of the player to move in each game, int8 [n].

        games: int64 [n], slots.  movers: int8 [n], the players to move, 1 Black, -1 White.
        """
        return self.roles[games, (movers < 0).astype(np.int64)]

    def mixed(self, games: np.ndarray) -> np.ndarray:
        """Return the slots among `games` (int64 [n]) in which Black and White have different roles."""
        return games[self.roles[games, 0] != self.roles[games, 1]]
