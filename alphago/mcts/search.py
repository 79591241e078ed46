"""Search many games at once, in waves.

A wave chooses new leaves in every game, plays the moves that lead to them, evaluates them in one batch, and backs the
values up.  The search knows the game only as a `GameBatch` and the network only as an `Evaluator`; PUCT and Gumbel are
two `SearchRule`s.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np

from alphago.env.batch import GameBatch
from alphago.env.game import GameEnv
from alphago.env.leaves import Leaves, Reached
from alphago.mcts.evaluator import Evaluator, WaveEvaluator
from alphago.mcts.gumbel import Gumbel
from alphago.mcts.kernels import nodes, subtrees, waves
from alphago.mcts.kernels.nodes import NEW, PENDING, ROOT
from alphago.mcts.kernels.value_noise import add_value_noise
from alphago.mcts.puct import ByPly, Puct, PuctParameters
from alphago.mcts.ranges import Ranges
from alphago.mcts.rule import SearchRule, root_visits
from alphago.mcts.tree import Wave, grown, new_tree, new_wave
from alphago.system.stopwatch import BOARDS, TREE
from alphago.system.validation import (
    as_plain_numbers,
    check_bool,
    check_float,
    check_int,
    check_positive,
    checks_keywords,
)

FIRST_NODES = 64  # capacity of each tree of a new search; trees grow
SEEDS = 2**63  # upper bound of the seeds of a move's value noise


@checks_keywords()
@dataclass(frozen=True)
class SearchSettings:
    """Settings of PUCT and Gumbel search; defaults are AlphaGo.jl's except `first_play_reduction`.

    `new_rule` returns the rule for these settings: Gumbel if `gumbel` is set, else PUCT.

    c_puct: weight of prior against value.
    c_puct_growth: increase of c_puct with each ply of the game; may be negative (CGZero: 0.0034).
    c_puct_limit: upper bound of a growing c_puct, or lower bound of a falling c_puct (CGZero: 2.975); None for no upper
        bound, or for the lower bound 0.
    parent_value_weight: number of visits for which a node's own value counts in the mean value of each of its actions;
        1 is AlphaGo.jl's, 0 gives untried actions the value 0 as in AlphaGo Zero.
    first_play_reduction: difference between a node's own value and the value of an untried action once nearly all
        actions are tried; it grows with the square root of the sum of the tried actions' priors (Leela Zero, KataGo).
        0 is AlphaGo.jl's and AlphaGo Zero's; 0.2, KataGo's, won 65 % of its games against 0 on 9x9
        (docs/experiments/20-search-options.md).
    virtual_loss: losses that a simulation adds to the nodes on its path until its leaf is evaluated.
    leaves: new leaves that a wave (a set of simulations evaluated together) chooses in one game; more than 1 fills
        the network's batch when there are few games, at some cost in quality.
    dirichlet_weight, dirichlet_alpha: weight (0.25 in the paper) and concentration of the Dirichlet noise at the root;
        None for dirichlet_alpha means 0.03 * 361 / actions, AlphaGo.jl's scaling of the paper's 0.03 for 19x19.
    dirichlet_decay: decrease of dirichlet_weight with each ply of the game, down to 0 (CGZero: 0.0007).
    value_noise: in self-play, largest relative change of the network's values: each value is multiplied by 1 + u, with
        u uniform from -value_noise to value_noise, and clipped to -1 .. 1 (CGZero: 0.02).
    near_best: choose moves uniformly among the actions whose score, mean value + ln(visits + 3), is at least this share
        of the greatest score (CGZero: 0.95, and 0.98 in matches); None to choose moves by visits.  Only for PUCT.
    gumbel: use the search of Danihelka et al. 2022 ("Policy improvement by planning with Gumbel") instead of PUCT: at
        the root, sequential halving among the `considered` actions with the greatest logit plus Gumbel
        noise; below it, visits follow the improved policy, softmax(logits + (c_visit + max N) c_scale q).
    considered: number of actions with which a Gumbel search begins at the root.
    c_visit, c_scale: weight of values against logits in a Gumbel search, see `gumbel`.
    decisive_moves: in games that find moves that win at once (`GameEnv.has_decisive_moves`), evaluate a position with
        such a move as won, and try only this move there, whatever the network says (Teytaud and Teytaud 2010, "On the
        huge benefit of decisive moves in Monte-Carlo tree search algorithms").
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
    c_puct_growth: float = 0.0
    c_puct_limit: float | None = None
    dirichlet_decay: float = 0.0
    value_noise: float = 0.0
    near_best: float | None = None
    decisive_moves: bool = True

    def __post_init__(self) -> None:
        for name in ("c_puct", "parent_value_weight", "first_play_reduction", "c_visit", "dirichlet_decay"):
            check_float(name, getattr(self, name), 0)
        check_float("c_puct_growth", self.c_puct_growth)
        if self.c_puct_limit is not None:
            check_float("c_puct_limit", self.c_puct_limit, 0)
        if self.near_best is not None:
            check_float("near_best", self.near_best, 0, 1)
            if self.gumbel:
                raise ValueError(f"near_best must be None with gumbel, which has no use for it, got {self.near_best!r}")
        check_float("value_noise", self.value_noise, 0, 1)
        for name in ("virtual_loss", "leaves", "considered"):
            check_int(name, getattr(self, name), 1)
        check_float("dirichlet_weight", self.dirichlet_weight, 0, 1)
        if self.dirichlet_alpha is not None:
            check_positive("dirichlet_alpha", self.dirichlet_alpha)
        check_positive("c_scale", self.c_scale)
        check_bool("gumbel", self.gumbel)
        check_bool("decisive_moves", self.decisive_moves)
        as_plain_numbers(self)

    def new_rule(self, games: int, actions: int) -> SearchRule:
        """Return the rule for a search of `games` games with `actions` actions; override it for another rule."""
        if self.gumbel:
            return Gumbel(games, actions, considered=self.considered, c_visit=self.c_visit, c_scale=self.c_scale)
        least = 0.0 if self.c_puct_growth < 0 else None
        c_puct = ByPly(self.c_puct, self.c_puct_growth, least if self.c_puct_limit is None else self.c_puct_limit)
        numbers = PuctParameters(
            c_puct.at(np.zeros(games, np.int32)),
            float(self.parent_value_weight),
            float(self.first_play_reduction),
            self.virtual_loss,
        )  # converted to floats, for which the kernels are compiled
        noise = ByPly(self.dirichlet_weight, -self.dirichlet_decay, 0.0)
        return Puct(numbers, noise, self.dirichlet_alpha, c_puct=c_puct, near_best=self.near_best)

    @property
    def keeps_trees(self) -> bool:
        """Whether the search of a move continues in the tree of the previous move's search."""
        return self.new_rule(0, 0).keeps_trees


class ValueNoise(NamedTuple):
    """The noise on leaves' values, which turns a value v into v (1 + spread u) with u uniform from -1 to 1."""

    seeds: np.ndarray  # int64 [B], the seed of each game's present move; 0 for no noise
    spread: float  # `SearchSettings.value_noise`


def leaves_for(games: int, readouts: int) -> int:
    """Return a value of `leaves` with which a wave fills the network's batch although there are few games.

    games: number of all games played at once, on all threads, so that results do not depend on the number of cores.
    readouts: simulations per move.
    """
    return max(1, min(8, 128 // max(games, 1), readouts // 16))


def named_search(name: str, readouts: int, leaves: int) -> SearchSettings:
    """Return the settings of a player's search called "puct" or "gumbel"; raise ValueError for another name.

    readouts: simulations per move; a Gumbel search considers at most half as many actions.
    leaves: as in SearchSettings.
    """
    if name not in ("puct", "gumbel"):
        raise ValueError(f"search must be 'puct', 'gumbel' or SearchSettings, got {name!r}")
    return SearchSettings(gumbel=name == "gumbel", considered=max(2, min(16, readouts // 2)), leaves=leaves)


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
        self.settings = settings
        self.rule = settings.new_rule(games, env.action_space)
        rows = games * settings.leaves
        self.batch: GameBatch = env.new_batch(games + rows, evaluator.device)
        self.tree = new_tree(games, nodes, env.action_space)
        kernels = Ranges(self.rule.select, threads) if threads > 1 else None
        self._select = kernels.select if kernels else self.rule.select
        self._expand = kernels.expand if kernels else waves.expand
        self._leaf_slots = np.arange(games, games + rows)
        self._wave = new_wave(rows, env.max_moves + 1)
        self._reached = Reached(np.zeros(rows, np.bool_), np.zeros(rows, np.int8), np.zeros(rows, np.float32))
        self._priors = np.zeros((rows, env.action_space), np.float32)
        spread = float(settings.value_noise)
        self._value_noise = ValueNoise(np.zeros(games, np.int64), spread) if spread else None
        self._decisive = np.zeros(rows, np.int32) if settings.decisive_moves and env.has_decisive_moves else None
        self._all_games = 0, games
        self._size = 0, 0

    @TREE
    def forget(self, games: np.ndarray) -> None:
        """Clear the trees of `games` (int64 [n]); needed after their root positions were changed."""
        subtrees.clear_all(self.tree, games)

    @TREE
    def restart(self, games: np.ndarray) -> None:
        """Restart the search of `games` (int64 [n]) as from empty trees, but keep the evaluations as a cache.

        The root positions must be unchanged, else call `forget`. With several leaves per wave the trees are cleared
        instead, since a cached evaluation would change which other leaves a wave chooses.
        """
        if self.settings.leaves == 1:
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
            chunk = chunk[self.tree.state[chunk, ROOT] == NEW]
            n = len(chunk)
            if n == 0:
                continue
            wave.game[:n] = chunk
            wave.leaf[:n] = ROOT
            wave.length[:n] = 0
            self.tree.state[chunk, ROOT] = PENDING
            self.tree.virtual[chunk, ROOT] = 1
            self._evaluate(n, 0)

    def add_noise(self, games: np.ndarray, generators: Sequence[np.random.Generator]) -> None:
        """Add noise to the priors of the legal actions at the roots of `games` (int64 [n]), which must be evaluated.

        If `SearchSettings.value_noise` is set, the values of leaves in the next simulations also get noise.

        generators: one random generator per game.
        """
        self.rule.add_noise(self.tree, self.batch, games, generators)
        if self._value_noise is not None:
            self._value_noise.seeds[games] = [generator.integers(1, SEEDS) for generator in generators]

    @TREE
    def run(self, readouts: np.ndarray, best_only: np.ndarray | None = None) -> None:
        """Add simulations to the trees.

        readouts: int32 [games], the number of simulations in each game; 0 skips a game.
        best_only: bool [games], games for which only the best action matters: their search ends as soon as the
            simulations left cannot change it.
        """
        searched = np.flatnonzero(readouts)
        self.expand_roots(searched)
        self._make_room(int(self.tree.used.max(initial=0)) + int(readouts.max(initial=0)) + self.rule.room + 1)
        self.rule.prepare(self.tree, searched, readouts[searched])
        budget = readouts.astype(np.int32)
        leaves = 1
        while leaves:
            if best_only is not None:
                budget[self.rule.settled(self.tree, budget) & best_only] = 0
            leaves = self.wave(budget)

    def wave(self, budget: np.ndarray) -> int:
        """Run one wave; return the number of leaves that it evaluated.

        budget: int32 [games], the simulations left in each game; reduced by those of the wave.
        """
        leaves, collisions = self._select(self.tree, budget, self.rule.parameters, self._wave, self._all_games)
        if leaves:
            self._evaluate(leaves, collisions)
        return leaves

    def _evaluate(self, n: int, collisions: int) -> None:
        """Evaluate the first `n` leaves of the wave, and back them up; `collisions` is the wave's number of collisions.

        After any exception (a broken network, Ctrl-C) the trees of these games are cleared, since they may be
        inconsistent.
        """
        if (
            n,
            collisions,
        ) != self._size:  # most waves have the previous wave's size, and new slices cost a tenth of a wave
            self._size = n, collisions
            part = self._wave.part(slice(n), slice(collisions))
            leaves = Leaves(part.game, part.path, part.length, self._leaf_slots[:n])
            self._views = part, leaves, Reached(*(array[:n] for array in self._reached))
        wave, leaves, reached = self._views
        try:
            if self.batch.device == "cpu":
                priors, values = self._reach_and_evaluate(wave, leaves, reached)
            else:
                reached, priors, values = cast(WaveEvaluator, self.evaluator).evaluate_leaves(self.batch, leaves)
            if self._value_noise is not None:
                add_value_noise(wave, reached.over, self._value_noise, values)
            if self._decisive is not None:
                waves.decide(self._decisive_moves(wave, leaves, reached), reached.over, priors, values)
            broken = self._expand(self.tree, wave, reached, priors, values)
            if broken:
                raise ValueError(
                    f"{type(self.evaluator).__name__} returned no usable evaluation of {broken} of {n} positions: "
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
        over, values = out.over, out.outcomes
        going = leaves.slots[~over] if np.count_nonzero(over) else leaves.slots
        priors = self._priors[: len(going)]
        if len(going) == len(over):
            self.evaluator.evaluate(self.batch, going, priors, values)
        elif len(going):
            some = np.empty(len(going), np.float32)
            self.evaluator.evaluate(self.batch, going, priors, some)
            values[~over] = some
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
        """Return the actions to play, int32 [n]; see `SearchRule.choose`."""
        return self.rule.choose(self.tree, games, by_chance, chance)

    @TREE
    def selfplay_moves(
        self, games: np.ndarray, early: np.ndarray, generators: Sequence[np.random.Generator]
    ) -> tuple[np.ndarray, np.ndarray]:
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
        if nodes > self.tree.parent.shape[1]:
            self.tree = grown(self.tree, nodes + nodes // 4)
