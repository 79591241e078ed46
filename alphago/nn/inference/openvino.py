"""Translate a traced network to an OpenVINO model, the fastest form on Intel and AMD CPUs.

A Translator walks the folded graph of alphago.nn.inference.fusion and builds an OpenVINO node for each node.  For an
operation that is not in its tables it raises an exception, and the network runs in torch.  The translation takes a
hundredth of the time of OpenVINO's own converter, which matters since training publishes new weights every few seconds.
Models are compiled for two fixed batch sizes, because OpenVINO would choose its kernels again for each new size.
"""

import operator
import threading
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import fx, nn

from alphago.nn.inference.int8 import Range
from alphago.system.kernels.cache import warn_once
from alphago.system.optional import optional_import

NEED = "OpenVINO computes networks faster on Intel's processors: pip install openvino"
BATCH_SIZE = 16  # positions per call; larger batches are not faster
FEW = 8  # positions of the small calls, as the search of a single game makes them; they take half the time


@cache
def package() -> Any:
    """Return the module `openvino`; raise ImportError if it is not installed, or installed but broken."""
    return optional_import("openvino", NEED)


def is_installed() -> bool:
    """Return whether OpenVINO can be imported; warn once if it is installed but broken."""
    try:
        package()
    except ImportError as error:
        if error.__cause__ is not None:
            warn_once(f"{error}; networks are computed without it")
        return False
    return True


@cache
def core() -> Any:
    return package().Core()


class Translator(fx.Interpreter):
    """An interpreter of a traced module that builds OpenVINO nodes instead of computing tensors.

    ranges: the input ranges of the convolutions to compute in 8 bits, by the convolution's name; see
        alphago.nn.inference.int8.
    """

    def __init__(self, module: fx.GraphModule, ranges: Mapping[str, Range] | None = None) -> None:
        super().__init__(module)
        self.ops = package().opset13
        self.ranges = ranges or {}

    def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
        module = self.fetch_attr(target)
        if target in self.ranges:
            return convolution_in_8_bits(self.ops, module, args[0], self.ranges[target])
        translate = MODULES.get(type(module))
        if translate is None or kwargs or len(args) != 1:
            raise NotImplementedError(f"no OpenVINO translation of {type(module).__name__}")
        return translate(self.ops, module, args[0])

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        if target is getattr and args[1] == "shape":
            return tuple(args[0].get_output_shape(0))
        if not any(is_node(argument) for argument in flattened(args)):
            return super().call_function(target, args, kwargs)
        translate = FUNCTIONS.get(target)
        if translate is None:
            raise NotImplementedError(f"no OpenVINO translation of {target}")
        return translate(self.ops, *args, **kwargs)

    def call_method(self, target: Any, args: Any, kwargs: Any) -> Any:
        translate = METHODS.get(target)
        if translate is None:
            raise NotImplementedError(f"no OpenVINO translation of the method {target}")
        return translate(self.ops, *args, **kwargs)


def is_node(value: Any) -> bool:
    return isinstance(value, package().Node)


def flattened(values: Any) -> list[Any]:
    return [item for value in values for item in (flattened(value) if isinstance(value, (list, tuple)) else [value])]


def constant(ops: Any, value: Any) -> Any:
    array = value.detach().cpu().numpy() if isinstance(value, torch.Tensor) else np.asarray(value)
    return ops.constant(array.astype(np.float32))


def convolution(ops: Any, module: nn.Conv2d, inputs: Any, kernel: Any = None) -> Any:
    """Return the OpenVINO node of a convolution; kernel: replaces the module's kernel if it is not None."""
    if module.groups != 1 or module.padding_mode != "zeros" or isinstance(module.padding, str):
        raise NotImplementedError(f"no OpenVINO translation of {module}")
    pads = list(module.padding)
    kernel = constant(ops, module.weight) if kernel is None else kernel
    result = ops.convolution(inputs, kernel, list(module.stride), pads, pads, list(module.dilation))
    return result if module.bias is None else ops.add(result, constant(ops, module.bias.view(1, -1, 1, 1)))


def convolution_in_8_bits(ops: Any, module: nn.Conv2d, inputs: Any, span: Range) -> Any:
    """Return the OpenVINO node of a convolution that computes in 8 bits; span: the range of its inputs."""
    least, most = (-span.most * 128 / 127, span.most) if span.negative else (0.0, span.most)
    rounded = ops.fake_quantize(inputs, *map(np.float32, (least, most, least, most)), 256)
    kernel = module.weight.detach()
    greatest = kernel.abs().amax(dim=(1, 2, 3), keepdim=True).clamp_min(1e-12).numpy()
    bounds = (-greatest, greatest, -greatest, greatest)
    return convolution(ops, module, rounded, ops.fake_quantize(constant(ops, kernel), *bounds, 255))


def linear(ops: Any, module: nn.Linear, inputs: Any) -> Any:
    result = ops.matmul(inputs, constant(ops, module.weight), False, True)
    return result if module.bias is None else ops.add(result, constant(ops, module.bias.view(1, -1)))


def batch_norm(ops: Any, module: nn.BatchNorm2d, inputs: Any) -> Any:
    """Return the OpenVINO node of a batch norm that could not be folded into a convolution."""
    if module.running_mean is None or module.running_var is None:
        raise NotImplementedError("no OpenVINO translation of a batch norm without running statistics")
    scale = torch.rsqrt(module.running_var + module.eps)
    scale = scale if module.weight is None else scale * module.weight
    shift = -module.running_mean * scale if module.bias is None else module.bias - module.running_mean * scale
    scaled = ops.multiply(inputs, constant(ops, scale.view(1, -1, 1, 1)))
    return ops.add(scaled, constant(ops, shift.view(1, -1, 1, 1)))


def reshape(ops: Any, inputs: Any, shape: list[int]) -> Any:
    return ops.reshape(inputs, ops.constant(np.array(shape, np.int64)), False)


def flatten(ops: Any, inputs: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    shape = list(inputs.get_output_shape(0))
    end = end_dim % len(shape)
    return reshape(ops, inputs, [*shape[:start_dim], -1, *shape[end + 1 :]])


def unflatten(ops: Any, inputs: Any, dim: int, sizes: tuple[int, ...]) -> Any:
    shape = list(inputs.get_output_shape(0))
    return reshape(ops, inputs, [*shape[:dim], *sizes, *shape[dim + 1 :]])


PLAIN_POOLING = {"stride": None, "padding": 0, "dilation": 1, "ceil_mode": False, "return_indices": False}


def whole_board(reduction: str) -> Callable[..., Any]:
    """Return a function that translates a pooling over the whole board to a reduction, such as "reduce_mean"."""

    def translate(ops: Any, inputs: Any, kernel_size: Any, **options: Any) -> Any:
        window = tuple(inputs.get_output_shape(0))[2:]
        if tuple(kernel_size) != window or not options.items() <= PLAIN_POOLING.items():
            raise NotImplementedError("no OpenVINO translation of pooling over parts of the board")
        return getattr(ops, reduction)(inputs, ops.constant(np.array([2, 3], np.int64)), True)

    return translate


def elementwise(name: str) -> Callable[..., Any]:
    def translate(ops: Any, a: Any, b: Any) -> Any:
        return getattr(ops, name)(*(x if is_node(x) else constant(ops, x) for x in (a, b)))

    return translate


def relu(ops: Any, inputs: Any, inplace: bool = False) -> Any:
    return ops.relu(inputs)


def item(ops: Any, inputs: Any, key: Any) -> Any:
    """Return the OpenVINO node of `inputs[:, begin:end]` or `inputs[:, column]`.

    Raises NotImplementedError for other indices, which the package's heads do not use.
    """
    rows, columns = key
    if isinstance(columns, int):
        begin = columns % inputs.get_output_shape(0)[1]
        return flatten(ops, item(ops, inputs, (rows, slice(begin, begin + 1))))
    if rows != slice(None) or columns.step is not None:
        raise NotImplementedError(f"no OpenVINO translation of the index {key}")
    begin, end, _ = columns.indices(inputs.get_output_shape(0)[1])
    bounds = (np.array([x], np.int64) for x in (begin, end, 1, 1))
    return ops.slice(inputs, *(ops.constant(x) for x in bounds))


MODULES: dict[type[nn.Module], Callable[..., Any]] = {
    nn.Conv2d: convolution,
    nn.Linear: linear,
    nn.BatchNorm2d: batch_norm,
    nn.ELU: lambda ops, module, inputs: ops.elu(inputs, module.alpha),
    nn.ReLU: lambda ops, module, inputs: ops.relu(inputs),
    nn.Tanh: lambda ops, module, inputs: ops.tanh(inputs),
    nn.Flatten: lambda ops, module, inputs: flatten(ops, inputs, module.start_dim, module.end_dim),
    nn.Identity: lambda ops, module, inputs: inputs,
}
FUNCTIONS: dict[Any, Callable[..., Any]] = {
    torch.relu: relu,
    F.relu: relu,
    F.elu: lambda ops, inputs, alpha=1.0, inplace=False: ops.elu(inputs, alpha),
    torch.tanh: lambda ops, inputs: ops.tanh(inputs),
    torch.cat: lambda ops, parts, dim=0: ops.concat(list(parts), dim),
    torch.flatten: flatten,
    F.avg_pool2d: whole_board("reduce_mean"),
    F.max_pool2d: whole_board("reduce_max"),
    torch.max_pool2d: whole_board("reduce_max"),
    operator.getitem: item,
    **{f: elementwise("add") for f in (operator.add, operator.iadd, torch.add)},
    **{f: elementwise("subtract") for f in (operator.sub, torch.sub)},
    **{f: elementwise("multiply") for f in (operator.mul, torch.mul)},
    **{f: elementwise("divide") for f in (operator.truediv, torch.div)},
}
METHODS: dict[str, Callable[..., Any]] = {
    "flatten": flatten,
    "unflatten": unflatten,
    "relu": relu,
    "tanh": lambda ops, inputs: ops.tanh(inputs),
    "float": lambda ops, inputs: inputs,
}


class OpenVinoModel:
    """Base, value and policy as OpenVINO models, one for BATCH_SIZE positions, another for at most FEW.

    Each is compiled when first used, once for each concurrent caller, for one thread, so that it runs in the caller's
    thread.  (A model that callers share has threads of its own; waiting for them took a tenth of the time of self-play
    on 7x7.)

    base, value, policy: graphs with batch norms folded.
    plane_shape: (planes, height, width).
    bfloat16: whether operations that do not compute in 8 bits compute in bfloat16.
    ranges: the input ranges of the base's convolutions to compute in 8 bits; None to compute no convolution in 8 bits.
    Raises ImportError without OpenVINO, and NotImplementedError or other exceptions for operations that cannot be
    translated.
    """

    def __init__(
        self, base: fx.GraphModule, value: fx.GraphModule, policy: fx.GraphModule, plane_shape: tuple[int, ...],
        bfloat16: bool, ranges: Mapping[str, Range] | None = None,
    ) -> None:  # fmt: skip
        def translated(rows: int) -> Any:
            openvino = package()
            planes = openvino.opset13.parameter([rows, *plane_shape], np.float32)
            features = Translator(base, ranges).run(planes)
            logits = Translator(policy).run(features)
            values = Translator(value).run(features)
            if np.prod(values.get_output_shape(0)) == rows:
                values = flatten(openvino.opset13, values)
            return openvino.Model([openvino.opset13.result(x) for x in (logits, values)], [planes], "network")

        self._translated = translated
        self.models = {BATCH_SIZE: translated(BATCH_SIZE)}  # by the number of positions; self-play needs no other
        self._lock = threading.Lock()
        self.precision = "bf16" if bfloat16 else "f32"
        self._idle: dict[int, list[Request]] = {FEW: [], BATCH_SIZE: []}

    def run(self, planes: np.ndarray, logits: np.ndarray, values: np.ndarray) -> None:
        """Compute logits and values of n positions.

        planes: float32 [n, planes, height, width].
        logits: float32 [n, A], overwritten.
        values: float32 [n], or [n, columns] if the value part has several columns; overwritten.
        """
        size = FEW if len(planes) <= FEW else BATCH_SIZE
        try:
            request = self._idle[size].pop()
        except IndexError:
            request = Request(self._model(size), self.precision)
        for begin in range(0, len(planes), size):
            rows = slice(begin, begin + size)
            request.run(planes[rows], logits[rows], values[rows])
        self._idle[size].append(request)

    def _model(self, rows: int) -> Any:
        with self._lock:
            if rows not in self.models:
                self.models[rows] = self._translated(rows)
            return self.models[rows]


class Request:
    """A compiled model that computes one call at a time; precision: "bf16" or "f32"."""

    def __init__(self, model: Any, precision: str) -> None:
        options = {"INFERENCE_PRECISION_HINT": precision, "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1}
        compiled = core().compile_model(model, "CPU", options | {"ENABLE_CPU_PINNING": False})
        self.request = compiled.create_infer_request()
        self.inputs = np.zeros(tuple(compiled.input(0).shape), np.float32)
        self.request.set_input_tensor(package().Tensor(self.inputs, shared_memory=True))
        self.request.infer()
        self.logits = self.request.get_output_tensor(0).data
        self.values = self.request.get_output_tensor(1).data

    def run(self, planes: np.ndarray, logits: np.ndarray, values: np.ndarray) -> None:
        """Compute logits and values of at most as many positions as the model is for; see `OpenVinoModel.run`."""
        count = len(planes)
        self.inputs[:count] = planes
        self.request.infer()
        logits[:] = self.logits[:count]
        values[:] = self.values[:count]
