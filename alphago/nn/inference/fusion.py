"""Graph transformations that make a trained network of any modules fast on a CPU.

`fold_batch_norms` puts batch norms into the convolutions before them; `fuse_convolutions` turns each convolution with
the addition and relu after it into one oneDNN call on weights laid out for the CPU in advance; `to_torchscript` removes
Python. Each may fail on a module that it cannot trace (torch.fx runs it once, with batch size and dtypes unknown), or
return a graph that computes something else: callers compare the results and fall back on the modules.

The fused calls are those that torch.compile uses on CPUs (torch/_inductor/mkldnn_ir.py). They are internal to torch,
one more reason to compare.

Positions per second on one core of an AVX512 machine with AMX, in bfloat16, 128 positions a call, as modules, scripted,
and fused and scripted: 12 200, 13 300 and 18 000 with 5 blocks x 64 channels on 9x9; 55 000, 60 000 and 85 000 with 4 x
32 on 7x7.
"""

import copy
import operator
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import fx, nn
from torch.fx.passes.shape_prop import ShapeProp
from torch.nn.utils.fusion import fuse_conv_bn_eval

RELUS = {torch.relu, torch.relu_, F.relu, F.relu_, "relu", "relu_"}
ADDS = {operator.add, operator.iadd, torch.add, "add", "add_"}
LAYOUT_BATCH = 128  # weights are laid out for batches of about this size; any other works


class OneThreadTracer(fx.Tracer):
    """A tracer that other threads do not notice; torch.fx itself patches nn.Module for all threads while it traces."""

    def __init__(self) -> None:
        super().__init__()
        self.thread = threading.get_ident()

    def call_module(self, m: nn.Module, forward: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        if threading.get_ident() != self.thread:
            return forward(*args, **kwargs)
        return super().call_module(m, forward, args, kwargs)


def fold_batch_norms(module: nn.Module) -> fx.GraphModule:
    """Return the module as a graph in which batch norms are part of the convolutions before them.

    `module` is in eval mode; it is not changed and shares nothing with the result.
    """
    tracer = OneThreadTracer()
    graph = tracer.trace(copy.deepcopy(module))
    graph_module = fx.GraphModule(tracer.root, graph)
    parts = dict(graph_module.named_modules())
    uses = module_uses(graph_module)
    for node in list(graph_module.graph.nodes):
        if not is_module(node, nn.BatchNorm2d, parts, uses):
            continue
        conv = node.args[0]
        if not is_module(conv, nn.Conv2d, parts, uses):
            continue
        if len(conv.users) == 1 and parts[node.target].track_running_stats:
            replace_module(graph_module, conv.target, fuse_conv_bn_eval(parts[conv.target], parts[node.target]))
            node.replace_all_uses_with(conv)
            graph_module.graph.erase_node(node)
    graph_module.delete_all_unused_submodules()
    graph_module.recompile()
    return graph_module


def fuse_convolutions(
    graph_module: fx.GraphModule, inputs: torch.Tensor, conv_class: Callable[..., nn.Module] | None = None
) -> fx.GraphModule:
    """Replace every convolution, and the addition and relu after it if any, by a FusedConv or a `conv_class`.

    Changes `graph_module` in place and returns it.
    inputs: an example batch, in the dtype that the result is for.
    """
    ShapeProp(graph_module).propagate(inputs)
    parts = dict(graph_module.named_modules())
    uses = module_uses(graph_module)
    for node in list(graph_module.graph.nodes):
        if not is_module(node, nn.Conv2d, parts, uses):
            continue
        conv = parts[node.target]
        if conv.padding_mode != "zeros" or isinstance(conv.padding, str):
            continue
        chain, other = fusible_chain(node, parts)
        relu = is_relu(chain[-1], parts)
        replace_module(graph_module, node.target, (conv_class or FusedConv)(conv, shape_of(node.args[0]), relu=relu))
        with graph_module.graph.inserting_before(chain[-1]):
            arguments = (node.args[0],) if other is None else (node.args[0], other)
            call = graph_module.graph.call_module(node.target, arguments)
        call.meta = dict(chain[-1].meta)
        chain[-1].replace_all_uses_with(call)
        for old in reversed(chain):
            graph_module.graph.erase_node(old)
    graph_module.recompile()
    return graph_module


def fusible_chain(conv: fx.Node, parts: dict[str, nn.Module]) -> tuple[list[fx.Node], fx.Node | None]:
    """Return the nodes that one fused call can replace, first the convolution, and the added node or None."""
    user = only_user(conv)
    if user is None:
        return [conv], None
    if is_relu(user, parts):
        return [conv, user], None
    relu = only_user(user)
    if user.target in ADDS and len(user.args) == 2 and not user.kwargs:
        other = user.args[1] if user.args[0] is conv else user.args[0]
        if isinstance(other, fx.Node) and other is not conv and shape_of(other) == shape_of(conv):
            return [conv, user, relu] if relu is not None and is_relu(relu, parts) else [conv, user], other
    return [conv], None


class FusedConv(nn.Module):
    """A convolution with an optional addition and relu after it, as one oneDNN call."""

    def __init__(self, conv: nn.Conv2d, input_shape: Sequence[int], relu: bool) -> None:
        super().__init__()
        self.padding, self.stride, self.dilation = list(conv.padding), list(conv.stride), list(conv.dilation)
        self.groups = conv.groups
        self.activation = "relu" if relu else "none"
        shape = [LAYOUT_BATCH, *input_shape[1:]]
        bias = conv.weight.new_zeros(conv.out_channels) if conv.bias is None else conv.bias.detach()
        weight = torch.ops.mkldnn._reorder_convolution_weight(
            conv.weight.detach(), self.padding, self.stride, self.dilation, self.groups, shape
        )
        # Buffers, because TorchScript refuses constants in oneDNN's own layout.
        self.register_buffer("weight", weight)
        self.register_buffer("bias", bias)

    def forward(self, inputs: torch.Tensor, other: torch.Tensor | None = None) -> torch.Tensor:
        sizes = (self.padding, self.stride, self.dilation, self.groups)
        return fused_call()(inputs, other, self.weight, self.bias, *sizes, self.activation)


@cache
def fused_call() -> Callable[..., torch.Tensor]:
    """Return a function that makes the oneDNN call, scripted: tracing does not support its list of optional numbers."""

    def call(
        inputs: torch.Tensor, other: torch.Tensor | None, weight: torch.Tensor, bias: torch.Tensor,
        padding: list[int], stride: list[int], dilation: list[int], groups: int, activation: str,
    ) -> torch.Tensor:  # fmt: skip
        if other is None:
            return torch.ops.mkldnn._convolution_pointwise(
                inputs, weight, bias, padding, stride, dilation, groups, activation, [], ""
            )
        last = None if activation == "none" else activation
        return torch.ops.mkldnn._convolution_pointwise(
            inputs, other, weight, bias, padding, stride, dilation, groups, "add", 1.0, last, [], ""
        )

    with without_warnings():
        return torch.jit.script(call)


def to_torchscript(module: nn.Module, inputs: torch.Tensor) -> nn.Module:
    """Return the module as frozen TorchScript, recorded on an example batch."""
    with without_warnings(), torch.no_grad():
        return torch.jit.freeze(torch.jit.trace(module.eval(), inputs, check_trace=False))


@contextmanager
def without_warnings() -> Iterator[None]:
    """Silence torch's warnings that TorchScript is deprecated and that a trace might not hold for other inputs."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*torch.jit.*deprecated", category=DeprecationWarning)
        warnings.filterwarnings("ignore", category=torch.jit.TracerWarning)
        yield


def replace_module(graph_module: fx.GraphModule, target: str, module: nn.Module) -> None:
    """Replace the module with the dotted name `target`."""
    parent, _, name = target.rpartition(".")
    setattr(graph_module.get_submodule(parent), name, module)


def module_uses(graph_module: fx.GraphModule) -> Counter[int]:
    """Return how many nodes call each module, by identity: a module that is called twice must not be changed."""
    parts = dict(graph_module.named_modules())
    calls = (node.target for node in graph_module.graph.nodes if node.op == "call_module")
    return Counter(id(parts[target]) for target in calls)


def is_module(node: Any, cls: type[nn.Module], parts: dict[str, nn.Module], uses: Counter[int]) -> bool:
    """Return whether a node is the only call of a module of exactly this class."""
    if not isinstance(node, fx.Node) or node.op != "call_module" or not isinstance(node.target, str):
        return False
    module = parts[node.target]
    return type(module) is cls and uses[id(module)] == 1 and len(node.args) == 1


def is_relu(node: fx.Node, parts: dict[str, nn.Module]) -> bool:
    if node.op == "call_module":
        return type(parts[str(node.target)]) is nn.ReLU
    return node.op in ("call_function", "call_method") and node.target in RELUS


def only_user(node: fx.Node) -> fx.Node | None:
    return next(iter(node.users)) if len(node.users) == 1 else None


def shape_of(node: Any) -> Any:
    """Return the shape that ShapeProp recorded; None for a node whose output is no tensor."""
    return getattr(node.meta.get("tensor_meta"), "shape", None)
