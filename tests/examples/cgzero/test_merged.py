"""Samples with the same input, added up: what is the same, and that no sum loses anything.

CGZero's sampler forgot how often a merged sample had been seen when it was read again, and left the policies of old
samples that were seen once with a sum below 1; both stand here as what must not.
"""

import numpy as np
import pytest
from merged import MergedSamples, canonical_inputs, merge_layers

from alphago import GameEnv, GameRecord, GoEnv, OwareEnv, ReplayMemory
from alphago.records.record import RecordBuilder
from alphago.training.memory import Sample
from tests.mcts.games import CountingEnv
from tests.training.small_runs import RandomGames

GO = GoEnv(3, komi=0.5)


def merged(env: GameEnv, records: list[GameRecord]) -> tuple[MergedSamples, Sample]:
    """The records' samples merged, and each by itself."""
    memory = ReplayMemory(env, 10**9)
    memory.add(records)
    entries, plies = zip(*((entry, int(ply)) for entry in memory.entries for ply in entry.plies), strict=True)
    unturned = np.zeros(len(plies), np.int64)
    samples = MergedSamples(env)
    samples.add(entries, plies, memory.rebuild(entries, plies, unturned))
    return samples, memory.rebuild(entries, plies, unturned)


def layer(*moves: tuple[float, int]) -> MergedSamples:
    """Games of one move on the empty board, of each the outcome and the move."""
    records = []
    for outcome, action in moves:
        builder = RecordBuilder()
        builder.add(action, np.eye(10, dtype=np.float32)[action], 0.0, 10, 1)
        records.append(builder.finish(outcome, outcome, False, 10))
    return merged(GO, records)[0]


def means_of(*layers: tuple[MergedSamples, float]) -> tuple[list[float], list[float], np.ndarray]:
    means = merge_layers(layers, lambda counts: np.arange(len(counts)))
    return means.seen.tolist(), means.value.tolist(), means.policy


@pytest.mark.parametrize("env", [GO, CountingEnv(9), OwareEnv()], ids=str)
def test_as_an_obvious_twin(env: GameEnv) -> None:
    """Sums by input; inputs are the same if all numbers are, in the one of all turns that is the least."""
    source = RandomGames(env, None, range(12), None)
    samples, single = merged(env, [source.game(number) for number in range(12)])
    symmetries, keys = canonical_inputs(env, single.planes)
    flat = single.planes.reshape(len(keys), env.planes, -1)
    forms = [min(row[:, points].tobytes() for points in env.symmetries.points) for row in flat]
    assert len(set(zip(forms, keys, strict=True))) == len(set(forms)) == len(set(keys)) < len(keys)
    count, value, policy = dict[bytes, float](), dict[bytes, float](), dict[bytes, np.ndarray]()
    for i, key in enumerate(keys):
        count[key] = count.get(key, 0.0) + 1
        value[key] = value.get(key, 0.0) + float(single.value[i])
        policy[key] = policy.get(key, 0.0) + single.policy[i][env.symmetries.actions[symmetries[i]]]
    assert samples.sums.seen.tolist() == list(count.values())
    assert samples.sums.value == pytest.approx(list(value.values()), abs=1e-5)
    assert samples.sums.policy == pytest.approx(np.stack(list(policy.values())), abs=1e-5)


def test_layers_are_merged_by_count_and_age() -> None:
    """Three wins and a loss are half a win, whatever had been merged before; older ones count less."""
    before, later = layer(*[(1.0, 0)] * 3), layer((-1.0, 0))
    assert means_of((before, 1.0), (later, 1.0))[:2] == ([4.0], [0.5])
    seen, value, policy = means_of((layer((-1.0, 4), (-1.0, 4)), 0.75), (layer((1.0, 9)), 1.0))
    assert (seen, value) == (pytest.approx([2.5]), pytest.approx([(1 - 1.5) / 2.5]))
    assert policy[0, [4, 9]] == pytest.approx([0.6, 0.4])


@pytest.mark.parametrize("count", [1, 5])
def test_old_samples_are_not_scaled_down(count: int) -> None:
    """Seen once or often: alone they have policies of sum 1 and their own values."""
    seen, value, policy = means_of((layer(*[(1.0, 4)] * count), 0.65))
    assert (seen, value) == (pytest.approx([0.65 * count]), pytest.approx([1.0]))
    assert (policy[0, 4], policy.sum()) == pytest.approx((1.0, 1.0))
