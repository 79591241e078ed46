"""Translate a traced module to the operations of a NetworkGraph.

A Translator walks a folded graph of alphago.nn.inference.fusion and appends an operation for each node.  For a module
or function that is not in its tables it raises NotImplementedError.  Dimensions may remain symbolic: the batch's
always, the board's height and width where the list is to compute any board.
"""

import operator
from collections.abc import Callable, Sequence
from itertools import zip_longest
from math import prod

import numpy as np
import torch
import torch.nn.functional as F
from torch import fx, nn

from alphago.nn.graph import NetworkGraph, Number, Side, Sides, Tensor
from alphago.nn.transformer import Rotation

BOARD = [2, 3]  # the axes of height and width
PLACEHOLDER = "side"  # the prefix of the names of placeholders, see `axis_length`
# Options of a pooling that have no effect if its window is the whole board.
POOLING_DEFAULTS = {"stride": None, "padding": 0, "dilation": 1, "ceil_mode": False, "return_indices": False}


class Translator(fx.Interpreter):
    """An interpreter of a traced part that appends the part's operations to a NetworkGraph.

    Args:
        slot: the part's slot, such as "policy", which the names of its weights begin with.
    """

    def __init__(self, module: fx.GraphModule, graph: NetworkGraph, slot: str) -> None:
        super().__init__(module, garbage_collect_values=False)
        self.extra_traceback = False  # of the interpreter: an error's message stays as it was raised
        self.operations = graph  # fx.Interpreter has a `graph` of its own, the traced one
        self.slot = slot

    def call_module(self, target: object, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        """Translate the layer named `target`, by the entry for its class in MODULES."""
        module = self.fetch_attr(str(target))
        translate = MODULES.get(type(module))
        if translate is None or kwargs or len(args) != 1:
            raise NotImplementedError(f"no translation of {type(module).__name__}")
        # The weights have the names of the network's state dict.  "head." is not in these names: it comes from
        # ForecastOutputs or ValueOutputs, which are modules around the value head for tracing.
        return translate(self.operations, module, args[0], f"{self.slot}.{str(target).removeprefix('head.')}")

    def call_function(self, target: object, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        """Translate a function of tensors; compute what depends on shapes alone, such as `x.shape[0] * 2`, at once."""
        if isinstance(args[0], Tensor) and target is getattr and args[1:] == ("shape",):  # `x.shape`
            return Shape(axis_length(args[0], axis) for axis in range(len(args[0].shape)))
        # An item of a Shape, as in `x.shape[0]`, is taken at once too, even if it is the placeholder of a length that
        # is only known when the graph runs.
        if isinstance(args[0], Shape) or not any(isinstance(item, Tensor) for item in all_items(args)):
            return super().call_function(target, args, kwargs)  # type: ignore[arg-type]
        translate = FUNCTIONS.get(target)
        if translate is None:
            raise NotImplementedError(f"no translation of {getattr(target, '__name__', target)}")
        return translate(self.operations, *args, **kwargs)

    def call_method(self, target: object, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        """Translate the method of a tensor named `target`, by METHODS or as torch's function of the same name."""
        translate = METHODS.get(target) or FUNCTIONS.get(getattr(torch, str(target), None))
        if translate is None:
            raise NotImplementedError(f"no translation of the method {target}")
        return translate(self.operations, *args, **kwargs)


class Shape(tuple[int | Tensor, ...]):
    """The shape of a Tensor, as a traced module reads it: for each dimension what `axis_length` returns."""


def axis_length(tensor: Tensor, axis: int) -> int | Tensor:
    """Return the length of a tensor's axis: an integer, or a placeholder if the length is known only at run time.

    A placeholder is a Tensor that stands for the length.  In arithmetic, `operand` replaces the placeholder by
    operations that compute the length.  The placeholder's name, "side:NAME:AXIS", tells of which tensor and axis.  The
    placeholder's `shape` is no shape, but has the length's name, such as "height", which `board_reduction` reads.
    """
    length_or_name = tensor.shape[axis]
    if isinstance(length_or_name, int):
        return length_or_name
    return Tensor(f"{PLACEHOLDER}:{tensor.name}:{axis}", (length_or_name,))


def operand(graph: NetworkGraph, value: Tensor | Number) -> Tensor | Number:
    """Return an operand of an arithmetic operation: `value` itself unless it is a placeholder.

    A placeholder stands for the length of a tensor's axis, which is only known when the graph runs (see `axis_length`).
    For a placeholder, append the operations that compute the length, and return their result, float32 [1].
    """
    if not (isinstance(value, Tensor) and value.name.startswith(PLACEHOLDER)):
        return value
    _, name, axis = value.name.split(":")
    measured = Tensor(name, ())  # an operation reads only its inputs' names
    length = graph.add("Shape", [measured], (1,), start=int(axis), end=int(axis) + 1)
    return graph.add("Cast", [length], (1,), to=1)  # onnx.TensorProto.FLOAT


def all_items(values: object) -> list[object]:
    """Return all items of nested tuples and lists; a Tensor counts as an item although it is a tuple."""
    if isinstance(values, Tensor) or not isinstance(values, (list, tuple)):
        return [values]
    return [item for value in values for item in all_items(value)]


# --- layers ----------------------------------------------------------------------------------------


def store_weights(graph: NetworkGraph, module: nn.Conv2d | nn.Linear, name: str) -> list[Tensor]:
    """Store the weights of a layer, and return its kernel and, if it has one, its bias as inputs of an operation."""
    named = (("weight", module.weight), ("bias", module.bias))
    return [graph.keep(array, f"{name}.{key}") for key, array in named if array is not None]


def convolution(graph: NetworkGraph, module: nn.Conv2d, inputs: Tensor, name: str) -> Tensor:
    """Translate a convolution; one that changes the size of the board needs a board of known size."""
    padding, stride = module.padding, module.stride
    if module.padding_mode != "zeros" or isinstance(padding, str):
        raise NotImplementedError(f"no translation of {module}")
    kernel, sides = module.weight.shape[2:], list(inputs.shape[2:])
    for axis, length in enumerate(sides):
        growth = 2 * padding[axis] - module.dilation[axis] * (kernel[axis] - 1)  # of the side, with a stride of 1
        if isinstance(length, int):
            sides[axis] = (length + growth - 1) // stride[axis] + 1
        elif growth != 0 or stride[axis] != 1:
            raise NotImplementedError(f"no translation of {module}, which changes the board's size")
    return graph.add(
        "Conv",
        [inputs, *store_weights(graph, module, name)],
        ("batch", module.out_channels, *sides),
        kernel_shape=list(kernel),
        pads=[*padding, *padding],
        dilations=list(module.dilation),
        group=module.groups,
        **({} if stride == (1, 1) else {"strides": list(stride)}),
    )


def linear(graph: NetworkGraph, module: nn.Linear, inputs: Tensor, name: str) -> Tensor:
    """Translate a dense layer: on inputs [batch, features] to a Gemm, on inputs with more axes to a MatMul.

    A Gemm with `transB` has torch's kernel, [outputs, features]; a MatMul has the transposed one.
    """
    shape = (*inputs.shape[:-1], module.out_features)
    if len(inputs.shape) == 2:
        return graph.add("Gemm", [inputs, *store_weights(graph, module, name)], shape, transB=1)
    product = graph.add("MatMul", [inputs, graph.keep(module.weight.T, f"{name}.weight")], shape)
    bias = module.bias
    return product if bias is None else graph.add("Add", [product, graph.keep(bias, f"{name}.bias")], shape)


def batch_norm(graph: NetworkGraph, module: nn.BatchNorm2d, inputs: Tensor, name: str) -> Tensor:
    """Translate a batch norm that could not be folded into a convolution, to a multiplication and an addition."""
    if module.running_mean is None or module.running_var is None:
        raise NotImplementedError("no translation of a batch norm without running statistics")
    scale = torch.rsqrt(module.running_var + module.eps)
    scale = scale if module.weight is None else scale * module.weight
    shift = -module.running_mean * scale if module.bias is None else module.bias - module.running_mean * scale
    # Named like weights of the layer, so that they are not counted among the constants.
    scales = graph.keep(scale.view(1, -1, 1, 1), f"{name}.scale")
    shifts = graph.keep(shift.view(1, -1, 1, 1), f"{name}.shift")
    scaled = graph.add("Mul", [inputs, scales], inputs.shape)
    return graph.add("Add", [scaled, shifts], inputs.shape)


def unary(op: str) -> Callable[..., Tensor]:
    """Return a function that translates a function of one tensor to `op`; torch's option `inplace` changes nothing."""
    return lambda graph, inputs, inplace=False: graph.add(op, [inputs], inputs.shape)


def elementwise(op: str) -> Callable[..., Tensor]:
    """Return a function that translates an operation of two tensors, or of a tensor and a number, to `op`."""

    def translate(graph: NetworkGraph, a: Tensor | Number, b: Tensor | Number) -> Tensor:
        operands = [operand(graph, a), operand(graph, b)]
        shapes = [getattr(item, "shape", ()) for item in operands]  # a Python number has none
        return graph.add(op, operands, broadcast(*shapes))

    return translate


def broadcast(*shapes: Sequence[Side]) -> Sides:
    """Return the shape of the sum of tensors with these shapes, in which a side of 1 is repeated."""
    backwards = zip_longest(*(reversed(shape) for shape in shapes), fillvalue=1)  # shapes are aligned at their ends
    # On each axis, the first side that is not 1, or 1 if all are 1; `[::-1]` restores the order of the axes.
    return tuple(next((length for length in sides if length != 1), 1) for sides in backwards)[::-1]


def product(sides: Sequence[Side]) -> Side:
    """Return the product of dimensions, such as 50 or "2*height*width"."""
    lengths = [length for length in sides if isinstance(length, int)]
    if len(lengths) == len(sides):
        return prod(lengths)
    return "*".join(str(length) for length in sides if length != 1)


def reshape(graph: NetworkGraph, inputs: Tensor, shape: Sides) -> Tensor:
    """Append a Reshape; raise NotImplementedError if ONNX would have to infer several dimensions."""
    lengths = []
    for axis, length in enumerate(shape):
        if isinstance(length, int):
            lengths.append(length)
        else:  # ONNX: 0 stands for the length of this axis of the input, -1 for a length to be inferred
            is_of_axis = inputs.shape[axis : axis + 1] == (length,)  # a slice, since `inputs` may have fewer axes
            lengths.append(0 if is_of_axis else -1)
    if lengths.count(-1) > 1:
        raise NotImplementedError(f"no translation of a change of shape from {inputs.shape} to {shape}")
    return graph.add("Reshape", [inputs, np.array(lengths)], shape)


def flatten(graph: NetworkGraph, inputs: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Translate torch's flatten: the dimensions from `start_dim` to `end_dim`, included, become one."""
    begin, end = (dim % len(inputs.shape) for dim in (start_dim, end_dim))  # negative dimensions count from the end
    shape = (*inputs.shape[:begin], product(inputs.shape[begin : end + 1]), *inputs.shape[end + 1 :])
    if begin == 1 and len(shape) == 2:
        return graph.add("Flatten", [inputs], shape, axis=1)
    return reshape(graph, inputs, shape)


def unflatten(graph: NetworkGraph, inputs: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """Translate torch's unflatten: dimension `dim` is split into dimensions with the lengths `sizes`.

    One of them may be -1, which stands for the length of `dim` divided by the product of the other sizes.
    """
    length = inputs.shape[dim]
    known = prod(size for size in sizes if size != -1)
    if isinstance(length, int):
        rest: Side = length // known
    elif known == 1 or -1 not in sizes:  # there is nothing to divide by, or no size for which `rest` stands
        rest = length
    else:
        raise NotImplementedError(f"no translation of an unflatten of {length} to {tuple(sizes)}")
    parts = (rest if size == -1 else size for size in sizes)
    dim %= len(inputs.shape)  # a negative dimension counts from the end
    return reshape(graph, inputs, (*inputs.shape[:dim], *parts, *inputs.shape[dim + 1 :]))


def board_reduction(op: str) -> Callable[..., Tensor]:
    """Return a function that translates a pooling over the whole board to the reduction `op`."""

    def translate(
        graph: NetworkGraph, inputs: Tensor, kernel_size: Sequence[int | Tensor], **options: object
    ) -> Tensor:
        """Append the reduction; raise NotImplementedError if the window `kernel_size` is not the whole board."""
        # The window's sizes are integers, or placeholders for the sides of the board (see `axis_length`).  In `window`
        # they have the form that they have in `inputs.shape`.
        window = tuple(side.shape[0] if isinstance(side, Tensor) else side for side in kernel_size)
        if window != inputs.shape[2:] or not options.items() <= POOLING_DEFAULTS.items():
            raise NotImplementedError("no translation of pooling over parts of the board")
        return graph.add(op, [inputs], (*inputs.shape[:2], 1, 1), axes=BOARD, keepdims=1)

    return translate


def adaptive_mean(graph: NetworkGraph, inputs: Tensor, output_size: int | Sequence[int]) -> Tensor:
    """Translate an adaptive mean pooling to a single point; raise NotImplementedError for more points."""
    if output_size not in (1, (1, 1)):
        raise NotImplementedError(f"no translation of adaptive pooling to {output_size} points")
    return graph.add("ReduceMean", [inputs], (*inputs.shape[:2], 1, 1), axes=BOARD, keepdims=1)


def concatenate(graph: NetworkGraph, parts: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Translate a concatenation along `dim`.  A length known only at run time gets a name such as "2+height"."""
    shape = [*parts[0].shape]
    axis = dim % len(shape)
    sides = [part.shape[axis] for part in parts]
    lengths = [length for length in sides if isinstance(length, int)]
    shape[axis] = sum(lengths) if len(lengths) == len(sides) else "+".join(map(str, sides))
    return graph.add("Concat", parts, tuple(shape), axis=axis)


def item(graph: NetworkGraph, inputs: Tensor, key: tuple[slice | int, ...]) -> Tensor:
    """Translate an index such as `inputs[:, i]` or `inputs[:, :, begin:end:step]`.

    Args:
        key: two indices or more: full slices, `:`, and last the index that selects, on an axis of known length.

    Raises:
        NotImplementedError: for another index.
    """
    *before, last = key
    axis = len(before)
    # All indices but the last must be full slices, and there must be one at least: the first axis is the batch's.
    if axis == 0 or before != [slice(None)] * axis or not isinstance(length := inputs.shape[axis], int):
        raise NotImplementedError(f"no translation of the index {key}")
    if not isinstance(last, slice):  # one item, whose axis vanishes
        slab = item(graph, inputs, (*before, slice(last % length, last % length + 1)))
        return reshape(graph, slab, (*slab.shape[:axis], *slab.shape[axis + 1 :]))
    begin, end, step = last.indices(length)
    bounds = [np.array([bound]) for bound in (begin, end, axis, step)]
    shape = (*inputs.shape[:axis], len(range(begin, end, step)), *inputs.shape[axis + 1 :])
    return graph.add("Slice", [inputs, *bounds], shape)


def permute(graph: NetworkGraph, inputs: Tensor, *order: int) -> Tensor:
    """Translate torch's permute: axis i of the result is axis `order[i]` of the inputs."""
    return graph.add("Transpose", [inputs], tuple(inputs.shape[axis] for axis in order), perm=list(order))


def transpose(graph: NetworkGraph, inputs: Tensor, first: int, second: int) -> Tensor:
    """Translate torch's transpose, which swaps two axes."""
    order = list(range(len(inputs.shape)))
    order[first], order[second] = order[second], order[first]
    return permute(graph, inputs, *order)


def matmul(graph: NetworkGraph, a: Tensor, b: Tensor) -> Tensor:
    """Translate the products of the matrices in the last two axes; the axes before these must be those of `a`."""
    return graph.add("MatMul", [a, b], (*a.shape[:-1], b.shape[-1]))


def mean(graph: NetworkGraph, inputs: Tensor, dim: Sequence[int], keepdim: bool = False) -> Tensor:
    """Translate a mean over the axes `dim`; raise NotImplementedError unless they stay, with a length of 1."""
    if not keepdim:
        raise NotImplementedError("no translation of a mean whose axes do not stay")
    axes = [axis % len(inputs.shape) for axis in dim]
    shape = tuple(1 if axis in axes else length for axis, length in enumerate(inputs.shape))
    return graph.add("ReduceMean", [inputs], shape, axes=axes, keepdims=1)


def mish(graph: NetworkGraph, inputs: Tensor, inplace: bool = False) -> Tensor:
    """Translate x tanh(softplus(x)) to x - 2 x sigmoid(-2 softplus(x)), which is equal.

    From x tanh(softplus(x)) OpenVINO 2026.4 makes an operation that it cannot compile for some numbers of positions.
    """
    shape = inputs.shape
    softplus = graph.add("Softplus", [inputs], shape)
    rest = graph.add("Sigmoid", [graph.add("Mul", [softplus, -2.0], shape)], shape)
    doubled = graph.add("Mul", [inputs, 2.0], shape)
    return graph.add("Sub", [inputs, graph.add("Mul", [doubled, rest], shape)], shape)


MODULES: dict[type[nn.Module], Callable[..., Tensor]] = {  # layers without weights are functions, see the tracer
    nn.Conv2d: convolution,
    nn.Linear: linear,
    nn.BatchNorm2d: batch_norm,
    nn.Dropout: lambda graph, module, inputs, name: inputs,  # it changes nothing in eval mode
    Rotation: lambda graph, module, sides, name: module(sides),  # a constant tensor for a board of these sides
}
FUNCTIONS: dict[object, Callable[..., Tensor]] = {  # torch's option `inplace` changes nothing
    F.elu: lambda graph, x, alpha=1.0, inplace=False: graph.add("Elu", [x], x.shape, alpha=float(alpha)),
    # silu(x) is x sigmoid(x).
    F.silu: lambda graph, x, inplace=False: graph.add("Mul", [x, graph.add("Sigmoid", [x], x.shape)], x.shape),
    F.mish: mish,
    torch.softmax: lambda graph, x, dim: graph.add("Softmax", [x], x.shape, axis=dim % len(x.shape)),
    torch.matmul: matmul,
    torch.sqrt: unary("Sqrt"),
    torch.tanh: unary("Tanh"),
    torch.sigmoid: unary("Sigmoid"),
    torch.cat: concatenate,
    torch.flatten: flatten,
    F.adaptive_avg_pool2d: adaptive_mean,
    F.avg_pool2d: board_reduction("ReduceMean"),
    operator.getitem: item,
    **dict.fromkeys((torch.relu, F.relu), unary("Relu")),
    **dict.fromkeys((torch.max_pool2d, F.max_pool2d), board_reduction("ReduceMax")),
    **dict.fromkeys((operator.add, operator.iadd, torch.add), elementwise("Add")),
    **dict.fromkeys((operator.sub, torch.sub), elementwise("Sub")),
    **dict.fromkeys((operator.mul, torch.mul), elementwise("Mul")),
    **dict.fromkeys((operator.truediv, torch.div), elementwise("Div")),
}
METHODS: dict[object, Callable[..., Tensor]] = {  # that are no functions of torch in FUNCTIONS
    "unflatten": unflatten,
    "permute": permute,
    "transpose": transpose,
    "mean": mean,
    "float": lambda graph, inputs: inputs,
    "type_as": lambda graph, inputs, like: inputs,
}
