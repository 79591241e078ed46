"""The pool: generations, what leaves, what is drawn, and that a run with one goes on to the bit."""

import itertools
import json
import threading
from collections import Counter
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest

from alphago.env.go import GoEnv
from alphago.env.oware import OwareEnv
from alphago.records.record import GameRecord
from alphago.training.cgzero.merged import canonical_inputs
from alphago.training.cgzero.pool import Pool, SamplePool, draw_subset
from alphago.training.history import read_rows
from alphago.training.loop import train_loop
from alphago.training.memory import ReplayMemory
from alphago.training.targets import LambdaReturns
from tests.mcts.games import CountingEnv
from tests.training.cgzero.test_merged import random_games
from tests.training.small_runs import (
    Listener,
    RandomGames,
    Small,
    go_on,
    opened,
    run,
    run_killed,
    same,
    spoil,
)

GO = GoEnv(3, komi=0.5)
COUNTERS = CountingEnv(9)
SMALL = Pool(positions=30, subset=60, epochs=2, rates=((0, 4), (2, 1)))
ANY = np.random.default_rng(0)


def new_pool(env: Any, settings: Pool = SMALL) -> SamplePool:
    return settings.make_memory(env, targets=LambdaReturns(0.0), masked=False, start=0, seed=5)


def filled(env: Any, generations: int, settings: Pool = SMALL) -> SamplePool:
    """A pool at the beginning of a generation's learning, of games of random moves."""
    pool = new_pool(env, settings)
    source = RandomGames(env, None, range(0), None)
    games = map(source.game, itertools.count())
    for _ in range(generations):
        while not pool.is_due:
            pool.add([next(games)])
        pool.begin_generation()
    return pool


class TestSettings:
    def test_cgzeros_are_the_defaults(self) -> None:
        pool = Pool(positions=350_000 // 3)
        assert (pool.subset_size, pool.max_size) == (349_998, 3_499_980)
        assert [pool.weight(age) for age in (0, 1, 10, 17, 18, 500)] == pytest.approx([1, 0.98, 0.8, 0.66, 0.65, 0.65])
        assert [pool.passes(generation) for generation in (0, 1, 18, 19, 20, 99)] == [1, 2, 19, 20, 20, 20]
        rates = [pool.rate(generation) for generation in (0, 1, 4, 5, 9, 10, 99)]
        assert rates == [8, 6, 6, 2, 2, 1, 1]

    @pytest.mark.parametrize("rates", [(), ((1, 2.0),), ((0, 1.0), (0, 2.0)), ((0, -1.0),), ((0, 1), (0.5, 1)), 3])
    def test_rates_that_are_none(self, rates: Any) -> None:
        with pytest.raises(ValueError, match=r"a pool's rates must be pairs \(generation, factor >= 0\)"):
            Pool(rates=rates)


class TestSubset:
    """Which inputs a generation learns from."""

    def test_all_where_there_are_few(self) -> None:
        assert draw_subset(np.ones(7), 7, ANY).tolist() == list(range(7))

    def test_tiers(self) -> None:
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

    def test_by_counts_that_are_no_integers(self) -> None:
        """0.98 of a sample is more than 0.65 of one."""
        counts = np.array([0.65, 1.3, 0.98, 0.65, 0.98, 0.65, 1.96, 0.66, 0.65, 0.65])
        top = [set(draw_subset(counts, 5, np.random.default_rng(seed)).tolist()) for seed in range(30)]
        assert set.intersection(*top) == {6}


class TestGenerations:
    def test_one_is_due_after_so_many_positions(self) -> None:
        pool = new_pool(GO)
        games = random_games(GO, 50)
        assert (pool.can_learn, pool.is_due) == (False, False)
        for game in games:
            pool.add([game])
            assert pool.is_due == (len(pool) >= 30)
            if pool.is_due:
                break
        assert pool.begin_generation() == len(pool.subset.value) > 10
        assert (pool.can_learn, pool.is_due, pool.generation, pool.rate) == (True, False, 0, 4)
        assert filled(GO, 3).rate == 1
        assert filled(GO, 2).begin_generation() % 2 == 0  # two epochs from then on

    @pytest.mark.parametrize("env", [GO, COUNTERS, OwareEnv()], ids=str)
    def test_each_input_once_an_epoch(self, env: Any) -> None:
        """In another order each time; and a batch may end one epoch and begin the next."""
        pool = filled(env, 2, Pool(positions=60, subset=40, epochs=3))
        size = len(pool.subset.value)
        assert size <= 40
        batches = [pool.batch(number, 7, np.random.default_rng(number)) for number in range(-(-2 * size // 7))]
        keys = [key for sample in batches for key in canonical_inputs(env, sample.planes)[1]]
        first, second = keys[:size], keys[size : 2 * size]
        assert len(set(first)) == size
        assert (sorted(first) == sorted(second), first == second) == (True, False)

    def test_targets_are_turned_with_their_planes(self) -> None:
        """A merged sample says of each point what it says in any other turn."""
        pool = filled(GO, 1, Pool(positions=200))
        found: dict[bytes, tuple[np.ndarray, ...]] = {}
        for number in range(60):
            sample = pool.batch(number, 16, np.random.default_rng(number))
            symmetries, keys = canonical_inputs(GO, sample.planes)
            for i, key in enumerate(keys):
                policy = sample.policy[i][GO.symmetries.actions[symmetries[i]]]
                ownership = sample.ownership[i][GO.symmetries.points[symmetries[i]]]
                mine = (np.sort(policy), policy[-1:], np.sort(ownership), sample.value[i : i + 1])
                for one, other in zip(mine, found.setdefault(key, mine), strict=True):
                    assert np.allclose(one, other, atol=1e-6)
        assert len(found) == len(pool.subset.value)

    def test_the_same_position_is_one_sample(self) -> None:
        pool = filled(COUNTERS, 1, Pool(positions=500))
        inputs = len(pool.subset.value)
        assert inputs < 40
        assert pool.subset.seen.sum() == len(pool) >= 500
        assert pool.metrics() == {"generation": 0, "merged_samples": inputs}

    def test_values_are_means(self) -> None:
        """The start position's is the mean result of all games, for whom begins."""
        records = random_games(COUNTERS, 100)
        pool = new_pool(COUNTERS, Pool(positions=1, subset=10_000))
        pool.add(records)
        pool.begin_generation()
        start = int(pool.subset.seen.argmax())
        assert pool.subset.seen[start] == 100
        assert pool.subset.value[start] == pytest.approx(np.mean([record.outcome for record in records]), abs=1e-6)

    def test_the_first_games_leave_in_time(self) -> None:
        settings = Pool(positions=30, first_until=3)
        kept = [[layer.generation for layer in filled(GO, count, settings).layers] for count in range(1, 6)]
        assert kept == [[0], [0, 1], [0, 1, 2], [1, 2, 3], [1, 2, 3, 4]]
        pool = filled(GO, 5, settings)
        assert len(pool) == sum(layer.positions for layer in pool.layers)
        assert [entry for layer in pool.layers for entry in layer.entries] == list(pool.records.entries)
        assert pool.added > len(pool)

    def test_a_pool_has_its_size(self) -> None:
        """The oldest generations leave, but never the newest."""
        rows = len(filled(GO, 1).layers[0].samples)
        pool = filled(GO, 6, Pool(positions=30, size=3 * rows, first_until=None))
        assert 1 <= len(pool.layers) < 5
        assert pool.metrics()["merged_samples"] <= 3 * rows
        assert [layer.generation for layer in filled(GO, 3, Pool(positions=30, size=1)).layers] == [2]

    def test_single_positions_too(self) -> None:
        """Of the newest games, as every memory gives them."""
        records = random_games(GO, 9)
        pool, memory = new_pool(GO), ReplayMemory(GO)
        memory.add(records)
        for part in (records[:6], records[6:], []):
            pool.remember(part)
            new = pool.newly_added
            fresh = pool.fresh(20, np.random.default_rng(3))
            assert (fresh is None) == (not part)
            if part == records[6:]:
                expected = memory.sample(20, np.random.default_rng(3), newest=new)
                assert fresh is not None
                assert all(np.array_equal(mine, yours) for mine, yours in zip(fresh, expected, strict=True))


def rebuilt(pool: SamplePool, records: list[GameRecord] | None = None) -> SamplePool:
    state = json.loads(json.dumps(pool.state()))
    assert state["games"] == sum(layer[1] for layer in state["layers"])
    again = new_pool(pool.env, pool.settings)
    again.restore([entry.records[0] for entry in pool.records.entries] if records is None else records, state)
    return again


class TestState:
    def test_to_the_bit(self) -> None:
        """Within a generation's learning, with games of the next one played already."""
        pool = filled(GO, 4)
        pool.add(random_games(GO, 3, seed=9))
        again = rebuilt(pool)
        assert json.dumps(again.state()) == json.dumps(pool.state())
        assert (again.generation, len(again), again.is_due) == (3, len(pool), pool.is_due)
        for mine, yours in zip(again.subset[1:], pool.subset[1:], strict=True):
            assert np.array_equal(mine, yours)
        for number in (0, 2, 7):
            batches = [one.batch(number, 16, np.random.default_rng(number)) for one in (again, pool)]
            assert all(np.array_equal(mine, yours) for mine, yours in zip(*batches, strict=True))
        assert again.begin_generation() == pool.begin_generation()
        assert np.array_equal(again.subset.policy, pool.subset.policy)

    def test_games_that_are_gone_are_the_oldest(self) -> None:
        pool = filled(GO, 3)
        left = [entry.records[0] for layer in pool.layers[1:] for entry in layer.entries][1:]
        again = rebuilt(pool, left)
        assert [layer.generation for layer in again.layers] == [1, 2]
        assert [len(layer.entries) for layer in again.layers] == [
            len(pool.layers[1].entries) - 1,
            len(pool.layers[2].entries),
        ]
        assert len(rebuilt(pool, []).layers) == 0


POOLED: dict[str, Any] = {"memory": Pool(60, subset=90, epochs=2), "num_games": 20, "batch_size": 8, "ckp_freq": 100}


@pytest.fixture(scope="module")
def pooled(tmp_path_factory: pytest.TempPathFactory) -> Small:
    """A run with a pool that nothing happens to."""
    folder = tmp_path_factory.mktemp("pooled") / "run"
    return Small(folder, *run(folder, **POOLED))


class TestRun:
    def test_it_learns_in_generations(self, pooled: Small) -> None:
        """All epochs of one at once, and then the next games."""
        rows = pooled.listener.rows
        steps = [after["steps"] - before["steps"] for before, after in itertools.pairwise(rows)]
        assert {row["generation"] for row in rows} >= {-1, 0, 1}
        for (before, after), taken in zip(itertools.pairwise(rows), steps, strict=True):
            assert (taken > 0) == (after["generation"] > before["generation"])
        first, second = [taken for taken in [rows[0]["steps"], *steps] if taken][:2]
        assert 0 < first <= 90 // 8 + 1
        assert first < second <= 2 * 90 // 8 + 1

    def test_learning_rates_follow_generations(self, tmp_path: Path) -> None:
        """Beside the run's schedule and its warm-up, which is over after 200 steps."""
        rates = ((0, 8.0), (1, 2.0), (2, 1.0))
        pool = Pool(60, subset=90, epochs=2, rates=rates)
        settings = {"memory": pool, "num_games": 40, "schedule": "constant", "source": RandomGames}
        _, listener = run(tmp_path, **{**POOLED, **settings})
        generations = {row["generation"] for row in listener.rows}
        assert max(generations) >= 2
        for row in listener.rows:
            factor = dict(rates)[min(2, max(0, row["generation"]))]
            warm = min(1.0, (row["steps"] + 1) / 200)
            assert row["learning_rate"] == pytest.approx(2e-3 * factor * warm), row["generation"]

    def test_nothing_before_start_training_after(self, tmp_path: Path) -> None:
        _, listener = run(tmp_path, **{**POOLED, "num_games": 8}, start_training_after=5000)
        assert listener.last["steps"] == 0

    @pytest.mark.parametrize(
        "saves", [pytest.param(30, marks=pytest.mark.slow), 50, pytest.param(75, marks=pytest.mark.slow)]
    )
    def test_it_goes_on_to_the_bit(self, tmp_path: Path, pooled: Small, saves: int) -> None:
        """From within a game, or within an epoch."""
        run_killed(tmp_path, saves, **POOLED)
        again, _ = go_on(tmp_path)
        assert same(again, pooled.net)
        names = ("games", "positions", "memory", "steps", "learning_rate", "generation", "merged_samples")
        rows = [read_rows(path / "metrics.jsonl", "seconds") for path in (pooled.folder, tmp_path)]
        kept = [[[row[name] for name in names] for row in of_run] for of_run in rows]
        assert kept[0] == kept[1]

    def test_it_goes_on_without_games_that_are_damaged(self, tmp_path: Path, pooled: Small) -> None:
        folder = Path(copytree(pooled.folder, tmp_path / "run"))
        spoil(sorted((folder / "games").iterdir())[0], "cut")
        _, listener = go_on(folder, 30)
        assert listener.noted("games of the memory were in it")
        assert listener.last["games"] >= 30

    def test_a_run_keeps_its_memory(self, tmp_path: Path) -> None:
        run(tmp_path, **{**POOLED, "num_games": 4})
        with pytest.raises(ValueError, match=r"has memory Pool\(positions=60, .* got Window.*: choose another folder"):
            go_on(tmp_path, memory="window")

    def test_another_game_without_ownership(self, tmp_path: Path) -> None:
        env = OwareEnv()
        net, listener = run(tmp_path, env=env, **{**POOLED, "num_games": 3}, source=RandomGames)
        assert listener.last["steps"] > 0
        assert np.isfinite(net(env.position())[0]).all()
        assert listener.last["skipped_steps"] == 0

    def test_boards_one_after_the_other(self, tmp_path: Path) -> None:
        """Each has a pool of its own."""
        report = Listener()
        settings = {**POOLED, "memory": Pool(20, epochs=1), "num_games": 30, "curriculum": ((2, 0.4),)}
        with opened(tmp_path, source=RandomGames, report=report, start_training_after=10, **settings) as made:
            train_loop(made, threading.Event())
            assert isinstance(made.stage.memory, SamplePool)
            assert all(record.policies.shape[1] == 10 for record in made.stage.memory.latest(100))
        assert {row["board_size"] for row in report.rows if row["steps"]} == {2, 3}
