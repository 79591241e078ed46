"""A network as a list of ONNX operations, for other programs, for OpenVINO, and for numpy.

`alphago.nn.translator` makes the list, `alphago.nn.export` writes it, `alphago.nn.inference.openvino` compiles it, and
`run_graph` computes it with numpy, and with torch what numpy does not have: convolutions, elu and softmax.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F

Side = int | str  # a dimension: its length, or a name if it may change, such as "batch" or "height"
Sides = tuple[Side, ...]
Attribute = int | float | list[int]


class Step(NamedTuple):
    """One ONNX operation (opset 17).

    Attributes:
        op: the operation's name.
        attributes: its attributes.
        inputs: names of outputs of earlier steps, of weights, or of the graph's input.
        output: the output's name.
    """

    op: str
    inputs: list[str]
    output: str
    attributes: dict[str, Attribute]


class Tensor(NamedTuple):
    """A value within the graph, with its name and shape, for example ("batch", 16, "height", "width")."""

    name: str
    shape: Sides


Number = torch.Tensor | np.ndarray | float  # numbers that a graph stores as a weight or a constant


@dataclass
class NetworkGraph:
    """A network's operations in the order of execution, and its weights in the order of the layers.

    Attributes:
        planes: the input.
        weights: the weights, and the constants that operations use, by name.
        outputs: by name, the tensors "logits" and "value", and also "score" and "ownership" if the network predicts
            them.
    """

    planes: Tensor
    steps: list[Step] = field(default_factory=list)
    weights: dict[str, np.ndarray] = field(default_factory=dict)
    outputs: dict[str, Tensor] = field(default_factory=dict)

    def add(self, op: str, inputs: Sequence[Tensor | Number], shape: Sides, **attributes: Attribute) -> Tensor:
        """Append an operation and return its output.

        Args:
            op, attributes: see Step.
            inputs: tensors of this graph, or numbers and arrays, which become constants.
            shape: the output's shape.
        """
        names = [(item if isinstance(item, Tensor) else self.keep(item)).name for item in inputs]
        output = Tensor(f"t{len(self.steps)}", shape)
        self.steps.append(Step(op, names, output.name, attributes))
        return output

    def keep(self, value: Number, name: str | None = None) -> Tensor:
        """Store a weight or a constant, and return it as an input of an operation.

        The Tensor's shape is left empty, since it is not read: an operation's shape is given by whoever adds it.

        Args:
            value: a tensor, array or number.  NumPy's arrays of integers, such as shapes, are stored as int64, all else
                as float32, also a Python integer.
            name: the weight's name; None to make a name for a constant.
        """
        array = value.detach().float().cpu().numpy() if isinstance(value, torch.Tensor) else np.asarray(value)
        name = f"c{len(self.weights)}" if name is None else name
        self.weights[name] = array.astype(np.int64 if array.ndim and array.dtype.kind in "iu" else np.float32)
        return Tensor(name, ())


def run_graph(graph: NetworkGraph, weights: Mapping[str, np.ndarray], planes: np.ndarray) -> dict[str, np.ndarray]:
    """Compute a graph's outputs with numpy, as other programs do, and return them by name.

    Args:
        weights: arrays by name, to use instead of `graph.weights`, for example rounded ones.
        planes: float32 [n, C, H, W].
    """
    values: dict[str, np.ndarray] = {**weights, graph.planes.name: planes}
    for step in graph.steps:
        values[step.output] = OPERATIONS[step.op](*(values[name] for name in step.inputs), **step.attributes)
    return {name: values[tensor.name] for name, tensor in graph.outputs.items()}


def convolution(
    x: np.ndarray,
    *weights: np.ndarray,
    kernel_shape: list[int],
    pads: list[int],
    dilations: list[int],
    group: int,
    strides: Sequence[int] = (1, 1),
) -> np.ndarray:
    """Return the convolution of x [B, C, H, W] with a kernel [O, C / group, h, w] and, if there is one, a bias [O].

    The keywords are the attributes of ONNX's operation Conv.
    """
    # `pads` has the padding before both axes, then that after them.  Both are the same here; torch takes one of them.
    inputs, kernel, *bias = (torch.as_tensor(array, dtype=torch.float32) for array in (x, *weights))
    return F.conv2d(inputs, kernel, bias[0] if bias else None, strides, pads[:2], dilations, group).numpy()


def reshape(x: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """Return x with another shape, an int64 array of lengths."""
    # In ONNX, a length of 0 stands for the length of the same axis of x, and -1 for what the other lengths leave.
    return x.reshape([x.shape[i] if length == 0 else int(length) for i, length in enumerate(shape)])


def slice_axis(x: np.ndarray, begin: np.ndarray, end: np.ndarray, axis: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Return `x[:, …, begin:end:step]` along one axis; the arguments are arrays of one integer, as ONNX has them."""
    index = [slice(None)] * x.ndim
    index[int(axis[0])] = slice(int(begin[0]), int(end[0]), int(step[0]))
    return x[tuple(index)]


# Elementwise operations by their names in numpy and OpenVINO.
ELEMENTWISE = {"Add": "add", "Sub": "subtract", "Mul": "multiply", "Div": "divide", "Tanh": "tanh", "Sqrt": "sqrt"}
OPERATIONS: dict[str, Callable[..., np.ndarray]] = {
    **{op: getattr(np, name) for op, name in ELEMENTWISE.items()},
    "Conv": convolution,
    "Gemm": lambda x, kernel, bias=0.0, transB=1: x @ kernel.T + bias,  # transB is 1 in all graphs of `Translator`
    "Relu": lambda x: np.maximum(x, 0),
    "Elu": lambda x, alpha: F.elu(torch.as_tensor(x), alpha).numpy(),
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "Softplus": lambda x: np.logaddexp(0, x),
    "Softmax": lambda x, axis: F.softmax(torch.as_tensor(x), axis).numpy(),
    "MatMul": np.matmul,
    "Transpose": lambda x, perm: x.transpose(perm),
    "ReduceMean": lambda x, axes, keepdims: x.mean(axis=tuple(axes), keepdims=bool(keepdims)),
    "ReduceMax": lambda x, axes, keepdims: x.max(axis=tuple(axes), keepdims=bool(keepdims)),
    "Concat": lambda *parts, axis: np.concatenate(parts, axis),
    "Flatten": lambda x, axis: x.reshape(len(x), -1),
    "Reshape": reshape,
    "Slice": slice_axis,
    "Shape": lambda x, start, end: np.array(x.shape[start:end]),
    "Cast": lambda x, to: np.asarray(x, np.float32),
}
