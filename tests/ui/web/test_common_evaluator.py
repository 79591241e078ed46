"""Common batches: the answers are those of the evaluator itself, whoever asks at the same time."""

import threading

import numpy as np
import pytest

from alphago.env.batch import GameBatch
from alphago.env.connect_four import ConnectFourEnv
from alphago.env.go import GoEnv
from alphago.env.gomoku import GomokuEnv
from alphago.mcts.evaluator import Forecaster, HashEvaluator
from alphago.mcts.playout_evaluator import PlayoutEvaluator
from alphago.nn.net import NeuralNet
from alphago.ui.web.common_evaluator import MOST_ROWS, CommonEvaluator, Turns

PATIENCE = 120.0
ENV = GoEnv(5)


class Slow(HashEvaluator):
    """An evaluator that holds the first batch until it is let go, so that others gather meanwhile."""

    def __init__(self, fails: bool = False) -> None:
        self.entered, self.go = threading.Event(), threading.Event()
        self.sizes: list[int] = []
        self.fails = fails

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        self.sizes.append(len(slots))
        self.entered.set()
        assert self.go.wait(PATIENCE)
        if self.fails:
            raise ValueError("no more")
        super().evaluate(batch, slots, priors, values)


def boards(count: int, first: int) -> GameBatch:
    batch = ENV.new_batch(count)
    for slot in range(count):
        batch.play(np.array([slot]), np.array([first + slot], np.int32))
    return batch


def asked(evaluator: CommonEvaluator, batch: GameBatch, outputs: list[object]) -> threading.Thread:
    def work() -> None:
        priors, values = np.empty((batch.count, ENV.action_space), np.float32), np.empty(batch.count, np.float32)
        try:
            evaluator.evaluate(batch, np.arange(batch.count), priors, values)
            outputs.append((priors, values))
        except ValueError as error:
            outputs.append(str(error))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


@pytest.mark.parametrize("fails", [False, True])
def test_what_gathers_is_computed_together(fails: bool) -> None:
    """One lane is busy with the first; the other four, of 2 to 5 positions, are one batch of 14."""
    inner = Slow(fails)
    common = CommonEvaluator(ENV, inner, lanes=1)
    batches = [boards(count, 3 * count) for count in range(1, 6)]
    outputs: list[list[object]] = [[] for _ in batches]
    threads = [asked(common, batches[0], outputs[0])]
    assert inner.entered.wait(PATIENCE)
    threads += [asked(common, batch, out) for batch, out in zip(batches[1:], outputs[1:], strict=True)]
    deadline = threading.Event()
    while len(common.waiting) < 4:
        deadline.wait(0.01)
    inner.go.set()
    for thread in threads:
        thread.join(PATIENCE)
    assert inner.sizes == [1, 14]
    for batch, out in zip(batches, outputs, strict=True):
        if fails:
            assert out == ["no more"]
            continue
        priors, values = np.empty((batch.count, ENV.action_space), np.float32), np.empty(batch.count, np.float32)
        HashEvaluator().evaluate(batch, np.arange(batch.count), priors, values)
        ((own_priors, own_values),) = out
        np.testing.assert_array_equal(own_priors, priors)
        np.testing.assert_array_equal(own_values, values)
    assert common.busy == 0
    assert common.positions == 15


def test_a_batch_has_an_end() -> None:
    inner = Slow()
    inner.go.set()
    common = CommonEvaluator(ENV, inner, lanes=1)
    common.busy = 1
    threads = [asked(common, boards(20, 0), []) for _ in range(5)]
    waiting = threading.Event()
    while len(common.waiting) < 5:
        waiting.wait(0.01)
    with common.lock:  # as a thread does that has computed a batch
        first = common.waiting.pop(0)
    first.turn.release()
    for thread in threads:
        thread.join(PATIENCE)
    assert sorted(inner.sizes) == [40, 60]
    assert max(inner.sizes) <= MOST_ROWS


def test_turns_are_taken_in_order_by_at_most_so_many() -> None:
    turns = Turns(2)
    inside: list[int] = []
    leave = [threading.Event() for _ in range(6)]

    def work(number: int) -> None:
        with turns:
            inside.append(number)
            assert leave[number].wait(PATIENCE)

    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(6)]
    pause = threading.Event()
    for number, thread in enumerate(threads):
        thread.start()
        while len(inside) + len(turns.waiting) <= number:
            pause.wait(0.001)
    assert inside == [0, 1]
    for number, thread in enumerate(threads):
        leave[number].set()
        thread.join(PATIENCE)
        while len(inside) < min(number + 3, 6):
            pause.wait(0.001)
        assert inside == list(range(min(number + 3, 6)))
    assert turns.free == 2


def test_forecasts_are_passed_on() -> None:
    net = NeuralNet(ENV, tower_height=1, channels=8)
    inner = net.forecast_evaluator()
    common = CommonEvaluator(ENV, inner, lanes=2)
    assert isinstance(common, Forecaster)
    assert common.makes_forecasts
    batch, slots = boards(3, 4), np.arange(3)

    def outputs(evaluator: object) -> list[np.ndarray]:
        out = [np.empty(shape, np.float32) for shape in ((3, 26), 3, 3, (3, 25))]
        evaluator.evaluate_forecasts(batch, slots, out[0], out[1], (out[2], out[3]))  # type: ignore[attr-defined]
        return out

    for own, common_one in zip(outputs(inner), outputs(common), strict=True):
        np.testing.assert_array_equal(own, common_one)
    with pytest.raises(ValueError, match="symmetries must be"):
        common.evaluate_forecasts(batch, slots, np.empty((3, 26)), np.empty(3), None, (0, 1))


def test_playouts_find_a_sure_win_from_either_side() -> None:
    """With one in a row the mover wins at once; with two in a row on a line of three points nothing is sure."""
    env = GomokuEnv(3, 1, 3)
    batch, slots = env.new_batch(2), np.arange(2)
    priors, values = np.empty((2, 9), np.float32), np.empty(2, np.float32)
    PlayoutEvaluator(env, playouts=3, seed=1).evaluate(batch, slots, priors, values)
    assert values.tolist() == [1, 1]
    np.testing.assert_allclose(priors, 1 / 9)
    four = ConnectFourEnv()
    lost = four.position().batch  # Black has three in column A, and White, to move, three in B: it wins in one
    for action in (0, 1, 0, 1, 0, 1, 6):
        lost.play(np.zeros(1, np.int64), np.array([action], np.int32))
    priors, values = np.empty((1, 7), np.float32), np.empty(1, np.float32)
    PlayoutEvaluator(four, playouts=200, seed=1).evaluate(lost, np.zeros(1, np.int64), priors, values)
    assert -1 < values[0] < 1


def test_playouts_do_not_depend_on_what_is_beside_them() -> None:
    env = ConnectFourEnv()
    batch, priors = env.new_batch(3), np.empty((3, 7), np.float32)
    batch.play(np.array([1]), np.array([3], np.int32))
    evaluator, together, alone = PlayoutEvaluator(env, playouts=9, seed=1), *np.empty((2, 3), np.float32)
    evaluator.evaluate(batch, np.arange(3), priors, together)
    for slot in range(3):
        evaluator.evaluate(batch, np.array([slot]), priors[:1], alone[slot : slot + 1])
    assert alone.tolist() == together.tolist()
    assert together[0] == together[2]


def test_playouts_pass_only_where_they_must() -> None:
    env = GoEnv(5).match_variant()
    legal = np.zeros((2, 26), np.bool_)
    legal[:, 25] = legal[0, 3] = True
    for seed in range(20):
        drawn = PlayoutEvaluator(env).draw(legal.copy(), np.array([seed, seed], np.uint64))
        assert drawn.tolist() == [3, 25]
