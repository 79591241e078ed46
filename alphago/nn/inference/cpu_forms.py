"""The forms in which the CPU computes a network, and the choice of the fastest one whose results are right."""

import contextlib
import copy
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import fx, nn

from alphago.env.game import GameEnv
from alphago.nn.inference import openvino
from alphago.nn.inference.frozen_net import Frozen, Outputs, example_planes, outputs_agree
from alphago.nn.inference.fusion import fold_batch_norms
from alphago.nn.inference.hardware import fastest_float, has_int8_products
from alphago.nn.inference.int8 import calibration_planes, input_ranges
from alphago.nn.threads import one_torch_thread
from alphago.system.kernels.cache import warn_once

# A compiled network: (planes [n, …], logits [n, A], values [n]), all float32; logits and values are overwritten.  The
# values are [n, columns] if the value part has several columns (see Frozen).
Run = Callable[[np.ndarray, np.ndarray, np.ndarray], None]


class Compiled(NamedTuple):
    """A network that is ready to compute."""

    run: Run
    dtype: torch.dtype  # of its base
    form: str


# A function of a network, example planes, the network's outputs for the first BATCH_SIZE of these planes, and the dtype
# of the base.  It returns the compiled network, and may raise any exception.
Form = Callable[[Frozen, torch.Tensor, Outputs, torch.dtype], Run]
# Largest differences, relative to the largest output, that count as rounding.  In float32 a mistake in tracing makes a
# larger one; in bfloat16 with many layers, rounding itself is large.
ROUNDING = {torch.float32: 0.001, torch.bfloat16: 0.2, torch.int8: 0.2}
BATCH_SIZE = openvino.BATCH_SIZE
SMALL = 4_000_000  # weights; networks of at most so many are checked faster with one torch thread than with several


def build_openvino(frozen: Frozen, planes: torch.Tensor, expected: Outputs, dtype: torch.dtype) -> Run:
    """Compile a network in the form "openvino"; see alphago.nn.inference.openvino, and Form for the arguments."""
    openvino.package()  # raises if OpenVINO is not installed, before the slow tracing
    base, value, policy = folded_parts(frozen, planes, expected)
    ranges = input_ranges(base, planes) if dtype is torch.int8 else {}
    if dtype is torch.int8 and not ranges:
        raise ValueError("the network has no convolution that can be computed in 8 bits")
    float_dtype = fastest_float() if dtype is torch.int8 else dtype  # for operations that are not computed in 8 bits
    graph = openvino.list_operations(base, value, policy, tuple(planes.shape[1:]))
    return openvino.OpenVinoModel(graph, bfloat16=float_dtype is torch.bfloat16, ranges=ranges)


def build_folded(frozen: Frozen, planes: torch.Tensor, expected: Outputs, dtype: torch.dtype) -> Run:
    """Compile a network in the form "folded"; see alphago.nn.inference.fusion, and Form for the arguments."""
    return build_modules(Frozen(*folded_parts(frozen, planes, expected)), planes, expected, dtype)


def build_modules(frozen: Frozen, planes: torch.Tensor, expected: Outputs, dtype: torch.dtype) -> Run:
    """Compile a network in the form "modules": torch's own modules, the base in `dtype`, channels last.

    `planes` and `expected` are for other forms; see Form.
    """
    twin = copy.deepcopy(frozen)
    twin.base_net.to(dtype)  # the heads stay float32
    return torch_run(twin.to(memory_format=torch.channels_last), dtype)  # type: ignore[call-overload]


FORMS: dict[str, Form] = {"openvino": build_openvino, "folded": build_folded, "modules": build_modules}


def choose_form(frozen: Frozen, env: GameEnv, dtype: torch.dtype, only: str | None = None) -> Compiled:
    """Compile a network in the fastest form whose results agree with the network's.

    Args:
        frozen: the network, for the game `env`.
        dtype: the preferred dtype of the base.
        only: the name of the only form to consider; None for all in FORMS, which are ordered from the fastest.

    Raises:
        ValueError: if the form `only` cannot compute the network on this machine.
    """
    for name, form_dtype in forms_to_try(dtype):
        if only not in (None, name):
            continue
        planes = calibration_planes(env) if form_dtype is torch.int8 else example_planes(env)
        run = try_form(FORMS[name], frozen, planes, frozen(planes[:BATCH_SIZE]), form_dtype)
        if run is not None:
            if only is None and name != "openvino" and openvino.is_installed():  # and could not compute this network
                base = type(frozen.base_net).__qualname__
                why = f"OpenVINO cannot compute this network ({base}), so torch does, in the form {name!r}"
                warn_once(f"{why} (docs/design/networks.md)")
            return Compiled(run, form_dtype, name)
    # No form agrees.  What is left is the network itself, in float32.  It needs no comparison, and counts as "modules".
    if only not in (None, "modules"):
        raise ValueError(f"the form {only!r} cannot compute this network here")
    return Compiled(torch_run(frozen, torch.float32), torch.float32, "modules")


def forms_to_try(dtype: torch.dtype) -> Iterator[tuple[str, torch.dtype]]:
    """Yield the names of forms, each with the dtype in which to try it, the best first.

    Args:
        dtype: the preferred dtype.  Only OpenVINO computes in int8; with int8, all other tries have a float dtype.
    """
    if dtype is torch.int8 and has_int8_products() and openvino.is_installed():
        yield "openvino", torch.int8
    float_dtype = fastest_float() if dtype is torch.int8 else dtype
    yield from ((name, float_dtype) for name in FORMS)
    yield "folded", torch.float32  # for a network that does not support `float_dtype`


def try_form(form: Form, frozen: Frozen, planes: torch.Tensor, expected: Outputs, dtype: torch.dtype) -> Run | None:
    """Return a network compiled in a form; None if it cannot be compiled or its outputs differ.

    Args:
        planes: example positions.
        expected: the network's outputs for the first BATCH_SIZE example positions, with which the compiled network's
            are compared.  More are not compared, since OpenVINO might have to compile another model for them.
    """
    try:
        run = form(frozen, planes, expected, dtype)
        outputs = torch.empty_like(expected[0]), torch.empty_like(expected[1])
        run(planes[:BATCH_SIZE].contiguous().numpy(), outputs[0].numpy(), outputs[1].numpy())
        return run if outputs_agree(outputs, expected, ROUNDING[dtype]) else None
    except Exception:  # a custom module, torch.fx or OpenVINO may raise anything
        return None


def folded_parts(frozen: Frozen, planes: torch.Tensor, expected: Outputs) -> list[fx.GraphModule]:
    """Return base, value and policy as graphs with batch norms folded into convolutions.

    Raises:
        ValueError: if the graphs' outputs for the first BATCH_SIZE of `planes` differ from `expected`.
    """
    graphs = [fold_batch_norms(part) for part in (frozen.base_net, frozen.value, frozen.policy)]
    if not outputs_agree(Frozen(*graphs)(planes[:BATCH_SIZE]), expected, ROUNDING[torch.float32]):
        raise ValueError("the traced network gives other results")
    return graphs


def in_blocks(run: Run) -> Run:
    """Return a function that calls `run` with exactly BATCH_SIZE positions at a time, padded if necessary.

    Rounding depends on the number of positions of a call.  With a fixed number, a position's results are always equal.
    """

    def run_blocks(planes: np.ndarray, logits: np.ndarray, values: np.ndarray) -> None:
        """Compute full blocks in place.  The positions that are left are computed in a block padded with zeros."""
        rest = len(planes) % BATCH_SIZE
        in_full_blocks = len(planes) - rest
        for begin in range(0, in_full_blocks, BATCH_SIZE):
            rows = slice(begin, begin + BATCH_SIZE)
            run(planes[rows], logits[rows], values[rows])
        if rest:
            padded, padded_logits, padded_values = (
                np.zeros((BATCH_SIZE, *array.shape[1:]), np.float32) for array in (planes, logits, values)
            )
            padded[:rest] = planes[in_full_blocks:]
            run(padded, padded_logits, padded_values)
            logits[in_full_blocks:] = padded_logits[:rest]
            values[in_full_blocks:] = padded_values[:rest]

    return run_blocks


def torch_run(module: nn.Module, dtype: torch.dtype, device: torch.device | None = None) -> Run:
    """Return a `Run` that calls a module on a device with the planes converted to `dtype` and channels-last.

    Args:
        device: None for the CPU; planes and outputs are in the CPU's memory in any case.
    """
    forward = module.forward  # calling the module would be traced if another thread traces with torch.fx just now

    def run(planes: np.ndarray, logits: np.ndarray, values: np.ndarray) -> None:
        """Write the module's two outputs for `planes` to `logits` and `values`."""
        inputs = torch.from_numpy(planes).to(device, dtype).contiguous(memory_format=torch.channels_last)
        with torch.inference_mode():
            outputs = forward(inputs)
        for out, output in zip((logits, values), outputs, strict=True):
            out[:] = output.cpu().numpy()  # a Frozen's outputs are float32 in any dtype

    return run


def threads_for(frozen: Frozen) -> contextlib.AbstractContextManager[None]:
    """Return a context that sets torch to one thread for a small network, and changes nothing for a large one."""
    small = sum(weight.numel() for weight in frozen.parameters()) <= SMALL
    return one_torch_thread() if small else contextlib.nullcontext()
