"""Graphs with folded norms and fused convolutions compute what the modules do, in as few calls as they should."""

import linecache

import pytest
import torch
from torch import fx, nn

from alphago import GoEnv, NeuralNet
from alphago.nn.base import ResidualTower
from alphago.nn.inference.fusion import fold_batch_norms, folded_state, fuse_convolutions
from alphago.nn.inference.gpu_forms import CudnnConv
from tests.nn.boards import lived_in


class Fused(nn.Module):
    """A convolution, an addition and a relu, as a device might compute them in one call."""

    def __init__(self, conv: nn.Conv2d, relu: bool) -> None:
        super().__init__()
        self.conv, self.relu = conv, relu

    def forward(self, inputs, other=0.0):
        outputs = self.conv(inputs) + other
        return torch.relu(outputs) if self.relu else outputs


def sources() -> set[str]:
    """What torch.fx keeps."""
    return {*fx.graph_module._loader.eval_cache, *(name for name in linecache.cache if "eval_with_key" in name)}


def fuse(net: NeuralNet) -> list[tuple[type[nn.Module], int]]:
    """The classes of the modules that are called, and their numbers of arguments; the results are checked."""
    planes, base = torch.rand(2, 16, 5, 5), lived_in(net).eval().requires_grad_(False).base_net
    kept = sources()
    graph = fuse_convolutions(fold_batch_norms(base), planes, Fused)
    torch.testing.assert_close(graph(planes), base(planes))
    assert sources() == kept  # nothing of each new version
    calls = [node for node in graph.graph.nodes if node.op == "call_module"]
    return [(type(graph.get_submodule(node.target)), len(node.args)) for node in calls]


@pytest.mark.parametrize("size_free", [False, True])
def test_default_towers_are_fused(size_free):
    """A change of torch's internals must not slow the evaluator down unnoticed."""
    calls = fuse(NeuralNet(GoEnv(5), tower_height=2, channels=8, size_free=size_free))
    whole_board = [(nn.Linear, 1)] if size_free else []  # between the two convolutions of the second block
    assert calls == [(Fused, 1), (Fused, 1), (Fused, 2), (Fused, 1), *whole_board, (Fused, 2)]


def test_preactivation_sums_are_part_of_the_convolution():
    calls = fuse(NeuralNet(GoEnv(5), ResidualTower(16, 8, 3, block="preactivation")))
    assert [count for kind, count in calls if kind is Fused] == [1, 1, 2, 1, 2, 1, 2]


@pytest.mark.parametrize("block", ["residual", "preactivation", "plain"])
@pytest.mark.parametrize("fused", [False, True])
def test_weights_are_folded_without_tracing(block: str, fused: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the graph were made of the network that has them."""

    def made(base: nn.Module) -> fx.GraphModule:
        graph = fold_batch_norms(base)
        return fuse_convolutions(graph, torch.rand(2, 16, 5, 5), CudnnConv) if fused else graph

    nets = [lived_in(NeuralNet(GoEnv(5), ResidualTower(16, 8, 2, True, block=block)), seed=seed) for seed in (1, 2)]
    bases = [net.eval().requires_grad_(False).base_net for net in nets]
    monkeypatch.setattr(torch, "cudnn_convolution_relu", lambda x, *_: x[:, :8].clone())  # shapes alone are looked at
    monkeypatch.setattr(torch, "cudnn_convolution_add_relu", lambda x, w, other, *_: other.clone())
    graphs = [made(base) for base in bases]
    state, expected = folded_state(graphs[0], bases[1]), graphs[1].state_dict()
    assert list(graphs[0].state_dict()) == list(expected)
    assert set(state) >= set(expected)
    for name, tensor in expected.items():
        torch.testing.assert_close(state[name], tensor)


def test_a_constant_of_the_old_graph_is_told() -> None:
    class Doubled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Conv2d(16, 4, 1)

        def forward(self, planes: torch.Tensor) -> torch.Tensor:
            return self.layer(planes) * torch.full((1,), 2.0)

    graph = fold_batch_norms(Doubled().eval())
    with pytest.raises(KeyError, match="constant"):  # which torch.fx has made of the tensor
        folded_state(graph, Doubled().eval())
