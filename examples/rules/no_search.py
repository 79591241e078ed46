"""Self-play without search: moves are drawn from the policy, and the values that followed make the targets.

A target is the policy with the best sum of three terms: the actions' values q, alpha times its entropy, and -beta times
its distance from the policy pi that played.  It is pi'(a) in proportion to pi(a)^(beta / (alpha + beta)) exp(q(a) /
(alpha + beta)), the update of KLENT (Ota et al. 2026, arXiv 2602.10894).  KLENT learns q for all actions.  The networks
here have a value only, so q of the move played is the lambda-return that followed, and q of other moves the position's
value.  One game says less than a learned q, so `beta` is larger than the paper's 0.1.

    python examples/rules/no_search.py --board-size 7 --processor-minutes 10 --folder runs/no-search
"""

import argparse
from collections.abc import Sequence

import numpy as np

from alphago import GoEnv, train
from alphago.env.batch import GameBatch
from alphago.mcts.kernels.nodes import WAIT
from alphago.mcts.kernels.waves import select_by
from alphago.mcts.rule import Generators, PolicyMoves, SearchRule, SearchSettings, choose_actions
from alphago.mcts.tree import Tree, root_priors
from alphago.records.record import GameRecord
from alphago.system.kernels.jit import inlined
from alphago.system.validation import setting, settings
from alphago.training.targets import lambda_returns, search_policies


@inlined
def choose(tree, game, node, rule):
    """Return WAIT: there are no simulations."""
    return WAIT


@settings
class NoSearch(SearchSettings):
    """Settings of play by the network's policy alone, whatever the number of readouts."""

    def new_rule(self, games: int, actions: int) -> "NoSearchRule":
        return NoSearchRule()


class NoSearchRule(SearchRule):
    """The network's evaluation of the root, and nothing else."""

    keeps_trees = False
    heeds_early = False
    select = staticmethod(select_by(choose))
    parameters = ()

    def add_noise(self, tree: Tree, batch: GameBatch, games: np.ndarray, generators: Generators) -> None:
        """Do nothing: games differ without noise, since moves are drawn."""

    def settled(self, tree: Tree, budget: np.ndarray) -> np.ndarray:
        """Return that all games are ready to move."""
        return np.ones(len(budget), np.bool_)

    def policies(self, tree: Tree, games: np.ndarray) -> np.ndarray:
        return root_priors(tree, games)

    def choose(self, tree: Tree, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        return choose_actions(self.policies(tree, games), by_chance, chance)

    def selfplay_moves(self, tree: Tree, games: np.ndarray, early: np.ndarray, generators: Generators) -> PolicyMoves:
        """Return the policies, from which the targets are made later, and moves drawn from them."""
        chance = np.array([generator.random() for generator in generators])
        return self.policies(tree, games), self.choose(tree, games, np.ones(len(games), np.bool_), chance)


@settings
class Regularized:
    """Targets of games without search."""

    alpha: float = setting("weight of the entropy", default=0.03, least=0)
    beta: float = setting("weight of the distance from the policy that played", default=1.0, positive=True)
    search_share: float = setting("1 - lambda of the returns", default=0.12, least=0, most=1)

    def values(self, record: GameRecord) -> np.ndarray:
        """Return the lambda-return at each of a record's T plies, float32 [T], from the view of the player to move."""
        return lambda_returns(record, self.search_share)

    def policies(self, records: Sequence[GameRecord], plies: Sequence[int]) -> np.ndarray:
        """Return the target pi' at ply `plies[i]` of `records[i]` for each i, float32 [n, A]."""
        policies = search_policies(records, plies) ** (self.beta / (self.alpha + self.beta))
        for row, record, ply in zip(policies, records, plies, strict=True):
            gain = self.values(record)[ply] - record.values[ply]  # of the move played, in the mover's view
            row[record.moves[ply]] *= np.exp(gain / (self.alpha + self.beta))
        return policies / policies.sum(axis=1, keepdims=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--board-size", type=int, default=7)
    parser.add_argument("--processor-minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", default="runs/no-search")
    options = parser.parse_args()
    limits = {"max_processor_minutes": options.processor_minutes, "groups": 1, "device": "cpu"}
    search, targets = NoSearch(), Regularized()
    train(
        GoEnv(options.board_size),
        **limits,
        search=search,
        readouts=1,
        targets=targets,
        seed=options.seed,
        folder=options.folder,
    )


if __name__ == "__main__":
    main()
