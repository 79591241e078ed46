"""The replay memory: what leaves, what is drawn, and that labels stay with their positions."""

from typing import Any

import numpy as np
import pytest

from alphago import GameEnv, GameRecord, GoEnv, OwareEnv, Puct, ReplayMemory, selfplay
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.mcts.evaluator import HashEvaluator
from alphago.nn.loss import ILLEGAL
from alphago.records.record import POLICY_SCALE, RecordBuilder, add_moves
from alphago.training.memory import window
from alphago.training.settings.learning_settings import Window
from alphago.training.targets import LambdaReturns
from tests.mcts.games import CountingEnv

GO = GoEnv(3, komi=0.5)
COUNTERS = CountingEnv(9)  # three actions, and nothing that could be turned


def games(env: GameEnv, count: int, seed: int = 0) -> list[GameRecord]:
    return selfplay(env, HashEvaluator(), 8, count, seed=seed, search=Puct(), groups=1, opening_plies=0)


def made_up(length: int, actions: int = 10, outcome: float = 1.0, weight: Any = 1.0, surprise: Any = 0.0) -> GameRecord:
    """A game of the last action and nothing else, of any length; its policies are one move each, in turn.

    Weight and surprise are those of all plies, or of each.
    """
    builder, policies = RecordBuilder(), np.eye(actions, dtype=np.float32)
    for ply, weights, surprises in zip(*np.broadcast_arrays(np.arange(length), weight, surprise), strict=True):
        columns = {"moves": actions - 1, "values": 0.0, "legal_counts": actions, "movers": 1 - ply % 2 * 2}
        add_moves([builder], policies[[ply % actions]], **columns, weights=weights, surprises=surprises)
    return builder.finish(outcome, outcome, False, actions)


class TestWindow:
    def test_the_oldest_games_leave(self) -> None:
        """As long as `capacity` positions remain without them."""
        memory = ReplayMemory(GO, 20)
        for length, left in ((8, 8), (8, 16), (8, 24), (3, 27), (1, 20), (50, 50), (4, 54), (1, 55)):
            memory.add([made_up(length)])
            assert len(memory) == left, length
        assert [len(entry.records[0]) for entry in memory.entries] == [50, 4, 1]
        assert memory.added == 8 + 8 + 8 + 3 + 1 + 50 + 4 + 1

    def test_games_without_moves_do_no_harm(self) -> None:
        """Resigned before the first move."""
        memory = ReplayMemory(GO, 10)
        memory.add([made_up(0), made_up(4), made_up(0), made_up(2), made_up(0)])
        assert len(memory) == 6
        assert memory.sample(50, np.random.default_rng(0)).policy.sum(axis=1) == pytest.approx(np.ones(50))

    @pytest.mark.parametrize("records", [[], [0]])
    def test_an_empty_memory(self, records: list[int]) -> None:
        memory = ReplayMemory(GO)
        memory.add(made_up(length) for length in records)
        with pytest.raises(ValueError, match="the memory must have positions to sample"):
            memory.sample(1, np.random.default_rng(0))

    def test_a_record_of_another_game(self) -> None:
        with pytest.raises(ValueError, match=r"GoEnv\(3, .* must have shape \(4, 10\), got \(4, 26\)"):
            ReplayMemory(GO).add([made_up(4, actions=26)])


class TestSurprise:
    """Positions in which the search found another policy are drawn more often."""

    def drawn(self, memory: ReplayMemory, count: int = 20_000, newest: int | None = None) -> list[float]:
        """How often each of the three policies came."""
        sample = memory.sample(count, np.random.default_rng(0), newest)
        return (sample.policy.sum(axis=0) / count).tolist()

    @pytest.mark.parametrize(
        ("share", "surprises", "wanted"),
        [
            (0.0, [0.0, 0.5, 1.5], [1 / 3] * 3),
            (1.0, [0.0, 0.5, 1.5], [0.0, 0.25, 0.75]),
            (0.5, [0.0, 0.5, 1.5], [1 / 6, 7 / 24, 13 / 24]),
            (0.5, [0.0, 0.0, 0.0], [1 / 3] * 3),
        ],
    )
    def test_a_share_of_the_draws(self, share: float, surprises: list[float], wanted: list[float]) -> None:
        """In proportion; where nothing is known all are alike."""
        memory = ReplayMemory(COUNTERS, surprise_share=share)
        memory.add([made_up(3, 3, surprise=surprises)])
        assert self.drawn(memory) == pytest.approx(wanted, abs=0.02)

    def test_a_game_is_drawn_as_often_as_it_has_positions(self) -> None:
        memory = ReplayMemory(COUNTERS, surprise_share=1.0)
        memory.add([made_up(1, 3, surprise=9.0), made_up(3, 3, surprise=[0.0, 0.1, 0.1])])
        assert self.drawn(memory) == pytest.approx([0.25, 0.375, 0.375], abs=0.02)
        assert self.drawn(memory, newest=3) == pytest.approx([0, 0.5, 0.5], abs=0.02)


class TestDraws:
    def test_uniform_over_positions(self) -> None:
        """Not over games: a long game's positions are no rarer, the first and the last are drawn too.

        Each position has a weight of its own, which tells it from the others.
        """
        memory, weights = ReplayMemory(COUNTERS), np.arange(1, 10) / 16
        for part in np.split(weights, [2, 3]):
            memory.add([made_up(len(part), 3, weight=part)])
        _, counts = np.unique(memory.sample(9000, np.random.default_rng(0)).weight, return_counts=True)
        assert (len(counts), counts.sum()) == (9, 9000)
        chi_squared = ((counts - 1000) ** 2 / 1000).sum()
        assert chi_squared < 26.1  # 8 degrees of freedom, 1 in 1000

    def test_the_same_generator_gives_the_same_sample(self) -> None:
        memory = ReplayMemory(GO)
        memory.add(games(GO, 3))
        one, same, other = (memory.sample(40, np.random.default_rng(seed)) for seed in (1, 1, 2))
        assert all(map(np.array_equal, one, same))
        assert not np.array_equal(one.planes, other.planes)

    def test_every_symmetry_is_drawn(self) -> None:
        """Of a position without any symmetry of its own."""
        builder = RecordBuilder({"black": "A3", "white": "B3"})
        builder.add(9, np.eye(10, dtype=np.float32)[3], 0.0, 7, 1)
        memory = ReplayMemory(GoEnv(3, planes=3))
        memory.add([builder.finish(1, 1, False, 10)])
        sample = memory.sample(400, np.random.default_rng(0))
        _, counts = np.unique(sample.planes, axis=0, return_counts=True)
        assert len(counts) == 8
        assert counts.min() > 25


FIVE = GoEnv(5, planes=5)


def set_up() -> list[GameRecord]:
    """Games with stones, a side to move and a komi of their own."""
    records = []
    for setup in ({"black": "A5 B5", "white": "C3", "to_play": "white", "komi": -2.5}, {"komi": 3.5}):
        position, builder = FIVE.position(**setup), RecordBuilder(setup)
        for action in (7, 13, 25):
            builder.add(action, np.eye(26, dtype=np.float32)[action], 0.0, 20, position.to_play)
            position = position.play(action)
        records.append(builder.finish(position.result or 1, position.score(), False, 26))
    return records


class TestLabels:
    """Older programs shuffled features without their results, lost the results' signs, or both."""

    @pytest.mark.parametrize("env", [GO, FIVE, TicTacToeEnv(), CountingEnv(9), OwareEnv(planes="one-hot")], ids=str)
    def test_planes_policy_and_value_belong_together(self, env: GameEnv) -> None:
        """Each row of a sample is some position of some game under some symmetry, with all its labels.

        Where illegal actions are marked, these are exactly those of the position, and all else is as without marks.
        """
        records = games(env, 4) + (set_up() if env is FIVE else [])
        rows: dict[bytes, list[tuple[Any, ...]]] = {}
        for record in records:
            position = env.position(**record.setup)
            last = record.position(env)
            final = last.batch.ownership(np.zeros(1, np.int64), np.empty((1, np.prod(env.plane_shape)), np.int8))[0]
            for ply, action in enumerate(record.moves):
                policy = record.policies[ply] / POLICY_SCALE
                value = record.outcome * position.to_play
                owners = final * last.to_play * position.to_play * (not record.resigned)
                for points, actions in zip(*env.symmetries, strict=True):
                    planes = position.planes().reshape(env.planes, -1)[:, points]
                    turned = policy[actions] / policy.sum(), owners[points], ~position.legal_mask[actions]
                    label = value, record.score * position.to_play, *turned
                    rows.setdefault(planes.astype(np.float32).tobytes(), []).append(label)
                position = position.play(int(action))
        samples = []
        for masked in (False, True):
            memory = ReplayMemory(env, masked=masked)
            memory.add(records)
            samples.append(memory.sample(300, np.random.default_rng(3)))
        sample, marked = samples
        assert all(map(np.array_equal, sample, marked._replace(policy=np.maximum(marked.policy, 0))))
        for planes, policy, value, _, score, owned, _, illegal in zip(*sample, marked.policy == ILLEGAL, strict=True):
            assert any(
                np.allclose(policy, wanted, atol=1e-4)
                and (value, score) == (result, points)
                and np.array_equal(owned, owners[: len(owned)])
                and np.array_equal(illegal, marks)
                for result, points, wanted, owners, marks in rows[planes.tobytes()]
            )
        assert sample.policy.sum(axis=1) == pytest.approx(np.ones(300), abs=1e-5)

    def test_weights(self) -> None:
        """A position that was not searched has nothing to teach, and is not drawn."""
        memory = ReplayMemory(GO)
        memory.add([made_up(3, weight=0.0, outcome=1), made_up(3, weight=0.5, outcome=0), made_up(2, outcome=-1)])
        assert len(memory) == memory.added == 5
        sample = memory.sample(60, np.random.default_rng(0))
        assert set(sample.value) == {0, 1, -1}
        assert np.array_equal(sample.weight, np.where(sample.value == 0, 0.5, 1).astype(np.float32))

    def test_resigned_games_have_no_ownership(self) -> None:
        builder = RecordBuilder()
        builder.add(4, np.eye(10, dtype=np.float32)[4], 0.0, 10, 1)
        memory = ReplayMemory(GO)
        memory.add([builder.finish(1, 1, True, 10)])
        memory.add([builder.finish(1, 1.5, False, 10)])
        sample = memory.sample(40, np.random.default_rng(0))
        assert set(sample.ended.tolist()) == {0, 1}
        assert (sample.ended == (np.abs(sample.score) == 1.5)).all()
        assert not sample.ownership[sample.ended == 0].any()
        assert sample.ownership[sample.ended == 1].any(axis=1).all()


def waiting(start: int, size: int = 1000) -> ReplayMemory:
    return Window(size, 1.0).make_memory(GO, targets=LambdaReturns(0.0), masked=False, start=start, seed=0)


def remember(memory: ReplayMemory, times: int) -> list[float]:
    """The samples due each time that a game of ten plies comes."""
    return [memory.remember([made_up(10)]) for _ in range(times)]


class TestDue:
    @pytest.mark.parametrize(("size", "left"), [(1000, 60), (20, 40)])
    def test_all_that_came_before_the_start_is_learned_from_once(self, size: int, left: int) -> None:
        """It is kept until then, however small the window is."""
        kept = waiting(35, size)
        assert remember(kept, 6) == [0, 0, 0, 40, 10, 10]
        assert len(kept) == left

    def test_a_later_start_does_not_make_old_positions_due_again(self) -> None:
        """A run that goes on with a larger start_training_after waits for so many, and learns from new ones then."""
        before, records = waiting(15), [made_up(10)] * 3
        assert [before.remember([record]) for record in records] == [0, 20, 10]
        later = waiting(55)
        later.restore(records, before.state())
        assert remember(later, 4) == [0, 0, 10, 10]

    def test_what_is_fresh(self) -> None:
        """The positions of the games that came last."""
        kept = waiting(0)
        generator = np.random.default_rng(0)
        remember(kept, 3)
        kept.remember([made_up(4), made_up(3)])
        fresh = kept.fresh(200, generator)
        assert fresh is not None
        assert kept.newly_added == 7
        assert kept.remember([]) == 0
        assert kept.fresh(200, generator) is None


def test_the_window_grows_more_slowly_than_the_run() -> None:
    assert window(0) == window(30_000) == 30_000
    for positions in (60_000, 300_000, 1_000_000, 10_000_000):
        wanted = 30_000 * (1 + 0.4 * ((positions / 30_000) ** 0.75 - 1) / 0.75)
        assert window(positions) == pytest.approx(wanted, abs=1)
