"""The list of a network's operations computes what torch does, by numpy and by OpenVINO, or cannot be made."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from alphago.nn.graph import NetworkGraph, Tensor, run_graph
from alphago.nn.inference import openvino
from alphago.nn.inference.fusion import fold_batch_norms
from alphago.nn.inference.openvino import OpenVinoModel, list_operations
from alphago.nn.translator import Translator
from tests.nn.boards import randomised

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


def operations_of(base: nn.Module) -> NetworkGraph:
    """Logits are the base's output, flat."""
    return list_operations(*(fold_batch_norms(part.eval()) for part in (base, FirstNumber(), nn.Flatten())), SHAPE)


def assert_same(base: nn.Module) -> None:
    planes = torch.randn(5, *SHAPE, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        expected = base.eval()(planes).flatten(1).numpy()
        graph = operations_of(base)
    outputs = run_graph(graph, graph.weights, planes.numpy())
    computed = [(outputs["logits"], outputs["value"][:, 0])]
    if openvino.is_installed():
        computed.append((np.full(expected.shape, np.nan, np.float32), np.full(5, np.nan, np.float32)))
        OpenVinoModel(graph, bfloat16=False)(planes.numpy(), *computed[1])
    for logits, values in computed:
        assert logits.dtype == values.dtype == np.float32
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
    "elu": lambda x, scale: F.elu(x) - F.elu(x, 0.5),
    "tanh": lambda x, scale: torch.tanh(x) - x.tanh() * 2,
    "sigmoid": lambda x, scale: torch.sigmoid(x) * x.sigmoid(),
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
    "unflatten the batch": lambda x, scale: x.flatten(1).unflatten(0, (-1, 1)).flatten(1),
    "slice": lambda x, scale: x[:, 1:3] + x[:, -2:] - x[:, ::2],
    "one column": lambda x, scale: x[:, -1].unflatten(1, (1, 4)) * x.flatten(1)[:, 2].unflatten(0, (-1, 1, 1, 1)),
    "whole board": whole_board,
    "concatenate flat": lambda x, scale: torch.cat([x.flatten(1), x[:, 0].flatten(1)], -1),
    "shape": lambda x, scale: x * (x.shape[-1] - 8) / 8 + x.shape[1],
    "bias first": lambda x, scale: scale + (F.avg_pool2d(x, (4, 5)) - x),
    "silu and mish": lambda x, scale: F.silu(x) + F.mish(4 * x),
    "mean of axes": lambda x, scale: x / torch.sqrt((x * x).mean(dim=(1, -1), keepdim=True) + 0.1),
    "attention": lambda x, scale: torch.matmul(torch.softmax(x.transpose(2, 3) * 3, dim=-1), x.permute(0, 1, 2, 3)),
    "deep items": lambda x, scale: x[:, :, 1:3] + x[:, :, :, 2].unflatten(2, (-1, 1))[:, :, 1:3],
    "adaptive mean": lambda x, scale: scale + F.adaptive_avg_pool2d(x, 1) + F.adaptive_avg_pool2d(x, (1, 1)),
}


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS.keys())
def test_operations(operation):
    assert_same(Operation(operation))


@pytest.mark.parametrize(
    "layers",
    [
        [nn.Conv2d(3, 4, 3, padding=1, bias=False), nn.ReLU()],
        [nn.Conv2d(3, 4, (1, 3), padding=(0, 2), stride=(1, 2)), nn.Tanh()],
        [nn.Conv2d(3, 4, 3, padding=2, dilation=2), nn.BatchNorm2d(4), nn.Identity()],
        [nn.Conv2d(3, 6, 3, padding=1, groups=3), nn.Dropout(), nn.Conv2d(6, 4, 1, groups=2, bias=False), nn.Sigmoid()],
        [nn.BatchNorm2d(3), nn.ELU(0.5)],
        [nn.Flatten(), nn.Linear(60, 7), nn.ReLU(inplace=True), nn.Linear(7, 5, bias=False)],
        [nn.Flatten(2), nn.Linear(20, 6), nn.Linear(6, 5, bias=False), nn.Tanh(), nn.Flatten(1, 2)],
    ],
    ids=str,
)
def test_layers(layers):
    assert_same(randomised(nn.Sequential(*layers)))


REFUSED = [
    nn.Conv2d(3, 6, 3, padding=1, padding_mode="circular"),
    nn.Conv2d(3, 6, 3, padding="same"),
    nn.GroupNorm(3, 3),
    nn.MaxPool2d(2),
]
UNKNOWN = {
    "another activation": lambda x, scale: F.gelu(x),
    "another method": lambda x, scale: x.mean(dim=1),
    "a part of the board": lambda x, scale: F.avg_pool2d(x, 2),
    "parts of the board": lambda x, scale: F.adaptive_avg_pool2d(x, 2),
    "a window with a border": lambda x, scale: F.max_pool2d(x, (4, 5), padding=1),
    "some rows": lambda x, scale: x[:2, :3],
    "a mean of fewer": lambda x, scale: F.avg_pool2d(x, (4, 5), divisor_override=3),
    "a shape of its own": lambda x, scale: x.flatten(0, 1).unflatten(0, (-1, 2)),
    "a scaled sum": lambda x, scale: torch.add(x, scale, alpha=2),
}


@pytest.mark.parametrize("base", [*REFUSED, *map(Operation, UNKNOWN.values())], ids=[*map(str, REFUSED), *UNKNOWN])
def test_what_has_no_translation_is_refused(base):
    with pytest.raises((NotImplementedError, TypeError)):
        operations_of(nn.Sequential(base))


def test_a_list_with_symbolic_sides_computes_any_board():
    graph = NetworkGraph(Tensor("planes", ("batch", 3, "height", "width")))
    base = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 2, 1)).eval().requires_grad_(False)
    graph.outputs["features"] = Translator(fold_batch_norms(base), graph, "base_net").run(graph.planes)
    assert graph.outputs["features"].shape == ("batch", 2, "height", "width")
    for height, width in ((4, 5), (2, 7)):
        planes = torch.randn(3, 3, height, width, generator=torch.Generator().manual_seed(1))
        features = run_graph(graph, graph.weights, planes.numpy())["features"]
        np.testing.assert_allclose(features, base(planes).numpy(), atol=1e-5)


def test_a_list_with_symbolic_sides_refuses_what_changes_the_board():
    graph = NetworkGraph(Tensor("planes", ("batch", 3, "height", "width")))
    for layer in (nn.Conv2d(3, 4, 3), nn.Conv2d(3, 4, 3, padding=1, stride=2)):
        with pytest.raises(NotImplementedError, match="which changes the board's size"):
            Translator(fold_batch_norms(nn.Sequential(layer)), graph, "base_net").run(graph.planes)


def test_the_number_of_positions_is_that_of_the_call():
    graph = operations_of(Operation(lambda x, scale: x * 0 + x.shape[0]))
    for count in (1, 3):
        logits = run_graph(graph, graph.weights, np.zeros((count, *SHAPE), np.float32))["logits"]
        np.testing.assert_array_equal(logits, np.full((count, 80), count, np.float32))
    if openvino.is_installed():  # whose models have a fixed one
        with pytest.raises(KeyError, match="Shape"):
            OpenVinoModel(graph, bfloat16=False)
