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
TROMP_TAYLOR_WIN = """
    . X X O O O O O O
    X . X O O . . . O
    . X X O O . . . O
    X . X O O . . . O
    . X X O O . . O O
    X . X O O O O O O
    . X X O O O O O O
    X . X X X X X X X
    X X X X X X X X X
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

    def test_cold_start(self) -> None:
        """AlphaGo.jl: 4 parallel simulations on an empty tree count once, and Q = 0.085 = (0 + 0.17) / 2.

        Here the root's evaluation comes on top of those asked for, and the mean is a plain one.
        """
        player = MCTSPlayer(GO9, DummyNet(GO9, None, 0.17))
        assert player.root_visits == 0
        assert player.root_value == 0
        player.search.expand_roots(np.zeros(1, np.int64))
        assert player.root_visits == 1
        assert player.root_value == pytest.approx(0.17)
        assert player.search.tree.value_sum[0, ROOT] / (1 + player.root_visits) == pytest.approx(0.085)
        assert player.tree_search(4) == 4
        assert player.root_visits == 5
        assert_nothing_pending(player)

    def test_select_leaf(self) -> None:
        """White to play; a prior of 0.4 on D9."""
        priors = np.full(GO9.action_space, 0.02)
        priors[GO9.from_text("D9")] = 0.4
        player = MCTSPlayer(GO9, DummyNet(GO9, priors), leaves=1)
        player.initialize_game(diagrams.position(ALMOST_DONE, env=GO9, komi=0.5, to_play="white"))
        player.tree_search(1)
        assert player.visits()[GO9.from_text("D9")] == 1

    def test_action_flipping(self) -> None:
        """Whoever is to play: with nothing else known the priors decide, and decide the same."""
        priors = 0.02 + 0.001 * np.random.default_rng(1).random(GO9.action_space)
        visits = []
        for colour in ("black", "white"):
            player = MCTSPlayer(GO9, DummyNet(GO9, priors))
            player.initialize_game(GO9.position(to_play=colour))
            player.tree_search(60)
            visits.append(player.visits().tolist())
        assert visits[0] == visits[1]

    def test_do_not_explore_past_finish(self) -> None:
        priors = np.full(GO9.action_space, 1e-6)
        priors[-1] = 1.0
        player = MCTSPlayer(GO9, DummyNet(GO9, priors, 0.5))
        player.tree_search(20)
        player.play_move(GO9.pass_action)
        second_pass = children(player.search.tree, 0, ROOT)[GO9.pass_action]
        assert children(player.search.tree, 0, second_pass) == {}

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

    def test_ridiculously_parallel(self) -> None:
        """More leaves in a wave than there are legal moves."""
        player = almost_done_player(leaves=50)
        for _ in range(10):
            assert player.tree_search() == 50
        assert player.root_visits == 501
        assert_nothing_pending(player)

    def test_long_game(self) -> None:
        """Two plies before the longest game's end Black wins by area, and the search sees it."""
        env = GoEnv(9, max_moves=2)
        player = MCTSPlayer(env, DummyNet(env))
        player.initialize_game(diagrams.position(TROMP_TAYLOR_WIN, env=env, komi=2.5))
        for _ in range(10):
            player.tree_search(8)
        assert player.root_value > 0
        assert_nothing_pending(player)

    def test_failsafe(self) -> None:
        """All simulations run into the end of the game."""
        priors = np.full(GO9.action_space, 0.001)
        priors[-1] = 1
        player = MCTSPlayer(GO9, DummyNet(GO9, priors))
        player.initialize_game(GO9.position().play(GO9.pass_action))
        assert player.tree_search(1) == 1
        assert player.tree_search(300) == 300
        assert_nothing_pending(player)

    def test_two_passes(self) -> None:
        player = MCTSPlayer(GO9, DummyNet(GO9))
        for _ in range(2):
            player.tree_search()
            player.play_move(GO9.pass_action)
        assert player.is_done()
        assert player.result == -1
        assert player.result_string == "W+7.5"
        record = player.game_record()
        assert len(record) == 2
        assert record.outcome == -1

    def test_resignation(self) -> None:
        """Black is ahead on the board, but resigns."""
        player = MCTSPlayer(GO9, DummyNet(GO9))
        player.initialize_game(GO9.position(komi=0.5))
        player.tree_search()
        player.play_move(0)
        player.tree_search()
        player.play_move(GO9.pass_action)
        player.tree_search()
        assert player.result == 1
        player.set_result(-1, was_resign=True)
        assert player.is_done()
        assert player.result == -1
        assert player.result_string == "W+R"
        assert player.game_record().resigned
        assert player.game_record().outcome == -1
