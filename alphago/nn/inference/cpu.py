"""`NetEvaluator`: a frozen copy of a network for search, compiled to be fast on the CPU."""

import contextlib
import copy
import threading
from collections.abc import Callable, Mapping

import numpy as np
import torch
from torch import fx, nn

from alphago.env.game import GameBatch, GameEnv
from alphago.nn.inference import openvino
from alphago.nn.inference.frozen import TRACING, Frozen, Outputs, example_planes, frozen_parts, outputs_agree
from alphago.nn.inference.fusion import fold_batch_norms
from alphago.nn.inference.hardware import choose_dtype, dtype_name, fastest_float, has_int8_products
from alphago.nn.inference.int8 import calibration_planes, input_ranges
from alphago.nn.kernels.priors import clip_values, masked_softmax_batch
from alphago.nn.parts import game_structure
from alphago.nn.threads import one_torch_thread
from alphago.system.stopwatch import BOARDS, NET

# A compiled network: (planes [n, …], logits [n, A], values [n]), all float32; logits and values are overwritten.
Run = Callable[[np.ndarray, np.ndarray, np.ndarray], None]
# (network, example planes, the network's outputs for these planes, dtype) -> the compiled network; may raise anything.
Form = Callable[[Frozen, torch.Tensor, Outputs, torch.dtype], Run]
# Largest differences, relative to the largest output, that count as rounding.  In float32 a mistake in tracing makes a
# larger one; in bfloat16 with many layers, rounding itself is large.
ROUNDING = {torch.float32: 0.001, torch.bfloat16: 0.2, torch.int8: 0.2}
BATCH_SIZE = openvino.BATCH_SIZE
SMALL = 4_000_000  # weights of a network that is checked faster with one torch thread than with several
NOT_FINITE = "the network's output is not finite: its weights are too large"


class NetEvaluator:
    """An evaluator for search on the CPU: a frozen copy of a network, which later training does not change.

    Batch norm is folded into the convolutions.  By default the base network computes in int8 if the CPU has VNNI but
    not AMX and OpenVINO is installed, else in bfloat16 if the CPU has instructions for it (AMX, AVX512-BF16), else in
    float32.  OpenVINO computes the network if it is installed, with one thread per call; otherwise torch computes it,
    with as many threads as torch is set to use.  Several threads may call an evaluator at the same time.

    In float32, results differ from those of the torch modules by 1e-5.  In bfloat16, on briefly trained networks,
    policies differ by a total variation of 0.002 on average (0.09 at most), values by 0.0005 (0.02 at most).  In int8
    (see alphago.nn.inference.int8), on the packaged networks, policies differ by a divergence of 0.001 nats on average,
    values by 0.008 to 0.016.

    env, base_net, value, policy: the game and the parts of a NeuralNet.
    dtype: "float32", "bfloat16" or "int8"; None for the fastest.  int8 needs OpenVINO and a CPU with VNNI; otherwise
        the fastest floating-point dtype is used.  Networks that do not support the dtype run in float32.  The
        attributes `dtype` and `form` tell what was chosen.
    exact: whether a position's results must be bit-identical whatever other positions are in the same call.  The
        network then computes padded blocks of BATCH_SIZE positions.
    form: the implementation: "openvino", "folded" (torch, with batch norms folded into the convolutions) or "modules"
        (the torch modules unchanged); None for the fastest available one whose results agree with the network's.
    Raises ValueError for a network whose weights are not finite, and if `form` cannot compute it on this machine.
    """

    device = "cpu"  # the device of the positions

    def __init__(
        self,
        env: GameEnv,
        base_net: nn.Module,
        value: nn.Module,
        policy: nn.Module,
        *,
        dtype: str | None = None,
        exact: bool = False,
        form: str | None = None,
    ) -> None:
        torch_dtype = choose_dtype(dtype)
        if form not in (None, *FORMS):
            raise ValueError(f"form must be {', '.join(map(repr, FORMS))} or None, got {form!r}")
        frozen = frozen_parts(base_net, value, policy)
        self.env = env
        with TRACING, torch.no_grad(), threads_for(frozen):
            self._run, self._compute_dtype, self.form = choose_form(frozen, env, torch_dtype, form)
        if exact:
            self._run = in_blocks(self._run)
        self._local = threading.local()

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        """Compute priors and values of positions.

        batch, slots: the positions are those in `slots`, int64 [n], of `batch`; their games must not be over.
        priors: float32 [n, action_space], overwritten with a softmax over the legal actions, 0 for illegal ones.
        values: float32 [n], overwritten with values -1 .. 1 in the view of the player about to move.
        Raises ValueError if the network's output is not finite.
        """
        count = len(slots)
        if count == 0:
            return
        check_batch(batch, self.env)
        check_outputs(self.env, count, priors, values)
        scratch = own_scratch(self._local, self.env, count)
        with BOARDS:
            planes = batch.planes(slots, scratch.planes[:count])
            mask = batch.legal_mask(slots, scratch.mask[:count])
        logits, raw = scratch.logits[:count], scratch.columns[:count, 0]
        with NET:
            self._run(planes, logits, raw)
        broken = masked_softmax_batch(logits, mask, priors)
        if clip_values(raw, values) or broken:
            raise ValueError(NOT_FINITE)

    @property
    def dtype(self) -> str:
        """The dtype in which the base computes: "float32", "bfloat16" or "int8"."""
        return dtype_name(self._compute_dtype)

    def __repr__(self) -> str:
        return f"NetEvaluator({self.env!r}, dtype={self.dtype!r}, form={self.form!r})"


def threads_for(frozen: Frozen) -> contextlib.AbstractContextManager[None]:
    """Return a context that sets torch to one thread for a small network, and changes nothing for a large one."""
    small = sum(weight.numel() for weight in frozen.parameters()) <= SMALL
    return one_torch_thread() if small else contextlib.nullcontext()


def check_batch(batch: GameBatch, env: GameEnv) -> None:
    """Raise ValueError if a network for `env` cannot play the batch's game."""
    if batch.env is not env and game_structure(batch.env) != game_structure(env):
        raise ValueError(f"the batch must be of {env}, which the evaluator is for, got one of {batch.env}")


def check_outputs(env: GameEnv, count: int, priors: np.ndarray, values: np.ndarray) -> None:
    """Raise ValueError if `priors` or `values` has the wrong shape for `count` positions.

    The kernels do not check shapes, and would write outside of the arrays.
    """
    if priors.shape != (count, env.action_space) or values.shape != (count,):
        raise ValueError(
            f"priors and values must have shapes {(count, env.action_space)} and {(count,)} for {count} slots of {env},"
            f" got {priors.shape} and {values.shape}"
        )


class Scratch:
    """The buffers of one thread for up to `count` positions; columns: number of outputs of the value head."""

    def __init__(self, env: GameEnv, count: int, columns: int) -> None:
        self.planes = np.empty((count, env.planes, *env.plane_shape), np.float32)
        self.mask = np.empty((count, env.action_space), np.bool_)
        self.logits = np.empty((count, env.action_space), np.float32)
        self.columns = np.empty((count, columns), np.float32)  # the value head's outputs


def own_scratch(local: threading.local, env: GameEnv, count: int, columns: int = 1) -> Scratch:
    """Return the current thread's buffers for at least `count` positions; local: holds them."""
    scratch: Scratch | None = getattr(local, "scratch", None)
    if scratch is None or len(scratch.mask) < count:
        capacity = max(count, 32 if scratch is None else 2 * len(scratch.mask))
        scratch = local.scratch = Scratch(env, capacity, columns)
    return scratch


# --- forms -----------------------------------------------------------------------------------------


def build_openvino(frozen: Frozen, planes: torch.Tensor, expected: Outputs, dtype: torch.dtype) -> Run:
    """Compile a network in the form "openvino"; see alphago.nn.inference.openvino, and Form for the arguments."""
    openvino.package()  # raises if it is not installed, before the slow tracing
    base, value, policy = folded_parts(frozen, planes, expected)
    ranges = None
    if dtype is torch.int8:
        ranges, dtype = input_ranges(base, planes), fastest_float()
        if not ranges:
            raise ValueError("the network has no convolution that can be computed in 8 bits")
    graph = openvino.list_operations(base, value, policy, tuple(planes.shape[1:]))
    return openvino.OpenVinoModel(graph, dtype == torch.bfloat16, ranges).run


def build_folded(frozen: Frozen, planes: torch.Tensor, expected: Outputs, dtype: torch.dtype) -> Run:
    """Compile a network in the form "folded"; see alphago.nn.inference.fusion, and Form for the arguments."""
    return build_modules(Frozen(*folded_parts(frozen, planes, expected)), planes, expected, dtype)


def build_modules(frozen: Frozen, planes: torch.Tensor, expected: Outputs, dtype: torch.dtype) -> Run:
    """Compile a network in the form "modules", the torch modules unchanged; see Form for the arguments."""
    twin = copy.deepcopy(frozen)
    twin.base_net.to(dtype)
    return torch_run(twin.to(memory_format=torch.channels_last), dtype)  # type: ignore[call-overload]


FORMS: dict[str, Form] = {"openvino": build_openvino, "folded": build_folded, "modules": build_modules}


def choose_form(
    frozen: Frozen, env: GameEnv, dtype: torch.dtype, only: str | None = None, *, forms: Mapping[str, Form] = FORMS
) -> tuple[Run, torch.dtype, str]:
    """Compile a network in the fastest form whose results agree with the network's.

    frozen: the network, for the game `env`.  dtype: the preferred dtype of the base.
    only: the name of the only form to consider; None for all in `forms`, which are ordered from the fastest.
    Returns the compiled network, the dtype of its base, and the form's name.
    Raises ValueError if the form `only` cannot compute the network on this machine.
    """
    if dtype is torch.int8:
        if only in (None, "openvino") and has_int8_products() and openvino.is_installed():
            planes = calibration_planes(env)
            run = try_form(forms["openvino"], frozen, planes, frozen(planes), dtype)
            if run is not None:
                return run, dtype, "openvino"
        dtype = fastest_float()
    planes = example_planes(env)
    expected = frozen(planes)
    for name, form_dtype in (*((name, dtype) for name in forms), ("folded", torch.float32)):
        if only in (None, name):
            run = try_form(forms[name], frozen, planes, expected, form_dtype)
            if run is not None:
                return run, form_dtype, name
    if only not in (None, "modules"):
        raise ValueError(f"the form {only!r} cannot compute this network here")
    return torch_run(frozen, torch.float32), torch.float32, "modules"


def try_form(form: Form, frozen: Frozen, planes: torch.Tensor, expected: Outputs, dtype: torch.dtype) -> Run | None:
    """Return a network compiled in a form; None if it cannot be compiled or its outputs differ.

    expected: the outputs that it must have for `planes`, up to rounding.
    """
    try:
        run = form(frozen, planes, expected, dtype)
        outputs = torch.empty_like(expected[0]), torch.empty_like(expected[1])
        run(planes.contiguous().numpy(), outputs[0].numpy(), outputs[1].numpy())
        return run if outputs_agree(outputs, expected, ROUNDING[dtype]) else None
    except Exception:  # a custom module, torch.fx or OpenVINO may raise anything
        return None


def folded_parts(frozen: Frozen, planes: torch.Tensor, expected: Outputs) -> list[fx.GraphModule]:
    """Return base, value and policy as graphs with batch norms folded into convolutions.

    Raises ValueError if the graphs' outputs for `planes` differ from `expected`.
    """
    base, value, policy = (fold_batch_norms(part) for part in (frozen.base_net, frozen.value, frozen.policy))
    if not outputs_agree(Frozen(base, value, policy)(planes), expected, ROUNDING[torch.float32]):
        raise ValueError("the traced network gives other results")
    return [base, value, policy]


def in_blocks(run: Run) -> Run:
    """Return a function that calls `run` with exactly BATCH_SIZE positions at a time, padded if necessary.

    So a position's results, whose rounding depends on the size of the call, are always the same.
    """

    def run_blocks(planes: np.ndarray, logits: np.ndarray, values: np.ndarray) -> None:
        whole = len(planes) - len(planes) % BATCH_SIZE
        for begin in range(0, whole, BATCH_SIZE):
            rows = slice(begin, begin + BATCH_SIZE)
            run(planes[rows], logits[rows], values[rows])
        if rest := len(planes) - whole:
            block = [np.zeros((BATCH_SIZE, *array.shape[1:]), np.float32) for array in (planes, logits, values)]
            block[0][:rest] = planes[whole:]
            run(*block)
            logits[whole:], values[whole:] = block[1][:rest], block[2][:rest]

    return run_blocks


def torch_run(module: nn.Module, dtype: torch.dtype) -> Run:
    """Return a `Run` that calls a module with the planes converted to `dtype` and channels-last."""
    local = threading.local()
    forward = module.forward  # calling the module would be traced if another thread traces with torch.fx just now

    def run(planes: np.ndarray, logits: np.ndarray, values: np.ndarray) -> None:
        buffer = getattr(local, "buffer", None)
        if buffer is None or len(buffer) < len(planes):
            buffer = torch.empty(planes.shape, dtype=dtype, memory_format=torch.channels_last)
            local.buffer = buffer
        inputs = buffer[: len(planes)]
        inputs.copy_(torch.from_numpy(planes).to(dtype))  # converting first is twice as fast as copying alone
        with torch.inference_mode():
            outputs = forward(inputs)
        for out, output in zip((logits, values), outputs, strict=True):
            out[:] = output.numpy()

    return run
