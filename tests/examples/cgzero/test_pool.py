"""The pool: generations, what leaves, what is drawn, and that a run with one goes on to the bit."""

import itertools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from merged import canonical_inputs
from pool import Pool, SamplePool, draw_subset
from rates import GenerationRates

from alphago import GoEnv, OwareEnv
from alphago.training.targets import LambdaReturns
from tests.mcts.games import CountingEnv
from tests.training.small_runs import RandomGames, go_on, run, run_killed, same

GO, COUNTERS = GoEnv(3, komi=0.5), CountingEnv(9)
SMALL = Pool(positions=30, subset=60, epochs=2)


def new_pool(env: Any, settings: Pool = SMALL, *, masked: bool = False) -> SamplePool:
    return settings.make_memory(env, targets=LambdaReturns(0.0), masked=masked, start=0, seed=5)


def filled(env: Any, generations: int, settings: Pool = SMALL) -> SamplePool:
    """A pool at the beginning of a generation's learning, of games of random moves."""
    pool = new_pool(env, settings)
    games = map(RandomGames(env, None, range(0), None).game, itertools.count())
    for _ in range(generations):
        while not pool.is_due:
            pool.add([next(games)])
        pool.begin_generation()
    return pool


def test_cgzeros_are_the_defaults() -> None:
    pool, rates = Pool(positions=350_000 // 3), GenerationRates()
    assert (pool.subset_size, pool.max_size) == (349_998, 3_499_980)
    assert [pool.weight(age) for age in (0, 1, 10, 17, 18, 500)] == pytest.approx([1, 0.98, 0.8, 0.66, 0.65, 0.65])
    assert [pool.passes(generation) for generation in (0, 1, 18, 19, 20, 99)] == [1, 2, 19, 20, 20, 20]
    assert [rates.factor(generation) for generation in (0, 1, 4, 5, 9, 10, 99)] == [8, 6, 6, 2, 2, 1, 1]


def test_tiers_of_a_subset() -> None:
    """The first fifth comes whole, the next from the first two fifths by count, the rest from anywhere."""
    counts = np.random.default_rng(1).permutation(1000).astype(float)
    rank = np.empty(1000, np.int64)
    rank[np.argsort(-counts)] = np.arange(1000)
    often = Counter[int]()
    for seed in range(200):
        chosen = draw_subset(counts, 200, np.random.default_rng(seed))
        assert len(set(chosen.tolist())) == 200
        assert (np.diff(chosen) > 0).all()
        often.update(rank[chosen].tolist())
    assert all(often[place] == 200 for place in range(40))
    middle, rest = (np.mean([often[place] for place in part]) / 200 for part in (range(40, 400), range(400, 1000)))
    assert rest == pytest.approx(120 / 920, abs=0.02)
    assert middle == pytest.approx(40 / 360 + 120 / 920 * 320 / 360, abs=0.02)


@pytest.mark.parametrize("env", [GO, COUNTERS, OwareEnv()], ids=str)
def test_each_input_once_an_epoch(env: Any) -> None:
    """In another order each time; and a batch may end one epoch and begin the next."""
    pool = filled(env, 2, Pool(positions=60, subset=40, epochs=3))
    size = len(pool.subset.value)
    assert size <= 40
    batches = [pool.batch(number, 7, np.random.default_rng(number)) for number in range(-(-2 * size // 7))]
    keys = [key for sample in batches for key in canonical_inputs(env, sample.planes)[1]]
    first, second = keys[:size], keys[size : 2 * size]
    assert len(set(first)) == size
    assert (sorted(first) == sorted(second), first == second) == (True, False)


def test_generations_that_leave() -> None:
    """The first in time, and the oldest of a pool that is too large, but never the newest."""
    settings = Pool(positions=30, first_until=3)
    kept = [[layer.generation for layer in filled(GO, count, settings).layers] for count in range(1, 6)]
    assert kept == [[0], [0, 1], [0, 1, 2], [1, 2, 3], [1, 2, 3, 4]]
    pool = filled(GO, 5, settings)
    assert [entry for layer in pool.layers for entry in layer.entries] == list(pool.records.entries)
    rows = len(filled(GO, 1).layers[0].samples)
    pool = filled(GO, 6, Pool(positions=30, size=3 * rows, first_until=None))
    assert 1 <= len(pool.layers) < 5
    assert pool.metrics()["merged_samples"] <= 3 * rows
    assert [layer.generation for layer in filled(GO, 3, Pool(positions=30, size=1)).layers] == [2]


def test_a_state_to_the_bit_and_without_its_oldest_games() -> None:
    """Within a generation's learning, with games of the next one played already."""
    pool = filled(GO, 4)
    pool.add([RandomGames(GO, None, range(0), None, seed=9).game(number) for number in range(3)])
    state = json.loads(json.dumps(pool.state()))
    records = [entry.records[0] for entry in pool.records.entries]
    again = new_pool(GO)
    again.restore(records, state)
    assert json.dumps(again.state()) == json.dumps(pool.state())
    for number in (0, 2, 7):
        batches = [one.batch(number, 16, np.random.default_rng(number)) for one in (again, pool)]
        assert all(np.array_equal(mine, yours) for mine, yours in zip(*batches, strict=True))
    assert again.begin_generation() == pool.begin_generation()
    damaged = new_pool(GO)
    damaged.restore(records[state["layers"][0][1] :], state)
    assert [layer.generation for layer in damaged.layers] == [1, 2, 3]


def test_a_run_goes_on_to_the_bit(tmp_path: Path) -> None:
    """All epochs of a generation at once, with its learning rate; and from within a game or an epoch."""
    rates = GenerationRates(((0, 8.0), (1, 2.0), (2, 1.0)))
    pooled = {"memory": Pool(60, subset=90, epochs=2), "judges": [rates], "schedule": "constant", "batch_size": 8}
    settings = {**pooled, "num_games": 20, "ckp_freq": 100}
    net, listener = run(tmp_path / "whole", **settings)
    assert {row["generation"] for row in listener.rows} >= {-1, 0, 1}
    for before, after in itertools.pairwise(listener.rows):
        assert (after["steps"] > before["steps"]) == (after["generation"] > before["generation"])
        warm = min(1.0, (after["steps"] + 1) / 200)
        if after["steps"] > before["steps"]:  # other rows have the next generation's rate
            assert after["learning_rate"] == pytest.approx(2e-3 * rates.factor(after["generation"]) * warm)
    run_killed(tmp_path / "killed", 50, **settings)
    again, _ = go_on(tmp_path / "killed")
    assert same(again, net)
