"""Search many games at once, in waves.

A wave chooses new leaves in every game, plays the moves that lead to them, evaluates them in one batch, and backs the
values up.  The search knows the game only as a `GameBatch`, the network only as an `Evaluator`, and PUCT or Gumbel
search only as a `SearchRule`.
"""

from dataclasses import replace
from typing import cast

import numpy as np

from alphago.env.batch import GameBatch
from alphago.env.game import GameEnv
from alphago.env.leaves import Leaves, Reached
from alphago.mcts.evaluator import Evaluator, WaveEvaluator
from alphago.mcts.kernels import nodes, subtrees, waves
from alphago.mcts.kernels.nodes import NEW, PENDING, ROOT
from alphago.mcts.ranges import Ranges
from alphago.mcts.rule import Generators, PolicyMoves, SearchSettings, without_early_passes, without_idle_moves
from alphago.mcts.tree import Wave, grown, new_tree, new_wave, root_visits
from alphago.system.stopwatch import BOARDS, TREE

FIRST_NODES = 64  # capacity of each tree of a new search; trees grow
FULL_BATCH = 128  # leaves of a wave, over all games, that fill the network's batch
# More leaves of one game cost quality: at most 8 are chosen, and one for each 16 simulations of a move.
MOST_LEAVES, READOUTS_PER_LEAF = 8, 16


def leaves_for(games: int, readouts: int) -> int:
    """Return a value of `leaves`, 1 to 8, with which a wave fills the network's batch although there are few games.

    games: number of all games played at once, over all threads; results then do not depend on the number of cores.
    readouts: simulations per move.
    """
    return max(1, min(MOST_LEAVES, FULL_BATCH // max(games, 1), readouts // READOUTS_PER_LEAF))


class Search:
    """Trees for `games` games, whose root positions are slots 0 .. games - 1 of `batch`.

    A search must not be used by two threads at once; several searches may share an evaluator.

    threads: number of threads that work on the trees; the result does not depend on it.
    nodes: initial capacity of each tree, which grows as needed.
    """

    def __init__(
        self,
        env: GameEnv,
        evaluator: Evaluator,
        games: int,
        settings: SearchSettings,
        threads: int = 1,
        *,
        nodes: int = FIRST_NODES,
    ) -> None:
        self.env = env
        self.evaluator = evaluator
        self.games = games
        self.settings = settings = replace(settings, leaves=settings.leaves or 1)
        self.rule = settings.new_rule(games, env.action_space)
        rows = games * settings.leaves  # leaves of a wave; each has a slot of `batch`, behind those of the games
        self.batch: GameBatch = env.new_batch(games + rows, evaluator.device)
        self.tree = new_tree(games, nodes, env.action_space)
        self._select, self._expand = self.rule.select, waves.expand
        if threads > 1:
            ranges = Ranges(self.rule.select, threads)
            self._select, self._expand = ranges.select, ranges.expand
        self._leaf_slots = np.arange(games, games + rows)
        self._wave = new_wave(rows, env.max_moves + 1)
        self._reached = Reached(
            over=np.zeros(rows, np.bool_), movers=np.zeros(rows, np.int8), outcomes=np.zeros(rows, np.float32)
        )
        self._priors = np.zeros((rows, env.action_space), np.float32)
        self._decisive = np.zeros(rows, np.int32) if settings.decisive_moves and env.has_decisive_moves else None
        self._all_games = 0, games  # the range of games that `_select` searches
        self._size = 0, 0  # number of leaves and of collisions in the last wave; `_views` has the slices of this size

    @TREE
    def forget(self, games: np.ndarray) -> None:
        """Clear the trees of `games` (int64 [n]); needed after their root positions were changed."""
        subtrees.clear_all(self.tree, games)

    @TREE
    def restart(self, games: np.ndarray) -> None:
        """Restart the search of `games` (int64 [n]) as from empty trees, but keep the evaluations as a cache.

        The root positions must be unchanged; after a change call `forget`. If the leaves of a wave are not independent,
        the trees are cleared, since a cached evaluation would change which other leaves a wave chooses.
        """
        if self.settings.independent_leaves:
            subtrees.restart_all(self.tree, games)
        else:
            subtrees.clear_all(self.tree, games)

    def begin_move(self, games: np.ndarray, plies: np.ndarray | None = None) -> None:
        """Prepare the trees of `games` (int64 [n]) for the search of a move; if the rule keeps no trees, restart them.

        plies: int32 [n], the number of plies played in each game, on which the rule's constants may depend; None to
            leave the constants as they are.
        """
        if plies is not None:
            self.rule.begin_move(games, plies)
        if not self.rule.keeps_trees:
            self.restart(games)

    @TREE
    def expand_roots(self, games: np.ndarray) -> None:
        """Evaluate the roots of `games` (int64 [n]) that are not evaluated yet; these games must not be over."""
        wave = self._wave
        for begin in range(0, len(games), len(wave.game)):
            chunk = games[begin : begin + len(wave.game)]
            unevaluated = chunk[self.tree.state[chunk, ROOT] == NEW]
            count = len(unevaluated)
            if count == 0:
                continue
            wave.game[:count] = unevaluated
            wave.leaf[:count] = ROOT
            wave.length[:count] = 0
            self.tree.state[unevaluated, ROOT] = PENDING
            self.tree.virtual[unevaluated, ROOT] = 1
            self._evaluate(count, collisions=0)

    def add_noise(self, games: np.ndarray, generators: Generators) -> None:
        """Add the rule's random noise to the roots of `games` (int64 [n]), which must be evaluated.

        generators: one random generator per game.
        """
        self.rule.add_noise(self.tree, self.batch, games, generators)

    @TREE
    def prepare(self, games: np.ndarray, readouts: np.ndarray) -> None:
        """Evaluate the roots of games (int64 [n]), and allocate nodes for `readouts` simulations, int32 [n]."""
        self.expand_roots(games)
        self._make_room(int((self.tree.used[games] + readouts).max(initial=0)) + self.rule.room + 1)
        self.rule.prepare(self.tree, games, readouts)

    @TREE
    def run(self, readouts: np.ndarray, best_only: np.ndarray | None = None) -> None:
        """Add simulations to the trees.

        readouts: int32 [games], the number of simulations in each game; 0 skips a game.
        best_only: bool [games], games for which only the best action matters: their search ends as soon as the
            simulations left cannot change it.
        """
        searched = np.flatnonzero(readouts)
        self.prepare(searched, readouts[searched])
        budget = readouts.astype(np.int32)
        while budget.any():
            if best_only is not None:
                budget[self.rule.settled(self.tree, budget) & best_only] = 0
            if not self.wave(budget):  # without a new leaf no simulation is left
                return

    def wave(self, budget: np.ndarray, leaves: int | None = None) -> int:
        """Run one wave; return the number of leaves that it evaluated.

        budget: int32 [games], the simulations left in each game; reduced by those of the wave.
        leaves: number of new leaves in each game, at most `SearchSettings.leaves`; None for `SearchSettings.leaves`.
        """
        wave = self._wave
        if leaves not in (None, self.settings.leaves):
            rows = self.games * leaves
            wave = wave.part(slice(rows), slice(2 * rows))  # it has room for two collisions a leaf
        found, collisions = self._select(self.tree, budget, self.rule.parameters, wave, self._all_games)
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
            if self.batch.device == "cpu":
                priors, values = self._reach_and_evaluate(wave, leaves, reached)
            else:
                reached, priors, values = cast(WaveEvaluator, self.evaluator).evaluate_leaves(self.batch, leaves)
            if self.rule.change_values is not None:
                self.rule.change_values(wave, reached.over, values)
            if self._decisive is not None:
                waves.decide(self._decisive_moves(wave, leaves, reached), reached.over, priors, values)
            broken = self._expand(self.tree, wave, reached, priors, values)
            if broken:
                raise ValueError(
                    f"{type(self.evaluator).__name__} returned no usable evaluation of {broken} of {count} positions: "
                    "a legal action needs a positive prior and every value must be finite, from -1 to 1"
                )
        except BaseException:
            self.forget(np.unique(wave.game))
            raise

    def _reach_and_evaluate(self, wave: Wave, leaves: Leaves, out: Reached) -> tuple[np.ndarray, np.ndarray]:
        """Play the moves to n leaves, and evaluate the m leaves at which the game is not over.

        wave: games and nodes of the leaves, for subclasses.
        leaves: the leaves.
        out: receives the leaves' states.
        Returns priors, float32 [m, A], of the m evaluated leaves, and values, float32 [n], of all leaves.
        """
        with BOARDS:
            self.batch.reach(leaves, out)
        over = out.over
        values = out.outcomes  # those of finished games are in place already
        live = leaves.slots[~over] if np.count_nonzero(over) else leaves.slots
        priors = self._priors[: len(live)]
        if len(live) == len(over):
            self.evaluator.evaluate(self.batch, live, priors, values)
        elif len(live):
            live_values = np.empty(len(live), np.float32)
            self.evaluator.evaluate(self.batch, live, priors, live_values)
            values[~over] = live_values
        return priors, values

    def _decisive_moves(self, wave: Wave, leaves: Leaves, reached: Reached) -> np.ndarray:
        """Return for each leaf an action that wins at once, or NONE, int32 [n].

        wave, reached: games, nodes and movers of the leaves, for subclasses.
        """
        assert self._decisive is not None
        with BOARDS:
            return self.batch.decisive_moves(leaves.slots, self._decisive[: len(leaves.slots)])

    def visits(self, games: np.ndarray) -> np.ndarray:
        """Return the number of visits of each action at each root, int32 [n, A]."""
        return root_visits(self.tree, games)

    def priors(self, games: np.ndarray) -> np.ndarray:
        """Return the priors of each action at each root (which must be evaluated), float32 [n, A]."""
        out = np.empty((len(games), self.env.action_space), np.float32)
        nodes.root_priors(self.tree, np.asarray(games), out)
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
        return self.tree.value_sum[games, ROOT] / np.maximum(self.tree.visits[games, ROOT], 1)

    @TREE
    def advance(self, games: np.ndarray, actions: np.ndarray) -> None:
        """Play one action (int32 [n]) in each game and keep the part of its tree below that action."""
        with BOARDS:
            self.batch.play(games, actions)
        subtrees.advance(self.tree, games, actions, np.empty(self.tree.parent.shape[1], np.int32))

    def _make_room(self, nodes: int) -> None:
        """Let every tree have room for `nodes` nodes; trees that grow get a quarter more, so that they grow seldom."""
        if nodes > self.tree.parent.shape[1]:
            self.tree = grown(self.tree, nodes + nodes // 4)
