"""Searches that go on: a position is searched with the readouts that are missing, and its analysis is the whole one."""

import numpy as np
import pytest

from alphago.env.go import GoEnv
from alphago.mcts.analysis import analyze
from alphago.mcts.evaluator import HashEvaluator
from alphago.mcts.search_forms import make_search
from alphago.ui.why.searches import Searches


class Counting(HashEvaluator):
    """Counts the positions that it evaluates."""

    def __init__(self) -> None:
        self.evaluated = 0

    def evaluate(self, batch, slots, priors, values):
        self.evaluated += len(slots)
        super().evaluate(batch, slots, priors, values)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_search_goes_on(threads):
    env, evaluator = GoEnv(5), Counting()
    searches = Searches(env, evaluator, threads=threads)
    one, other = env.position(), env.position().play("C3")
    first = searches([(one, 20), (other, 40)])
    assert first.visits.sum(axis=1).tolist() == [20, 40]
    before = evaluator.evaluated
    longer = searches([(other, 64), (one, 20)])
    assert longer.visits.sum(axis=1).tolist() == [64, 20]
    assert evaluator.evaluated == before + 24
    assert searches([(other, 30)]).visits.sum() == 64  # what has been found is not thrown away
    at_once = analyze(other, HashEvaluator(), 64, threads=1, settings=make_search(None, 40, leaves=2))
    np.testing.assert_array_equal(longer.visits[0], at_once.visits[0])


def test_a_finished_game_needs_no_search():
    env = GoEnv(5)
    over = env.position().play("pass").play("pass")
    searches = Searches(env, HashEvaluator(), threads=1)
    for readouts in (10, 20):
        assert searches([(over, readouts), (env.position(), 5)]).visits.sum() == 5
