"""Gumbel search: the kernels grow the naive search's trees, and its policy improves every prior."""

import numpy as np
import pytest

from alphago.env.game import GameBatch, GameEnv
from alphago.env.go import GoEnv
from alphago.mcts.evaluator import HashEvaluator
from alphago.mcts.search import Search, SearchSettings, halving_schedules
from examples.tic_tac_toe import TicTacToeEnv
from tests.mcts.games import CountingEnv, tic_tac_toe_value, tic_tac_toe_values
from tests.mcts.trees import ONE, random_position, search_from
from tests.naive.gumbel import NaiveGumbel
from tests.naive.puct import one_by_one

GAMES = [GoEnv(3), GoEnv(5, komi=0.5, max_moves=14), TicTacToeEnv(), CountingEnv(12)]


def test_schedules() -> None:
    assert halving_schedules(4, 16)[4].tolist() == [0] * 4 + [1] * 4 + [2, 2, 3, 3, 4, 4, 5, 5]
    assert halving_schedules(16, 12)[8].tolist() == [0] * 8 + [1] * 4
    assert halving_schedules(16, 3)[1].tolist() == [0, 1, 2]
    assert (np.diff(halving_schedules(20, 60)) >= 0).all()


@pytest.mark.parametrize("settings", [{}, {"considered": 4}, {"c_scale": 2.0, "c_visit": 5.0}], ids=str)
@pytest.mark.parametrize("env", GAMES, ids=str)
def test_same_trees(env: GameEnv, settings: dict) -> None:
    chosen = SearchSettings(gumbel=True, **{"c_scale": 0.1, **settings})
    random = np.random.default_rng(1)
    positions = [random_position(env, plies, random) for plies in (0, 3, 9)]
    search = search_from(positions, HashEvaluator(), chosen)
    search.gumbel[:] = random.gumbel(size=search.gumbel.shape)
    readouts = 32
    search.run(np.full(3, readouts, np.int32))
    policies, actions = search.improved(np.arange(3))
    for game, position in enumerate(positions):
        numbers = {name: getattr(chosen, name) for name in ("considered", "c_visit", "c_scale")}
        twin = NaiveGumbel(position, one_by_one(HashEvaluator()), search.gumbel[game], **numbers)
        twin.run(readouts)
        assert np.array_equal(search.visits(np.array([game]))[0], twin.visits())
        improved = np.zeros(env.action_space)
        for action, probability in twin.improved(twin.root).items():
            improved[action] = probability
        assert policies[game] == pytest.approx(improved, abs=1e-5)
        most = max(child.visits for child in twin.root.children.values())
        finalists = [action for action, child in twin.root.children.items() if child.visits == most]
        assert actions[game] == max(finalists, key=twin.root_score)


class Solved:
    """Tic-tac-toe's true values, and a random prior."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        mask = batch.legal_mask(slots, np.empty(priors.shape, np.bool_))
        priors[:] = np.where(mask, self.random.dirichlet(np.full(priors.shape[1], 0.3), len(slots)) + 1e-6, 0)
        priors /= priors.sum(axis=1, keepdims=True)
        for i, slot in enumerate(slots):
            position = batch.env.position_of(batch, int(slot))
            values[i] = tic_tac_toe_value(squares(position), position.to_play)


def squares(position: object) -> tuple[int, ...]:
    own, enemy = position.planes().reshape(-1, 9)[:2]  # type: ignore[attr-defined]
    return tuple(int(x) for x in (own - enemy) * position.to_play)  # type: ignore[attr-defined]


@pytest.mark.parametrize("readouts", [2, 4, 9])
def test_policies_improve_under_any_prior(readouts: int) -> None:
    """Where values are true, neither the improved policy nor the action chosen is worth less than the prior."""
    env = TicTacToeEnv()
    random = np.random.default_rng(5)
    chosen_values, prior_values = [], []
    for seed in range(60):
        position = random_position(env, int(random.integers(0, 6)), random)
        search = search_from([position], Solved(seed), SearchSettings(gumbel=True, considered=9))
        search.gumbel[:] = random.gumbel(size=search.gumbel.shape)
        search.expand_roots(ONE)
        prior = search.tree.waiting[0, 0].copy()
        search.run(np.array([min(readouts, int(position.legal_mask.sum()))], np.int32))
        policy, action = search.improved(ONE)
        truth = np.zeros(9)
        for square, value in tic_tac_toe_values(squares(position), position.to_play).items():
            truth[square] = value
        assert policy[0].sum() == pytest.approx(1, abs=1e-5)
        if readouts == 9:  # every action was visited once, so every value is known
            assert policy[0] @ truth >= prior @ truth - 1e-5
            assert truth[action[0]] == truth[position.legal_mask].max()
        chosen_values.append(truth[action[0]])
        prior_values.append(prior @ truth)
    assert np.mean(chosen_values) >= np.mean(prior_values) + 0.05


def test_more_readouts_than_before_grow_the_arrays() -> None:
    env = GoEnv(3)
    search = Search(env, HashEvaluator(), 2, SearchSettings(gumbel=True))
    search.run(np.array([500, 0], np.int32))
    assert search.visits(np.arange(2)).sum(axis=1).tolist() == [500, 0]
