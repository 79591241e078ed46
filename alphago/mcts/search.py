"""The search of many games at once, in waves.

One wave chooses new leaves in every game, brings them up in the games' batch, evaluates them
together, and backs them up.  The search reaches the game through `GameBatch` and the network through
an `Evaluator` only.
"""

from dataclasses import dataclass

import numpy as np

from alphago.env.game import GameBatch, GameEnv, Leaves, Reached
from alphago.mcts.evaluator import Evaluator
from alphago.mcts.halving import stacked_schedules
from alphago.mcts.kernels import gumbel, roots, subtrees, waves
from alphago.mcts.kernels.nodes import NEW, NONE, PENDING, ROOT
from alphago.mcts.ranges import Ranges
from alphago.mcts.tree import Rule, grown, new_tree
from alphago.system.stopwatch import BOARDS, TREE
from alphago.system.validation import as_plain_numbers, check_bool, checks_keywords, is_finite, is_int


@checks_keywords()
@dataclass(frozen=True)
class SearchSettings:
    """How a search chooses; the defaults are AlphaGo.jl's constants in AlphaGo Zero's formula, but for one.

    c_puct: weight of prior against value.
    parent_value_weight: visits that a node's own value counts for in the mean of each of its
        actions; 1 is AlphaGo.jl's, 0 makes untried actions worth 0 as in AlphaGo Zero.
    first_play_reduction: how much less than that an untried action is worth once all others are tried; it grows
        with the square root of the priors tried (Leela Zero, KataGo).  0 is AlphaGo.jl's and AlphaGo Zero's; 0.2,
        KataGo's, won 65 % of its games against it on 9x9 (docs/results.md).
    virtual_loss: losses that a simulation counts for while it is on its way.
    leaves: new leaves a wave chooses in one game; more than 1 fills the network's batch when there
        are few games, at some cost in quality.
    dirichlet_weight, dirichlet_alpha: root noise (0.25 in the paper); None for alpha means
        0.03 * 361 / actions, AlphaGo.jl's scaling of the paper's 0.03 for 19x19.
    gumbel: search as Danihelka et al. 2022 ("Policy improvement by planning with Gumbel") instead: at the
        root, sequential halving among the `considered` actions with the greatest logit plus Gumbel
        noise; below it, visits follow the improved policy, in which values weigh
        (c_visit + max N) c_scale.
    considered: actions that a Gumbel search begins with at the root.
    c_visit, c_scale: of a Gumbel search: how much values count against logits, see `gumbel`.
    """

    c_puct: float = 0.96
    parent_value_weight: float = 1.0
    first_play_reduction: float = 0.2
    virtual_loss: int = 1
    leaves: int = 1
    dirichlet_weight: float = 0.25
    dirichlet_alpha: float | None = None
    gumbel: bool = False
    considered: int = 16
    c_visit: float = 50.0
    c_scale: float = 1.0

    def __post_init__(self) -> None:
        wrong = [
            name
            for name, fine in {
                "c_puct (0 or more)": not_negative(self.c_puct),
                "parent_value_weight (0 or more)": not_negative(self.parent_value_weight),
                "first_play_reduction (0 or more)": not_negative(self.first_play_reduction),
                "virtual_loss (1 or more)": is_int(self.virtual_loss, 1),
                "leaves (1 or more)": is_int(self.leaves, 1),
                "dirichlet_weight (0 to 1)": is_finite(self.dirichlet_weight) and 0 <= self.dirichlet_weight <= 1,
                "dirichlet_alpha (None or more than 0)": self.dirichlet_alpha is None
                or (is_finite(self.dirichlet_alpha) and self.dirichlet_alpha > 0),
                "considered (1 or more)": is_int(self.considered, 1),
                "c_visit (0 or more, finite)": not_negative(self.c_visit),
                "c_scale (more than 0, finite)": is_finite(self.c_scale) and self.c_scale > 0,
            }.items()
            if not fine
        ]
        if wrong:
            raise ValueError(f"search settings out of range: {', '.join(wrong)}; came {self}")
        check_bool("gumbel", self.gumbel)
        as_plain_numbers(self)


def not_negative(value: object) -> bool:
    """Whether it is a finite number from 0."""
    return is_finite(value) and value >= 0


def leaves_for(games: int, readouts: int) -> int:
    """Leaves a wave should choose per game so that few games still fill a network's batches.

    `games` are all games side by side, whatever the threads, so that a seed's games are the same on any machine.
    """
    return max(1, min(8, 128 // max(games, 1), readouts // 16))


class Search:
    """Trees for `games` games, whose root positions are slots 0 .. games - 1 of `batch`.

    Not for use by two threads at once; several searches may share an evaluator.

    threads: on which the trees of many games grow side by side; what is found does not depend on it.
    """

    def __init__(
        self, env: GameEnv, evaluator: Evaluator, games: int, settings: SearchSettings, threads: int = 1
    ) -> None:
        self.env = env
        self.evaluator = evaluator
        self.games = games
        self.settings = settings
        self.rule = Rule(
            settings.gumbel, settings.c_puct, settings.parent_value_weight, settings.virtual_loss,
            settings.first_play_reduction, settings.c_visit, settings.c_scale, settings.leaves,
        )  # fmt: skip
        self.gumbel = np.zeros((games, env.action_space), np.float32)
        self._schedules = np.zeros((1, 1, 1), np.int32)
        self._schedule_of = np.zeros(games, np.int32)
        rows = games * settings.leaves
        self.batch: GameBatch = env.new_batch(games + rows, getattr(evaluator, "device", "cpu"))
        self.tree = new_tree(games, 64, env.action_space)
        self.waves = Ranges(threads) if threads > 1 else waves
        self._leaf_slots = np.arange(games, games + rows)
        self._game = np.zeros(rows, np.int64)
        self._leaf = np.zeros(rows, np.int32)
        self._path = np.zeros((rows + 1, env.max_moves + 1), np.int32)
        self._length = np.zeros(rows, np.int32)
        self._collisions = np.zeros((2 * rows, 2), np.int32)
        self._movers = np.zeros(rows, np.int8)
        self._over = np.zeros(rows, np.bool_)
        self._values = np.zeros(rows, np.float32)
        self._priors = np.zeros((rows, env.action_space), np.float32)

    @TREE
    def forget(self, games: np.ndarray) -> None:
        """Clears the trees of games (int64 [n]) whose root position was set anew."""
        subtrees.clear_all(self.tree, games)

    @TREE
    def restart(self, games: np.ndarray) -> None:
        """Begins anew in games (int64 [n]): what is found is what empty trees find, for fewer evaluations.

        Positions that the evaluator has been asked about are not sent to it again; after another one was set, `forget`
        is needed.  Searches of several leaves a wave forget: knowing an answer early would change what else the wave
        looks at.
        """
        if self.settings.leaves == 1:
            subtrees.restart_all(self.tree, games)
        else:
            subtrees.clear_all(self.tree, games)

    @TREE
    def expand_roots(self, games: np.ndarray) -> None:
        """Evaluates the roots (int64 [n]) that are not evaluated yet; their games must not be over."""
        for begin in range(0, len(games), len(self._game)):
            chunk = games[begin : begin + len(self._game)]
            chunk = chunk[self.tree.state[chunk, ROOT] == NEW]
            n = len(chunk)
            if n == 0:
                continue
            self._game[:n] = chunk
            self._leaf[:n] = ROOT
            self._length[:n] = 0
            self.tree.state[chunk, ROOT] = PENDING
            self.tree.virtual[chunk, ROOT] = 1
            self._evaluate(n, 0)

    def add_noise(self, games: np.ndarray, generators: list[np.random.Generator]) -> None:
        """Mixes Dirichlet noise into the evaluated roots' priors, over legal actions only."""
        weight = self.settings.dirichlet_weight
        if weight == 0:
            return
        alpha = self.settings.dirichlet_alpha or 0.03 * 361 / self.env.action_space
        noise = np.zeros((len(games), self.env.action_space), np.float32)
        legal = self.batch.legal_mask(games, np.empty(noise.shape, np.bool_))
        for i, generator in enumerate(generators):
            actions = np.flatnonzero(legal[i])
            # Gamma draws of a small shape can all be zero; the tiny addend keeps their sum positive.
            drawn = generator.standard_gamma(alpha, len(actions)) + 1e-30
            noise[i, actions] = drawn / drawn.sum()
        roots.mix_noise(self.tree, games, noise, np.float32(weight))

    @TREE
    def run(self, readouts: np.ndarray, best_only: np.ndarray | None = None) -> None:
        """Adds `readouts` (int32 [games], 0 for games to leave alone) simulations to each game's tree.

        best_only: games (bool [games]) that are wanted for their best action alone: their search ends as soon
            as no simulation left can change which one that is.
        """
        searched = np.flatnonzero(readouts)
        self.expand_roots(searched)
        most = int(readouts.max(initial=0))
        considered = self.settings.considered if self.settings.gumbel else 0
        self._make_room(int(self.tree.used.max(initial=0)) + most + considered + 1)
        if considered:
            gumbel.add_candidates(self.tree, searched, self.gumbel, np.minimum(considered, readouts[searched]))
            budgets, self._schedule_of[searched] = np.unique(readouts[searched], return_inverse=True)
            self._schedules = stacked_schedules(considered, tuple(budgets.tolist()))
        budget = readouts.astype(np.int32)
        leaves = 1
        while leaves:
            if best_only is not None:
                budget[self.settled(budget) & best_only] = 0
            leaves = self.wave(budget)

    def settled(self, budget: np.ndarray) -> np.ndarray:
        """Games (bool [games]) whose best action is certain before the `budget` (int32 [games]) is used up.

        It is where there is one action only: legal (PUCT) or among the candidates (Gumbel).  PUCT's is too where
        the most visited action leads by more than the budget.
        """
        games = np.arange(self.games)
        first = self.tree.first_child[:, ROOT]
        only = (first != NONE) & (self.tree.next_sibling[games, first] == NONE)
        if self.settings.gumbel:
            return only
        visits = self.visits(games)
        most = visits.max(axis=1)
        visits[games, visits.argmax(axis=1)] = 0
        return only & (self.tree.next_action[:, ROOT] == NONE) | (most - visits.max(axis=1) > budget)

    def wave(self, budget: np.ndarray) -> int:
        """One wave in the games with budget left, which it lowers; returns the number of leaves evaluated."""
        leaves, collided = self.waves.select(
            self.tree, budget, self.rule, self.gumbel, self._schedules, self._schedule_of,
            self._game, self._leaf, self._path, self._length, self._collisions,
        )  # fmt: skip
        if leaves:
            self._evaluate(leaves, collided)
        return leaves

    def _evaluate(self, n: int, collided: int) -> None:
        """Evaluates the n leaves that the scratch arrays name, and backs them up.

        Whatever goes wrong (a broken network, Ctrl-C), no game keeps a tree that is half changed.
        """
        try:
            self._evaluate_leaves(n, collided)
        except BaseException:
            self.forget(np.unique(self._game[:n]))
            raise

    def _evaluate_leaves(self, n: int, collided: int) -> None:
        leaves = Leaves(self._game[:n], self._path[:n], self._length[:n], self._leaf_slots[:n])
        room = Reached(self._over[:n], self._movers[:n], self._values[:n])
        explore = getattr(self.evaluator, "explore", None)  # a WaveEvaluator's
        if explore is not None and self.batch.device != "cpu":
            reached, priors, values = explore(self.batch, leaves)
        else:
            reached, priors, values = self._reach_and_evaluate(leaves, room)
        broken = self.waves.expand(
            self.tree, leaves.roots, self._leaf[:n], reached.movers, reached.over, values, priors,
            self._collisions[:collided],
        )  # fmt: skip
        if broken:
            raise ValueError(
                f"{type(self.evaluator).__name__} gave no usable evaluation of {broken} of {n} positions: "
                "a legal action needs a positive prior and every value must be finite"
            )

    def _reach_and_evaluate(self, leaves: Leaves, room: Reached) -> tuple[Reached, np.ndarray, np.ndarray]:
        """What is at the leaves, the priors [evaluated, A] of those that are not over, and the values [n] of all."""
        with BOARDS:
            over, values = self.batch.reach(leaves, room).over, room.outcomes
        going = leaves.slots[~over] if np.count_nonzero(over) else leaves.slots
        priors = self._priors[: len(going)]
        if len(going) == len(over):
            self.evaluator.evaluate(self.batch, going, priors, values)
        elif len(going):
            some = np.empty(len(going), np.float32)
            self.evaluator.evaluate(self.batch, going, priors, some)
            values[~over] = some
        return room, priors, values

    def visits(self, games: np.ndarray) -> np.ndarray:
        """Visits of the root's actions, int32 [n, A]."""
        out = np.empty((len(games), self.env.action_space), np.int32)
        roots.root_visits(self.tree, games, out)
        return out

    def priors(self, games: np.ndarray) -> np.ndarray:
        """The evaluated roots' priors, float32 [n, A]."""
        out = np.empty((len(games), self.env.action_space), np.float32)
        roots.root_priors(self.tree, np.asarray(games), out)
        return out

    @TREE
    def improved(self, games: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gumbel: the roots' improved policies, float32 [n, A], and the actions chosen, int32 [n]."""
        policy = np.empty((len(games), self.env.action_space), np.float32)
        actions = np.empty(len(games), np.int32)
        gumbel.improved_policy(
            self.tree, games, self.gumbel, self.settings.c_visit, self.settings.c_scale, policy, actions
        )
        return policy, actions

    def root_values(self, games: np.ndarray) -> np.ndarray:
        """Mean of the values backed up to each evaluated root, float32 [n], mover's view."""
        return self.tree.value_sum[games, ROOT] / np.maximum(self.tree.visits[games, ROOT], 1)

    @TREE
    def advance(self, games: np.ndarray, actions: np.ndarray) -> None:
        """Plays one action (int32 [n]) in each game and keeps the part of its tree below it."""
        with BOARDS:
            self.batch.play(games, actions)
        subtrees.advance(self.tree, games, actions, np.empty(self.tree.parent.shape[1], np.int32))

    def _make_room(self, nodes: int) -> None:
        if nodes > self.tree.parent.shape[1]:
            self.tree = grown(self.tree, nodes + nodes // 4)
