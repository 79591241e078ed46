"""OpenVINO computes what torch does, in any number of positions; without it everything works."""

import re

import numpy as np
import pytest
from torch import nn

from alphago import GoEnv, NeuralNet
from alphago.nn.inference import openvino
from alphago.nn.inference.cpu import compiled_evaluator, compiled_network
from alphago.nn.inference.hardware import has_native_bfloat16
from alphago.nn.inference.openvino import BATCH_SIZE, SIZES, SharedModel, calls_for
from alphago.system.kernels.cache import warn_once
from tests.nn.boards import evaluate, lived_in, needs_openvino, planes_of, random_batch, snapshot

needs_bfloat16 = pytest.mark.skipif(not has_native_bfloat16(), reason="needs a CPU that multiplies bfloat16")


def test_calls_for_any_number_of_positions():
    for count in range(300):
        calls = list(calls_for(count))
        assert [i for _, rows in calls for i in range(count)[rows]] == list(range(count))
        padded = sum(-(-len(range(count)[rows]) // size) * size for size, rows in calls)
        assert 4 * (padded - count) <= padded
    sizes = {count: [size for size, _ in calls_for(count)] for count in (1, 3, 8, 9, 16, 40)}
    assert sizes == {1: [1], 3: [4], 8: [8], 9: [8, 1], 16: [16], 40: [16]}


@needs_openvino
@pytest.mark.parametrize("dtype", ["float32", "int8"])
@pytest.mark.parametrize(("exact", "sizes"), [(True, {BATCH_SIZE}), (False, set(SIZES))])
def test_models_that_are_compiled(monkeypatch, exact, sizes, dtype):
    """Self-play, which makes an evaluator every few seconds, needs one; single games have smaller ones too."""
    compiled = []

    class Watched(openvino.Request):
        def __init__(self, model):
            compiled.append(model.input(0).shape[0])
            super().__init__(model)

    monkeypatch.setattr(openvino, "Request", Watched)
    net = lived_in(NeuralNet(GoEnv(9), tower_height=1, channels=8))  # 9x9 has 19 positions for calibration
    evaluator = snapshot(net, dtype, exact=exact)
    for counts, expected in (((), {BATCH_SIZE}), ((40, 13), {BATCH_SIZE}), ((2, 5, 7), sizes)):
        for count in counts:
            evaluate(evaluator, random_batch(net.env, count), np.arange(count))
        assert set(compiled) == expected


@needs_openvino
@pytest.mark.parametrize("dtype", ["float32", pytest.param("bfloat16", marks=needs_bfloat16), "int8"])
def test_copies_compute_the_same_bits(monkeypatch, dtype):
    """In a second thread, and on a machine of the same kind; another one compiles the network itself."""
    net = lived_in(NeuralNet(GoEnv(5), tower_height=1, channels=16))
    evaluator = net.evaluator(dtype, exact=True)
    batch, slots = random_batch(net.env, 20), np.arange(20)
    expected = evaluate(evaluator, batch, slots)
    evaluator.model.idle.clear()  # as while another thread computes
    sent = compiled_network(evaluator)
    for copy in (evaluator, compiled_evaluator(net.env, sent)):
        assert (copy.dtype, copy.form) == (evaluator.dtype, "openvino")
        for output, right in zip(evaluate(copy, batch, slots), expected, strict=True):
            np.testing.assert_array_equal(output, right)
    again, outputs = SharedModel.from_bytes(sent.partition(b"\n")[2]), []
    for _ in range(2):
        outputs.append((np.empty((20, net.env.action_space), np.float32), np.empty(20, np.float32)))
        again(planes_of(batch, slots), *outputs[-1])
        again.idle.clear()  # a second thread of the other process
    for first, second in zip(*outputs, strict=True):
        np.testing.assert_array_equal(second, first)
    assert compiled_network(net.evaluator(dtype)) == b""  # which also has forms for few positions
    for damaged in (b"", b"[]", sent[: len(sent) // 2], sent.replace(b"{", b"[", 1)):
        assert compiled_evaluator(net.env, damaged) is None
    monkeypatch.setattr(openvino, "kind_of_machine", lambda: "another")
    assert compiled_evaluator(net.env, sent) is None


@needs_openvino
def test_a_tower_that_torch_computes_says_so_once() -> None:
    warn_once.cache_clear()
    net = NeuralNet(GoEnv(5), nn.Sequential(nn.Conv2d(16, 8, 3, padding=1), nn.GELU()))  # which has no translation
    with pytest.warns(RuntimeWarning) as told:
        assert "openvino" not in (net.evaluator().form, net.evaluator().form)
    (warning,) = told
    said = r"OpenVINO cannot compute this network \(Sequential\), so torch does, in the form '\w+'"
    assert re.match(said, str(warning.message))
