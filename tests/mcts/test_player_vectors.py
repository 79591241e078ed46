"""AlphaGo.jl's test vectors of its search, where they carry over to `MCTSPlayer`.

AlphaGo.jl's tree counts the parent's value as one more visit in every mean, the root's included.
Here the seeded mean only chooses among actions: `root_value` and `describe` show plain means.  Its
double pass that is always explored first has no counterpart here.
"""

import numpy as np
import pytest

from alphago.env.go import GoEnv
from alphago.mcts.kernels.nodes import ROOT
from alphago.mcts.player import MCTSPlayer
from tests import diagrams
from tests.mcts.games import DummyNet
from tests.mcts.trees import children
from tests.naive.puct import NaiveSearch, one_by_one

GO9 = GoEnv(9)

# Of AlphaGo.jl's test_mcts.jl and test_mcts_player.jl, which have it from minigo.
ALMOST_DONE = """
    . X O . X O . O O
    X . X X O O O O .
    X X X X X O O O O
    X X X X X O O O O
    . X X X X O O O .
    X X X X X O O O O
    . X X X X O O O .
    X X X X X O O O O
    X X X X O O O O O
"""


def almost_done_player(**options) -> MCTSPlayer:
    """Priors on some points along the top and on the pass."""
    priors = np.full(GO9.action_space, 0.001)
    priors[[2, 3, 4, -1]] = 0.2
    player = MCTSPlayer(GO9, DummyNet(GO9, priors), **options)
    player.initialize_game(diagrams.position(ALMOST_DONE, env=GO9, komi=2.5))
    return player


def value_of(player: MCTSPlayer, action: int) -> float:
    """The mean of the values backed up to a move of the root, its mover's view."""
    tree, child = player.search.tree, children(player.search.tree, 0, ROOT)[action]
    return float(tree.value_sum[0, child] / tree.visits[0, child])


def assert_nothing_pending(player: MCTSPlayer) -> None:
    assert not player.search.tree.virtual.any()


class TestVectorsOfAlphaGoJl:
    def test_backup_values(self) -> None:
        """White to play; the leaf is worth -1 (White wins), the one below it -0.2.

        AlphaGo.jl's Q, which is the mean that chooses: -0.5 after the leaf, then -0.4, below it -0.6;
        and its Q of the root, -1/3 and -0.3, if one more visit worth 0 is counted there.
        """
        start = diagrams.position(ALMOST_DONE, env=GO9, komi=0.5, to_play="white")
        player = MCTSPlayer(GO9, DummyNet(GO9, None, 0.0, -1.0, -0.2), leaves=1)
        player.initialize_game(start)
        twin = NaiveSearch(start, one_by_one(MCTSPlayer(GO9, DummyNet(GO9, None, 0.0, -1.0, -0.2)).search.evaluator))
        assert player.tree_search(1) == 1
        twin.run(1)
        leaf = int(player.visits().argmax())
        assert player.root_visits == twin.root.visits == 2
        assert player.visits()[leaf] == 1
        assert value_of(player, leaf) == 1  # for White
        assert player.root_value == pytest.approx(0.5)
        assert -player.root_value * 2 / 3 == pytest.approx(-1 / 3)

        def chosen_by(node, action: int) -> float:
            """The mean in the choice, without the term that explores; Black's view."""
            twin.c_puct = 0.0
            mean = node.mover * twin.score(node, action)
            twin.c_puct = 0.96
            return mean

        assert chosen_by(twin.root, leaf) == -0.5
        player.tree_search(1)
        twin.run(1)
        assert player.visits()[leaf] == 2  # the leaf was a win for White, so White looks there again
        assert np.array_equal(player.visits(), twin.visits())
        assert player.root_visits == 3
        assert -player.root_value * 3 / 4 == pytest.approx(-0.3)
        assert chosen_by(twin.root, leaf) == pytest.approx(-0.4)
        (below,) = twin.root.children[leaf].children
        assert chosen_by(twin.root.children[leaf], below) == pytest.approx(-0.6)

    @pytest.mark.parametrize("parallel", [1, 8, 10])
    def test_do_not_pass_if_losing(self, parallel: int) -> None:
        """Black is behind by half a point; D9 is the only move that wins."""
        player = almost_done_player(leaves=parallel)
        assert player.position.score() == -0.5
        for _ in range(160 // parallel):
            player.tree_search(parallel)
        best = int(player.visits().argmax())
        assert GO9.to_text(best) == "D9"
        assert value_of(player, best) > 0
        assert value_of(player, GO9.pass_action) < 0
        assert player.root_visits > 20
        assert_nothing_pending(player)
