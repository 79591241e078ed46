"""Compute a network's list of operations with numpy, as other programs compute an exported network."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from alphago.nn.graph import NetworkGraph


def run_graph(graph: NetworkGraph, weights: Mapping[str, np.ndarray], planes: np.ndarray) -> dict[str, np.ndarray]:
    """Compute a graph's outputs, and return them by name.

    weights: arrays by name, to use instead of `graph.weights`, for example rounded ones.
    planes: float32 [n, C, H, W].
    """
    values: dict[str, Any] = {**weights, graph.planes.name: planes}
    for step in graph.steps:
        values[step.output] = OPERATIONS[step.op](*(values[name] for name in step.inputs), **step.attributes)
    return {name: values[tensor.name] for name, tensor in graph.outputs.items()}


def convolution(
    x: np.ndarray, kernel: np.ndarray, bias: Any = 0.0, *, kernel_shape: list[int], pads: list[int],
    dilations: list[int], group: int,
) -> np.ndarray:  # fmt: skip
    """Return the convolution, with stride 1, of x [B, C, H, W] with a kernel [O, C / group, h, w].

    The keywords are the attributes of ONNX's operation Conv.
    """
    padded = np.pad(x, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
    height = padded.shape[2] - dilations[0] * (kernel_shape[0] - 1)
    width = padded.shape[3] - dilations[1] * (kernel_shape[1] - 1)
    batch, channels = x.shape[:2]
    grouped = padded.reshape(batch, group, channels // group, *padded.shape[2:])
    kernels = kernel.reshape(group, -1, *kernel.shape[1:])
    out = np.zeros((batch, group, kernels.shape[1], height, width), np.float32)
    for i in range(kernel_shape[0]):
        for j in range(kernel_shape[1]):
            down, right = i * dilations[0], j * dilations[1]
            part = grouped[..., down : down + height, right : right + width]
            out += np.einsum("bgchw,goc->bgohw", part, kernels[..., i, j], optimize=True)
    return out.reshape(batch, -1, height, width) + np.reshape(bias, (1, -1, 1, 1))


def elu(x: np.ndarray, *, alpha: float = 1.0) -> np.ndarray:
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0))).astype(np.float32)


def reshape(x: np.ndarray, shape: np.ndarray) -> np.ndarray:
    return x.reshape([x.shape[i] if length == 0 else int(length) for i, length in enumerate(shape)])


def slice_axis(x: np.ndarray, begin: Any, end: Any, axis: Any, step: Any) -> np.ndarray:
    index = [slice(None)] * x.ndim
    index[int(axis[0])] = slice(int(begin[0]), int(end[0]), int(step[0]))
    return x[tuple(index)]


OPERATIONS: dict[str, Callable[..., Any]] = {
    "Conv": convolution,
    "Gemm": lambda x, kernel, bias=0.0, transB=1: x @ kernel.T + bias,
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": np.divide,
    "Relu": lambda x: np.maximum(x, 0),
    "Elu": elu,
    "Tanh": np.tanh,
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "ReduceMean": lambda x, axes, keepdims: x.mean(axis=tuple(axes), keepdims=bool(keepdims)),
    "ReduceMax": lambda x, axes, keepdims: x.max(axis=tuple(axes), keepdims=bool(keepdims)),
    "Concat": lambda *parts, axis: np.concatenate(parts, axis),
    "Flatten": lambda x, axis: x.reshape(len(x), -1),
    "Reshape": reshape,
    "Slice": slice_axis,
    "Shape": lambda x, start, end: np.array(x.shape[start:end]),
    "Cast": lambda x, to: np.asarray(x, np.float32),
}
