"""`NetEvaluator`: a frozen copy of a network, as fast as the CPU allows, for search."""

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
from alphago.nn.inference.fusion import fold_batch_norms, fuse_convolutions, to_torchscript
from alphago.nn.inference.hardware import choose_dtype, dtype_name, fastest_float, has_int8_products
from alphago.nn.inference.int8 import input_ranges, random_planes
from alphago.nn.kernels.priors import clip_values, masked_softmax_batch
from alphago.nn.parts import game_structure
from alphago.nn.threads import one_torch_thread
from alphago.system.stopwatch import BOARDS, NET

# (planes [n, …], logits [n, A], values [n]), all float32; the latter two are overwritten
Run = Callable[[np.ndarray, np.ndarray, np.ndarray], None]
# (network, example planes, the network's outputs for these, dtype) -> the compiled network; may raise anything.
Form = Callable[[Frozen, torch.Tensor, Outputs, torch.dtype], Run]
# Differences, relative to the largest output, that are rounding: in float32 these are the smallest that a mistake in
# tracing makes; in bfloat16 with many layers, rounding itself is large.
ROUNDING = {torch.float32: 0.001, torch.bfloat16: 0.2, torch.int8: 0.2}
BATCH_SIZE = openvino.BATCH_SIZE
SMALL = 4_000_000  # weights
NOT_FINITE = "the network's output is not finite: its weights are too large"


class NetEvaluator:
    """Priors and values for search on the CPU: a snapshot of a network that later training does not change.

    Batch norm is folded into the convolutions, and the base computes in fewer bits if the CPU has instructions for it:
    bfloat16 with AMX, int8 with VNNI but no AMX.  OpenVINO computes the network if it is installed, with one thread a
    call; otherwise torch does, with as many threads as it is set to.  Several threads may call it at once.

    Differences from the module: float32, 1e-5.  bfloat16, on briefly trained networks: policies by a total variation of
    0.002 on average and 0.09 at most, values by 0.0005 on average and 0.02 at most.  int8 (alphago.nn.inference.int8),
    on the packaged networks: policies by a divergence of 0.001 nats on average, values by 0.008 to 0.016 on average.
    Only OpenVINO on a CPU with VNNI computes int8; elsewhere the network runs in bfloat16 or float32.

    dtype: "float32", "bfloat16" or "int8"; None takes the fastest.  A network whose modules do not support it runs in
        float32; the attributes `dtype` and `form` say what was chosen.
    exact: whether a position's results are bit-identical whatever other positions are in the same call.  OpenVINO's
        always are; torch then computes whole blocks of BATCH_SIZE positions, even for a few.
    form: the implementation: "openvino", "fused" (torch with oneDNN's fused calls) or "modules" (the torch modules
        unchanged); None takes the fastest available one whose results agree with the network's.
    Raises ValueError for a network whose weights are not finite, and if `form` cannot compute it here.
    """

    device = "cpu"  # where the positions should be

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
        if exact and self.form != "openvino":
            self._run = in_blocks(self._run)
        self._local = threading.local()

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        """Write priors and values for the positions in `slots`, whose games must not be over.

        slots: int64 [n].
        priors: float32 [n, action_space], overwritten: softmax over the legal actions, exactly 0 elsewhere.
        values: float32 [n], overwritten: -1 .. 1 from the view of the player about to move.
        Raises ValueError if the network's output is not finite.
        """
        count = len(slots)
        if count == 0:
            return
        check_batch(batch, self.env)
        check_outputs(self.env, count, priors, values)
        scratch = self._scratch(count)
        with BOARDS:
            planes = batch.planes(slots, scratch.planes[:count])
            mask = batch.legal_mask(slots, scratch.mask[:count])
        logits, raw = scratch.logits[:count], scratch.values[:count]
        with NET:
            self._run(planes, logits, raw)
        broken = masked_softmax_batch(logits, mask, priors)
        if clip_values(raw, values) or broken:
            raise ValueError(NOT_FINITE)

    @property
    def dtype(self) -> str:
        """The dtype that the base computes in: "float32", "bfloat16" or "int8"."""
        return dtype_name(self._compute_dtype)

    def _scratch(self, count: int) -> "Scratch":
        scratch = getattr(self._local, "scratch", None)
        if scratch is None or len(scratch.mask) < count:
            capacity = max(count, 32 if scratch is None else 2 * len(scratch.mask))
            scratch = self._local.scratch = Scratch(self.env, capacity)
        return scratch

    def __repr__(self) -> str:
        return f"NetEvaluator({self.env!r}, dtype={self.dtype!r}, form={self.form!r})"


def threads_for(frozen: Frozen) -> contextlib.AbstractContextManager[None]:
    """Return a block with one torch thread for a network that is checked sooner with one than threads wait."""
    small = sum(weight.numel() for weight in frozen.parameters()) <= SMALL
    return one_torch_thread() if small else contextlib.nullcontext()


def check_batch(batch: GameBatch, env: GameEnv) -> None:
    """Raise ValueError if the batch's game is one that a network for `env` cannot play."""
    if batch.env is not env and game_structure(batch.env) != game_structure(env):
        raise ValueError(f"the batch must be of {env}, which the evaluator is for, got one of {batch.env}")


def check_outputs(env: GameEnv, count: int, priors: np.ndarray, values: np.ndarray) -> None:
    """Raise ValueError for shapes with which the kernels, which check nothing, would write outside the arrays."""
    if priors.shape != (count, env.action_space) or values.shape != (count,):
        raise ValueError(
            f"priors and values must have shapes {(count, env.action_space)} and {(count,)} for {count} slots of {env},"
            f" got {priors.shape} and {values.shape}"
        )


class Scratch:
    """One thread's buffers for up to `count` positions."""

    def __init__(self, env: GameEnv, count: int) -> None:
        self.planes = np.empty((count, env.planes, *env.plane_shape), np.float32)
        self.mask = np.empty((count, env.action_space), np.bool_)
        self.logits = np.empty((count, env.action_space), np.float32)
        self.values = np.empty(count, np.float32)


# --- forms -----------------------------------------------------------------------------------------


def build_openvino(frozen: Frozen, planes: torch.Tensor, expected: Outputs, dtype: torch.dtype) -> Run:
    """Build the form "openvino"; see alphago.nn.inference.openvino."""
    openvino.package()  # fails before the work of tracing
    base, value, policy = folded_parts(frozen, planes, expected)
    ranges = None
    if dtype is torch.int8:
        ranges, dtype = input_ranges(base, planes), fastest_float()
        if not ranges:
            raise ValueError("the network has no convolution that can be computed in 8 bits")
    bfloat16 = dtype == torch.bfloat16
    return openvino.OpenVinoModel(base, value, policy, tuple(planes.shape[1:]), bfloat16, ranges).run


def build_fused(frozen: Frozen, planes: torch.Tensor, expected: Outputs, dtype: torch.dtype) -> Run:
    """Build the form "fused": folded, fused and scripted; see alphago.nn.inference.fusion."""
    base, value, policy = folded_parts(frozen, planes, expected)
    planes = planes[:2].to(dtype)  # another batch size than the check afterwards
    base = fuse_convolutions(base.to(dtype), planes)
    features = base(planes).float()
    whole = Frozen(base, fuse_convolutions(value, features), fuse_convolutions(policy, features))
    return torch_run(to_torchscript(whole, planes), dtype)


def build_modules(frozen: Frozen, planes: torch.Tensor, expected: Outputs, dtype: torch.dtype) -> Run:
    """Build the form "modules": the torch modules unchanged, with the base in `dtype`."""
    twin = copy.deepcopy(frozen)
    twin.base_net.to(dtype)
    return torch_run(twin.to(memory_format=torch.channels_last), dtype)  # type: ignore[call-overload]


FORMS: dict[str, Form] = {"openvino": build_openvino, "fused": build_fused, "modules": build_modules}


def choose_form(
    frozen: Frozen, env: GameEnv, dtype: torch.dtype, only: str | None = None, *, forms: Mapping[str, Form] = FORMS
) -> tuple[Run, torch.dtype, str]:
    """Return the fastest form whose results agree with the network's, the dtype it computes in, and its name.

    only: the one form to consider.  Raises ValueError if that form cannot compute the network here.
    """
    if dtype is torch.int8:
        if only in (None, "openvino") and has_int8_products() and openvino.is_installed():
            planes = random_planes(env)
            run = try_form(forms["openvino"], frozen, planes, frozen(planes), dtype)
            if run is not None:
                return run, dtype, "openvino"
        dtype = fastest_float()
    planes = example_planes(env)
    expected = frozen(planes)
    for name, form_dtype in (*((name, dtype) for name in forms), ("fused", torch.float32)):
        if only in (None, name):
            run = try_form(forms[name], frozen, planes, expected, form_dtype)
            if run is not None:
                return run, form_dtype, name
    if only not in (None, "modules"):
        raise ValueError(f"the form {only!r} cannot compute this network here")
    return torch_run(frozen, torch.float32), torch.float32, "modules"


def try_form(form: Form, frozen: Frozen, planes: torch.Tensor, expected: Outputs, dtype: torch.dtype) -> Run | None:
    """Return the network compiled in a form; None if that fails or its outputs for `planes` are not as expected."""
    try:
        run = form(frozen, planes, expected, dtype)
        outputs = torch.empty_like(expected[0]), torch.empty_like(expected[1])
        run(planes.contiguous().numpy(), outputs[0].numpy(), outputs[1].numpy())
        return run if outputs_agree(outputs, expected, ROUNDING[dtype]) else None
    except Exception:  # whatever a user's module, torch.fx, TorchScript or OpenVINO may raise
        return None


def folded_parts(frozen: Frozen, planes: torch.Tensor, expected: Outputs) -> list[fx.GraphModule]:
    """Return base, value and policy as graphs without batch norms; raise ValueError if tracing changes the outputs."""
    base, value, policy = (fold_batch_norms(part) for part in (frozen.base_net, frozen.value, frozen.policy))
    if not outputs_agree(Frozen(base, value, policy)(planes), expected, ROUNDING[torch.float32]):
        raise ValueError("the traced network gives other results")
    return [base, value, policy]


def in_blocks(run: Run) -> Run:
    """Return `run` in calls of BATCH_SIZE positions, the last one padded, since results depend on the call's size."""

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
    """Return the forward pass of a module as a `Run`: planes are converted to `dtype` and channels-last."""
    local = threading.local()
    forward = module.forward  # not a call: while another thread traces, torch.fx changes how modules are called

    def run(planes: np.ndarray, logits: np.ndarray, values: np.ndarray) -> None:
        buffer = getattr(local, "buffer", None)
        if buffer is None or len(buffer) < len(planes):
            buffer = torch.empty(planes.shape, dtype=dtype, memory_format=torch.channels_last)
            local.buffer = buffer
        inputs = buffer[: len(planes)]
        inputs.copy_(torch.from_numpy(planes).to(dtype))  # twice as fast as in one step
        with torch.inference_mode():
            outputs = forward(inputs)
        for out, output in zip((logits, values), outputs, strict=True):
            out[:] = output.numpy()

    return run
