"""`AnalysisSearch`: a search that also stores score and ownership for each node, and can exclude moves."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from alphago.env.game import GameEnv
from alphago.env.leaves import Leaves, Reached
from alphago.env.position import Position
from alphago.mcts.evaluator import Evaluator, Forecaster
from alphago.mcts.kernels import subtrees
from alphago.mcts.kernels.nodes import NONE
from alphago.mcts.kernels.tree_reading import OWNERS
from alphago.mcts.rule import SearchSettings
from alphago.mcts.search import FIRST_NODES, Search
from alphago.mcts.tree import Wave
from alphago.system.stopwatch import BOARDS, TREE
from alphago.system.validation import shown

_FIRST = np.zeros(1, np.int64)


class Forbidden(NamedTuple):
    """Actions that a search must not try for a player (+1 or -1) within `plies` plies of the root.

    With `plies` = 1 they are forbidden only at the root.
    """

    player: int
    actions: frozenset[int]
    plies: int = 1


def usable(rules: Sequence[Forbidden]) -> tuple[Forbidden, ...]:
    """Return the rules that forbid at least one action."""
    return tuple(rule for rule in rules if rule.actions and rule.plies > 0)


def excluded(rules: Sequence[Forbidden], player: int, depth: int) -> list[int]:
    """Return the actions that rules forbid a player at a node; depth: the node's distance from the root."""
    return list({action for rule in rules if rule.player == player and depth < rule.plies for action in rule.actions})


def check_move_left(position: Position, rules: Sequence[Forbidden]) -> None:
    """Raise ValueError if rules forbid all legal moves of a position."""
    if rules and not np.delete(position.legal_mask, excluded(rules, position.to_play, depth=0)).any():
        raise ValueError(f"a legal move must be left to search, got all of them forbidden in {shown(position)}")


def node_bytes(env: GameEnv) -> int:
    """Return the memory of a node of an `AnalysisSearch`: a float32 prior per action, an int8 owner per point."""
    return 4 * env.action_space + env.plane_shape[0] * env.plane_shape[1]


def check_symmetries(env: GameEnv, evaluator: Evaluator, symmetries: bool) -> tuple[int, ...]:
    """Return the symmetries over which to average, as indices: all, or only the identity (0).

    Raises ValueError if `symmetries` is set and `evaluator` cannot average.
    """
    if symmetries and not isinstance(evaluator, Forecaster):
        raise ValueError(f"symmetries must be False without a network, got {type(evaluator).__name__}")
    return tuple(range(len(env.symmetries.points))) if symmetries else (0,)


class SavedTree(NamedTuple):
    """The tree of one game of an `AnalysisSearch`, as far as it is used, with n nodes.

    nodes: the arrays of `Tree` for this game but `used`, each [n] or [n, A].  scores: float32 [n].
    owners: int8 [n, P].  root_priors: float32 [A].
    """

    nodes: list[np.ndarray]
    scores: np.ndarray
    owners: np.ndarray
    root_priors: np.ndarray

    @property
    def bytes(self) -> int:
        """The memory of the arrays."""
        return sum(array.nbytes for array in (*self.nodes, *self[1:]))


class AnalysisSearch(Search):
    """A `Search` that also stores scores and ownership for each node, if the evaluator is a `Forecaster`.

    symmetries: whether to average evaluations over all S symmetries of the board, which takes S times as long and needs
        a Forecaster.
    """

    def __init__(
        self,
        env: GameEnv,
        evaluator: Evaluator,
        games: int,
        settings: SearchSettings,
        *,
        symmetries: bool = False,
        nodes: int = FIRST_NODES,
    ) -> None:
        super().__init__(env, evaluator, games, settings, nodes=nodes)
        self.forecaster = evaluator if isinstance(evaluator, Forecaster) else None
        self.symmetries = check_symmetries(env, evaluator, symmetries)
        self.has_forecasts = self.forecaster is not None and self.forecaster.makes_forecasts
        points = env.plane_shape[0] * env.plane_shape[1] if self.has_forecasts else 0
        self.scores = np.zeros((games, nodes), np.float32)  # of each node, from its mover's view
        self.owners = np.zeros((games, nodes, points), np.int8)  # from its mover's view, in units of 1 / OWNERS
        self._forbidden: dict[int, tuple[Forbidden, ...]] = {}  # by game
        # The evaluator's priors at the roots of games with forbidden moves; the rows of other games are 0.
        self.root_priors = np.zeros((games, env.action_space), np.float32)

    def saved(self, game: int) -> "SavedTree":
        """Return a copy of a game's tree."""
        used = int(self.tree.used[game])
        nodes = [array[game, :used].copy() for array in self.tree[:-1]]
        forecasts = self.scores[game, :used].copy(), self.owners[game, :used].copy()
        return SavedTree(nodes, *forecasts, root_priors=self.root_priors[game].copy())

    def restore(self, game: int, position: Position, saved: "SavedTree") -> None:
        """Set the root of a game to `position`, and give it this position's saved tree; keep its forbidden moves."""
        used = len(saved.scores)
        self._make_room(used)
        self.batch.copy(_FIRST, np.array([game]), of=position.batch)
        for own, other in zip(self.tree[:-1], saved.nodes, strict=True):
            own[game, :used] = other
        self.tree.used[game] = used
        self.scores[game, :used], self.owners[game, :used] = saved.scores, saved.owners
        self.root_priors[game] = saved.root_priors

    def start(self, game: int, position: Position, forbidden: Sequence[Forbidden] = ()) -> None:
        """Set the root of a game to `position`, and empty its tree.

        forbidden: the moves that the search must not try, `usable` rules that leave a legal move.
        """
        self.batch.copy(_FIRST, np.array([game]), of=position.batch)
        self.forget(np.array([game]))
        if forbidden:
            self._forbidden[game] = tuple(forbidden)

    @TREE
    def forget(self, games: np.ndarray) -> None:
        """Clear the trees of games (int64 [n]) and lift their forbidden moves."""
        super().forget(games)
        for game in games.tolist():
            self._forbidden.pop(game, None)

    def forbidden(self, game: int) -> tuple[Forbidden, ...]:
        """Return the forbidden moves of a game."""
        return self._forbidden.get(game, ())

    def wave(self, budget: np.ndarray, leaves: int | None = None) -> int:
        """Run one wave, for which there is always room; see `Search.wave`."""
        self._make_room(int(self.tree.used.max()) + self.settings.leaves + 1)
        return super().wave(budget, leaves)

    def priors(self, games: np.ndarray) -> np.ndarray:
        """Return the evaluator's priors at the roots, float32 [n, A], including those of forbidden actions."""
        out = super().priors(games)
        for i, game in enumerate(games):
            if int(game) in self._forbidden:
                out[i] = self.root_priors[game]
        return out

    @TREE
    def advance(self, games: np.ndarray, actions: np.ndarray) -> None:
        """Play one action (int32 [n]) in each game and keep the part of its tree below that action.

        The games' forbidden moves are then lifted.
        """
        with BOARDS:
            self.batch.play(games, actions)
        for game, action in zip(games.tolist(), actions.tolist(), strict=True):
            moved_to = np.full(self.tree.parent.shape[1], NONE, np.int32)  # each node's new index, NONE if dropped
            subtrees.advance(self.tree, np.array([game]), np.array([action], np.int32), moved_to)
            kept = np.flatnonzero(moved_to != NONE)
            # The right side is copied before anything is written, so nodes may move over each other.
            self.scores[game, moved_to[kept]] = self.scores[game, kept]
            self.owners[game, moved_to[kept]] = self.owners[game, kept]
            self._forbidden.pop(game, None)

    def _make_room(self, nodes: int) -> None:
        """Let every tree have room for `nodes` nodes, and the scores and owners for as many as the trees."""
        super()._make_room(nodes)
        games, before = self.scores.shape
        capacity = self.tree.parent.shape[1]
        if capacity > before:  # the trees have grown
            scores, owners = self.scores, self.owners
            self.scores = np.zeros((games, capacity), np.float32)
            self.owners = np.zeros((games, capacity, owners.shape[2]), np.int8)
            self.scores[:, :before], self.owners[:, :before] = scores, owners

    def _reach_and_evaluate(self, wave: Wave, leaves: Leaves, out: Reached) -> tuple[np.ndarray, np.ndarray]:
        """Do as `Search` does; with a forecaster, also store the forecast scores and ownership in the leaves' nodes."""
        if self.forecaster is None:
            priors, values = super()._reach_and_evaluate(wave, leaves, out)
            self._exclude_forbidden(wave, leaves, out, priors)
            return priors, values
        with BOARDS:
            self.batch.reach(leaves, out)
        live = np.flatnonzero(~out.over)
        priors = self._priors[: len(live)]
        values = np.empty(len(live), np.float32)
        scores = np.empty_like(values)
        ownership = np.empty((len(live), self.owners.shape[2]), np.float32)
        forecasts = (scores, ownership) if self.has_forecasts else None
        self.forecaster.evaluate_forecasts(self.batch, leaves.slots[live], priors, values, forecasts, self.symmetries)
        out.outcomes[live] = values
        if self.has_forecasts:
            self._store(wave, live, scores, ownership)
            over = np.flatnonzero(out.over)
            final_scores = self.batch.score(leaves.slots[over], np.empty(len(over), np.float32))
            owners = self.batch.ownership(leaves.slots[over], np.empty((len(over), self.owners.shape[2]), np.int8))
            self._store(wave, over, final_scores, owners.astype(np.float32))
        self._exclude_forbidden(wave, leaves, out, priors)
        return priors, out.outcomes

    def _decisive_moves(self, wave: Wave, leaves: Leaves, reached: Reached) -> np.ndarray:
        """Return the actions that win at once as `Search` does, but NONE for forbidden actions."""
        moves = super()._decisive_moves(wave, leaves, reached)
        if not self._forbidden:
            return moves
        for row in np.flatnonzero(moves != NONE).tolist():
            rules = self.forbidden(int(wave.game[row]))
            if int(moves[row]) in excluded(rules, int(reached.movers[row]), int(leaves.lengths[row])):
                moves[row] = NONE
        return moves

    def _store(self, wave: Wave, rows: np.ndarray, scores: np.ndarray, ownership: np.ndarray) -> None:
        """Store score and ownership of some leaves of a wave in the leaves' nodes.

        rows: the indices of these leaves in the wave.  scores, ownership: one row per leaf.
        """
        games, nodes = wave.game[rows], wave.leaf[rows]
        self.scores[games, nodes] = scores
        self.owners[games, nodes] = np.rint(ownership * OWNERS)

    def _exclude_forbidden(self, wave: Wave, leaves: Leaves, reached: Reached, priors: np.ndarray) -> None:
        """Set the priors of forbidden actions to 0 and renormalise, except where no action would be left.

        `root_priors` keeps the priors of roots as the network gave them.

        priors: [m, A], with a row for each leaf, or only for the m leaves at which the game is not over.
        """
        if not self._forbidden:
            return
        leaf_of_row = np.arange(len(reached.over))
        if len(priors) < len(leaf_of_row):
            leaf_of_row = np.flatnonzero(~reached.over)
        for prior, leaf in zip(priors, leaf_of_row.tolist(), strict=True):
            game, depth = int(wave.game[leaf]), int(leaves.lengths[leaf])
            if depth == 0:
                self.root_priors[game] = prior
            actions = excluded(self.forbidden(game), int(reached.movers[leaf]), depth)
            sum_of_others = np.delete(prior, actions).sum()
            if actions and sum_of_others > 0:
                prior[actions] = 0
                prior /= sum_of_others
