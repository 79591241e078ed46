"""Waves, growth, tree reuse, virtual loss, noise, and what happens when an evaluator is broken."""

from types import SimpleNamespace

import numpy as np
import pytest

from alphago import GameBatch, GameEnv, GoEnv, NeuralNet, Position, Puct, analyze, evaluate, selfplay
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.mcts.evaluator import FunctionEvaluator, HashEvaluator, as_evaluator
from alphago.mcts.kernels.nodes import ROOT
from alphago.mcts.search import leaves_for
from tests.mcts.trees import ONE, Counting, assert_same, random_position, run, search_from

GO, TIC_TAC_TOE = GoEnv(5), TicTacToeEnv()


def positions(env: GameEnv, *plies: int) -> list:
    random = np.random.default_rng(0)
    return [random_position(env, count, random) for count in plies]


class TestManyGames:
    def test_the_evaluator_sees_leaves_only(self) -> None:
        """One call per wave, never an empty one, never a game that is over."""
        search = search_from(positions(TIC_TAC_TOE, 0, 7), Counting(), Puct())
        run(search, [20, 20])
        calls = search.evaluator.sizes
        assert calls[:2] == [2, 2]
        assert set(calls) == {1, 2}
        calls.clear()
        search.expand_roots(np.arange(2))
        assert calls == []

    @pytest.mark.parametrize(
        ("games", "readouts", "leaves"),
        [(1, 800, 8), (1, 32, 2), (1, 1, 1), (12, 800, 8), (24, 800, 5), (64, 800, 2), (128, 800, 1)],
    )
    def test_few_games_look_at_more_leaves(self, games: int, readouts: int, leaves: int) -> None:
        assert leaves_for(games, readouts) == leaves


@pytest.mark.parametrize("leaves", [1, 4])
def test_a_tree_that_grows_is_the_same(leaves: int) -> None:
    """Arrays begin with 64 nodes a game; the other search has room for all from the start."""
    small, large = (search_from(positions(GO, 0, 7), HashEvaluator(), Puct(leaves=leaves)) for _ in range(2))
    large.make_room(4000)
    assert small.tree.parent.shape == (2, 64)
    for readouts in ([40, 10], [300, 0], [0, 300], [900, 1]):
        assert np.array_equal(run(small, readouts), run(large, readouts))
    assert 64 < small.tree.parent.shape[1] < 5000
    assert_same(small, large)


@pytest.mark.parametrize(
    ("readouts", "weight", "alpha"), [(0, 0.25, 0.5), (12, 0.25, 0.5), (0, 0.0, 0.5), (0, 1.0, None)]
)
def test_noise_is_mixed_in_exactly_and_on_legal_actions_only(readouts: int, weight: float, alpha: float | None) -> None:
    """By itself alpha is scaled by the number of actions; AlphaGo.jl: 0.03 * 361 / actions, 0.0299 on 19x19."""
    many = positions(GO, 3, 9)
    search = search_from(many, HashEvaluator(), Puct(dirichlet_weight=weight, dirichlet_alpha=alpha))
    search.expand_roots(np.arange(2))
    if readouts:
        run(search, readouts)
    before = search.priors(np.arange(2))
    search.add_noise(np.arange(2), [np.random.default_rng([7, game]) for game in range(2)])
    for game, position in enumerate(many):
        scale = alpha or 0.03 * 361 / 26
        drawn = np.random.default_rng([7, game]).standard_gamma(scale, position.legal_mask.sum())
        noise = np.zeros(26)
        noise[position.legal_mask] = drawn / drawn.sum()
        after = search.priors(np.array([game]))[0]
        assert after == pytest.approx((1 - weight) * before[game] + weight * noise, abs=1e-6)
        assert after.sum() == pytest.approx(1, abs=1e-5)
        assert (after[~position.legal_mask] == 0).all()
        assert search.tree.next_action[game, ROOT] == search.tree.waiting[game, ROOT].argmax()


class Broken(HashEvaluator):
    """Fine for a while, then not; `harm` changes what the hash evaluator gave."""

    def __init__(self, harm) -> None:
        self.calls = 0
        self.harm = harm

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        super().evaluate(batch, slots, priors, values)
        self.calls += 1
        if self.calls == 5:
            self.harm(priors, values)


def interrupt(priors: np.ndarray, values: np.ndarray) -> None:
    raise KeyboardInterrupt("interrupted")


HARMS = {
    "interrupt": interrupt,
    "not a number": lambda priors, values: values.put(0, np.nan),
    "infinite": lambda priors, values: values.put(0, np.inf),
    "no priors": lambda priors, values: priors.fill(0),
    "priors not numbers": lambda priors, values: priors.fill(np.nan),
    "beyond one": lambda priors, values: values.put(0, -7),
}


@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS)
def test_a_broken_evaluator_is_named_and_the_search_goes_on_after_it(harm) -> None:
    """No half-changed tree is left, and nothing of the broken evaluation."""
    search = search_from(positions(GO, 0, 3), Broken(harm), Puct(leaves=2))
    sentence = r"Broken returned no usable evaluation of . of . positions: .*finite|interrupted"
    with pytest.raises((ValueError, KeyboardInterrupt), match=sentence):
        run(search, 20)
    fresh = search_from(positions(GO, 0, 3), HashEvaluator(), Puct(leaves=2))
    assert np.array_equal(run(search, 30), run(fresh, 30))


class TestEvaluators:
    def test_a_function_speaks_blacks_view_and_may_forget_legal_moves(self) -> None:
        """Its policy is masked; an action that it gives nothing stays possible."""
        evaluator = FunctionEvaluator(lambda position: (np.eye(26)[3:4], np.array([0.5])))
        for plies, sign in ((0, 1), (1, -1)):
            position = positions(GO, plies)[0]
            priors, values = np.empty((1, 26), np.float32), np.empty(1, np.float32)
            evaluator.evaluate(position.batch, ONE, priors, values)
            assert values[0] == 0.5 * sign
            assert priors[0, 3] > 0.99
            assert ((priors[0] > 0) == position.legal_mask).all()

    @pytest.mark.parametrize("env", [GO, TIC_TAC_TOE], ids=str)
    def test_a_function_knows_the_moves(self, env: GameEnv) -> None:
        """At a leaf below a position of a game, in self-play with its set-ups, in a match and without a search."""
        seen: list[Position] = []

        def read(position: Position) -> tuple[np.ndarray, float]:
            again = env.position(**position.setup).after(position.moves, position.movers)
            assert np.array_equal(again.planes(), position.planes())
            seen.append(position)
            return np.ones(env.action_space), 0.0

        played = env.position().play(4).play(0)
        analyze(played, read, 0)
        analyze(played, read, 20, threads=1)
        assert {position.moves[:2] for position in seen} == {(4, 0)}
        assert max(len(position.moves) for position in seen) > 3
        seen.clear()
        selfplay(env, read, readouts=4, num_games=2, seed=0)
        assert max(len(position.moves) for position in seen) > 4
        seen.clear()
        evaluate(env, read, "random", num_games=2, readouts=(0, 0))
        assert max(len(position.moves) for position in seen) > 2

    def test_as_evaluator_takes_a_network_an_evaluator_or_a_function(self) -> None:
        class Network:
            def evaluator(self) -> HashEvaluator:
                return own

        own = HashEvaluator()
        assert as_evaluator(Network()) is as_evaluator(Network(), device="auto") is own
        assert as_evaluator(own) is own
        bare = SimpleNamespace(evaluate=own.evaluate)  # says nothing of a device
        assert as_evaluator(bare) is bare
        assert np.array_equal(*(run(search_from(positions(GO, 3), as_evaluator(e), Puct()), 20) for e in (own, bare)))
        assert isinstance(as_evaluator(lambda position: None), FunctionEvaluator)

    def test_a_size_free_network_of_another_board_is_resized(self) -> None:
        net = NeuralNet(GO, tower_height=0, channels=4)
        assert as_evaluator(net, GoEnv(7)).env == GoEnv(7)
        assert as_evaluator(net, GoEnv(5, komi=0.5)).env == GO  # the same board: nothing to do
        assert as_evaluator(net).env == GO
