"""OpenVINO computes what torch does, operation by operation, or says that it cannot; without it everything works."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from alphago.env.go import GoEnv
from alphago.nn.inference import openvino
from alphago.nn.inference.cpu import NetEvaluator
from alphago.nn.inference.fusion import fold_batch_norms
from alphago.nn.inference.hardware import has_native_bfloat16
from alphago.nn.inference.openvino import BATCH_SIZE, FEW, OpenVinoModel
from alphago.nn.net import NeuralNet
from tests.nn.boards import evaluate, lived_in, module_results, needs_openvino, planes_of, random_batch

SHAPE = (3, 4, 5)  # planes, height, width


class Operation(nn.Module):
    """A base of one operation, after a convolution, with a weight of its own."""

    def __init__(self, operation: Callable) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 1)
        self.scale = nn.Parameter(torch.linspace(0.5, 2, 4).view(1, 4, 1, 1))
        self.operation = operation

    def forward(self, planes):
        return self.operation(self.conv(planes), self.scale)


class FirstNumber(nn.Module):
    """A value head for features of any shape."""

    def forward(self, features):
        return torch.tanh(features.flatten(1)[:, :1])


def model_of(base: nn.Module, bfloat16: bool = False) -> OpenVinoModel:
    """Logits are the base's output, flat."""
    parts = (fold_batch_norms(part.eval()) for part in (base, FirstNumber(), nn.Flatten()))
    return OpenVinoModel(*parts, SHAPE, bfloat16)


def assert_same(base: nn.Module) -> None:
    planes = torch.randn(5, *SHAPE, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        expected = base.eval()(planes).flatten(1).numpy()
    logits, values = np.full(expected.shape, np.nan, np.float32), np.full(5, np.nan, np.float32)
    model_of(base).run(planes.numpy(), logits, values)
    np.testing.assert_allclose(logits, expected, atol=1e-5)
    np.testing.assert_allclose(values, np.tanh(expected[:, 0]), atol=1e-5)


def summed_in_place(x, scale):
    x += scale
    return x


def whole_board(x, scale):
    window = (x.shape[-2], x.shape[-1])
    both = torch.cat([F.avg_pool2d(x, window), F.max_pool2d(x, window).flatten(1).unflatten(1, (-1, 1, 1))], dim=1)
    return both[:, 2:6] + x


OPERATIONS = {
    "relu": lambda x, scale: torch.relu(x),
    "functional relu": lambda x, scale: F.relu(x, inplace=True),
    "method relu": lambda x, scale: x.relu(),
    "tanh": lambda x, scale: torch.tanh(x) - x.tanh() * 2,
    "add": lambda x, scale: (x + 1.5) + torch.add(scale, x) + (2 + x),
    "add in place": summed_in_place,
    "subtract": lambda x, scale: (x - 1.5) * (scale - x) * torch.sub(2.0, x),
    "divide": lambda x, scale: x / 3 + torch.div(x, scale) + 1 / scale,
    "multiply": lambda x, scale: x * scale + torch.mul(x, 0.5) - 2 * x,
    "concatenate": lambda x, scale: torch.cat([x, torch.relu(x), x], 1),
    "flatten": lambda x, scale: x.flatten(2).flatten(1, -1),
    "function flatten": lambda x, scale: torch.flatten(x, 1, 2),
    "unflatten": lambda x, scale: x.unflatten(1, (2, 2)).flatten(1, 2) * scale,
    "unflatten the rest": lambda x, scale: x.flatten(1).unflatten(1, (4, -1)),
    "slice": lambda x, scale: x[:, 1:3] + x[:, -2:] - x[:, :-2],
    "whole board": whole_board,
    "shape": lambda x, scale: x * (x.shape[-1] - 8) / 8 + x.shape[1],
}


@needs_openvino
@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS.keys())
def test_operations(operation):
    assert_same(Operation(operation))


@needs_openvino
@pytest.mark.parametrize(
    "layers",
    [
        [nn.Conv2d(3, 4, 3, padding=1, bias=False), nn.ReLU()],
        [nn.Conv2d(3, 4, (1, 3), padding=(0, 2), stride=(1, 2)), nn.Tanh()],
        [nn.Conv2d(3, 4, 3, padding=2, dilation=2), nn.BatchNorm2d(4), nn.Identity()],
        [nn.Flatten(), nn.Linear(60, 7), nn.ReLU(inplace=True), nn.Linear(7, 5, bias=False)],
        [nn.Flatten(2), nn.Tanh(), nn.Flatten(1, 2)],
    ],
    ids=str,
)
def test_layers(layers):
    base = nn.Sequential(*layers)
    for part in base.modules():
        if isinstance(part, nn.BatchNorm2d):
            part.running_mean.uniform_(-1, 1)
            part.running_var.uniform_(0.5, 2)
    assert_same(base)


UNKNOWN = {
    "another activation": lambda x, scale: F.silu(x),
    "another method": lambda x, scale: x.mean(dim=1),
    "a part of the board": lambda x, scale: F.avg_pool2d(x, 2),
    "a window with a border": lambda x, scale: F.max_pool2d(x, (4, 5), padding=1),
    "every second": lambda x, scale: x[:, ::2],
    "some rows": lambda x, scale: x[:2, :3],
    "a scaled sum": lambda x, scale: torch.add(x, scale, alpha=2),
}


@needs_openvino
@pytest.mark.parametrize("operation", UNKNOWN.values(), ids=UNKNOWN.keys())
def test_what_has_no_translation_is_refused(operation):
    with pytest.raises((NotImplementedError, TypeError)):
        model_of(Operation(operation))


@needs_openvino
@pytest.mark.parametrize(
    "layer",
    [
        nn.Conv2d(3, 6, 3, padding=1, groups=3),
        nn.Conv2d(3, 6, 3, padding=1, padding_mode="circular"),
        nn.Conv2d(3, 6, 3, padding="same"),
        nn.GroupNorm(3, 3),
        nn.MaxPool2d(2),
    ],
    ids=str,
)
def test_layers_without_translation_are_refused(layer):
    with pytest.raises(NotImplementedError, match="no OpenVINO translation of"):
        model_of(nn.Sequential(layer))


@needs_openvino
@pytest.mark.parametrize("size_free", [False, True])
def test_default_nets_are_translated(size_free):
    """Without a translation they would be half as fast, unnoticed."""
    net = lived_in(NeuralNet(GoEnv(5), tower_height=2, channels=8, size_free=size_free), sharpness=0.5)
    for dtype in ("float32", "bfloat16") if has_native_bfloat16() else ("float32",):
        assert net.evaluator(dtype).form == "openvino"


@needs_openvino
@pytest.mark.skipif(not has_native_bfloat16(), reason="needs a CPU that multiplies bfloat16")
def test_bfloat16_is_asked_for():
    net = lived_in(NeuralNet(GoEnv(5), tower_height=2, channels=8))
    batch, slots = random_batch(net.env, 8), np.arange(8)
    exact, rounded = (evaluate(net.evaluator(dtype), batch, slots)[1] for dtype in ("float32", "bfloat16"))
    assert 1e-5 < np.abs(exact - rounded).max() < 0.1


@needs_openvino
@pytest.mark.parametrize("count", [1, FEW, FEW + 1, BATCH_SIZE - 1, BATCH_SIZE, BATCH_SIZE + 1, 200])
def test_any_number_of_positions_with_the_module_beside_it(count):
    net = lived_in(NeuralNet(GoEnv(5), tower_height=1, channels=8).eval())
    parts = [fold_batch_norms(part.eval().requires_grad_(False)) for part in (net.base_net, net.value, net.policy)]
    model = OpenVinoModel(*parts, (16, 5, 5), bfloat16=False)
    batch = random_batch(net.env, 200)
    for slots in (np.arange(200)[::-1], np.arange(count)):  # what an earlier call left behind does not matter
        planes = planes_of(batch, slots)
        logits, values = np.full((len(slots), 26), np.nan, np.float32), np.full(len(slots), np.nan, np.float32)
        model.run(planes, logits, values)
        expected_logits, expected_values = net(torch.from_numpy(planes))
        np.testing.assert_allclose(logits, expected_logits.detach(), atol=1e-5)
        np.testing.assert_allclose(values, expected_values.detach(), atol=1e-5)


@needs_openvino
@pytest.mark.parametrize(("exact", "sizes"), [(True, {BATCH_SIZE}), (False, {BATCH_SIZE, FEW})])
def test_models_that_are_compiled(monkeypatch, exact, sizes):
    """Self-play, which makes an evaluator every few seconds, needs one; single games have a smaller one too."""
    compiled = []

    class Watched(openvino.Request):
        def __init__(self, model, precision):
            compiled.append(model.inputs[0].shape[0])
            super().__init__(model, precision)

    monkeypatch.setattr(openvino, "Request", Watched)
    net = lived_in(NeuralNet(GoEnv(5), tower_height=1, channels=8))
    evaluator = NetEvaluator(net.env, net.base_net, net.value, net.policy, dtype="float32", exact=exact)
    evaluate(evaluator, random_batch(net.env, 40), np.arange(40))
    assert set(compiled) == {BATCH_SIZE}
    evaluate(evaluator, random_batch(net.env, 3), np.arange(3))
    assert set(compiled) == sizes


# --- where it is not installed ---------------------------------------------------------------------


def test_without_the_package_torch_computes(without_openvino):
    with pytest.raises(ImportError):
        openvino.package()
    net = lived_in(NeuralNet(GoEnv(5), tower_height=2, channels=8))
    evaluator = net.evaluator("float32")
    assert evaluator.form == ("fused" if torch.backends.mkldnn.is_available() else "modules")
    batch, slots = random_batch(net.env, 50), np.arange(50)
    for output, expected in zip(evaluate(evaluator, batch, slots), module_results(net, batch, slots), strict=True):
        np.testing.assert_allclose(output, expected, atol=1e-5)
