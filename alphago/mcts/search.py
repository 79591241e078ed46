"""Search many games at once, in waves.

A wave chooses new leaves in every game, plays the moves that lead to them, evaluates them in one batch, and backs the
values up.  The search knows the game only as a `GameBatch`, the network only as an `Evaluator`, and PUCT or Gumbel
search only as a `SearchRule`.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from alphago.env.batch import FIRST_SLOT, GameBatch, Leaves, Reached
from alphago.env.game import GameEnv
from alphago.env.position import Position
from alphago.mcts.device_tree import DeviceTree, DeviceWaves
from alphago.mcts.evaluator import Evaluations, Evaluator, evaluate_boards, new_boards, new_evaluations, points_forecast
from alphago.mcts.kernels import subtrees, waves
from alphago.mcts.kernels.nodes import NEW, NONE, PENDING, ROOT
from alphago.mcts.kernels.tree_reading import OWNERS
from alphago.mcts.rule import Generators, PolicyMoves, SearchSettings, without_early_passes, without_idle_moves
from alphago.mcts.tree import Wave, new_tree, new_wave, root_priors, root_visits
from alphago.system import stopwatch
from alphago.system.validation import shown

FIRST_NODES = 64  # capacity of each tree of a new search; trees grow
FULL_BATCH = 128  # leaves of a wave, over all games, that fill the network's batch
# More leaves of one game cost quality, so `leaves_for` returns at most MOST_LEAVES, and at most one for so many
# simulations of a move.
MOST_LEAVES, READOUTS_PER_LEAF = 8, 16


def leaves_for(games: int, readouts: int) -> int:
    """Return a value of `leaves`, 1 to 8, with which a wave fills the network's batch although there are few games.

    Args:
        games: number of all games played at once, over all threads, so that results do not depend on the number of
            cores.
        readouts: simulations per move.
    """
    return max(1, min(MOST_LEAVES, FULL_BATCH // max(games, 1), readouts // READOUTS_PER_LEAF))


def node_bytes(env: GameEnv) -> int:
    """Return about how many bytes a node takes: a float32 prior for each action and an int8 owner for each point."""
    return 4 * env.action_space + env.plane_shape[0] * env.plane_shape[1]


class Forbidden(NamedTuple):
    """Actions that a search must not try for a player (+1 or -1) within `plies` plies of the root.

    With `plies` = 1 they are forbidden only at the root.
    """

    player: int
    actions: frozenset[int]
    plies: int = 1


def without_empty(forbidden: Sequence[Forbidden]) -> tuple[Forbidden, ...]:
    """Return the entries that forbid at least one action."""
    return tuple(entry for entry in forbidden if entry.actions and entry.plies > 0)


def excluded(forbidden: Sequence[Forbidden], player: int, depth: int) -> list[int]:
    """Return the actions that a player (+1 or -1) must not try at a node; depth: the node's distance from the root."""
    in_force = (entry.actions for entry in forbidden if entry.player == player and depth < entry.plies)
    return list(frozenset[int]().union(*in_force))


def check_move_left(position: Position, forbidden: Sequence[Forbidden]) -> None:
    """Raise ValueError if all legal moves of a position are forbidden."""
    if forbidden and not np.delete(position.legal_mask, excluded(forbidden, position.to_play, depth=0)).any():
        raise ValueError(f"a legal move must be left to search, got all of them forbidden in {shown(position)}")


class Search:
    """Trees for `games` games, whose root positions are slots 0 .. games - 1 of `batch`.

    A search must not be used by two threads at once; several searches may share an evaluator.  Each node has a score
    and ownership if the evaluator forecasts them (see `Evaluator`).

    Attributes:
        batch: the boards: slots 0 .. games - 1 have the root positions, the slots behind them a wave's leaves.
        tree: the trees, a `Tree` or a `DeviceTree`.
        points: the number of points whose ownership is forecast; 0 without forecasts.
        has_forecasts: whether scores and ownership are forecast.
    """

    def __init__(self, env: GameEnv, evaluator: Evaluator, games: int, settings: SearchSettings) -> None:
        self.env, self.games = env, games
        self.evaluator: Any = evaluator  # a WaveEvaluator if the boards are on a device
        self.points = points_forecast(env, evaluator)
        self.has_forecasts = self.points > 0
        self.settings = settings = replace(settings, leaves=settings.leaves or 1)
        self.rule = settings.new_rule(games, env.action_space)
        rows = games * settings.leaves  # the most leaves of a wave
        has_decisive = settings.decisive_moves and env.has_decisive_moves
        # Only a name in the rule's own class counts, not an inherited one: a class that derives from another rule may
        # choose otherwise than that rule's kernel.
        own_kernel = vars(type(self.rule)).get("device_select")
        needs_cpu = own_kernel is None or self.rule.change_values is not None
        self.batch: GameBatch = new_boards(env, evaluator, games + rows, on_cpu=needs_cpu)
        self._capacity = FIRST_NODES  # of each tree, in nodes
        self._device_waves: Any = None  # DeviceWaves if the boards are on a device
        if self.batch.device == "cpu":
            self.tree: Any = new_tree(games, FIRST_NODES, env.action_space, self.points)
        else:
            self._device_waves = DeviceWaves(self.batch, self.rule, games, rows, has_decisive)
            self.tree = DeviceTree(self._device_waves.backend, games, FIRST_NODES, env.action_space)
        self._forbidden: dict[int, tuple[Forbidden, ...]] = {}  # by game
        # The evaluator's priors at the roots of games with forbidden moves; the rows of other games are 0.
        self.evaluated_priors = np.zeros((games, env.action_space), np.float32)
        self._leaf_slots = np.arange(games, games + rows)
        self._buffers = new_wave(rows, env.max_moves + 1)
        self._reached = Reached(*(np.zeros(rows, dtype) for dtype in (np.bool_, np.int8, np.float32)))
        # `reach` writes the outcomes of finished games where the evaluator writes the values of the other leaves.
        self._evaluations = new_evaluations(rows, env.action_space, self.points)._replace(values=self._reached.outcomes)
        self._decisive = np.zeros(rows, np.int32) if has_decisive else None
        self._size = 0, 0  # number of leaves and of collisions in the last wave, see `_views_of`

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for a copy, without a last wave: in a copy, views would not share the buffers' memory."""
        return self.__dict__ | {"_size": (0, 0)}

    @stopwatch.TREE
    def forget(self, games: np.ndarray) -> None:
        """Clear the trees of `games` (int64 [n]), as when their positions were changed; allow their forbidden moves."""
        self.tree.launch(subtrees.clear_all, games)
        self._lift_forbidden(games)

    def stream(self) -> AbstractContextManager[object]:
        """Return a context in which this thread's work on a device does not wait for other threads'."""
        return nullcontext() if self._device_waves is None else self.evaluator.stream()

    def start(self, game: int, position: Position, forbidden: Sequence[Forbidden] = ()) -> None:
        """Set the root of a game to `position`, and empty its tree.

        Args:
            forbidden: the moves that the search must not try, as `without_empty` returns them.  A legal move must be
                left (`check_move_left`).
        """
        self.batch.copy(FIRST_SLOT, np.array([game]), of=position.batch)
        self.forget(np.array([game]))
        if forbidden:
            self._forbidden[game] = tuple(forbidden)

    def _lift_forbidden(self, games: np.ndarray) -> None:
        """Allow the forbidden moves of `games` (int64 [n])."""
        for game in self._forbidden.keys() & games.tolist():
            del self._forbidden[game]

    def snapshot(self, game: int) -> list[np.ndarray]:
        """Return a copy of a game's tree: the arrays of `Tree.snapshot`, and the game's row of `evaluated_priors`."""
        return [*self.tree.snapshot(game), self.evaluated_priors[game].copy()]

    def restore(self, game: int, position: Position, snapshot: list[np.ndarray]) -> None:
        """Set the root of a game to `position`, with the tree of a snapshot; the game's forbidden moves stay.

        Args:
            position: the position of the snapshot.
            snapshot: what `snapshot` has returned.
        """
        *nodes, self.evaluated_priors[game] = snapshot
        self.make_room(len(nodes[0]))
        self.batch.copy(FIRST_SLOT, np.array([game]), of=position.batch)
        self.tree.restore(game, nodes)

    @stopwatch.TREE
    def begin_move(self, games: np.ndarray, plies: np.ndarray | None = None) -> None:
        """Prepare the trees of `games` (int64 [n]) for the search of a move from the roots that they have.

        If the rule keeps no trees, they lose their visits.  Their evaluations stay as a cache if a wave's leaves in a
        game are independent (`SearchSettings.independent_leaves`).  If not, the trees are cleared, since a cached
        evaluation would change which other leaves a wave chooses.

        Args:
            plies: int32 [n], the number of plies played in each game, on which parameters of the rule may depend; None
                to leave the parameters as they are.
        """
        if plies is not None:
            self.rule.begin_move(games, plies)
        if not self.rule.keeps_trees:
            change = subtrees.restart_all if self.settings.independent_leaves else subtrees.clear_all
            self.tree.launch(change, games)

    @stopwatch.TREE
    def expand_roots(self, games: np.ndarray) -> None:
        """Evaluate the roots of `games` (int64 [n]) that are not evaluated yet."""
        # Of no games nothing is asked: on a GPU even that would take time.
        unevaluated = games[self.tree.at("state", games) == NEW] if len(games) else games
        count = len(unevaluated)
        if count == 0:
            return
        if self._device_waves is not None:  # a single wave, whose leaves are the roots; they use up no simulations
            self._run_on_device(budget=np.zeros(self.games, np.int32), plan=[1], roots=unevaluated)
            return
        wave = self._buffers  # it has room for all games
        wave.game[:count] = unevaluated
        wave.leaf[:count] = ROOT
        wave.length[:count] = 0
        self.tree.state[unevaluated, ROOT] = PENDING
        self.tree.virtual[unevaluated, ROOT] = 1  # as of a simulation that ends here; `expand` removes it
        self._evaluate(count, collisions=0)

    def add_noise(self, games: np.ndarray, generators: Generators) -> None:
        """Add the rule's random noise to the roots of `games` (int64 [n]), which must be evaluated.

        Args:
            generators: one random generator per game.
        """
        self.rule.add_noise(self.tree, self.batch, games, generators)

    @stopwatch.TREE
    def prepare(self, games: np.ndarray, readouts: np.ndarray) -> None:
        """Prepare a search of `readouts` simulations (int32 [n]) in `games` (int64 [n]).

        Their roots are evaluated, nodes are allocated, and the rule makes its own preparations.
        """
        self.expand_roots(games)
        # A simulation adds one node at most.  One more is a margin: kernels do not check the capacity.
        self.make_room(int((self.tree.used[games] + readouts).max(initial=0)) + self.rule.room + 1)
        self.rule.prepare(self.tree, games, readouts)
        if self._device_waves is not None:
            self._device_waves.prepare()

    @stopwatch.TREE
    def run(self, readouts: np.ndarray, best_only: np.ndarray | None = None) -> None:
        """Add simulations to the trees.

        Args:
            readouts: int32 [games], the number of simulations in each game; 0 skips a game.
            best_only: bool [games], games for which only the best action matters: their search ends as soon as the
                simulations left cannot change it.
        """
        budget = readouts.astype(np.int32)
        searched = np.flatnonzero(budget)
        if len(searched):
            self.prepare(searched, budget[searched])
        # The loop also ends after a wave that has found no new leaf.  Then all simulations left ended in finished games
        # or in evaluated nodes, or the rule waits for values in every game that has simulations left.
        may_go_on = True
        while may_go_on and budget.any():
            if best_only is not None:
                budget[self.rule.settled(self.tree, budget) & best_only] = 0
            if self._device_waves is None or best_only is not None:  # one wave: `settled` is asked again after each
                may_go_on = self.wave(budget)
            else:
                may_go_on = self._run_on_device(budget, self.rule.plan(budget, self.settings.leaves)) > 0

    def wave(self, budget: np.ndarray, leaves: int | None = None) -> bool:
        """Run a wave, and return whether another one may follow.

        Args:
            budget: int32 [games], the simulations left in each game; reduced by those of the wave.
            leaves: the most new leaves in each game, at most `SearchSettings.leaves`; None for
                `SearchSettings.leaves`.  The trees must have room for a new node for each leaf (`make_room`).

        Returns:
            On the CPU whether the wave found new leaves, on a device whether it ran simulations.  If not, another wave
            would not do so either: a wave goes on until it has its leaves, no game has simulations left, or the rule
            waits for values, which only new leaves bring.
        """
        leaves = leaves or self.settings.leaves
        if self._device_waves is not None:
            return self._run_on_device(budget, [leaves]) > 0
        # `select` looks for as many leaves as the buffers have rows, so for fewer leaves it gets a part of the buffers.
        # The buffers have one row for each leaf, and two collisions for each row.
        rows = self.games * leaves
        buffers = self._buffers if leaves == self.settings.leaves else self._buffers.part(slice(rows), slice(2 * rows))
        count, collisions = self.rule.select(self.tree, budget, self.rule.parameters, buffers)
        if count:
            self._evaluate(count, collisions)
        return count > 0

    def _evaluate(self, count: int, collisions: int) -> None:
        """Evaluate the first `count` leaves of the wave, and back up their values.

        After any exception (a broken network, Ctrl-C) the trees of the games with these leaves are cleared, since they
        may be inconsistent.

        Args:
            collisions: the wave's number of collisions.
        """
        wave, leaves, reached, out = self._views_of(count, collisions)
        decisive = None
        try:
            with stopwatch.BOARDS:
                self.batch.reach(leaves, reached)
            evaluate_boards(self.evaluator, self.batch, leaves.slots, reached.over, out)
            if self.has_forecasts:
                self.tree.score[wave.game, wave.leaf] = out.scores
                self.tree.owners[wave.game, wave.leaf] = np.rint(out.owners * OWNERS)
            if self._decisive is not None:
                with stopwatch.BOARDS:
                    decisive = self.batch.decisive_moves(leaves.slots, self._decisive[:count])
            if self._forbidden:
                self._forbid(wave, reached, out.priors, decisive)
            if self.rule.change_values is not None:
                self.rule.change_values(wave, reached.over, out.values)
            if decisive is not None:  # last: a move that wins at once counts more than any other value or prior
                waves.decide(decisive, out.priors, out.values)
            broken = waves.expand(self.tree, wave, reached, out.priors, out.values)
            if broken:
                raise self._broken_evaluator(f"{broken} of {count}")
        except BaseException:
            self.forget(np.unique(wave.game))
            raise

    def _views_of(self, count: int, collisions: int) -> tuple[Wave, Leaves, Reached, Evaluations]:
        """Return the rows of the buffers that a wave uses: its first `count` leaves and `collisions` collisions.

        They are kept for the next call: most waves have the previous wave's size, and new views cost a tenth of a wave.
        """
        if (count, collisions) != self._size:
            self._size = count, collisions
            wave = self._buffers.part(rows=slice(count), collisions=slice(collisions))
            leaves = Leaves(wave.game, wave.path, wave.length, self._leaf_slots[:count])
            reached = Reached(*(array[:count] for array in self._reached))
            self._views = wave, leaves, reached, Evaluations(*(array[:count] for array in self._evaluations))
        return self._views

    def _broken_evaluator(self, positions: int | str) -> ValueError:
        """Return the error of an evaluator that has failed; positions: on how many, such as 3 or "3 of 8"."""
        return ValueError(
            f"{type(self.evaluator).__name__} returned no usable evaluation of {positions} positions: "
            "a legal action needs a positive prior and every value must be finite, from -1 to 1"
        )

    def _run_on_device(self, budget: np.ndarray, plan: list[int], roots: np.ndarray | None = None) -> int:
        """Run waves on the device, and return the number of simulations that were added.

        Args:
            budget: int32 [games], the simulations left in each game; reduced in place.
            plan: for each wave, how many leaves it may have in a game.
            roots: see `DeviceWaves.run`.
        """
        before = int(budget.sum())
        change = self._forbid if self._forbidden else None  # takes the priors of forbidden actions away
        try:
            failed = self._device_waves.run(self.tree, self.evaluator, budget, plan, roots=roots, change=change)
            if failed > 0:  # the number of positions without a usable evaluation
                raise self._broken_evaluator(failed)
        except BaseException:
            self.forget(np.arange(self.games))  # all, since the waves may have changed any of them
            raise
        return before - int(budget.sum())

    def _forbid(self, wave: Wave, reached: Reached, priors: np.ndarray, decisive: np.ndarray | None = None) -> None:
        """Set the priors of forbidden actions to 0 in place and renormalise, except where no action would be left.

        `evaluated_priors` keeps the priors of roots as the network gave them.

        Args:
            wave, reached, priors: with a row for each leaf.  Rows without a leaf (padding on a device) do not matter,
                nor do those of finished games.
            decisive: moves that win at once, int32 [n], changed in place: they become NONE where they are forbidden.
        """
        for row in np.flatnonzero((wave.leaf != NONE) & ~reached.over).tolist():
            game, depth, prior = int(wave.game[row]), int(wave.length[row]), priors[row]  # `prior` is a view of the row
            if depth == 0:
                self.evaluated_priors[game] = prior  # a copy, which the changes below do not reach
            actions = excluded(self._forbidden.get(game, ()), int(reached.movers[row]), depth)
            sum_of_others = np.delete(prior, actions).sum()
            if actions and sum_of_others > 0:
                prior[actions] = 0
                prior /= sum_of_others
            if decisive is not None and decisive[row] in actions:
                decisive[row] = NONE

    def visits(self, games: np.ndarray) -> np.ndarray:
        """Return the number of visits of each action at each root, int32 [n, A]."""
        return root_visits(self.tree, games)

    def priors(self, games: np.ndarray) -> np.ndarray:
        """Return the evaluator's priors at the roots, float32 [n, A], also those of forbidden actions.

        The roots must be evaluated.
        """
        priors = root_priors(self.tree, games)
        # The tree has 0 for forbidden actions.  What the evaluator returned, `_forbid` has kept in `evaluated_priors`.
        rows = [row for row, game in enumerate(games.tolist()) if game in self._forbidden]
        priors[rows] = self.evaluated_priors[games[rows]]
        return priors

    @stopwatch.TREE
    def choose(self, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        """Return the actions to play, int32 [n].

        They are the choice of the rule, `SearchRule.choose`.  In games with passes there are better moves in place of
        moves that gain nothing (`without_idle_moves`) and of passes too early (`without_early_passes`).

        Args:
            games: int64 [n].
            by_chance: bool [n], whether to draw a game's action at random instead of taking the best action.
            chance: [n], the random numbers to use, in [0, 1).
        """
        actions = self.rule.choose(self.tree, games, by_chance, chance)
        if self.env.pass_action is None:
            return actions
        # Priors, at most 1, order the actions of equal visits.  Those of the tree are 0 for forbidden actions.
        weights = self.visits(games) + root_priors(self.tree, games)
        values = self.root_values(games)
        actions = without_idle_moves(self.batch, games, actions, weights, values)
        return without_early_passes(self.batch, games, actions, weights, values)

    @stopwatch.TREE
    def selfplay_moves(self, games: np.ndarray, early: np.ndarray, generators: Generators) -> PolicyMoves:
        """Return policies to learn, [n, A], and actions, int32 [n], of self-play; see `SearchRule.selfplay_moves`.

        Args:
            games: int64 [n].
            early: bool [n], whether a game is in its first plies, in which moves should vary.
            generators: one random generator per game.
        """
        return self.rule.selfplay_moves(self.tree, games, early, generators)

    def root_values(self, games: np.ndarray) -> np.ndarray:
        """Return the mean value of each root's simulations, float32 [n], from the view of the player to move."""
        return (self.tree.at("value_sum", games) / np.maximum(self.tree.at("visits", games), 1)).astype(np.float32)

    @stopwatch.TREE
    def advance(self, games: np.ndarray, actions: np.ndarray) -> None:
        """Play an action (int32 [n]) in each of `games` (int64 [n]); keep the part of its tree below that action.

        The forbidden moves of these games are allowed again.
        """
        actions = actions.astype(np.int32, copy=False)
        with stopwatch.BOARDS:
            self.batch.play(games, actions)
        self._lift_forbidden(games)
        self.tree.launch(subtrees.advance, games, actions)

    def make_room(self, nodes: int) -> None:
        """Let every tree have room for `nodes` nodes; trees that grow get a quarter more, so that they grow seldom."""
        if nodes > self._capacity:
            self._capacity = nodes + nodes // 4
            self.tree = self.tree.with_capacity(self._capacity)
