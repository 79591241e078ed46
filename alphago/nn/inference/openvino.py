"""Compile a network to OpenVINO models, the fastest form on Intel and AMD CPUs.

Each operation of the network's list (alphago.nn.graph) becomes an OpenVINO node.  A network whose operations cannot be
listed runs in torch.  This conversion takes a hundredth of the time of OpenVINO's own converter, which matters since
training publishes new weights every few seconds.  Models are compiled for a few fixed batch sizes, each when it is
first needed, because OpenVINO would choose its kernels again for each new size.
"""

import io
import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, Union

import numpy as np
from torch import fx

from alphago.nn.graph import ELEMENTWISE, NetworkGraph, Tensor
from alphago.nn.inference.int8 import Range
from alphago.nn.translator import Translator
from alphago.system.files import parse_json
from alphago.system.kernels.cache import warn_once
from alphago.system.optional import optional_import

if TYPE_CHECKING:
    from openvino import CompiledModel, Core, Model, Node

Value = Union["Node", np.ndarray]

NEED = "OpenVINO computes networks faster on Intel's processors: pip install openvino"
BATCH_SIZE = 16  # positions per call; larger batches are not faster
SIZES = BATCH_SIZE, 8, 4, 1  # positions per call of each model; the time of a call is nearly proportional to them
ONE_THREAD = {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "ENABLE_CPU_PINNING": False}


@cache
def package() -> ModuleType:
    """Return the module `openvino`; raise ImportError if it is not installed, or installed but broken."""
    # Otherwise each import sends statistics of use to OpenVINO's makers, by a process that it forks.
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]  # as if it were not installed
    return optional_import("openvino", NEED)


def is_installed() -> bool:
    """Return whether OpenVINO can be imported; warn once if it is installed but broken."""
    try:
        package()
    except ImportError as error:
        if error.__cause__ is not None:  # it is installed but broken: the cause is its own error
            warn_once(f"{error}; networks are computed without it")
        return False
    return True


@cache
def core() -> "Core":
    """Return OpenVINO's object that compiles and imports models, the same on every call."""
    return package().Core()


def list_operations(
    base: fx.GraphModule, value: fx.GraphModule, policy: fx.GraphModule, plane_shape: Sequence[int]
) -> NetworkGraph:
    """Return the operations of a network for one board, with the outputs "logits" and "value".

    Args:
        base, value, policy: the parts with batch norms folded.
        plane_shape: (planes, height, width).

    Raises:
        Exception: of any class, NotImplementedError for instance, if an operation cannot be translated.
    """
    graph = NetworkGraph(Tensor("planes", ("batch", *plane_shape)))
    features = Translator(base, graph, "base_net").run(graph.planes)
    graph.outputs["logits"] = Translator(policy, graph, "policy").run(features)
    graph.outputs["value"] = Translator(value, graph, "value").run(features)
    return graph


def build_model(graph: NetworkGraph, rows: int, ranges: Mapping[str, Range]) -> "Model":
    """Return the OpenVINO model of a list of operations for `rows` positions, with the outputs logits and values.

    Args:
        ranges: the input ranges of the convolutions to compute in 8 bits, by their kernels' names; see
            alphago.nn.inference.int8.
    """
    ops = package().opset13
    planes = ops.parameter([rows, *graph.planes.shape[1:]], np.float32)
    values = {**graph.weights, graph.planes.name: planes}
    for op, names, output, attributes in graph.steps:  # names: of the inputs
        options: dict[str, Any] = dict(attributes)
        if op == "Conv" and names[1] in ranges:  # the second input is the kernel
            options["span"] = ranges[names[1]]
        values[output] = OPERATIONS[op](ops, *(values[name] for name in names), **options)
    logits, value = (values[graph.outputs[name].name] for name in ("logits", "value"))
    if graph.outputs["value"].shape == ("batch", 1):  # a single column becomes [rows], as `Run` has values
        value = reshape(ops, value, np.array([-1]))
    return package().Model([ops.result(logits), ops.result(value)], [planes], "network")


# --- ONNX's operations, applied to OpenVINO nodes and to the arrays of weights ---------------------
# The operation Shape is left out: it would give the model's fixed number of positions, not the number in a call.


def as_node(ops: ModuleType, value: "Value") -> "Node":
    """Return a node unchanged, or an array as the node of a constant."""
    return ops.constant(value) if isinstance(value, np.ndarray) else value


def operation(name: str) -> Callable[..., "Node"]:
    """Return a function that makes the node of OpenVINO's operation `name` from the operation's inputs."""
    return lambda ops, *inputs: getattr(ops, name)(*(as_node(ops, value) for value in inputs))


def convolution(
    ops: ModuleType,
    inputs: "Node",
    kernel: np.ndarray,
    bias: np.ndarray | None = None,
    *,
    kernel_shape: Sequence[int],
    pads: Sequence[int],
    dilations: Sequence[int],
    group: int,
    strides: Sequence[int] = (1, 1),
    span: Range | None = None,
) -> "Node":
    """Return the node of a convolution; the keywords but `span` are the attributes of ONNX's operation Conv.

    Args:
        span: the range of the inputs, for a computation in 8 bits; None for a computation in floating point.
    """
    if group > 1:
        kernel = kernel.reshape(group, -1, *kernel.shape[1:])
    weights = ops.constant(kernel)
    # `fake_quantize` takes both ends of the range of its inputs, then those of its outputs, here the same, and the
    # number of levels: 256 for inputs (-128 .. 127 or 0 .. 255), 255 for weights (-127 .. 127).
    if span is not None:
        least, most = (-span.most * 128 / 127, span.most) if span.negative else (0.0, span.most)
        inputs = ops.fake_quantize(inputs, *map(np.float32, (least, most, least, most)), 256)
        largest = np.abs(kernel).max(axis=(-3, -2, -1), keepdims=True)  # of each output channel
        largest = np.maximum(largest, np.float32(1e-12))  # a kernel of zeros needs a range too
        weights = ops.fake_quantize(weights, -largest, largest, -largest, largest, 255)
    call = ops.convolution if group == 1 else ops.group_convolution
    result = call(inputs, weights, list(strides), list(pads[:2]), list(pads[2:]), list(dilations))
    return result if bias is None else ops.add(result, ops.constant(bias.reshape(1, -1, 1, 1)))


def linear(
    ops: ModuleType, inputs: "Node", kernel: np.ndarray, bias: np.ndarray | None = None, *, transB: int
) -> "Node":
    """Return the node of ONNX's operation Gemm: inputs [rows, features] times the kernel, plus a bias [outputs]."""
    result = ops.matmul(inputs, ops.constant(kernel), False, bool(transB))  # the inputs are not transposed
    return result if bias is None else ops.add(result, ops.constant(bias.reshape(1, -1)))


def reshape(ops: ModuleType, inputs: "Node", shape: np.ndarray) -> "Node":
    """Return the node of ONNX's operation Reshape; shape: int64, the new lengths."""
    return ops.reshape(inputs, ops.constant(shape), True)  # True: by ONNX, a length of 0 stands for that of `inputs`


def reduction(name: str) -> Callable[..., "Node"]:
    """Return a function that makes the node of OpenVINO's operation `name`, which reduces its input over axes."""
    return lambda ops, inputs, axes, keepdims: getattr(ops, name)(inputs, ops.constant(np.array(axes)), bool(keepdims))


OPERATIONS: dict[str, Callable[..., "Node"]] = {
    **{op: operation(name) for op, name in ELEMENTWISE.items()},
    **{op: operation(op.lower()) for op in ("Relu", "Sigmoid", "Softplus")},
    "Conv": convolution,
    "Gemm": linear,
    "Elu": lambda ops, inputs, alpha: ops.elu(inputs, alpha),
    "Softmax": lambda ops, inputs, axis: ops.softmax(inputs, axis),
    "MatMul": lambda ops, a, b: ops.matmul(as_node(ops, a), as_node(ops, b), False, False),
    "Transpose": lambda ops, inputs, perm: ops.transpose(inputs, ops.constant(np.array(perm))),
    "ReduceMean": reduction("reduce_mean"),
    "ReduceMax": reduction("reduce_max"),
    "Concat": lambda ops, *parts, axis: ops.concat([as_node(ops, part) for part in parts], axis),
    "Flatten": lambda ops, inputs, axis: reshape(ops, inputs, np.array([0, -1])),
    "Reshape": reshape,
    "Slice": lambda ops, inputs, begin, end, axis, step: operation("slice")(ops, inputs, begin, end, step, axis),
}


class OpenVinoModel:
    """Base, value and policy as OpenVINO models, one for each number of positions in SIZES.

    Args:
        graph: the network's operations, with the outputs "logits" and "value".
        bfloat16: whether operations that do not compute in 8 bits compute in bfloat16.
        ranges: the input ranges of the base's convolutions to compute in 8 bits, by name; none if it is empty.

    Raises:
        ImportError: without OpenVINO.
    """

    def __init__(self, graph: NetworkGraph, bfloat16: bool, ranges: Mapping[str, Range] | None = None) -> None:
        kernel_ranges = {f"base_net.{name}.weight": input_range for name, input_range in (ranges or {}).items()}
        options = {"INFERENCE_PRECISION_HINT": "bf16" if bfloat16 else "f32", **ONE_THREAD}
        model = build_model(graph, BATCH_SIZE, kernel_ranges)  # the smaller ones are built when they are first called

        def compile_for(rows: int) -> "CompiledModel":
            """Compile the model for `rows` positions, when it is first called."""
            built = model if rows == BATCH_SIZE else build_model(graph, rows, kernel_ranges)
            return core().compile_model(built, "CPU", options)

        self.models = {rows: SharedModel(partial(compile_for, rows), options) for rows in SIZES}

    def __call__(self, planes: np.ndarray, logits: np.ndarray, values: np.ndarray) -> None:
        """Compute logits and values of n positions.

        Args:
            planes: float32 [n, planes, height, width].
            logits: float32 [n, A], overwritten.
            values: float32 [n], or [n, columns] if the value part has several columns; overwritten.
        """
        for size, rows in calls_for(len(planes)):
            self.models[size](planes[rows], logits[rows], values[rows])


def calls_for(count: int) -> Iterator[tuple[int, slice]]:
    """Divide `count` positions among the models: yield pairs of a size in SIZES and the rows that its model computes.

    A model computes its rows in several calls if necessary.  It gets all positions that are left if padding is at most
    a quarter of these calls' rows; otherwise it gets full calls only, and smaller models the rest.  For example, 30
    positions are two calls of 16; 20 are a call of 16 and one of 4.
    """
    begin = 0
    for size in SIZES:
        left = count - begin
        padded = -(-left // size) * size  # the least multiple of `size` that is not less than `left`
        end = count if 4 * (padded - left) <= padded else count - left % size
        if end > begin:
            yield size, slice(begin, end)
        begin = end


class SharedModel:
    """An OpenVINO model for a fixed number of positions; several threads may call it at the same time.

    Each call uses a copy of the model that no other thread uses, and which computes in the calling thread.  (A single
    model for all callers would compute in threads of its own; waiting for them took a tenth of the time of self-play on
    7x7.)

    Args:
        compile: compiles the model with `options`; it is called when the model is first used.  A copy takes a third of
            the time of compiling.
    """

    def __init__(self, compile: Callable[[], "CompiledModel"], options: Mapping[str, Any]) -> None:
        self.compile, self.options, self.lock = compile, options, threading.Lock()
        self.compiled: CompiledModel | None = None  # when it is first needed; the first copy is this model itself
        self.exported = b""  # the compiled model, from which the other copies are made; empty until one is needed
        self.idle: list[Request] = []  # copies that no thread uses now

    def __call__(self, planes: np.ndarray, logits: np.ndarray, values: np.ndarray) -> None:
        """Compute logits and values of any number of positions, in several calls of the model if necessary.

        Args:
            planes, logits, values: as in `OpenVinoModel.__call__`.
        """
        try:
            request = self.idle.pop()
        except IndexError:  # other threads use all copies
            request = Request(self._copy())
        model_rows = len(request.inputs)
        for begin in range(0, len(planes), model_rows):
            rows = slice(begin, begin + model_rows)
            request.run(planes[rows], logits[rows], values[rows])
        self.idle.append(request)

    def _copy(self) -> "CompiledModel":
        """Return a model for one thread: on the first call the compiled model itself, then copies of it."""
        with self.lock:
            if self.compiled is None:
                self.compiled = self.compile()
                return self.compiled
        return import_model(self._export(), self.options)  # outside the lock, which `_export` takes

    def _export(self) -> bytes:
        """Return the compiled model as bytes, for `import_model`."""
        with self.lock:
            if not self.exported:
                self.compiled = self.compiled or self.compile()
                # Without this argument, `export_model` returns bytes or a stream, which depends on OpenVINO's version.
                stream = io.BytesIO()
                self.compiled.export_model(stream)
                self.exported = stream.getvalue()
        return self.exported

    def to_bytes(self) -> bytes:
        """Return the compiled model, with the kind of machine that it fits, for `from_bytes`."""
        return json.dumps([kind_of_machine(), self.options]).encode() + b"\n" + self._export()

    @classmethod
    def from_bytes(cls, data: bytes) -> "SharedModel | None":
        """Return the model that another process has compiled and written with `to_bytes`.

        Returns:
            None if that process has another version of OpenVINO or another kind of processor.  Damaged data may raise
            any exception.
        """
        head, _, exported = data.partition(b"\n")
        kind, options = parse_json(head)
        if not is_installed() or kind != kind_of_machine():
            return None
        model = cls(lambda: import_model(exported, options), options)
        model.exported = exported  # an imported model cannot always be exported again
        model.idle.append(Request(model._copy()))  # imports the model now, so that damaged data raise here
        return model


@cache
def kind_of_machine() -> str:
    """Return a text with OpenVINO's version and the processor; a compiled model fits machines with an equal text."""
    name, features = (core().get_property("CPU", key) for key in ("FULL_DEVICE_NAME", "OPTIMIZATION_CAPABILITIES"))
    return f"OpenVINO {package().__version__} on {name}: {sorted(features)}"


def import_model(exported: bytes, options: Mapping[str, Any]) -> "CompiledModel":
    """Return the compiled model that `SharedModel._export` wrote, compiled with the same `options`."""
    return core().import_model(io.BytesIO(exported), "CPU", dict(options))


class Request:
    """A compiled model with buffers for its inputs and outputs, which computes one call at a time."""

    def __init__(self, model: "CompiledModel") -> None:
        self.request = model.create_infer_request()
        self.inputs = np.zeros(tuple(model.input(0).shape), np.float32)
        self.request.set_input_tensor(package().Tensor(self.inputs, shared_memory=True))
        self.request.infer()  # allocates the outputs, which all later calls overwrite
        self.logits = self.request.get_output_tensor(0).data
        self.values = self.request.get_output_tensor(1).data

    def run(self, planes: np.ndarray, logits: np.ndarray, values: np.ndarray) -> None:
        """Compute logits and values of at most as many positions as the model has rows.

        Args:
            planes, logits, values: as in `OpenVinoModel.__call__`.
        """
        count = len(planes)
        self.inputs[:count] = planes
        self.request.infer()
        logits[:] = self.logits[:count]
        values[:] = self.values[:count]
