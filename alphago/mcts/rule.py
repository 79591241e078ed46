"""`SearchRule`: the steps in which searches differ; `SearchSettings`, which make it; functions that choose a move."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from alphago.env.batch import GameBatch
from alphago.env.game import GameEnv
from alphago.env.position import Position
from alphago.mcts.kernels.nodes import NONE
from alphago.mcts.tree import Tree, Wave, only_child, root_visits
from alphago.system.validation import setting, settings

DECIDED = 0.8  # a value that is farther from 0 than this counts as a decided game: the search is sure who wins
CLEARLY = 0.5  # a value above it counts as a won game; in drawn games values of 0.2 are common

Generators = Sequence[np.random.Generator]  # one for each game
PolicyMoves = tuple[np.ndarray, np.ndarray]  # policies, [n, A], and actions, int32 [n]


class SearchRule(ABC):
    """How a search prepares a move, chooses children, and derives a policy and an action.

    The methods of this class take policies and actions from visits; a rule that takes them from other numbers has its
    own `settled`, `policies`, `choose` and `selfplay_moves`.

    In all methods `games` is int64 [n], the games to work on, whose roots are evaluated; A is the number of actions, B
    the number of all games.

    Attributes:
        keeps_trees: whether a search continues in the previous search's tree, below the move played.
        select: `alphago.mcts.kernels.waves.select`, compiled with the rule's kernel `choose` by `select_by`.
        device_select: the name of the kernel in `kernels/tree.cu` that does the same on a device.  Without one, boards
            and trees stay on the CPU, whatever the network's device.  A subclass does not inherit it.
        parameters: a NamedTuple of numbers and arrays that the kernel reads; values may change from search to search,
            types may not.
        room: number of nodes that `prepare` may add to a game's tree.
        heeds_early: whether `selfplay_moves` uses its argument `early`; if not, the setting `temperature_plies` has no
            effect.
        change_values: a function that changes the values of a wave's leaves in place before they are backed up; None in
            most rules.  It is called with the wave (n leaves), whether the game is over at each leaf (bool [n]), and
            the values (float32 [n], from the view of each leaf's mover).
    """

    keeps_trees: bool
    select: Callable[..., tuple[int, int]]
    device_select: str | None = None
    parameters: Any
    room: int = 0
    heeds_early: bool = True
    change_values: Callable[[Wave, np.ndarray, np.ndarray], None] | None = None

    def begin_move(self, games: np.ndarray, plies: np.ndarray) -> None:  # noqa: B027 (most rules need none)
        """Set the parameters that depend on the ply; most rules have none.

        Args:
            plies: int32 [n], the number of plies played in each game.
        """

    @abstractmethod
    def add_noise(self, tree: Tree, batch: GameBatch, games: np.ndarray, generators: Generators) -> None:
        """Add random noise to the games' roots for the next search; `generators` has one generator per game."""

    def prepare(self, tree: Tree, games: np.ndarray, readouts: np.ndarray) -> None:  # noqa: B027 (most need none)
        """Prepare a search of `readouts` simulations (int32 [n], each more than 0) in the games.

        A rule may note the numbers, and make up to `self.room` nodes below each root; most rules do nothing.
        """

    def plan(self, budget: np.ndarray, leaves: int) -> list[int]:
        """Return a list with an entry for each of the next waves: how many leaves it may choose in one game.

        These waves run on a device one after the other.  Then the CPU looks at the games, and calls `plan` again for
        those that have simulations left.

        Args:
            budget: int32 [B], the simulations left in each game; more than 0 in at least one.
            leaves: the greatest entry.
        """
        return [leaves] * math.ceil(budget.max() / leaves)

    def settled(self, tree: Tree, budget: np.ndarray) -> np.ndarray:
        """Return whether the best action of each game is certain, bool [B].

        It is certain if it leads the next one by more visits than the game has simulations left (`budget`, int32 [B]),
        or is the only legal action.
        """
        games = np.arange(len(budget))
        visits = root_visits(tree, games)
        most = visits.max(axis=1)
        visits[games, visits.argmax(axis=1)] = 0
        second = visits.max(axis=1)
        return only_legal(tree, games) | (most - second > budget)

    def policies(self, tree: Tree, games: np.ndarray) -> np.ndarray:
        """Return the policies to learn, [n, A]: each action's share of the visits; all 0 in a game without visits."""
        visits = root_visits(tree, games)
        return visits / np.maximum(visits.sum(axis=1, keepdims=True), 1)

    def choose(self, tree: Tree, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        """Return the actions to play, int32 [n]: the most visited ones, or actions drawn in proportion to visits.

        Args:
            by_chance: bool [n], whether to draw a game's action at random instead of taking the best action.
            chance: [n], the random numbers for the draws and for ties, in [0, 1).
        """
        return choose_actions(root_visits(tree, games), by_chance, chance)

    def selfplay_moves(self, tree: Tree, games: np.ndarray, early: np.ndarray, generators: Generators) -> PolicyMoves:
        """Return the policies to learn, [n, A], and the actions for self-play, int32 [n], after a search with noise.

        Args:
            early: bool [n], whether a game is in its first plies, in which actions are drawn by chance.
            generators: one for each game.
        """
        chance = np.array([generator.random() for generator in generators])
        return self.policies(tree, games), self.choose(tree, games, early, chance)


@settings
class SearchSettings(ABC):
    """Settings that every search has.  A subclass adds those of its rule, and makes the rule in `new_rule`.

    A subclass is decorated with `alphago.system.validation.settings`, or with `dataclass(frozen=True)`.
    """

    leaves: int = setting(
        "new leaves that a wave (a set of simulations evaluated together) chooses in one game; more than 1 fills the "
        "network's batch when there are few games, at some cost in quality; by default as many as fill a batch, or 1 "
        "in settings that a search gets as they are",
        default=None,
        least=1,
    )
    decisive_moves: bool = setting(
        "in games that find moves that win at once, evaluate a position with such a move as won, and try only this "
        "move there, whatever the network says (Teytaud and Teytaud 2010)",
        default=True,
        python="See `GameEnv.has_decisive_moves`",
    )

    @abstractmethod
    def new_rule(self, games: int, actions: int) -> SearchRule:
        """Return the rule for a search of `games` games with `actions` actions."""

    def completed(self, readouts: int, leaves: int) -> Self:
        """Return these settings with a value in place of each None.

        Here only `leaves` may be None.  Rules whose settings depend on the readouts override this method.

        Args:
            readouts: simulations per move, which the values suit.
            leaves: the value for the setting `leaves`.
        """
        return replace(self, leaves=self.leaves or leaves)

    @property
    def independent_leaves(self) -> bool:
        """Whether a wave's leaves in one game are chosen as if they were evaluated one after the other."""
        return self.leaves == 1

    @property
    def keeps_trees(self) -> bool:
        """Whether the search of a move continues in the tree of the previous move's search."""
        return self.new_rule(0, 0).keeps_trees  # 0 games and 0 actions: it is the same for any numbers

    @property
    def needs_readouts(self) -> bool:
        """Whether a search must know the number of its readouts at its start, since the rule has its own `prepare`."""
        return type(self.new_rule(0, 0)).prepare is not SearchRule.prepare


def only_legal(tree: Tree, games: np.ndarray) -> np.ndarray:
    """Return whether the root of each of `games` (int64 [n]) has one legal action, bool [n]; False without a search."""
    return only_child(tree, games) & (tree.at("next_action", games) == NONE)


def temperature_plies(env: GameEnv) -> int:
    """Return the number of plies at the start of a game in which moves are drawn in proportion to visits.

    It is N^2 / 12, rounded down to an even number, as in AlphaGo.jl.
    """
    return env.N * env.N // 12 // 2 * 2


def choose_actions(visits: np.ndarray, by_visits: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """Return one action for each row of `visits` [n, A] (or of other weights), int32 [n].

    Where `by_visits` (bool [n]) is set, the action is drawn in proportion to its visits; elsewhere it is the most
    visited one, ties broken at random. chance: [n], the random numbers to use, in [0, 1).
    """
    most_visited = visits == visits.max(axis=1, keepdims=True)  # the weight is 1 for each of them and 0 for the others
    sums = np.cumsum(np.where(by_visits[:, None], visits, most_visited), axis=1)
    # The first action at which the sum exceeds the part `chance` of the total.
    return np.argmax(sums > (chance * sums[:, -1])[:, None], axis=1).astype(np.int32)


def without_rash_passes(batch: GameBatch, games: np.ndarray, priors: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the priors [n, A] with 0 for passes that might lose a game the mover is winning; the argument stays.

    Area scoring counts dead stones left on the board as alive, so a pass can lose a won game. The pass is excluded in
    two cases: the current board is lost for the mover, but the value is above 0; or the board is drawn, but the value
    is above CLEARLY.  A pass that is the only legal action is not excluded.

    Args:
        games: int64 [n], slots of the batch.
        values: [n], the search's values, from the mover's view.
    """
    pass_action = batch.env.pass_action
    if pass_action is None:
        return priors
    has_others = np.delete(priors, pass_action, axis=1).any(axis=1)
    outcomes = batch.outcome(games, np.empty(len(games), np.float32))  # of the boards as they are, in the mover's view
    limits = np.maximum(outcomes + CLEARLY, 0)  # lost board: 0, drawn: CLEARLY, won: 1.5, above any value
    is_rash = (values > limits) & has_others
    priors = priors.copy()
    priors[is_rash, pass_action] = 0
    return priors


def winning_passes(batch: GameBatch, games: np.ndarray) -> np.ndarray:
    """Return whether a pass is legal, ends the game and wins it for the mover, bool [n], in `games` (int64 [n])."""
    env, slots, boards = batch.env, np.arange(len(games)), batch.extract(games)  # copies, on which passes are tried
    may_pass = boards.legal_mask(slots, np.empty((len(games), env.action_space), np.bool_))[:, env.pass_action]
    outcomes = boards.outcome(slots, np.empty(len(games), np.float32))  # before the pass, so from the mover's view
    boards.play(slots[may_pass], np.full(may_pass.sum(), env.pass_action, np.int32))
    return may_pass & boards.is_over(slots, np.empty(len(games), np.bool_)) & (outcomes > 0)


def neutral_moves(batch: GameBatch, games: np.ndarray) -> np.ndarray:
    """Return the moves onto neutral points, bool [n, A], that are better than a pass in undecided `games` (int64 [n]).

    A neutral point belongs to neither side, and can be taken at no risk (`GameBatch.neutral_mask`).  Area scoring
    counts it for the side that takes it.  A game that a pass wins at once has no such moves here.
    """
    neutral = np.empty((len(games), batch.env.action_space), np.bool_)
    # Asked of copies in the CPU's memory, since boards on a device do not find neutral points.
    batch.extract(games).neutral_mask(np.arange(len(games)), neutral)
    neutral[winning_passes(batch, games)] = False
    return neutral


def without_early_passes(
    batch: GameBatch, games: np.ndarray, actions: np.ndarray, weights: np.ndarray, values: np.ndarray
) -> np.ndarray:
    """Return the actions, int32 [n], with a move onto a neutral point in place of each early pass.

    A pass is early if no side is sure to win (the value is -DECIDED .. DECIDED) and there are `neutral_moves`.  It is
    replaced by the neutral move with the greatest weight.

    Args:
        batch: the positions, of a game with passes.
        games: int64 [n], their slots in the batch.
        actions: int32 [n], the chosen actions.
        weights: [n, A], of all actions, 0 for actions that must not be played.
        values: [n], from the mover's view.
    """
    early = np.flatnonzero((actions == batch.env.pass_action) & (np.abs(values) <= DECIDED))
    if not len(early):
        return actions
    neutral_weights = np.where(neutral_moves(batch, games[early]), weights[early], 0)  # a row for each early pass
    has_neutral = neutral_weights.any(axis=1)  # elsewhere no neutral point may be played, and the pass stays
    actions = actions.copy()
    actions[early[has_neutral]] = neutral_weights[has_neutral].argmax(axis=1)
    return actions


def without_idle_moves(
    batch: GameBatch, games: np.ndarray, actions: np.ndarray, weights: np.ndarray, values: np.ndarray
) -> np.ndarray:
    """Return the actions, int32 [n], with another action in place of each idle move.

    An idle move gains nothing: it fills an own eye, or a point that belongs to a side for good
    (`GameBatch.sensible_mask`).  Where a pass is legal, the first of these actions that exists replaces it:

    1. a pass, if the game is decided (the value is beyond DECIDED) and the pass cannot lose it (`without_rash_passes`);
    2. the move with the greatest weight that is not idle;
    3. a pass that cannot lose the game.

    Else the idle move stays: it may be a threat in a ko.

    Args:
        batch, games, actions, weights, values: as in `without_early_passes`.
    """
    env, slots, boards = batch.env, np.arange(len(games)), batch.extract(games)
    sensible = boards.sensible_mask(slots, np.empty((len(games), env.action_space), np.bool_))
    if sensible[slots, actions].all():
        return actions
    sensible &= weights > 0  # now without actions that must not be played
    # An idle action is replaced where a pass may be played: `sensible_mask` has every legal pass.
    is_replaced = ~sensible[slots, actions] & sensible[:, env.pass_action]
    is_safe = without_rash_passes(boards, slots, weights, values)[:, env.pass_action] > 0  # the pass
    is_decided = np.abs(values) > DECIDED
    move_weights = np.where(sensible, weights, 0)  # of moves that are not idle
    move_weights[:, env.pass_action] = 0
    # The first condition that holds decides, in the order of 1 to 3 above; if none holds, the action stays.
    conditions = [is_safe & is_decided, move_weights.any(axis=1), is_safe]
    replacements = np.select(conditions, [env.pass_action, move_weights.argmax(axis=1), env.pass_action], actions)
    return np.where(is_replaced, replacements, actions).astype(np.int32)


def measured_threshold(network: object, position: Position) -> float:
    """Return the resignation threshold that a network's run has measured, or -1 (never) if it does not hold here.

    It was measured in the game `network.measured_in`, and holds in games like it: with the same board and rules, a
    similar komi and no handicap (`GameEnv.covers`).
    """
    never = -1.0
    measured_in = getattr(network, "measured_in", position.env)
    return float(getattr(network, "resign_threshold", never)) if measured_in.covers(position) else never


def resigns(values: Any, threshold: float | None) -> Any:
    """Return whether players resign, because their value is below the threshold: a bool, or a bool array.

    Args:
        values: the value of a search's root or an array of them, -1 .. 1, from the view of the player who may resign.
        threshold: None for never; so is -1, since no value is below it.
    """
    return values < (-1.0 if threshold is None else threshold)
