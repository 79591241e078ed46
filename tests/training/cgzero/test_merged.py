"""Samples with the same input, added up: what is the same, and that no sum loses anything.

CGZero's sampler forgot how often a merged sample had been seen when it was read again, and left the policies of old
samples that were seen once with a sum below 1; both stand here as what must not.
"""

import numpy as np
import pytest

from alphago.env.game import GameEnv
from alphago.env.go import GoEnv
from alphago.env.oware import OwareEnv
from alphago.records.record import GameRecord, RecordBuilder
from alphago.training.cgzero.merged import MergedSamples, canonical_inputs, group_inputs, merge_layers
from alphago.training.memory import Columns, ReplayMemory, Sample
from tests.mcts.games import CountingEnv
from tests.training.small_runs import RandomGames

GO = GoEnv(3, komi=0.5)
COUNTERS = CountingEnv(9)  # few positions, and nothing that could be turned
Places = tuple[list[Columns], list[int]]


def random_games(env: GameEnv, count: int, seed: int = 0) -> list[GameRecord]:
    source = RandomGames(env, None, range(count), None, seed=seed)
    return [source.game(number) for number in range(count)]


def places_of(memory: ReplayMemory) -> Places:
    pairs = [(entry, int(ply)) for entry in memory.entries for ply in entry.plies]
    return [entry for entry, _ in pairs], [ply for _, ply in pairs]


def all_samples(memory: ReplayMemory) -> tuple[Places, Sample]:
    places = places_of(memory)
    return places, memory.rebuild(*places, np.zeros(len(places[1]), np.int64))


def layer(env: GameEnv, records: list[GameRecord], at_once: int = 1000) -> MergedSamples:
    memory = ReplayMemory(env, 10**9)
    memory.add(records)
    entries, plies = places_of(memory)
    samples = MergedSamples(env)
    for begin in range(0, len(plies), at_once):
        part = slice(begin, begin + at_once)
        sample = memory.rebuild(entries[part], plies[part], np.zeros(len(plies[part]), np.int64))
        samples.add(entries[part], plies[part], sample)
    return samples


def one_move(outcome: float, action: int = 0, *, score: float | None = None, resigned: bool = False) -> GameRecord:
    """A game of one move on the empty board."""
    builder = RecordBuilder()
    builder.add(action, np.eye(10, dtype=np.float32)[action], 0.0, 10, 1)
    return builder.finish(outcome, outcome if score is None else score, resigned, 10)


def everything(counts: np.ndarray) -> np.ndarray:
    return np.arange(len(counts))


class TestSameInput:
    def test_turned_and_mirrored(self) -> None:
        memory = ReplayMemory(GO, 10**9)
        memory.add(random_games(GO, 4))
        (entries, plies), sample = all_samples(memory)
        _, keys = canonical_inputs(GO, sample.planes)
        for symmetry in range(8):
            turned = memory.rebuild(entries, plies, np.full(len(plies), symmetry))
            back, others = canonical_inputs(GO, turned.planes)
            assert others == keys
            again = memory.rebuild(entries, plies, np.zeros(len(plies), np.int64)).planes
            points = GO.symmetries.points
            for i in range(len(plies)):  # both forms are the same
                mine = turned.planes[i].reshape(GO.planes, -1)[:, points[back[i]]]
                first = canonical_inputs(GO, again[i : i + 1])[0][0]
                assert np.array_equal(mine, again[i].reshape(GO.planes, -1)[:, points[first]])

    @pytest.mark.parametrize("env", [GO, COUNTERS, OwareEnv()], ids=str)
    def test_different_inputs_stay_apart(self, env: GameEnv) -> None:
        """As many keys as there are different inputs, by comparing all numbers of all turned ones."""
        memory = ReplayMemory(env, 10**9)
        memory.add(random_games(env, 6))
        _, sample = all_samples(memory)
        flat = sample.planes.reshape(len(sample.planes), env.planes, -1)
        forms = [min(row[:, points].tobytes() for points in env.symmetries.points) for row in flat]
        _, keys = canonical_inputs(env, sample.planes)
        pairs = set(zip(forms, keys, strict=True))
        assert len(pairs) == len(set(forms)) == len(set(keys))
        assert len(set(keys)) < len(keys)


class TestSums:
    @pytest.mark.parametrize("env", [GO, COUNTERS, OwareEnv()], ids=str)
    def test_as_an_obvious_twin(self, env: GameEnv) -> None:
        """Sums of policy, value and count by input."""
        records = random_games(env, 12)
        memory = ReplayMemory(env, 10**9)
        memory.add(records)
        _, sample = all_samples(memory)
        symmetries, keys = canonical_inputs(env, sample.planes)
        count, value, policy = dict[bytes, float](), dict[bytes, float](), dict[bytes, np.ndarray]()
        for i, key in enumerate(keys):
            count[key] = count.get(key, 0.0) + 1
            value[key] = value.get(key, 0.0) + float(sample.value[i])
            policy[key] = policy.get(key, 0.0) + sample.policy[i][env.symmetries.actions[symmetries[i]]]
        sums = layer(env, records).sums
        assert sums.seen.tolist() == list(count.values())
        assert sums.value == pytest.approx(list(value.values()), abs=1e-5)
        assert sums.policy == pytest.approx(np.stack(list(policy.values())), abs=1e-5)
        assert sums.seen.sum() == sum(map(len, records))
        assert sums.ownership.shape[1] == (9 if env is GO else 0)

    def test_in_parts_to_the_bit(self) -> None:
        records = random_games(GO, 10)
        one, other = layer(GO, records), layer(GO, records, at_once=7)
        assert one.keys.tobytes() == other.keys.tobytes()
        assert all(np.array_equal(mine, yours) for mine, yours in zip(one.sums, other.sums, strict=True))
        assert one.places.plies == other.places.plies

    def test_marks_of_illegal_actions_are_not_added_up(self) -> None:
        """Which stand in a policy as numbers below 0."""
        memory = ReplayMemory(GO, 10**9)
        memory.add(random_games(GO, 3))
        places, sample = all_samples(memory)
        marked = MergedSamples(GO)
        marked.add(*places, sample._replace(policy=np.where(sample.policy == 0, np.float32(-1), sample.policy)))
        assert np.array_equal(marked.sums.policy, layer(GO, random_games(GO, 3)).sums.policy)

    def test_what_is_merged_keeps_its_count(self) -> None:
        """Three wins and a loss are half a win, whatever had been merged before."""
        before, later = layer(GO, [one_move(1.0)] * 3), layer(GO, [one_move(-1.0)])
        assert before.sums.seen.tolist() == [3.0]
        means = merge_layers([(before, 1.0), (later, 1.0)], everything)
        assert (means.seen.tolist(), means.value.tolist()) == ([4.0], [0.5])
        alone = layer(GO, [one_move(1.0)] * 3 + [one_move(-1.0)])
        assert merge_layers([(alone, 1.0)], everything).value.tolist() == [0.5]

    def test_old_samples_are_not_scaled_down(self) -> None:
        """Seen once or often: alone they have policies of sum 1 and their own values."""
        for records in ([one_move(1.0, 4)], [one_move(1.0, 4)] * 5):
            means = merge_layers([(layer(GO, records), 0.65)], everything)
            assert means.policy[0, 4] == pytest.approx(1.0)
            assert means.policy.sum(axis=1) == pytest.approx([1.0])
            assert means.value == pytest.approx([1.0])
            assert means.seen == pytest.approx([0.65 * len(records)])

    def test_older_layers_count_less(self) -> None:
        old, new = layer(GO, [one_move(-1.0, 4)] * 2), layer(GO, [one_move(1.0, 9)])
        means = merge_layers([(old, 0.75), (new, 1.0)], everything)
        assert means.seen == pytest.approx([2.5])
        assert means.value == pytest.approx([(1 - 1.5) / 2.5])
        assert means.policy[0, [4, 9]] == pytest.approx([0.6, 0.4])
        assert means.places.entries == new.places.entries  # the newest game that has it

    def test_score_and_ownership_of_games_that_were_played_out(self) -> None:
        """Means over these alone; the share of them weighs what is learned of it."""
        records = [one_move(1.0, 4, score=8.5), one_move(1.0, 4, resigned=True), one_move(1.0, 4, score=2.5)]
        means = merge_layers([(layer(GO, records), 0.65)], everything)
        assert means.ended == pytest.approx([2 / 3])
        assert means.score == pytest.approx([5.5])
        assert means.ownership == pytest.approx(np.ones((1, 9)))  # one stone owns the board
        unknown = merge_layers([(layer(GO, [one_move(1.0, resigned=True)]), 1.0)], everything)
        assert (unknown.ended.tolist(), unknown.score.tolist()) == ([0.0], [0.0])
        assert not unknown.ownership.any()

    def test_only_those_that_are_chosen(self) -> None:
        one, other = layer(COUNTERS, random_games(COUNTERS, 9)), layer(COUNTERS, random_games(COUNTERS, 9, seed=1))
        groups, counts = group_inputs([(one, 0.5), (other, 1.0)])
        assert len(counts) < len(one) + len(other)
        assert counts.sum() == pytest.approx(0.5 * one.sums.seen.sum() + other.sums.seen.sum())
        whole = merge_layers([(one, 0.5), (other, 1.0)], everything)
        some = merge_layers([(one, 0.5), (other, 1.0)], lambda counts: np.array([0, 3, len(counts) - 1]))
        for mine, all_of_them in zip(some[1:], whole[1:], strict=True):
            assert np.array_equal(mine, all_of_them[[0, 3, len(counts) - 1]])
        assert max(map(int, groups[0])) < len(counts)
