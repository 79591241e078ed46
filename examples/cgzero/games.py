"""CGZero's games of self-play: with some random moves and, with champions, between the best and other networks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator
from alphago.nn.net import NeuralNet
from alphago.records.record import GameRecord
from alphago.system.validation import check_float, check_int
from alphago.training.group import GameGroup, Group, Moves, draw_moves
from alphago.training.selfplay import SelfPlay

BEST, SECOND, RECENT = 0, 1, 2  # roles of networks; a game goes on with the same roles if a role gets another network


class Shares(NamedTuple):
    """The shares of the three kinds of games, as in CGZero (marchete 2020); they sum to 1.

    Attributes:
        alone: the best network against itself.
        second: the best network against the second best.
        recent: the best or second best network, with equal probability, against a network of a recent generation.
    """

    alone: float
    second: float
    recent: float


class Lineup(NamedTuple):
    """The networks that play beside the best one, and how often."""

    nets: tuple[NeuralNet, NeuralNet]  # the second best and the recent one
    shares: Shares


class Others(NamedTuple):
    """A Lineup as groups need it, with evaluators in place of networks, which later training does not change."""

    evaluators: tuple[Evaluator, ...]  # of the second best network and of the recent one
    shares: Shares


@dataclass(frozen=True)
class CGZeroGames:
    """Makes a run's source of CGZero's games, `train(env, source=CGZeroGames(0.015))`.

    Attributes:
        random_move_share: the probability of each of a game's first `random_move_plies` moves to be a random legal move
            instead of the search's.  Training leaves out this move and all moves before it, since it changes the game's
            course (CGZero: 0.015).
        random_move_plies: the number of first plies whose moves may be random (CGZero: 12).
    """

    random_move_share: float = 0.0
    random_move_plies: int = 12

    def __post_init__(self) -> None:
        check_float("random_move_share", self.random_move_share, 0, 1)
        check_int("random_move_plies", self.random_move_plies, 0)

    def __call__(self, *arguments: Any, **named: Any) -> "CGZeroSelfPlay":
        """Return a source of games; the arguments are those of SelfPlay."""
        return CGZeroSelfPlay(self, *arguments, **named)


class CGZeroGroup(Group):
    """A Group in which each slot has a role (BEST, SECOND or RECENT) for Black and for White.

    The group's own evaluator is that of the best network, which plays both sides until `set_others` adds others.
    """

    games = CGZeroGames()  # settings of random moves; by default there are none

    def __init__(self, env: GameEnv, evaluator: Evaluator, settings: Any, width: int, **more: Any) -> None:
        """Make the group; `more` are further arguments of Group."""
        super().__init__(env, evaluator, settings, width, **more)
        self.best = evaluator
        self.others: Others | None = None
        self.roles = np.zeros((width, 2), np.int8)  # the roles of Black and of White in each slot

    def set_others(self, others: Others | None) -> None:
        """Set the networks beside the best one.  Without any, None, it plays both sides of all games from now on."""
        self.others = others
        if others is None:
            self.roles[:] = BEST

    def use(self, evaluator: Evaluator) -> None:
        """Replace the evaluator of the best network."""
        self.best = evaluator
        super().use(evaluator)

    def begin(self, slot: int) -> None:
        """Start the group's next game in a slot, and draw its roles if there are other networks."""
        super().begin(slot)
        self.roles[slot] = BEST
        if self.others is not None and slot in self.builders:
            self.roles[slot] = draw_roles(self.others.shares, self.generators[slot])

    def roles_to_move(self, games: np.ndarray) -> np.ndarray:
        """Return the role of the player to move in each game, int8 [n]; games: int64 [n], slots."""
        movers = self.search.batch.to_play(games, np.empty(len(games), np.int8))
        return self.roles[games, (movers < 0).astype(np.int64)]  # column 0 if Black is to move, 1 if White

    def search_moves(self, games: np.ndarray, readouts: np.ndarray) -> np.ndarray:
        """Search the next move of each game with the network of the player to move; see `Group.search_moves`."""
        roles = self.roles_to_move(games)
        priors = np.empty((len(games), self.env.action_space), np.float32)
        for role in np.unique(roles):
            # The evaluators in the order of the roles; without others all roles are BEST.
            self.search.evaluator = self.best if self.others is None else (self.best, *self.others.evaluators)[role]
            mask = roles == role
            priors[mask] = super().search_moves(games[mask], readouts[mask])
        return priors

    def record(self, moves: Moves, plays_on: np.ndarray) -> None:
        """Add the moves to the games' records.

        Three kinds of moves get the weight 0, so that they are not learned: random moves, all moves before them, and
        the moves of a recent network.

        Args:
            plays_on: bool [n], whether the player to move plays the move instead of resigning.
        """
        is_random = self.play_random_moves(moves)
        moves.weights[is_random | (self.roles_to_move(moves.games) == RECENT)] = 0
        for slot in moves.games[is_random & plays_on]:
            for plies, row in self.builders[slot].plies:
                plies["weights"][row] = 0  # a move of this game so far
        super().record(moves, plays_on)

    def play_random_moves(self, moves: Moves) -> np.ndarray:
        """Replace the search's moves by random ones in some games; return in which games, bool [n]."""
        is_random = np.zeros(len(moves.games), np.bool_)
        generators = self.generators_of(moves.games)
        if self.games.random_move_share:
            is_early = self.slots.plies[moves.games] < self.games.random_move_plies
            for i in np.flatnonzero(moves.searched & is_early):
                is_random[i] = generators[i].random() < self.games.random_move_share
        if is_random.any():
            weights = moves.legal[is_random].astype(np.float32)
            drawing = [generators[i] for i in np.flatnonzero(is_random)]
            moves.actions[is_random] = draw_moves(self.env, weights, drawing)
        return is_random

    def advance(self, moves: Moves, plays_on: np.ndarray) -> None:
        """Play the moves; in games of two networks the search tree is cleared, as it has one network's evaluations."""
        super().advance(moves, plays_on)
        playing = moves.games[plays_on]
        self.search.forget(playing[self.roles[playing, 0] != self.roles[playing, 1]])

    def slot_states(self) -> list[dict[str, Any] | None]:
        states = zip(super().slot_states(), self.roles.tolist(), strict=True)
        return [None if state is None else {**state, "roles": roles} for state, roles in states]

    def restore_slots(self, slots: Sequence[Mapping[str, Any] | None], records: Iterator[GameRecord]) -> None:
        super().restore_slots(slots, records)
        for slot, state in enumerate(slots):
            if state is not None and self.others is not None:
                self.roles[slot] = state["roles"]


class CGZeroSelfPlay(SelfPlay):
    """SelfPlay with CGZero's games.

    Args:
        games: the settings of random moves.
        arguments, named: the arguments of SelfPlay.
    """

    group_class = CGZeroGroup

    def __init__(self, games: CGZeroGames, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.games = games
        self.lineup: Lineup | None = None
        self.others: Others | None = None

    def set_lineup(self, lineup: Lineup | None, env: GameEnv, dtype: str | None = None) -> None:
        """Set the networks that play beside the published one from the next iteration on.

        Args:
            lineup: None for the published network alone.
            env: the run's game on the present board.
            dtype: as in `publish`.
        """
        if lineup is self.lineup:
            return
        self.lineup = lineup
        if lineup is None:
            self.others = None
            return
        before = (None, None) if self.others is None else self.others.evaluators
        nets = [net.resized(env) for net in lineup.nets]
        snapshots = [
            net.evaluator(dtype, self.device, exact=True, shared=False, before=old)
            for net, old in zip(nets, before, strict=True)
        ]
        self.others = Others(tuple(snapshots), lineup.shares)

    def new_group(self, width: int, numbers: range) -> GameGroup:
        group = super().new_group(width, numbers)
        assert isinstance(group, CGZeroGroup)
        group.games = self.games
        group.set_others(self.others)
        return group

    def begin(self, plies: int | None, **more: Any) -> None:
        """Begin an iteration with the network published last and the lineup set last; see `SelfPlay.begin`."""
        for group in self.groups:
            assert isinstance(group, CGZeroGroup)
            group.set_others(self.others)
        super().begin(plies, **more)

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Return the games with their roles.

        This method is here, although it adds nothing, since a saved run goes on only with the class that defines it.
        """
        return super().state()


def draw_roles(shares: Sequence[float], generator: np.random.Generator) -> tuple[int, int]:
    """Draw the roles (BEST, SECOND or RECENT) of Black and White in a new game.

    Args:
        shares: see Shares.
        generator: the game's random generator.
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
