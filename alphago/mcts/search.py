"""Search many games at once, in waves.

A wave chooses new leaves in every game, plays the moves that lead to them, evaluates them in one batch, and backs the
values up.  The search knows the game only as a `GameBatch`, the network only as an `Evaluator`, and PUCT or Gumbel
search only as a `SearchRule`.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np

from alphago.env.batch import GameBatch
from alphago.env.game import GameEnv
from alphago.env.leaves import Leaves, Reached
from alphago.env.position import Position
from alphago.mcts.device_tree import DeviceTree, DeviceWaves
from alphago.mcts.evaluator import Evaluator, Forecaster, WaveEvaluator, check_symmetries, new_boards
from alphago.mcts.forbidden_moves import Forbidden, excluded
from alphago.mcts.kernels import nodes, subtrees, waves
from alphago.mcts.kernels.nodes import NEW, NONE, PENDING, ROOT
from alphago.mcts.kernels.tree_reading import OWNERS
from alphago.mcts.rule import Generators, PolicyMoves, SearchSettings, without_early_passes, without_idle_moves
from alphago.mcts.tree import Wave, new_tree, new_wave, root_visits
from alphago.system.stopwatch import BOARDS, TREE

FIRST_NODES = 64  # capacity of each tree of a new search; trees grow
FULL_BATCH = 128  # leaves of a wave, over all games, that fill the network's batch
# More leaves of one game cost quality: at most 8 are chosen, and one for each 16 simulations of a move.
MOST_LEAVES, READOUTS_PER_LEAF = 8, 16
FIRST = np.zeros(1, np.int64)  # the slot of a Position in its own batch


def leaves_for(games: int, readouts: int) -> int:
    """Return a value of `leaves`, 1 to 8, with which a wave fills the network's batch although there are few games.

    Args:
        games: number of all games played at once, over all threads; results then do not depend on the number of cores.
        readouts: simulations per move.
    """
    return max(1, min(MOST_LEAVES, FULL_BATCH // max(games, 1), readouts // READOUTS_PER_LEAF))


def node_bytes(env: GameEnv) -> int:
    """Return the memory of a node of a `Search`: a float32 prior per action, an int8 owner per point."""
    return 4 * env.action_space + env.plane_shape[0] * env.plane_shape[1]


class SavedTree(NamedTuple):
    """The tree of one game of a `Search`, as far as it is used, with n nodes.

    Attributes:
        nodes: the arrays of `Tree` for this game but `used`, each [n] or [n, A].
        scores: float32 [n].
        owners: int8 [n, P].
        root_priors: float32 [A].
    """

    nodes: list[np.ndarray]
    scores: np.ndarray
    owners: np.ndarray
    root_priors: np.ndarray

    @property
    def bytes(self) -> int:
        """The memory of the arrays."""
        return sum(array.nbytes for array in (*self.nodes, *self[1:]))


class Search:
    """Trees for `games` games, whose root positions are slots 0 .. games - 1 of `batch`.

    A search must not be used by two threads at once; several searches may share an evaluator.

    Args:
        forecasts: whether to store scores and ownership for each node, if the evaluator is a `Forecaster` that has
            them.
        symmetries: whether to average evaluations over all S symmetries of the board, which takes S times as long and
            needs a Forecaster and `forecasts`.
    """

    def __init__(
        self,
        env: GameEnv,
        evaluator: Evaluator,
        games: int,
        settings: SearchSettings,
        *,
        forecasts: bool = False,
        symmetries: bool = False,
    ) -> None:
        self.env = env
        self.evaluator = evaluator
        self.forecaster = evaluator if forecasts and isinstance(evaluator, Forecaster) else None
        self.has_forecasts = self.forecaster is not None and self.forecaster.makes_forecasts
        if symmetries and not forecasts:
            raise ValueError("symmetries must be False without forecasts, got True")
        self.symmetries = check_symmetries(env, evaluator, symmetries)
        self.games = games
        self.settings = settings = replace(settings, leaves=settings.leaves or 1)
        self.rule = settings.new_rule(games, env.action_space)
        rows = games * settings.leaves  # leaves of a wave; each has a slot of `batch`, behind those of the games
        has_decisive = settings.decisive_moves and env.has_decisive_moves
        self._device_select: Any = vars(type(self.rule)).get("device_select")
        here = self._device_select is None or self.rule.change_values is not None
        device = "cpu" if here else evaluator.device
        self.batch: GameBatch = new_boards(env, evaluator, games + rows, device)
        self.tree: Any = new_tree(games, FIRST_NODES, env.action_space)  # or a DeviceTree
        self._waves: DeviceWaves | None = None
        if device != "cpu":
            self._waves = DeviceWaves(self.batch, games, rows, has_decisive)
            self._waves.use(self.rule.parameters)
            self.tree = DeviceTree(self._waves.backend, *self.tree.waiting.shape)
        points = env.plane_shape[0] * env.plane_shape[1] if self.has_forecasts else 0
        # Of each node, from its mover's view: scores, NaN if unknown, and owners, in units of 1 / OWNERS.
        self.scores = np.full((games, FIRST_NODES), np.nan, np.float32)
        self.owners = np.zeros((games, FIRST_NODES, points), np.int8)
        self._forbidden: dict[int, tuple[Forbidden, ...]] = {}  # by game
        # The evaluator's priors at the roots of games with forbidden moves; the rows of other games are 0.
        self.root_priors = np.zeros((games, env.action_space), np.float32)
        self._leaf_slots = np.arange(games, games + rows)
        self._wave = new_wave(rows, env.max_moves + 1)
        self._reached = Reached(
            over=np.zeros(rows, np.bool_), movers=np.zeros(rows, np.int8), outcomes=np.zeros(rows, np.float32)
        )
        self._priors = np.zeros((rows, env.action_space), np.float32)
        self._decisive = np.zeros(rows, np.int32) if has_decisive else None
        self._all_games = 0, games  # the range of games that `wave` searches
        self._size = 0, 0  # number of leaves and of collisions in the last wave; `_views` has the slices of this size

    @TREE
    def forget(self, games: np.ndarray) -> None:
        """Clear the trees of `games` (int64 [n]), and lift their forbidden moves.

        Needed after their root positions were changed.
        """
        self.tree.launch(subtrees.clear_all, games)
        self._lift_forbidden(games)

    def stream(self) -> AbstractContextManager[object]:
        """Return a context in which this thread's work on a device does not wait for other threads'."""
        return nullcontext() if self._waves is None else cast(WaveEvaluator, self.evaluator).stream()

    def start(self, game: int, position: Position, forbidden: Sequence[Forbidden] = ()) -> None:
        """Set the root of a game to `position`, and empty its tree.

        Args:
            forbidden: the moves that the search must not try, `usable` rules that leave a legal move.
        """
        self.batch.copy(FIRST, np.array([game]), of=position.batch)
        self.forget(np.array([game]))
        if forbidden:
            self._forbidden[game] = tuple(forbidden)

    def forbidden(self, game: int) -> tuple[Forbidden, ...]:
        """Return the forbidden moves of a game."""
        return self._forbidden.get(game, ())

    def _lift_forbidden(self, games: np.ndarray) -> None:
        for game in games.tolist() if self._forbidden else ():
            self._forbidden.pop(game, None)

    def saved(self, game: int) -> SavedTree:
        """Return a copy of a game's tree."""
        nodes, used = self.tree.saved(game), int(self.tree.used[game])
        forecasts = self.scores[game, :used].copy(), self.owners[game, :used].copy()
        return SavedTree(nodes, *forecasts, root_priors=self.root_priors[game].copy())

    def restore(self, game: int, position: Position, saved: SavedTree) -> None:
        """Set the root of a game to `position`, and give it this position's saved tree; keep its forbidden moves."""
        used = len(saved.scores)
        self.make_room(used)
        self.batch.copy(FIRST, np.array([game]), of=position.batch)
        self.tree.restore(game, saved.nodes)
        self.scores[game, :used], self.owners[game, :used] = saved.scores, saved.owners
        self.root_priors[game] = saved.root_priors

    @TREE
    def restart(self, games: np.ndarray) -> None:
        """Restart the search of `games` (int64 [n]) as from empty trees, but keep the evaluations as a cache.

        The root positions must be unchanged; after a change call `forget`. If the leaves of a wave are not independent,
        the trees are cleared, since a cached evaluation would change which other leaves a wave chooses.
        """
        change = subtrees.restart_all if self.settings.independent_leaves else subtrees.clear_all
        self.tree.launch(change, games)

    def use(self, evaluator: Evaluator) -> None:
        """Let the next waves ask another evaluator."""
        if self._waves is not None and evaluator is not self.evaluator:
            self._waves.graphs.clear()  # they compute the former network
        self.evaluator = evaluator

    def begin_move(self, games: np.ndarray, plies: np.ndarray | None = None) -> None:
        """Prepare the trees of `games` (int64 [n]) for the search of a move; if the rule keeps no trees, restart them.

        Args:
            plies: int32 [n], the number of plies played in each game, on which the rule's constants may depend; None to
                leave the constants as they are.
        """
        if plies is not None:
            self.rule.begin_move(games, plies)
        if not self.rule.keeps_trees:
            self.restart(games)

    @TREE
    def expand_roots(self, games: np.ndarray) -> None:
        """Evaluate the roots of `games` (int64 [n]) that are not evaluated yet."""
        wave = self._wave
        for begin in range(0, len(games), len(wave.game)):
            chunk = games[begin : begin + len(wave.game)]
            unevaluated = chunk[self.tree.at("state", chunk) == NEW]
            count = len(unevaluated)
            if count == 0:
                continue
            if self._waves is not None:
                self._run_on_device(self._waves, np.zeros(self.games, np.int32), [1], unevaluated)
                continue
            wave.game[:count] = unevaluated
            wave.leaf[:count] = ROOT
            wave.length[:count] = 0
            self.tree.state[unevaluated, ROOT] = PENDING
            self.tree.virtual[unevaluated, ROOT] = 1
            self._evaluate(count, collisions=0)

    def add_noise(self, games: np.ndarray, generators: Generators) -> None:
        """Add the rule's random noise to the roots of `games` (int64 [n]), which must be evaluated.

        Args:
            generators: one random generator per game.
        """
        self.rule.add_noise(self.tree, self.batch, games, generators)

    @TREE
    def prepare(self, games: np.ndarray, readouts: np.ndarray) -> None:
        """Evaluate the roots of games (int64 [n]), and allocate nodes for `readouts` simulations, int32 [n]."""
        self.expand_roots(games)
        self.make_room(int((self.tree.used[games] + readouts).max(initial=0)) + self.rule.room + 1)
        self.rule.prepare(self.tree, games, readouts)
        if self._waves is not None:
            self._waves.use(self.rule.parameters)

    @TREE
    def run(self, readouts: np.ndarray, best_only: np.ndarray | None = None) -> None:
        """Add simulations to the trees.

        Args:
            readouts: int32 [games], the number of simulations in each game; 0 skips a game.
            best_only: bool [games], games for which only the best action matters: their search ends as soon as the
                simulations left cannot change it.
        """
        budget = readouts.astype(np.int32)
        searched = np.flatnonzero(budget)
        if len(searched) == 0:
            return
        self.prepare(searched, budget[searched])
        while budget.any():
            if best_only is not None:
                budget[self.rule.settled(self.tree, budget) & best_only] = 0
            if self._waves is None or best_only is not None:
                found = self.wave(budget)
            else:
                found = self._run_on_device(self._waves, budget, self.rule.plan(budget, self.settings.leaves))
            if not found:  # without a new leaf no simulation is left
                return

    def wave(self, budget: np.ndarray, leaves: int | None = None) -> int:
        """Run a wave, for which there must be room; return 0 if it evaluated no leaf: no simulation is left.

        Args:
            budget: int32 [games], the simulations left in each game; reduced by those of the wave.
            leaves: number of new leaves in each game, at most `SearchSettings.leaves`; None for
                `SearchSettings.leaves`.
        """
        if self._waves is not None:
            return self._run_on_device(self._waves, budget, [leaves or self.settings.leaves])
        wave = self._wave
        if leaves not in (None, self.settings.leaves):
            rows = self.games * leaves
            wave = wave.part(slice(rows), slice(2 * rows))  # it has room for two collisions a leaf
        found, collisions = self.rule.select(self.tree, budget, self.rule.parameters, wave, self._all_games)
        if found:
            self._evaluate(found, collisions)
        return found

    def _evaluate(self, count: int, collisions: int) -> None:
        """Evaluate the first `count` leaves of the wave, and back up their values.

        After any exception (a broken network, Ctrl-C) the trees of these games are cleared, since they may be
        inconsistent.

        collisions: the wave's number of collisions.
        """
        size = count, collisions
        if size != self._size:  # most waves have the previous wave's size, and new slices cost a tenth of a wave
            self._size = size
            part = self._wave.part(slice(count), slice(collisions))
            leaves = Leaves(part.game, part.path, part.length, self._leaf_slots[:count])
            self._views = part, leaves, Reached(*(array[:count] for array in self._reached))
        wave, leaves, reached = self._views
        try:
            priors, values = self._reach_and_evaluate(wave, leaves, reached)
            if self.rule.change_values is not None:
                self.rule.change_values(wave, reached.over, values)
            if self._decisive is not None:
                waves.decide(self._decisive_moves(wave, leaves, reached), reached.over, priors, values)
            broken = waves.expand(self.tree, wave, reached, priors, values)
            self._check_evaluations(broken, f"{broken} of {count}")
        except BaseException:
            self.forget(np.unique(wave.game))
            raise

    def _check_evaluations(self, broken: int, positions: str) -> None:
        """Raise ValueError if the evaluator is broken; positions: for how many, as text."""
        if broken:
            raise ValueError(
                f"{type(self.evaluator).__name__} returned no usable evaluation of {positions} positions: "
                "a legal action needs a positive prior and every value must be finite, from -1 to 1"
            )

    def _run_on_device(
        self, own: DeviceWaves, budget: np.ndarray, plan: list[int], roots: np.ndarray | None = None
    ) -> int:
        """Run waves on the device as `wave` does; return the number of simulations that were added.

        plan: for each wave, how many leaves it may have in a game.
        roots: games whose roots are the leaves of a single wave, int64 [n]; None for leaves that the rule chooses.
        """
        count = rows = leaves = 0  # games, rows, and leaves of a game in the present wave
        before, evaluator = int(budget.sum()), cast(WaveEvaluator, self.evaluator)

        def steps() -> None:
            if roots is None:
                own.select(self.tree, self._device_select, count, leaves)
            else:
                own.select_roots(self.tree, roots)
            own.evaluate(self.evaluator, rows)
            if self._forbidden:
                self._heed_forbidden(own, rows)
            own.expand(self.tree, rows, leaves)

        try:
            with self.stream():
                count = own.begin(budget)
                for leaves in plan:
                    rows = count * leaves if roots is None else len(roots)
                    if roots is None and not self._forbidden:
                        evaluator.repeat(steps, own.graphs, (count, leaves))
                    else:
                        steps()
                broken = own.end(budget)
            self._check_evaluations(broken, str(broken))
        except BaseException:
            own.wave.collisions[:] = NONE
            self.forget(np.arange(self.games))
            raise
        return before - int(budget.sum())

    def _heed_forbidden(self, own: DeviceWaves, count: int) -> None:
        """Exclude forbidden moves from the evaluations of the first `count` rows, on the CPU."""
        download = own.backend.download
        wave = Wave(*map(download, own.wave))
        found = np.flatnonzero(wave.leaf[:count] != NONE)
        wave = Wave(*(array[found] for array in wave))
        leaves = Leaves(wave.game, wave.path, wave.length, found)
        reached = Reached(*(download(array)[found] for array in own.reached))
        live, priors = found[~reached.over], download(own.priors)
        allowed = priors[live]
        self._exclude_forbidden(wave, leaves, reached, allowed)
        priors[live] = allowed
        own.priors[...] = own.backend.upload(priors, np.float32)
        if own.decisive is not None:
            moves = download(own.decisive)
            moves[found] = self._without_forbidden(moves[found], wave, leaves, reached)
            own.decisive[...] = own.backend.upload(moves, np.int32)

    def _reach_and_evaluate(self, wave: Wave, leaves: Leaves, out: Reached) -> tuple[np.ndarray, np.ndarray]:
        """Play the moves to n leaves, and evaluate the m leaves at which the game is not over.

        Forecast scores and ownership are stored in the leaves' nodes, and forbidden actions get no prior.

        wave: games and nodes of the leaves.  leaves: the leaves.  out: receives the leaves' states.
        Returns priors, float32 [m, A], of the m evaluated leaves, and values, float32 [n], of all leaves.
        """
        with BOARDS:
            self.batch.reach(leaves, out)
        over, values = out.over, out.outcomes  # those of finished games are in place already
        all_live = np.count_nonzero(over) == 0
        live = leaves.slots if all_live else leaves.slots[~over]
        priors = self._priors[: len(live)]
        live_values = values if all_live else np.empty(len(live), np.float32)
        if len(live) and self.forecaster is not None:
            scores, ownership = np.empty_like(live_values), np.empty((len(live), self.owners.shape[2]), np.float32)
            forecasts = (scores, ownership) if self.has_forecasts else None
            self.forecaster.evaluate_forecasts(self.batch, live, priors, live_values, forecasts, self.symmetries)
            if self.has_forecasts:
                self._store(wave, ~over, scores, ownership)
        elif len(live):
            self.evaluator.evaluate(self.batch, live, priors, live_values)
        if not all_live:
            values[~over] = live_values
            if self.has_forecasts:
                ended = leaves.slots[over]
                owners = self.batch.ownership(ended, np.empty((len(ended), self.owners.shape[2]), np.int8))
                final_scores = self.batch.score(ended, np.empty(len(ended), np.float32))
                self._store(wave, over, final_scores, owners.astype(np.float32))
        if self._forbidden:
            self._exclude_forbidden(wave, leaves, out, priors)
        return priors, values

    def _store(self, wave: Wave, rows: np.ndarray, scores: np.ndarray, ownership: np.ndarray) -> None:
        """Store score and ownership of some leaves of a wave in the leaves' nodes.

        rows: bool [n], these leaves.  scores, ownership: one row per leaf of them.
        """
        games, leaves = wave.game[rows], wave.leaf[rows]
        self.scores[games, leaves] = scores
        self.owners[games, leaves] = np.rint(ownership * OWNERS)

    def _exclude_forbidden(self, wave: Wave, leaves: Leaves, reached: Reached, priors: np.ndarray) -> None:
        """Set the priors of forbidden actions to 0 and renormalise, except where no action would be left.

        `root_priors` keeps the priors of roots as the network gave them.

        priors: [m, A], with a row for each of the m leaves at which the game is not over.
        """
        for prior, leaf in zip(priors, np.flatnonzero(~reached.over).tolist(), strict=True):
            game, depth = int(wave.game[leaf]), int(leaves.lengths[leaf])
            if depth == 0:
                self.root_priors[game] = prior
            actions = excluded(self.forbidden(game), int(reached.movers[leaf]), depth)
            sum_of_others = np.delete(prior, actions).sum()
            if actions and sum_of_others > 0:
                prior[actions] = 0
                prior /= sum_of_others

    def _decisive_moves(self, wave: Wave, leaves: Leaves, reached: Reached) -> np.ndarray:
        """Return for each leaf an action that wins at once and is not forbidden, or NONE, int32 [n].

        wave, reached: games and movers of the leaves.
        """
        assert self._decisive is not None
        with BOARDS:
            moves = self.batch.decisive_moves(leaves.slots, self._decisive[: len(leaves.slots)])
        return self._without_forbidden(moves, wave, leaves, reached)

    def _without_forbidden(self, moves: np.ndarray, wave: Wave, leaves: Leaves, reached: Reached) -> np.ndarray:
        """Return the moves that win at once, int32 [n], changed in place: NONE for those that are forbidden."""
        for row in np.flatnonzero(moves != NONE).tolist() if self._forbidden else ():
            rules = self.forbidden(int(wave.game[row]))
            if int(moves[row]) in excluded(rules, int(reached.movers[row]), int(leaves.lengths[row])):
                moves[row] = NONE
        return moves

    def visits(self, games: np.ndarray) -> np.ndarray:
        """Return the number of visits of each action at each root, int32 [n, A]."""
        return root_visits(self.tree, games)

    def priors(self, games: np.ndarray) -> np.ndarray:
        """Return the evaluator's priors at the roots, which must be evaluated, float32 [n, A].

        Those of forbidden actions are included.
        """
        out = np.empty((len(games), self.env.action_space), np.float32)
        self.tree.launch(nodes.root_priors, games, out=out)
        for i, game in enumerate(games.tolist()) if self._forbidden else ():
            if game in self._forbidden:
                out[i] = self.root_priors[game]
        return out

    @TREE
    def policies(self, games: np.ndarray) -> np.ndarray:
        """Return the policy targets from the searches of `games` (int64 [n]), [n, A]; each row sums to 1."""
        return self.rule.policies(self.tree, games)

    @TREE
    def choose(self, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        """Return the actions to play, int32 [n].

        See `SearchRule.choose`, `without_idle_moves` and `without_early_passes`.
        """

        def weigh() -> np.ndarray:
            return self.visits(games) + self.priors(games)

        values = self.root_values(games)
        actions = self.rule.choose(self.tree, games, by_chance, chance)
        actions = without_idle_moves(self.batch, games, actions, weigh, values)
        return without_early_passes(self.batch, games, actions, weigh, values)

    @TREE
    def selfplay_moves(self, games: np.ndarray, early: np.ndarray, generators: Generators) -> PolicyMoves:
        """Return policy targets, [n, A], and actions, int32 [n], for self-play; see `SearchRule.selfplay_moves`."""
        return self.rule.selfplay_moves(self.tree, games, early, generators)

    def root_values(self, games: np.ndarray) -> np.ndarray:
        """Return the mean value of each root's simulations, float32 [n], from the view of the player to move."""
        sums: np.ndarray = self.tree.at("value_sum", games)
        return sums / np.maximum(self.tree.at("visits", games), 1)

    @TREE
    def advance(self, games: np.ndarray, actions: np.ndarray) -> None:
        """Play one action (int32 [n]) in each game and keep the part of its tree below that action.

        The games' forbidden moves are then lifted.
        """
        actions = actions.astype(np.int32, copy=False)
        with BOARDS:
            self.batch.play(games, actions)
        self._lift_forbidden(games)
        step = 1 if self.has_forecasts else len(games)  # games at once: forecasts move with the nodes of one game
        for i in range(0, len(games), step or 1):
            moved_to = np.full(self.scores.shape[1], NONE, np.int32)  # each node's new index, NONE if dropped
            self.tree.launch(subtrees.advance, games[i : i + step], actions[i : i + step], moved_to)
            if self.has_forecasts:
                game, kept = games[i], np.flatnonzero(moved_to != NONE)
                # The right side is copied before anything is written, so nodes may move over each other.
                self.scores[game, moved_to[kept]] = self.scores[game, kept]
                self.owners[game, moved_to[kept]] = self.owners[game, kept]

    def make_room(self, nodes: int) -> None:
        """Let every tree have room for `nodes` nodes; trees that grow get a quarter more, so that they grow seldom."""
        if nodes > self.scores.shape[1]:
            self.tree, scores, owners = self.tree.grown(nodes + nodes // 4), self.scores, self.owners
            shape, before = (self.games, nodes + nodes // 4), scores.shape[1]
            if self._waves is not None:
                self._waves.graphs.clear()  # they are of the old trees
            self.scores, self.owners = np.full(shape, np.nan, np.float32), np.zeros((*shape, owners.shape[2]), np.int8)
            self.scores[:, :before], self.owners[:, :before] = scores, owners
