"""Gumbel search (Danihelka et al. 2022, "Policy improvement by planning with Gumbel").

At the root it is sequential halving among the actions with the greatest logit plus Gumbel noise; below it, visits
follow the improved policy, softmax(logits + (c_visit + max N) c_scale q).
"""

import functools
import itertools
import math
from dataclasses import replace
from typing import NamedTuple, Self

import numpy as np

from alphago.env.batch import GameBatch
from alphago.mcts.kernels import gumbel
from alphago.mcts.rule import Generators, PolicyMoves, SearchRule, SearchSettings, choose_actions
from alphago.mcts.tree import Tree, only_child
from alphago.system.validation import setting, settings

MOST_CONSIDERED = 16  # largest default of `considered`


class GumbelParameters(NamedTuple):
    """The parameters that the kernel `choose` of Gumbel search reads."""

    c_visit: float
    c_scale: float
    rounds: bool
    noise: np.ndarray  # float32 [B, A], added to the logits of the roots' actions
    schedules: np.ndarray  # int32 [budgets, considered + 1, greatest budget], see `halving_schedules`
    schedule_of: np.ndarray  # int32 [B], index into `schedules` for each game


@settings
class Gumbel(SearchSettings):
    """Settings of Gumbel search (Danihelka et al. 2022, "Policy improvement by planning with Gumbel")."""

    considered: int = setting(
        "number of actions with which the search begins at the root; by default half of the readouts, 2 to 16",
        default=None,
        least=1,
        automatic=True,
    )
    c_visit: float = setting(
        "visits that are added to the most visited action's in the weight of values against logits, "
        "(`c_visit` + max N) `c_scale`",
        default=50.0,
        least=0,
    )
    c_scale: float = setting("factor of the weight of values against logits", default=1.0, positive=True)
    rounds: bool = setting(
        "whether a wave has at most one simulation of each action considered at the root; then `leaves` changes how "
        "many positions are evaluated together, but not which",
        default=False,
    )

    def completed(self, readouts: int, leaves: int) -> Self:
        considered = self.considered or max(2, min(MOST_CONSIDERED, readouts // 2))
        return replace(super().completed(readouts, leaves), considered=considered)

    @property
    def independent_leaves(self) -> bool:
        return self.leaves == 1 or self.rounds

    def new_rule(self, games: int, actions: int) -> "GumbelRule":
        return GumbelRule(self, games, actions)


class GumbelRule(SearchRule):
    """Gumbel search: starts every move from an empty tree, with sequential halving among `considered` root actions.

    Attributes:
        noise: float32 [games, actions], added to the roots' logits; 0 until `add_noise`.
    """

    keeps_trees = False
    heeds_early = False
    select = staticmethod(gumbel.select)
    device_select = "select_gumbel"
    parameters: GumbelParameters

    def __init__(self, settings: Gumbel, games: int, actions: int) -> None:
        """Make the rule for a search of `games` games with `actions` actions."""
        self.considered = settings.considered or MOST_CONSIDERED
        self.room = self.considered  # `prepare` may add a node for each action considered
        self.noise = np.zeros((games, actions), np.float32)
        self.planned = np.zeros(games, np.int32)  # simulations of each game's search
        self.parameters = GumbelParameters(
            c_visit=float(settings.c_visit),
            c_scale=float(settings.c_scale),
            rounds=settings.rounds,
            noise=self.noise,
            schedules=np.zeros((1, 1, 1), np.int32),  # until `prepare`
            schedule_of=np.zeros(games, np.int32),
        )

    def add_noise(self, tree: Tree, batch: GameBatch, games: np.ndarray, generators: Generators) -> None:
        """Draw new Gumbel noise for the games' roots; `prepare` and the kernels add it to the logits."""
        chances = np.empty((len(games), self.noise.shape[1]))  # uniform in [0, 1), a row for each game
        for row, generator in zip(chances, generators, strict=True):
            generator.random(out=row)
        gumbel.add_gumbel_noise(chances, games, self.noise)

    def prepare(self, tree: Tree, games: np.ndarray, readouts: np.ndarray) -> None:
        """Make the candidates children of the roots, and set each game's schedule for its number of simulations."""
        scores = np.empty(self.noise.shape[1])  # scratch memory
        tree.launch(gumbel.add_candidates, games, self.noise, np.minimum(self.considered, readouts), scores)
        self.planned[games] = readouts
        budgets, self.parameters.schedule_of[games] = np.unique(readouts, return_inverse=True)
        schedules = halving_schedules(self.considered, tuple(budgets.tolist()))
        self.parameters = self.parameters._replace(schedules=schedules)

    def plan(self, budget: np.ndarray, leaves: int) -> list[int]:
        """Return a wave for each round that is left, if the search is by rounds, or several for a large one."""
        if not self.parameters.rounds:
            return super().plan(budget, leaves)
        games = np.flatnonzero(budget)
        pairs = np.unique([self.planned[games], self.planned[games] - budget[games]], axis=1).T.tolist()
        sizes = [round_sizes(min(self.considered, readouts), readouts, done) for readouts, done in pairs]
        greatest = map(max, zip(*sizes, strict=False))  # of as many rounds as all games have left
        return [min(leaves, size) for size in greatest for _ in range(0, size, leaves)]

    def settled(self, tree: Tree, budget: np.ndarray) -> np.ndarray:
        """Return for each game, bool [B], whether its root has only one candidate."""
        return only_child(tree, np.arange(len(budget)))

    def policies(self, tree: Tree, games: np.ndarray) -> np.ndarray:
        """Return the roots' improved policies, float32 [n, A]."""
        return self._improved(tree, games)[0]

    def choose(self, tree: Tree, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        """Return the winners of sequential halving, int32 [n].

        Where `by_chance` is set, actions are drawn from the improved policies instead.
        """
        policies, actions = self._improved(tree, games)
        return np.where(by_chance, choose_actions(policies, by_chance, chance), actions)

    def selfplay_moves(self, tree: Tree, games: np.ndarray, early: np.ndarray, generators: Generators) -> PolicyMoves:
        """Return the improved policies and the winners of sequential halving.

        The noise at the roots varies the winners, so `early` is ignored.
        """
        return self._improved(tree, games)

    def _improved(self, tree: Tree, games: np.ndarray) -> PolicyMoves:
        """Return the roots' improved policies, float32 [n, A], and the winners of sequential halving, int32 [n]."""
        policies = np.empty((len(games), self.noise.shape[1]), np.float32)
        actions = np.empty(len(games), np.int32)
        tree.launch(gumbel.improved_policy, games, self.parameters, out_policy=policies, out_action=actions)
        return policies, actions


@functools.cache
def halving_schedule(considered: int, readouts: int) -> np.ndarray:
    """Return the schedule of sequential halving, int32 [considered + 1, readouts].

    Entry [k, i] is a number of visits: with k candidates, simulation i goes to a candidate that has this number of
    visits.  All phases have equal numbers of simulations.  The first phase visits all candidates equally often, the
    next phase the better half of them, and so on down to two (Danihelka et al. 2022, section 3; Karnin et al. 2013).
    """
    by_candidates = np.zeros((considered + 1, readouts), np.int32)
    for candidates in range(1, considered + 1):
        phases = max(1, math.ceil(math.log2(candidates)))
        schedule: list[int] = []
        visits = 0
        remaining = candidates  # candidates of the present phase
        while len(schedule) < readouts:
            rounds = max(1, readouts // (phases * remaining))  # visits of each candidate in this phase
            for _ in range(rounds):
                schedule += [visits] * remaining
                visits += 1
            remaining = max(min(2, candidates), remaining // 2)  # the better half goes on, but two candidates at least
        by_candidates[candidates] = schedule[:readouts]
    return by_candidates


@functools.cache
def round_sizes(considered: int, readouts: int, done: int) -> list[int]:
    """Return the greatest sizes of the rounds from simulation `done` on, however many candidates there are.

    They are as many as with all candidates.
    """
    plans = halving_schedule(considered, readouts)[1:]  # a round's simulations have the same number of visits
    sizes = [[int((plan == visits).sum()) for visits in np.unique(plan[done:])] for plan in plans]
    return [max(each) for each in itertools.zip_longest(*sizes, fillvalue=0)][: len(sizes[-1])]


@functools.cache
def halving_schedules(considered: int, budgets: tuple[int, ...]) -> np.ndarray:
    """Return `halving_schedule` for several budgets of readouts, int32 [budgets, considered + 1, greatest budget]."""
    greatest = max(budgets, default=1)
    schedules = np.zeros((len(budgets), considered + 1, greatest), np.int32)
    for schedule, readouts in zip(schedules, budgets, strict=True):
        candidates = min(considered, readouts)
        schedule[: candidates + 1, :readouts] = halving_schedule(candidates, readouts)
        # Beyond the budget: no candidate has so many visits, and `choose_candidate` takes the least visited one.
        schedule[:, readouts:] = greatest
    return schedules
