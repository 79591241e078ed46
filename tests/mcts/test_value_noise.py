"""Noise on the values of leaves: by its formula, from the game's own stream, and on leaves alone."""

import numpy as np
import pytest

from alphago.env.batch import GameBatch
from alphago.env.go import GoEnv
from alphago.mcts.evaluator import HashEvaluator, UniformEvaluator
from alphago.mcts.kernels.nodes import ROOT
from alphago.mcts.kernels.value_noise import add_value_noise
from alphago.mcts.player import MCTSPlayer
from alphago.mcts.search import Search, SearchSettings, ValueNoise
from alphago.mcts.tree import new_wave
from alphago.records.record import GameRecord
from alphago.training.selfplay import selfplay
from tests.mcts.trees import run, search_from

GO = GoEnv(3, komi=0.5)
MASK = 2**64 - 1


def signed(x: int) -> int:
    return (x & MASK) - (2**64 if x & 2**63 else 0)


def mixed(x: int) -> int:
    """SplitMix64's finaliser with signed shifts, in integers without end."""
    x = signed((x ^ (x >> 30)) * -4658895280553007687)
    x = signed((x ^ (x >> 27)) * -7723592293110705685)
    return x ^ (x >> 31)


def uniform(seed: int, node: int) -> float:
    return (mixed(signed(seed + signed((node + 1) * -7046029254386353131))) >> 10) / 2**52 - 1


def test_by_the_formula() -> None:
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


def test_it_is_uniform() -> None:
    drawn = np.array([uniform(seed, node) for seed in range(1, 60) for node in range(1, 60)])
    assert drawn.min() >= -1
    assert drawn.max() < 1
    counts = np.histogram(drawn, 20, (-1, 1))[0]
    assert ((counts - len(drawn) / 20) ** 2 / (len(drawn) / 20)).sum() < 60  # 19 degrees of freedom


def games(**settings: object) -> list[GameRecord]:
    given = {"groups": 1, "opening_plies": 0, "seed": 5, **settings}
    search = given.pop("search", SearchSettings(value_noise=0.4))
    return selfplay(GO, HashEvaluator(), 12, 6, search=search, device="cpu", **given)


@pytest.mark.parametrize("gumbel", [False, True])
def test_games_depend_on_seed_and_number_only(gumbel: bool) -> None:
    search = SearchSettings(value_noise=0.4, gumbel=gumbel)
    wanted = games(search=search)
    for other in (games(search=search, games_in_flight=1), games(search=search, groups=3)):
        for one, two in zip(wanted, other, strict=True):
            assert np.array_equal(one.moves, two.moves)
            assert np.array_equal(one.values, two.values)
    quiet = games(search=SearchSettings(gumbel=gumbel))
    assert any(not np.array_equal(one.values, two.values) for one, two in zip(wanted, quiet, strict=True))


def searched(settings: SearchSettings, noise: bool) -> Search:
    search = search_from([GO.position()] * 2, HashEvaluator(), settings)
    search.expand_roots(np.arange(2))
    if noise:
        search.add_noise(np.arange(2), [np.random.default_rng(game) for game in range(2)])
    run(search, 40)
    return search


def test_only_where_there_is_noise() -> None:
    """A search without noise, a player's, has the network's values."""
    noisy, plain = SearchSettings(value_noise=0.5, dirichlet_weight=0.0), SearchSettings(dirichlet_weight=0.0)
    one, two, three = searched(noisy, False), searched(plain, True), searched(noisy, True)
    assert np.array_equal(one.tree.value_sum, two.tree.value_sum)
    assert not np.array_equal(one.tree.value_sum, three.tree.value_sum)
    assert np.array_equal(one.tree.value[:, ROOT], three.tree.value[:, ROOT])
    assert not np.array_equal(three.tree.value[0, 1:20], three.tree.value[1, 1:20])
    moves = [MCTSPlayer(GO, HashEvaluator(), 30, settings=one, seed=1).suggest_move() for one in (noisy, plain)]
    assert moves[0] == moves[1]


def test_a_broken_value_is_still_noticed() -> None:
    class Broken(UniformEvaluator):
        def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
            super().evaluate(batch, slots, priors, values)
            values[:] = 1.5 if batch.planes(slots, np.empty((len(slots), 16, 3, 3), np.float32))[:, :2].any() else 0

    search = search_from([GO.position()], Broken(), SearchSettings(value_noise=0.9))
    search.expand_roots(np.zeros(1, np.int64))
    search.add_noise(np.zeros(1, np.int64), [np.random.default_rng(0)])
    with pytest.raises(ValueError, match="every value must be finite, from -1 to 1"):
        run(search, 5)


@pytest.mark.parametrize("spread", [-0.1, 1.1, None])
def test_impossible_spreads(spread: float) -> None:
    with pytest.raises(ValueError, match="value_noise must be a number from 0 to 1, got"):
        SearchSettings(value_noise=spread)
