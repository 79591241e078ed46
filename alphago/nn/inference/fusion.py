"""Graph transformations that make a trained network of any modules fast.

`fold_batch_norms` folds batch norms into the convolutions before them.  `fuse_convolutions` replaces each convolution,
with the addition and relu after it, by one module, for example one that makes a single call on a GPU.  Each may fail on
a module that torch.fx cannot trace, or return a graph that computes something else; therefore callers compare the
results, and use the modules if they differ.
"""

import copy
import linecache
import operator
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import fx, nn
from torch.fx.passes.shape_prop import ShapeProp
from torch.nn.utils.fusion import fuse_conv_bn_eval, fuse_conv_bn_weights

from alphago.nn.transformer import Rotation

RELUS = {torch.relu, torch.relu_, F.relu, F.relu_, "relu", "relu_"}
# For each pooling, the function that computes the same over whole boards, in a fifth of the time, since it makes a
# single pass over a GPU's memory.
REDUCTIONS: dict[Any, Callable[..., Any]] = {
    F.adaptive_avg_pool2d: torch.mean,
    F.avg_pool2d: torch.mean,
    F.max_pool2d: torch.amax,
    torch.max_pool2d: torch.amax,
}
# Layers of torch that are traced as the functions that they call.
FUNCTIONAL = (nn.ReLU, nn.ELU, nn.Tanh, nn.Sigmoid, nn.SiLU, nn.Mish, nn.Flatten, nn.Identity)
ADDS = {operator.add, operator.iadd, torch.add, "add", "add_"}
NORMS = "norms"  # key in a graph's `meta` of a dictionary: convolution's name -> name of the batch norm folded into it


class OneThreadTracer(fx.Tracer):
    """A tracer that does not affect modules called in other threads, which torch.fx would trace as well.

    A Rotation is not traced, but stays one call of a module: its output depends on the board's sides alone.
    """

    def __init__(self) -> None:
        super().__init__()
        self.thread = threading.get_ident()

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        """Return whether a module stays one call in the graph: a Rotation, or a layer of torch outside FUNCTIONAL."""
        is_layer = super().is_leaf_module(m, module_qualified_name)
        return isinstance(m, Rotation) or (is_layer and not isinstance(m, FUNCTIONAL))

    def call_module(self, m: nn.Module, forward: Callable[..., Any], args: Any, kwargs: Any) -> object:
        """Record a call of a module, or just run it if another thread has made the call."""
        if threading.get_ident() != self.thread:
            return forward(*args, **kwargs)
        return super().call_module(m, forward, args, kwargs)


def fold_batch_norms(module: nn.Module) -> fx.GraphModule:
    """Return a copy of a module as a graph with batch norms folded into the convolutions before them.

    The names of the folded batch norms are kept in the graph's `meta[NORMS]`, for `folded_state`.

    Args:
        module: in eval mode.
    """
    tracer = OneThreadTracer()
    graph = tracer.trace(copy.deepcopy(module))
    graph_module = fx.GraphModule(tracer.root, graph)
    modules = modules_called_once(graph_module)
    norms = graph_module.meta[NORMS] = {}
    for node, norm in modules.items():
        if type(norm) is not nn.BatchNorm2d or not norm.track_running_stats:
            continue
        before: Any = node.args[0]  # the node of the norm's input
        conv = modules.get(before)  # None if the input is no output of a module that is called once
        if type(conv) is nn.Conv2d and len(before.users) == 1:  # only the norm reads the output, which folding changes
            norms[before.target] = node.target
            graph_module.set_submodule(before.target, fuse_conv_bn_eval(conv, norm))
            node.replace_all_uses_with(before)
            graph_module.graph.erase_node(node)
    graph_module.delete_all_unused_submodules()
    recompile(graph_module)
    return graph_module


def folded_state(folded: nn.Module, module: nn.Module) -> dict[str, torch.Tensor]:
    """Return the tensors that `folded` would have if it were made of `module`, by name, without tracing again.

    Args:
        folded: made of a module of the same structure: a copy of it, or the result of `fold_batch_norms`, which
            `fuse_convolutions` may have changed.
        module: a module with new weights.

    Raises:
        KeyError: if `folded` has a tensor that does not follow from those of `module`.
    """
    norms: dict[str, str] = folded.meta[NORMS] if isinstance(folded, fx.GraphModule) else {}
    given: dict[str, Any] = module.state_dict()
    state: dict[str, torch.Tensor] = {}
    for conv_name, norm_name in norms.items():
        norm: Any = module.get_submodule(norm_name)
        weight, bias = given[f"{conv_name}.weight"], given.get(f"{conv_name}.bias")
        statistics = (norm.running_mean, norm.running_var, norm.eps)
        folded_weight, folded_bias = fuse_conv_bn_weights(weight, bias, *statistics, norm.weight, norm.bias)
        state[f"{conv_name}.weight"], state[f"{conv_name}.bias"] = folded_weight, folded_bias
    for name, tensor in folded.state_dict().items():
        if name in state:
            continue
        if name not in given and name.endswith(".bias") and f"{name.removesuffix('bias')}weight" in given:
            state[name] = torch.zeros_like(tensor)  # the convolution has no bias, but its fused call needs one
        else:
            state[name] = given[name]
    return state


def recompile(graph_module: fx.GraphModule) -> None:
    """Compile a changed graph again, and delete its old and new source text, which torch.fx would keep for ever.

    Such a text has 9 KB.
    """
    forget_source(graph_module)
    graph_module.recompile()
    forget_source(graph_module)


def forget_source(graph_module: fx.GraphModule) -> None:
    """Delete the text of a graph's present code, which Python and torch.fx keep for error messages."""
    name = type(graph_module).forward.__code__.co_filename
    linecache.cache.pop(name, None)
    loader = getattr(fx.graph_module, "_loader", None)  # a private member, which another version may lack
    getattr(loader, "eval_cache", {}).pop(name, None)


def fuse_convolutions(
    graph_module: fx.GraphModule, inputs: torch.Tensor, make_fused: Callable[[nn.Conv2d, bool], nn.Module]
) -> fx.GraphModule:
    """Replace each convolution, and an addition and a relu that follow it, by one module; return `graph_module`.

    Args:
        graph_module: the graph, changed in place.
        inputs: an example batch in the dtype of later calls.
        make_fused: called with a convolution and with whether a relu follows; returns the new module.  The new module
            is called with the convolution's input and, if an addition follows, with the other addend.
    """
    ShapeProp(graph_module).propagate(inputs)
    for node, conv in modules_called_once(graph_module).items():
        if type(conv) is not nn.Conv2d or conv.padding_mode != "zeros" or isinstance(conv.padding, str):
            continue
        chain, added = fusible_chain(node)
        last = chain[-1]
        graph_module.set_submodule(str(node.target), make_fused(conv, is_relu(last)))  # in the convolution's place
        with graph_module.graph.inserting_before(last):  # where the other addend has been computed
            arguments = (node.args[0],) if added is None else (node.args[0], added)
            call = graph_module.graph.call_module(str(node.target), arguments)
        call.meta = dict(last.meta)  # has the shape of the output
        last.replace_all_uses_with(call)
        for old in reversed(chain):  # a node can be erased once no other node reads it
            graph_module.graph.erase_node(old)
    recompile(graph_module)
    return graph_module


def replace_poolings(graph_module: fx.GraphModule) -> None:
    """Replace each pooling over the whole board by its function in REDUCTIONS, in place.

    Args:
        graph_module: the result of `fuse_convolutions`, whose nodes know their shapes.
    """
    for node in list(graph_module.graph.nodes):
        shape: Any = output_shape(node)
        is_of_board = shape is not None and tuple(shape[2:]) == (1, 1)  # over the whole board: one point is left
        if node.target in REDUCTIONS and is_of_board:
            with graph_module.graph.inserting_before(node):
                arguments = (node.args[0], (2, 3), True)  # over height and width, which stay as sides of 1
                reduced = graph_module.graph.call_function(REDUCTIONS[node.target], arguments)
            node.replace_all_uses_with(reduced)
            graph_module.graph.erase_node(node)
    recompile(graph_module)


def fusible_chain(conv: fx.Node) -> tuple[list[fx.Node], fx.Node | None]:
    """Return the nodes that one fused call can replace, and the other addend of the addition among them.

    The nodes are the convolution `conv` and, where they follow it, an addition and a relu.  Without an addition the
    addend is None.
    """
    chain = [conv]
    user = only_user(conv)
    added: fx.Node | None = None
    # An addition with options, such as torch.add's factor `alpha`, is not fused.
    if user is not None and user.target in ADDS and len(user.args) == 2 and not user.kwargs:
        other = user.args[1] if user.args[0] is conv else user.args[0]
        # Nor is the addition of a number, of the convolution to itself, or of a tensor of another shape.
        if isinstance(other, fx.Node) and other is not conv and output_shape(other) == output_shape(conv):
            added = other
            chain.append(user)
            user = only_user(user)
    if user is not None and is_relu(user):
        chain.append(user)
    return chain, added


def modules_called_once(graph_module: fx.GraphModule) -> dict[fx.Node, nn.Module]:
    """Return the modules that are called exactly once, with one argument; keys: the calling nodes, in order."""
    parts = dict(graph_module.named_modules())
    calls = [(node, parts[str(node.target)]) for node in graph_module.graph.nodes if node.op == "call_module"]
    times = Counter(id(module) for _, module in calls)
    return {node: module for node, module in calls if times[id(module)] == 1 and len(node.args) == 1}


def is_relu(node: fx.Node) -> bool:
    """Return whether a node is a relu: a function or a method; a layer nn.ReLU is traced as a function."""
    return node.op in ("call_function", "call_method") and node.target in RELUS


def only_user(node: fx.Node) -> fx.Node | None:
    """Return the node that uses a node's output, None if there are several or none."""
    return next(iter(node.users)) if len(node.users) == 1 else None


def output_shape(node: fx.Node) -> object:
    """Return the shape of a node's output, which ShapeProp recorded; None if the output is not a tensor."""
    return getattr(node.meta.get("tensor_meta"), "shape", None)
