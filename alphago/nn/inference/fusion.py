"""Graph transformations that make a trained network of any modules fast on a CPU.

`fold_batch_norms` folds batch norms into the convolutions before them.  `fuse_convolutions` replaces each convolution,
with the addition and relu after it, by one oneDNN call on weights in the CPU's preferred layout.  `to_torchscript`
removes Python's overhead.  Each may fail on a module that torch.fx cannot trace, or return a graph that computes
something else; therefore callers compare the results, and use the modules if they differ.

The fused calls are those of torch.compile on CPUs (torch/_inductor/mkldnn_ir.py), which are internal to torch.

Positions per second on one core of a machine with AMX, in bfloat16, with 128 positions per call:

                               modules   scripted   fused and scripted
    9x9, 5 blocks x 64          12 200     13 300               18 000
    7x7, 4 blocks x 32          55 000     60 000               85 000
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
FILTERS_LOCK = threading.RLock()
LAYOUT_BATCH = 128  # batch size for which oneDNN chooses the weights' layout; other sizes work too


class OneThreadTracer(fx.Tracer):
    """A tracer that does not affect modules called in other threads, which torch.fx would trace as well."""

    def __init__(self) -> None:
        super().__init__()
        self.thread = threading.get_ident()

    def call_module(self, m: nn.Module, forward: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        if threading.get_ident() != self.thread:
            return forward(*args, **kwargs)
        return super().call_module(m, forward, args, kwargs)


def fold_batch_norms(module: nn.Module) -> fx.GraphModule:
    """Return a copy of a module as a graph with batch norms folded into the convolutions before them.

    module: in eval mode.
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
    """Replace each convolution, and an addition and a relu that follow it, by one module; return `graph_module`.

    graph_module: the graph, changed in place.
    inputs: an example batch in the dtype of later calls.
    conv_class: the class of the new modules, called with the same arguments as FusedConv; None for FusedConv.
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
    """Return the nodes that one fused call can replace, and the node whose output they add, None if they add nothing.

    conv: a convolution, the first of these nodes.  parts: the graph's modules by name.
    """
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
    """A convolution with an optional addition and relu after it, as one oneDNN call.

    input_shape: the shape of the input; its batch axis is ignored.  relu: whether a relu follows.
    """

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
    """Return a scripted function that makes the oneDNN call.

    It is scripted because torch.jit.trace does not support one of the call's argument types.
    """

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
    """Return a module as frozen TorchScript, traced with an example batch."""
    with without_warnings(), torch.no_grad():
        return torch.jit.freeze(torch.jit.trace(module.eval(), inputs, check_trace=False))


@contextmanager
def without_warnings() -> Iterator[None]:
    """Suppress torch's warnings that TorchScript is deprecated and that a trace may not generalize to other inputs.

    One thread at a time: Python keeps one list of filters for all threads (before 3.14).
    """
    with FILTERS_LOCK, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*torch.jit.*deprecated", category=DeprecationWarning)
        warnings.filterwarnings("ignore", category=torch.jit.TracerWarning)
        yield


def replace_module(graph_module: fx.GraphModule, target: str, module: nn.Module) -> None:
    """Replace the submodule with the dotted name `target` by `module`."""
    parent, _, name = target.rpartition(".")
    setattr(graph_module.get_submodule(parent), name, module)


def module_uses(graph_module: fx.GraphModule) -> Counter[int]:
    """Return the number of nodes that call each module, by the module's id.

    A module that several nodes call must not be changed.
    """
    parts = dict(graph_module.named_modules())
    calls = (node.target for node in graph_module.graph.nodes if node.op == "call_module")
    return Counter(id(parts[target]) for target in calls)


def is_module(node: Any, cls: type[nn.Module], parts: dict[str, nn.Module], uses: Counter[int]) -> bool:
    """Return whether a node calls, with one argument, a module of exactly the class `cls` that no other node calls.

    parts: the graph's modules by name.  uses: the result of `module_uses`.
    """
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
    """Return the shape of a node's output, which ShapeProp recorded; None if the output is not a tensor."""
    return getattr(node.meta.get("tensor_meta"), "shape", None)
