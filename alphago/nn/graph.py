"""A network as a list of ONNX operations, which `alphago.nn.export` writes and other programs compute.

Like the Translator in alphago.nn.inference.openvino, the Translator here walks the folded graphs of
alphago.nn.inference.fusion.  For a size-free network the board's height and width remain symbolic, so that the same
list of operations computes any board.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import fx, nn

from alphago.nn.inference.frozen import TRACING, frozen_parts
from alphago.nn.inference.fusion import fold_batch_norms
from alphago.nn.net import NeuralNet
from alphago.nn.parts import class_path
from alphago.nn.threads import one_torch_thread
from alphago.nn.value import ForecastHead

BOARD = [2, 3]  # the axes of height and width
SIDE = "side"  # prefix of the names of symbolic sides for which no operation exists yet


class Step(NamedTuple):
    """One ONNX operation (opset 17).

    op: the operation's name.  attributes: its attributes.
    inputs: names of outputs of earlier steps, of weights, or of the graph's input.  output: the output's name.
    """

    op: str
    inputs: list[str]
    output: str
    attributes: dict[str, Any]


class Tensor(NamedTuple):
    """A value within the graph, with its name and shape.

    A dimension that may change is a name in the shape, for example ("batch", 16, "height", "width").
    """

    name: str
    shape: tuple[int | str, ...]


@dataclass
class NetworkGraph:
    """A network's operations in the order of execution, and its weights in the order of the layers.

    planes: the input.
    weights: the weights, and the constants that operations use, by name.
    outputs: by name, the tensors "logits" and "value", and also "score" and "ownership" if the network predicts them.
    """

    planes: Tensor
    steps: list[Step] = field(default_factory=list)
    weights: dict[str, np.ndarray] = field(default_factory=dict)
    outputs: dict[str, Tensor] = field(default_factory=dict)

    def add(self, op: str, inputs: list[Any], shape: tuple[int | str, ...], **attributes: Any) -> Tensor:
        """Append an operation and return its output.

        op, attributes: see Step.  inputs: tensors of this graph, or numbers and arrays, which become constants.
        shape: the output's shape.
        """
        names = [item.name if isinstance(item, Tensor) else self.keep(item) for item in inputs]
        output = Tensor(f"t{len(self.steps)}", shape)
        self.steps.append(Step(op, names, output.name, attributes))
        return output

    def keep(self, value: Any, name: str | None = None) -> str:
        """Store a weight or a constant, and return its name.

        value: a tensor, array or number.  It is stored as float32, except that integer arrays without a name, such as
            shapes, are stored as int64.
        name: the weight's name; None to make a name for a constant.
        """
        array = value.detach().cpu().numpy() if isinstance(value, torch.Tensor) else np.asarray(value)
        array = array.astype(np.int64 if array.dtype.kind in "iu" and name is None and array.ndim else np.float32)
        name = f"c{len(self.weights)}" if name is None else name
        self.weights[name] = array
        return name


def network_graph(net: NeuralNet) -> NetworkGraph:
    """Return a network's operations in float32, with batch norms folded into convolutions.

    Raises ValueError, which names the part and the layer, if a layer cannot be translated.
    """
    height, width = ("height", "width") if net.size_free else net.env.plane_shape
    graph = NetworkGraph(Tensor("planes", ("batch", net.env.planes, height, width)))
    frozen = frozen_parts(net.base_net, net.value, net.policy)
    with TRACING, torch.no_grad(), one_torch_thread():
        features = translated(graph, "base_net", frozen.base_net, graph.planes)
        logits = translated(graph, "policy", frozen.policy, features)
        values = translated(graph, "value", WholeValue(frozen.value), features)
    names = ("value", "score", "ownership")
    graph.outputs["logits"] = logits._replace(shape=("batch", "actions" if net.size_free else net.env.action_space))
    for name, tensor in zip(names, (values,) if isinstance(values, Tensor) else values, strict=False):
        if name != "ownership":  # [B, 1] or [B]
            tensor = graph.add("Reshape", [tensor, np.array([-1])], ("batch",))
        graph.outputs[name] = tensor
    return graph


class WholeValue(nn.Module):
    """A value head as a module that returns all its predictions: value, score and ownership, or the value alone."""

    def __init__(self, head: nn.Module) -> None:
        super().__init__()
        self.head = head

    def forward(self, features: torch.Tensor) -> Any:
        if not isinstance(self.head, ForecastHead):
            return self.head(features)
        forecast = self.head.forecast(features)
        parts = (forecast.value, forecast.score, forecast.ownership)
        return parts if forecast.score is not None and forecast.ownership is not None else forecast.value


def translated(graph: NetworkGraph, slot: str, module: nn.Module, inputs: Tensor) -> Any:
    """Append a part's operations to the graph and return the part's output.

    slot: the part's slot, such as "policy".  inputs: the part's input.
    Raises ValueError if the part cannot be translated.
    """
    part = module.head if isinstance(module, WholeValue) else module
    try:
        return Translator(fold_batch_norms(module.eval()), graph, slot).run(inputs)
    except Exception as error:  # torch.fx may raise anything on a module that it cannot trace
        raise ValueError(f"{slot}: {class_path(type(part))} cannot be exported: {error}") from error


class Translator(fx.Interpreter):
    """An interpreter of a traced part that appends the part's operations to a NetworkGraph.

    slot: the part's slot, which the names of its weights begin with.
    """

    def __init__(self, module: fx.GraphModule, graph: NetworkGraph, slot: str) -> None:
        super().__init__(module, garbage_collect_values=False)
        self.extra_traceback = False
        self.made, self.slot = graph, slot

    def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
        module = self.fetch_attr(target)
        translate = MODULES.get(type(module))
        if translate is None or kwargs or len(args) != 1:
            raise NotImplementedError(f"no translation of {type(module).__name__}")
        name = f"{self.slot}.{str(target).removeprefix('head.')}"
        return translate(self.made, module, args[0], name)

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        if target is getattr and args[1] == "shape":
            return Shape(side(args[0], axis) for axis in range(len(args[0].shape)))
        if isinstance(args[0], Shape) or not any(isinstance(item, Tensor) for item in flattened(args)):
            return super().call_function(target, args, kwargs)
        translate = FUNCTIONS.get(target)
        if translate is None:
            raise NotImplementedError(f"no translation of {getattr(target, '__name__', target)}")
        return translate(self.made, *args, **kwargs)

    def call_method(self, target: Any, args: Any, kwargs: Any) -> Any:
        translate = METHODS.get(target)
        if translate is None:
            raise NotImplementedError(f"no translation of the method {target}")
        return translate(self.made, *args, **kwargs)


class Shape(tuple[Any, ...]):
    """The shape of a tensor for a traced module: integers, and Tensors for the dimensions that may change."""


def side(tensor: Tensor, axis: int) -> Any:
    """Return one dimension of a tensor: an integer, or a symbolic Tensor (see `number`) if the dimension may change."""
    length = tensor.shape[axis]
    return length if isinstance(length, int) else Tensor(f"{SIDE}:{tensor.name}:{axis}", (length,))


def number(graph: NetworkGraph, value: Any) -> Any:
    """Convert an operand: a number to float, and a symbolic dimension from `side` to a computed Tensor, float32 [1].

    Return any other value unchanged.
    """
    if not (isinstance(value, Tensor) and value.name.startswith(SIDE)):
        return float(value) if isinstance(value, (int, float)) else value
    _, name, axis = value.name.split(":")
    length = graph.add("Shape", [Tensor(name, ())], (1,), start=int(axis), end=int(axis) + 1)
    return graph.add("Cast", [length], (1,), to=1)  # onnx.TensorProto.FLOAT


def flattened(values: Any) -> list[Any]:
    """Return all items of nested tuples and lists; a Tensor, though a tuple, counts as an item."""
    if isinstance(values, Tensor) or not isinstance(values, (list, tuple)):
        return [values]
    return [item for value in values for item in flattened(value)]


# --- layers ----------------------------------------------------------------------------------------


def convolution(graph: NetworkGraph, module: nn.Conv2d, inputs: Tensor, name: str) -> Tensor:
    padding = module.padding
    if module.padding_mode != "zeros" or isinstance(padding, str):
        raise NotImplementedError(f"no translation of {module}")
    names = [Tensor(graph.keep(module.weight, f"{name}.weight"), ())]
    if module.bias is not None:
        names.append(Tensor(graph.keep(module.bias, f"{name}.bias"), ()))
    kernel, sides = module.weight.shape[2:], list(inputs.shape[2:])
    for axis in range(2):
        grown = 2 * padding[axis] - module.dilation[axis] * (kernel[axis] - 1)
        if module.stride[axis] != 1 or (grown and not isinstance(sides[axis], int)):
            raise NotImplementedError(f"no translation of {module}, which changes the board's size")
        sides[axis] = sides[axis] + grown if grown else sides[axis]  # type: ignore[operator]
    return graph.add(
        "Conv", [inputs, *names], ("batch", module.out_channels, *sides), kernel_shape=list(kernel),
        pads=[*padding, *padding], dilations=list(module.dilation), group=module.groups,
    )  # fmt: skip


def linear(graph: NetworkGraph, module: nn.Linear, inputs: Tensor, name: str) -> Tensor:
    names = [Tensor(graph.keep(module.weight, f"{name}.weight"), ())]
    if module.bias is not None:
        names.append(Tensor(graph.keep(module.bias, f"{name}.bias"), ()))
    if len(inputs.shape) != 2:
        raise NotImplementedError("no translation of a dense layer on anything but [batch, features]")
    return graph.add("Gemm", [inputs, *names], ("batch", module.out_features), transB=1)


def batch_norm(graph: NetworkGraph, module: nn.BatchNorm2d, inputs: Tensor, name: str) -> Tensor:
    """Translate a batch norm that could not be folded into a convolution, to a multiplication and an addition."""
    if module.running_mean is None or module.running_var is None:
        raise NotImplementedError("no translation of a batch norm without running statistics")
    scale = torch.rsqrt(module.running_var + module.eps)
    scale = scale if module.weight is None else scale * module.weight
    shift = -module.running_mean * scale if module.bias is None else module.bias - module.running_mean * scale
    scaled = Tensor(graph.keep(scale.view(1, -1, 1, 1), f"{name}.scale"), ())
    shifted = Tensor(graph.keep(shift.view(1, -1, 1, 1), f"{name}.shift"), ())
    return graph.add("Add", [graph.add("Mul", [inputs, scaled], inputs.shape), shifted], inputs.shape)


def layer(op: str, *names: str) -> Callable[..., Tensor]:
    """Return a function that translates a layer without weights; names: the layer's attributes that `op` takes."""

    def translate(graph: NetworkGraph, module: Any, inputs: Tensor, name: str) -> Tensor:
        return graph.add(op, [inputs], inputs.shape, **{key: float(getattr(module, key)) for key in names})

    return translate


def unary(op: str, **attributes: Any) -> Callable[..., Tensor]:
    def translate(graph: NetworkGraph, inputs: Tensor, *rest: Any, **options: Any) -> Tensor:
        return graph.add(op, [inputs], inputs.shape, **attributes)

    return translate


def elu(graph: NetworkGraph, inputs: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    return graph.add("Elu", [inputs], inputs.shape, alpha=float(alpha))


def elementwise(op: str) -> Callable[..., Tensor]:
    def translate(graph: NetworkGraph, a: Any, b: Any) -> Tensor:
        a, b = number(graph, a), number(graph, b)
        shapes = [item.shape for item in (a, b) if isinstance(item, Tensor)]
        return graph.add(op, [a, b], max(shapes, key=len))

    return translate


def flatten(graph: NetworkGraph, inputs: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    rank = len(inputs.shape)
    if (start_dim, end_dim % rank) == (0, rank - 1):
        return graph.add("Reshape", [inputs, np.array([-1])], ("batch",))
    if (start_dim, end_dim % rank) != (1, rank - 1):
        raise NotImplementedError("no translation of a flatten but of all axes, or of all after the batch's")
    sides = inputs.shape[1:]
    length = int(np.prod([s for s in sides if isinstance(s, int)])) if all(isinstance(s, int) for s in sides) else ""
    return graph.add("Flatten", [inputs], ("batch", length or "*".join(map(str, sides))), axis=1)


def unflatten(graph: NetworkGraph, inputs: Tensor, dim: int, sizes: tuple[int, ...]) -> Tensor:
    if dim != 1 or tuple(sizes) != (-1, 1, 1):
        raise NotImplementedError("no translation of an unflatten but to [batch, channels, 1, 1]")
    return graph.add("Reshape", [inputs, np.array([0, -1, 1, 1])], (*inputs.shape, 1, 1))


def whole_board(op: str) -> Callable[..., Tensor]:
    """Return a function that translates a pooling over the whole board to the reduction `op`."""

    def translate(graph: NetworkGraph, inputs: Tensor, kernel_size: Any, **options: Any) -> Tensor:
        window = tuple(item.shape[0] if isinstance(item, Tensor) else item for item in kernel_size)
        if window != inputs.shape[2:]:
            raise NotImplementedError("no translation of pooling over parts of the board")
        return graph.add(op, [inputs], (*inputs.shape[:2], 1, 1), axes=BOARD, keepdims=1)

    return translate


def concatenate(graph: NetworkGraph, parts: Any, dim: int = 0) -> Tensor:
    sides = [part.shape[dim] for part in parts]
    length = sum(sides) if all(isinstance(s, int) for s in sides) else "+".join(map(str, sides))
    shape = [*parts[0].shape]
    shape[dim] = length
    return graph.add("Concat", list(parts), tuple(shape), axis=dim)


def item(graph: NetworkGraph, inputs: Tensor, key: Any) -> Tensor:
    """Translate `inputs[:, i]` and `inputs[:, begin:end]`; raise NotImplementedError for other indices."""
    rows, columns = key
    width = inputs.shape[1]
    if rows != slice(None) or not isinstance(width, int):
        raise NotImplementedError(f"no translation of the index {key}")
    begin, end, step = columns.indices(width) if isinstance(columns, slice) else (columns, columns + 1, 1)
    part = graph.add(
        "Slice", [inputs, *(np.array([x]) for x in (begin, end, 1, step))], ("batch", len(range(begin, end, step)))
    )
    return part if isinstance(columns, slice) else graph.add("Reshape", [part, np.array([-1])], ("batch",))


def same(graph: NetworkGraph, *arguments: Any, **options: Any) -> Any:
    return arguments[0]


MODULES: dict[type[nn.Module], Callable[..., Any]] = {
    nn.Conv2d: convolution,
    nn.Linear: linear,
    nn.BatchNorm2d: batch_norm,
    nn.ReLU: layer("Relu"),
    nn.ELU: layer("Elu", "alpha"),
    nn.Tanh: layer("Tanh"),
    nn.Sigmoid: layer("Sigmoid"),
    nn.Flatten: lambda graph, module, inputs, name: flatten(graph, inputs, module.start_dim, module.end_dim),
    nn.Identity: lambda graph, module, inputs, name: inputs,
    nn.Dropout: lambda graph, module, inputs, name: inputs,
}
FUNCTIONS: dict[Any, Callable[..., Any]] = {
    torch.relu: unary("Relu"),
    F.relu: unary("Relu"),
    F.elu: elu,
    torch.tanh: unary("Tanh"),
    torch.sigmoid: unary("Sigmoid"),
    torch.cat: concatenate,
    torch.flatten: flatten,
    F.avg_pool2d: whole_board("ReduceMean"),
    F.max_pool2d: whole_board("ReduceMax"),
    torch.max_pool2d: whole_board("ReduceMax"),
    operator.getitem: item,
    **{f: elementwise("Add") for f in (operator.add, operator.iadd, torch.add)},
    **{f: elementwise("Sub") for f in (operator.sub, torch.sub)},
    **{f: elementwise("Mul") for f in (operator.mul, torch.mul)},
    **{f: elementwise("Div") for f in (operator.truediv, torch.div)},
}
METHODS: dict[str, Callable[..., Any]] = {
    "flatten": flatten,
    "unflatten": unflatten,
    "relu": unary("Relu"),
    "tanh": unary("Tanh"),
    "float": same,
}
