"""CGZero's search: moves near the best, noise on the values of leaves, and a c_puct that changes with the ply."""

import math

import numpy as np
import pytest
from kernels import add_value_noise, near_best
from search import CGZeroPuct, ValueNoise

from alphago import GameEnv, GoEnv, OwareEnv, Puct
from alphago.mcts.evaluator import HashEvaluator
from alphago.mcts.kernels.nodes import ROOT
from alphago.mcts.search import Search
from alphago.mcts.tree import new_wave
from tests.mcts.trees import assert_same_tree, children, random_position, run, search_from
from tests.naive.playouts import GOLDEN, mixed, signed
from tests.naive.puct import NaiveSearch, one_by_one

EVENLY = (np.arange(400) + 0.5) / 400


def good(search: Search, game: int, share: float) -> list[int]:
    """The actions near the best, by the scores of all that were visited, in plain Python."""
    tree, own = search.tree, dict[int, float]()
    for action, child in children(tree, game, ROOT).items():
        if visits := int(tree.visits[game, child]):
            own[action] = float(tree.value_sum[game, child]) / visits + math.log(visits + 3)
    return sorted(action for action, score in own.items() if score >= share * max(own.values()))


@pytest.mark.parametrize("share", [0.0, 0.95, 1.0])
@pytest.mark.parametrize("env", [OwareEnv(rules="cgzero"), GoEnv(4)], ids=str)
def test_moves_by_the_formula(env: GameEnv, share: float) -> None:
    random = np.random.default_rng(3)
    positions = [random_position(env, plies, random) for plies in (0, 2, 6, 9)]
    search = search_from(positions, HashEvaluator(), Puct(parent_value_weight=0.0, c_puct=2.0))
    run(search, [1, 17, 60, 200])
    out = np.full((4, env.action_space), 7, np.float32)
    near_best(search.tree, np.arange(4), share, out)
    for game in range(4):
        assert np.flatnonzero(out[game]).tolist() == good(search, game, share)
        assert set(out[game]) <= {0, 1}


def test_each_good_one_is_as_likely_as_another() -> None:
    """Early and late, with and without chance; what is learned are visits."""
    settings = CGZeroPuct(near_best=0.7, c_puct=2.0)
    search = search_from([OwareEnv().position()], HashEvaluator(), settings)
    run(search, 100)
    wanted, visits = good(search, 0, 0.7), search.visits(np.zeros(1, np.int64))
    assert 1 < len(wanted) < 6
    games = np.zeros(len(EVENLY), np.int64)
    for by_chance in (False, True):
        actions = search.choose(games, np.full(len(games), by_chance), EVENLY)
        counts = np.bincount(actions, minlength=6)
        assert np.flatnonzero(counts).tolist() == wanted
        assert counts[wanted] == pytest.approx(400 / len(wanted), abs=1)
    policies, _ = search.selfplay_moves(games[:1], np.ones(1, np.bool_), [np.random.default_rng(0)])
    assert policies == pytest.approx(visits / visits.sum())


def uniform(seed: int, node: int) -> float:
    return (mixed(signed(seed + signed((node + 1) * GOLDEN))) >> 10) / 2**52 - 1


def test_noise_by_the_formula() -> None:
    """Not at roots, not where the game is over, not without a seed, and never beyond -1 .. 1."""
    wave = new_wave(600, 4)
    generator = np.random.default_rng(0)
    wave.game[:] = np.arange(600) // 100
    wave.leaf[:] = generator.integers(0, 30, 600)
    seeds = generator.integers(1, 2**63, 6)
    seeds[3] = 0
    over = generator.random(600) < 0.1
    values = generator.uniform(-1, 1, 600).astype(np.float32)
    before = values.copy()
    add_value_noise(wave, over, ValueNoise(seeds, 0.5), values)
    for i, (game, leaf) in enumerate(zip(wave.game.tolist(), wave.leaf.tolist(), strict=True)):
        wanted = float(before[i])
        if not over[i] and leaf != ROOT and game != 3:
            wanted = min(1.0, max(-1.0, wanted * (1 + 0.5 * uniform(int(seeds[game]), leaf))))
        assert values[i] == np.float32(wanted), i
    assert (values != before).sum() > 350


class TestByPly:
    """c_puct changes with the plies of a game, of each game for itself."""

    @pytest.mark.parametrize(
        ("settings", "wanted"),
        [
            ({"c_puct": 3.0}, [3, 3, 3, 3]),
            ({"c_puct": 2.9, "c_puct_growth": 0.05, "c_puct_limit": 3.0}, [2.9, 2.95, 3.0, 3.0]),
            ({"c_puct": 2.9, "c_puct_growth": 0.05}, [2.9, 2.95, 3.0, 12.9]),
            ({"c_puct": 1, "c_puct_growth": -0.5, "c_puct_limit": 0.25}, [1, 0.5, 0.25, 0.25]),
            ({"c_puct": 1, "c_puct_growth": -0.5}, [1, 0.5, 0, 0]),
            ({"c_puct": 1, "c_puct_limit": 0.25}, [0.25, 0.25, 0.25, 0.25]),
        ],
    )
    def test_values(self, settings: dict, wanted: list[float]) -> None:
        rule = CGZeroPuct(**settings).new_rule(4, 3)
        assert rule.parameters.c_puct == pytest.approx([wanted[0]] * 4)  # at the start of a game
        rule.begin_move(np.arange(4), np.array([0, 1, 2, 200], np.int32))
        assert rule.parameters.c_puct.dtype == np.float64
        assert rule.parameters.c_puct == pytest.approx(wanted)

    def test_each_game_searches_with_its_own_c_puct(self) -> None:
        env = GoEnv(3)
        settings = CGZeroPuct(c_puct=0.5, c_puct_growth=0.25, c_puct_limit=2.0)
        search = search_from([env.position()] * 3, HashEvaluator(), settings)
        search.begin_move(np.arange(3), np.array([0, 2, 50], np.int32))
        run(search, 50)
        for game, c_puct in enumerate((0.5, 1.0, 2.0)):
            twin = NaiveSearch(env.position(), one_by_one(HashEvaluator()), c_puct=c_puct, first_play_reduction=0.2)
            twin.run(50)
            assert_same_tree(search, game, twin)
