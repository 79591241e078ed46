"""CGZero's games of self-play, between the best, the second best and recent networks, and with random moves."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator
from alphago.system.validation import setting, settings
from alphago.training.seating import Moves, draw_moves

BEST, SECOND, RECENT = 0, 1, 2  # roles; a game keeps its roles when other networks take them over


class Shares(NamedTuple):
    """The shares of the three kinds of games, as in CGZero (marchete 2020); they sum to 1.

    alone: the best network against itself.
    second: the best network against the second best.
    recent: the best or second best network, with equal probability, against a network of a recent generation.
    """

    alone: float
    second: float
    recent: float


@settings
class CGZeroGames:
    """Games of self-play as CGZero's: by the networks of a lineup, if champions give one, and with random moves."""

    random_move_share: float = setting(
        "probability that one of a game's first `random_move_plies` moves is a random legal move instead of the "
        "search's; training leaves out this move and all moves before it, since it changes the game's course (CGZero: "
        "0.015)",
        default=0.0,
        least=0,
        most=1,
    )
    random_move_plies: int = setting(
        "number of first plies of a game to which `random_move_share` applies (CGZero: 12)", default=12, least=0
    )

    def make_seating(self, env: GameEnv, width: int) -> "LineupSeating":
        """Return the seating of a Group with `width` slots that plays `env`."""
        return LineupSeating(self, env, width)


class LineupSeating:
    """The Seating of CGZeroGames: each slot has a role (BEST, SECOND or RECENT) for Black and for White."""

    def __init__(self, games: CGZeroGames, env: GameEnv, width: int) -> None:
        self.settings = games
        self.env = env
        self.roles = np.zeros((width, 2), np.int8)  # the roles of Black and of White in each slot
        self.networks: tuple[Evaluator, ...] = ()  # by role; a single evaluator plays all games
        self.shares: tuple[float, ...] = ()

    def use(self, evaluators: tuple[Evaluator, ...], shares: tuple[float, ...]) -> None:
        """Give the roles to other evaluators; a single evaluator plays both sides of all games from now on.

        evaluators: those of the best, the second best and the recent network.  shares: see Shares.
        """
        self.networks = evaluators
        self.shares = shares
        if len(evaluators) == 1:
            self.roles[:] = BEST

    def begin(self, slot: int, generator: np.random.Generator) -> None:
        """Draw the roles of a new game in `slot`, if there are several evaluators."""
        self.roles[slot] = draw_roles(self.shares, generator) if len(self.networks) > 1 else (BEST, BEST)

    def roles_to_move(self, games: np.ndarray, movers: np.ndarray) -> np.ndarray:
        """Return the role of the player to move in each game, int8 [n]; games, movers: as in `evaluators`."""
        return self.roles[games, (movers < 0).astype(np.int64)]  # column 0 if Black is to move, 1 if White

    def evaluators(self, games: np.ndarray, movers: np.ndarray) -> Sequence[tuple[np.ndarray, Evaluator]]:
        roles = self.roles_to_move(games, movers)
        return [(roles == role, self.networks[role]) for role in np.unique(roles)]

    def mixed(self, games: np.ndarray) -> np.ndarray:
        return games[self.roles[games, 0] != self.roles[games, 1]]

    def alter(self, moves: Moves, generators: Sequence[np.random.Generator]) -> np.ndarray:
        """Play random moves in some games; neither random moves nor the moves of a recent network are learned."""
        is_random = np.zeros(len(moves.games), np.bool_)
        if self.settings.random_move_share:
            is_early = moves.plies < self.settings.random_move_plies
            for i in np.flatnonzero(moves.searched & is_early):
                is_random[i] = generators[int(i)].random() < self.settings.random_move_share
        if is_random.any():
            chosen_generators = [generators[int(i)] for i in np.flatnonzero(is_random)]
            weights = moves.legal[is_random].astype(np.float32)
            moves.actions[is_random] = draw_moves(self.env, weights, chosen_generators)
        is_recent = self.roles_to_move(moves.games, moves.movers) == RECENT
        moves.weights[is_random | is_recent] = 0
        return is_random

    def state(self, slot: int) -> dict[str, list[int]]:
        """Return the roles in a slot as plain data, {"roles": [Black's, White's]}; {} if both are BEST."""
        return {"roles": self.roles[slot].tolist()} if self.roles[slot].any() else {}

    def restore(self, slot: int, state: Mapping[str, Any]) -> None:
        """Restore a slot's roles; if there is a single evaluator, both roles become BEST."""
        self.roles[slot] = state.get("roles", (BEST, BEST)) if len(self.networks) > 1 else (BEST, BEST)


def draw_roles(shares: Sequence[float], generator: np.random.Generator) -> tuple[int, int]:
    """Draw the roles (BEST, SECOND or RECENT) of Black and White in a new game.

    shares: see Shares.  generator: the game's random generator.
    """
    kind_draw, champion_draw, colour_draw = generator.random(3)
    alone, second, _ = shares
    if kind_draw < alone:
        return BEST, BEST
    if kind_draw < alone + second:
        champion, other = BEST, SECOND
    else:
        champion, other = (BEST if champion_draw < 0.5 else SECOND), RECENT
    return (champion, other) if colour_draw < 0.5 else (other, champion)
