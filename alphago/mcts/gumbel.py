"""Gumbel search (Danihelka et al. 2022, "Policy improvement by planning with Gumbel").

At the root it is sequential halving among the actions with the greatest logit plus Gumbel noise; below it, visits
follow the improved policy, softmax(logits + (c_visit + max N) c_scale q).
"""

import functools
import itertools
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
    """The parameters that the kernel `choose` of Gumbel search reads; `Gumbel` explains the first four."""

    c_visit: float
    c_scale: float
    rounds: bool
    considered: int
    planned: np.ndarray  # int32 [B], the simulations of each game's whole search
    noise: np.ndarray  # float32 [B, A], added to the logits of the roots' actions


@settings
class Gumbel(SearchSettings):
    """Settings of Gumbel search (Danihelka et al. 2022, "Policy improvement by planning with Gumbel")."""

    considered: int = setting(
        "number of actions with which the search begins at the root; by default half of the readouts, 2 to 16",
        default=None,
        least=1,
    )
    c_visit: float = setting(
        "visits that are added to the most visited action's in the weight of values against logits, "
        "(`c_visit` + max N) `c_scale`",
        default=50.0,
    )
    c_scale: float = setting("factor of the weight of values against logits", default=1.0, positive=True)
    rounds: bool = setting(
        "whether a wave has at most one simulation of each action considered at the root; then `leaves` changes how "
        "many positions are evaluated together, but not which",
        default=False,
    )

    def completed(self, readouts: int, leaves: int) -> Self:
        """Return these settings with values in place of None for `leaves` (as given) and `considered`."""
        considered = self.considered or max(2, min(MOST_CONSIDERED, readouts // 2))
        return replace(super().completed(readouts, leaves), considered=considered)

    @property
    def independent_leaves(self) -> bool:
        """Whether a wave's leaves in a game are chosen as if evaluated one after the other, which `rounds` ensures."""
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
        numbers = settings.c_visit, settings.c_scale, settings.rounds, self.considered
        self.parameters = GumbelParameters(*numbers, planned=np.zeros(games, np.int32), noise=self.noise)

    def add_noise(self, tree: Tree, batch: GameBatch, games: np.ndarray, generators: Generators) -> None:
        """Draw new Gumbel noise for the games' roots into `noise`, which `prepare` and the kernels add to the logits.

        Tree and batch are not needed: illegal actions get noise too, but no logit.
        """
        chances = np.empty((len(games), self.noise.shape[1]))  # uniform in [0, 1), a row for each game
        for row, generator in zip(chances, generators, strict=True):
            generator.random(out=row)
        gumbel.add_gumbel_noise(chances, games, self.noise)

    def prepare(self, tree: Tree, games: np.ndarray, readouts: np.ndarray) -> None:
        """Make the candidates children of the roots, and note each game's number of simulations."""
        scores = np.empty(self.noise.shape[1])  # scratch memory
        considered = np.minimum(self.considered, readouts)  # each is simulated at least once
        tree.launch(gumbel.add_candidates, games, self.noise, considered, scores)
        self.parameters.planned[games] = readouts

    def plan(self, budget: np.ndarray, leaves: int) -> list[int]:
        """Return how many leaves each of the next waves may choose in a game; see `SearchRule.plan`.

        In a search by rounds there is a wave for each round that is left, or several waves for a round with more
        candidates than `leaves`.  A round is as large as the largest of all games.
        """
        if not self.parameters.rounds:
            return super().plan(budget, leaves)
        planned, left = self.parameters.planned[budget > 0], budget[budget > 0]  # simulations
        # The different pairs of numbers (simulations planned, simulations done) of the games; they are few.
        pairs = np.unique([planned, planned - left], axis=1).T.tolist()
        sizes = [round_sizes(min(self.considered, readouts), readouts, done) for readouts, done in pairs]
        # The largest of the games' next rounds, then of the rounds after these, and so on.
        greatest = map(max, itertools.zip_longest(*sizes, fillvalue=0))
        # A round with more candidates than `leaves` has a wave for every `leaves` of them.
        return [min(leaves, size) for size in greatest for _ in range(0, size, leaves)]

    def settled(self, tree: Tree, budget: np.ndarray) -> np.ndarray:
        """Return whether the root of each game has only one candidate, bool [B], whatever the `budget` that is left."""
        return only_child(tree, np.arange(len(budget)))

    def policies(self, tree: Tree, games: np.ndarray) -> np.ndarray:
        """Return the roots' improved policies, float32 [n, A]."""
        return self._improved(tree, games)[0]

    def choose(self, tree: Tree, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        """Return the winners of sequential halving, or where `by_chance` is set actions drawn from the policies.

        `chance` has the random numbers for these, [n], in [0, 1).
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
def round_sizes(considered: int, readouts: int, done: int) -> list[int]:
    """Return the greatest sizes that the next rounds of a search can have, whatever the number of its candidates.

    A root with few legal actions has fewer than `considered` candidates, and its rounds have other sizes.  Their number
    is not known here, since only the trees have it, and it takes time to read them from a device.  So each size is the
    greatest for any number of candidates up to `considered`, and there are as many sizes as rounds that any number has.

    Args:
        considered: the most candidates of a root.
        readouts: the simulations of the whole search.
        done: how many of them are done.
    """
    by_candidates = [rounds_left(candidates, readouts, done) for candidates in range(1, considered + 1)]
    return [max(sizes) for sizes in itertools.zip_longest(*by_candidates, fillvalue=0)]  # by round


def rounds_left(candidates: int, readouts: int, done: int) -> list[int]:
    """Return the sizes of the rounds that end after more than `done` simulations; a size is a number of simulations.

    Args:
        candidates: the number of candidates of the root.
        readouts, done: as in `round_sizes`.
    """
    sizes = []
    end = 0  # simulations until the end of the rounds so far
    while end < readouts:
        _, size = gumbel.due_candidates(candidates, readouts, end)  # at its first simulation: the whole round
        end += size
        if end > done:
            sizes.append(size)
    return sizes
