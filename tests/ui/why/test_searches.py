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
    first = searches([([one], 20), ([other], 40)])
    assert first.visits.sum(axis=1).tolist() == [20, 40]
    before = evaluator.evaluated
    longer = searches([([other], 64), ([one], 20)])
    assert longer.visits.sum(axis=1).tolist() == [64, 20]
    assert evaluator.evaluated == before + 24
    assert searches([([other], 30)]).visits.sum() == 64  # what has been found is not thrown away
    at_once = analyze(other, HashEvaluator(), 64, threads=1, settings=make_search(None, 40, leaves=2))
    np.testing.assert_array_equal(longer.visits[0], at_once.visits[0])


def test_it_goes_on_below_a_move():
    env, evaluator = GoEnv(5), Counting()
    searches = Searches(env, evaluator, threads=1)
    position = env.position()
    found = searches([([position], 40)])
    best = found.best(0)
    after, before, visits = position.play(best), evaluator.evaluated, int(found.visits[0, best])
    searches.continue_below(position, best, after)
    below = searches([([after], 40)])
    assert below.visits.sum() == 40
    assert below.raw_value[0] == analyze(after, HashEvaluator(), 1).raw_value[0]
    assert evaluator.evaluated - before == 40 - (visits - 1)  # the move's first visit is the evaluation of its node
    again = searches([([position], 40)])
    np.testing.assert_array_equal(again.visits, found.visits)  # as it was
    least = int(np.flatnonzero(found.visits[0] == 0)[0])
    never = position.play(least)
    searches.continue_below(position, least, never)
    assert searches([([never], 20)]).visits.sum() == 20


def test_several_positions_are_searched_as_each_of_them_alone():
    env = GoEnv(5)
    positions = [env.position(), env.position().play("C3"), env.position().play("A1")]
    together = Searches(env, HashEvaluator(), threads=1)([(positions, 12)])
    for row, position in enumerate(positions):
        settings = make_search(None, 12, leaves=1)
        alone = analyze(position, HashEvaluator(), 12, settings=settings)
        np.testing.assert_array_equal(together.visits[row], alone.visits[0])


def test_a_finished_game_needs_no_search():
    env = GoEnv(5)
    over = env.position().play("pass").play("pass")
    searches = Searches(env, HashEvaluator(), threads=1)
    for readouts in (10, 20):
        assert searches([([over, env.position()], readouts), ([env.position()], 5)]).visits.sum() == readouts + 5
