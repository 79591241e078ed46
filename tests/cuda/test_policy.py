"""From logits to moves, against NumPy."""

import numpy as np
import pytest

from alphago.cuda import policy
from alphago.cuda.backend import Backend
from alphago.env.go import GoEnv
from tests.naive.playouts import Stream


def test_masked_softmax(backend: Backend) -> None:
    random = np.random.default_rng(0)
    logits = random.normal(0, 20, (50, 82)).astype(np.float32)
    mask = random.random((50, 82)) < 0.3
    mask[7] = False
    mask[8] = np.arange(82) == 5
    out = backend.download(policy.masked_softmax(backend, backend.upload(logits, np.float32), mask))
    shares = np.where(mask, np.exp(logits.astype(np.float64)), 0)
    wanted = shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
    assert np.allclose(out, wanted, atol=1e-6)
    assert not out[~mask].any()
    assert not out[7].any()
    assert out[8, 5] == 1


def test_arg_max_is_the_first_of_the_greatest(backend: Backend) -> None:
    values = np.random.default_rng(1).integers(-3, 3, (200, 10)).astype(np.float32)
    chosen = backend.download(policy.arg_max(backend, backend.upload(values, np.float32)))
    assert chosen.dtype == np.int32
    assert np.array_equal(chosen, values.argmax(axis=1))


def test_samples_follow_their_weights_and_their_streams(backend: Backend) -> None:
    weights = np.tile(np.array([0, 3, 0, 1, 4, 0], np.float32), (8000, 1))
    weights[17] = 0
    seeds = np.random.default_rng(2).integers(-(2**63), 2**63, 8000)
    states = backend.upload(seeds.copy(), np.int64)
    chosen = backend.download(policy.sample(backend, backend.upload(weights, np.float32), states))
    assert chosen[17] == -1
    # Where a stream's number falls on the line that the weights divide.
    drawn = [Stream(int(seed)).below(2**32) / 2**32 * 8 for seed in seeds]
    wanted = np.searchsorted([0, 3, 3, 4, 8], drawn, side="right")
    assert np.array_equal(np.delete(chosen, 17), np.delete(wanted, 17))
    assert not np.array_equal(backend.download(policy.sample(backend, weights, states)), chosen)


def test_symmetries_turn_planes_and_policies(backend: Backend) -> None:
    random = np.random.default_rng(3)
    points, actions = GoEnv(5).symmetries
    choices = np.arange(16) % 8
    for table, lines in ((points, 4), (actions, 1)):
        values = random.random((16, lines, table.shape[1])).astype(np.float32)
        turned = backend.download(policy.permute(backend, backend.upload(values, np.float32), choices, table))
        assert np.array_equal(turned, np.stack([v[:, table[c]] for v, c in zip(values, choices, strict=True)]))


def test_shapes_that_do_not_belong_together(backend: Backend) -> None:
    values = backend.zeros((3, 4), np.float32)
    with pytest.raises(ValueError, match=r"a mask of shape \[3, 4\] was wanted, got \[3, 5\]"):
        policy.masked_softmax(backend, values, backend.zeros((3, 5), np.bool_))
    with pytest.raises(ValueError, match=r"the states of shape \[3\] was wanted, got \[2\]"):
        policy.sample(backend, values, backend.zeros((2,), np.int64))
    with pytest.raises(ValueError, match=r"the states are C-contiguous int64 where .* reach them, got a \w+ of int32"):
        policy.sample(backend, values, backend.zeros((3,), np.int32))
    with pytest.raises(ValueError, match=r"the states are C-contiguous int64 where"):
        policy.sample(backend, values, backend.zeros((3, 2), np.int64)[:, 0])
    with pytest.raises(ValueError, match=r"a table of shape \[8, 4\] was wanted, got \[8, 3\]"):
        policy.permute(
            backend, backend.zeros((3, 1, 4), np.float32), backend.zeros((3,), np.int64), np.zeros((8, 3), np.int64)
        )
