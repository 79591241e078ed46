"""`NetEvaluator`: a frozen copy of a network, as fast as the CPU allows, for search."""

import copy
import threading
from collections.abc import Callable

import numpy as np
import torch
from torch import fx, nn

from alphago.env.game import GameBatch, GameEnv
from alphago.nn.inference import openvino
from alphago.nn.inference.dtypes import dtype_name, has_int8_products, quick_float, wanted_dtype
from alphago.nn.inference.frozen import TRACING, Frozen, Outputs, agree, example_planes, frozen_parts
from alphago.nn.inference.fusion import folded, fused, scripted
from alphago.nn.inference.int8 import input_ranges, random_planes
from alphago.nn.kernels.priors import clip_values, masked_softmax_batch
from alphago.nn.slots import structure
from alphago.system.stopwatch import BOARDS, NET

Run = Callable[[np.ndarray, np.ndarray, np.ndarray], None]  # planes [n, …] -> logits [n, A], values [n], all float32
# Of a network, example planes, what the network says to them, and the type to compute in; raises what it likes.
Form = Callable[[Frozen, torch.Tensor, Outputs, torch.dtype], Run]
# Differences, relative to the largest output, that are rounding: of a mistake in tracing, float32 shows
# the smallest; with bfloat16 and many layers, rounding itself is large.
ROUNDING = {torch.float32: 0.001, torch.bfloat16: 0.2, torch.int8: 0.2}
FORMS = ("openvino", "fused", "modules")
ROWS = openvino.ROWS
NOT_FINITE = "the network's output is not finite: its weights are too large"


class NetEvaluator:
    """Priors and values for search on the CPU: a snapshot that later training does not touch.

    Batch norm is folded into the convolutions, and everything but the results is in fewer bits where the CPU has
    instructions for it: bfloat16 with AMX; without, int8 where there are products of integers.  Where `openvino` is
    installed it computes the network, one thread a call; elsewhere torch does, with as many threads as it is set to.
    Safe to call from several threads at once.

    Against the module, float32 differs by 1e-5.  bfloat16, measured on briefly trained networks: policies by
    0.002 in the mean and 0.024 at most (total variation) with torch, whose heads stay float32, and by 0.09 at
    most with OpenVINO on a sharp 5x5 network; values by 0.0005 in the mean and 0.02 at most.

    int8 rounds what the tower's 3x3 convolutions multiply to 8 bits (alphago.nn.inference.int8), which is faster, by
    far where the CPU has no bfloat16.  Of the packaged networks policies change by 0.001 nats in the mean and values by
    0.008 to 0.016, two to three times what bfloat16 changes.  Only OpenVINO computes it, and only on a CPU that is made
    for it; elsewhere the network is computed in bfloat16 or float32.

    dtype: "float32", "bfloat16" or "int8"; None takes the fastest.  A network whose modules cannot follow runs in
        float32 and as it is, which `dtype` and `form` then say.
    exact: whether a position's results are the same to the last bit whatever else is in the call.  With OpenVINO they
        always are; torch then computes whole blocks of ROWS positions, which takes as long for few of them.
    form: what computes it: "openvino", "fused" (torch with oneDNN's fused calls) or "modules" (torch, as it is);
        None takes the fastest that there is and that gives the network's results.
    Raises ValueError for a network whose weights are not finite, and if `form` cannot compute it here.
    """

    device = "cpu"  # where positions should be that it evaluates

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
        kind = wanted_dtype(dtype)
        if form not in (None, *FORMS):
            raise ValueError(f"form is {', '.join(map(repr, FORMS))} or None, got {form!r}")
        frozen = frozen_parts(base_net, value, policy)
        self.env = env
        with TRACING, torch.no_grad():
            self._run, self._compute_dtype, self.form = fastest(frozen, env, kind, form)
        if exact and self.form != "openvino":
            self._run = in_blocks(self._run)
        self._local = threading.local()

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        """Fills priors and values for the positions in `slots`, none of which is over.

        slots: int64 [n].  priors: float32 [n, action_space], overwritten: softmax over the legal
        actions, exactly 0 elsewhere.  values: float32 [n], overwritten: -1 .. 1 from the view of the
        player about to move.  Raises ValueError if the network's output is not finite.
        """
        count = len(slots)
        if count == 0:
            return
        check_batch(batch, self.env)
        check_room(self.env, count, priors, values)
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
        """What the base computes in, "float32", "bfloat16" or "int8"."""
        return dtype_name(self._compute_dtype)

    def _scratch(self, count: int) -> "Scratch":
        scratch = getattr(self._local, "scratch", None)
        if scratch is None or len(scratch.mask) < count:
            room = max(count, 32 if scratch is None else 2 * len(scratch.mask))
            scratch = self._local.scratch = Scratch(self.env, room)
        return scratch

    def __repr__(self) -> str:
        return f"NetEvaluator({self.env!r}, dtype={self.dtype!r}, form={self.form!r})"


def check_batch(batch: GameBatch, env: GameEnv) -> None:
    """ValueError for positions of a game that a network for `env` does not suit."""
    if batch.env is not env and structure(batch.env) != structure(env):
        raise ValueError(f"a batch of {batch.env} was given to an evaluator of {env}")


def check_room(env: GameEnv, count: int, priors: np.ndarray, values: np.ndarray) -> None:
    """ValueError where kernels, which do not look, would write outside the arrays."""
    if priors.shape != (count, env.action_space) or values.shape != (count,):
        raise ValueError(
            f"priors {priors.shape} and values {values.shape} do not suit {count} slots of {env}:"
            f" wanted {(count, env.action_space)} and {(count,)}"
        )


class Scratch:
    """Arrays of one thread, for up to `count` positions."""

    def __init__(self, env: GameEnv, count: int) -> None:
        self.planes = np.empty((count, env.planes, *env.plane_shape), np.float32)
        self.mask = np.empty((count, env.action_space), np.bool_)
        self.logits = np.empty((count, env.action_space), np.float32)
        self.values = np.empty(count, np.float32)


def fastest(
    frozen: Frozen, env: GameEnv, dtype: torch.dtype, wished: str | None = None
) -> tuple[Run, torch.dtype, str]:
    """The fastest form that gives the same results, the type it computes in, and its name.

    ValueError if a form was wished for that does not.
    """
    if dtype is torch.int8:
        run = in_int8(frozen, env) if wished in (None, "openvino") else None
        if run is not None:
            return run, dtype, "openvino"
        dtype = quick_float()
    planes = example_planes(env)
    wanted = frozen(planes)
    forms: tuple[tuple[str, Form, torch.dtype], ...] = (
        ("openvino", in_openvino, dtype),
        ("fused", in_fused_calls, dtype),
        ("modules", in_type, dtype),
        ("fused", in_fused_calls, torch.float32),
    )
    for name, form, kind in forms:
        if wished in (None, name):
            run = made(form, frozen, planes, wanted, kind)
            if run is not None:
                return run, kind, name
    if wished not in (None, "modules"):
        raise ValueError(f"the form {wished!r} cannot compute this network here")
    return torch_run(frozen, torch.float32), torch.float32, "modules"


def in_int8(frozen: Frozen, env: GameEnv) -> Run | None:
    """See alphago.nn.inference.int8; None where the CPU, OpenVINO or the network is not made for it."""
    if not (has_int8_products() and openvino.is_installed()):
        return None
    planes = random_planes(env)
    return made(in_openvino, frozen, planes, frozen(planes), torch.int8)


def made(form: Form, frozen: Frozen, planes: torch.Tensor, wanted: Outputs, dtype: torch.dtype) -> Run | None:
    """The network in this form, or None where it cannot be made or gives something else on `planes` than is wanted."""
    try:
        run = form(frozen, planes, wanted, dtype)
        return run if agree(results(run, planes, wanted), wanted, ROUNDING[dtype]) else None
    except Exception:  # whatever a user's module, torch.fx, TorchScript or OpenVINO may raise
        return None


def results(run: Run, planes: torch.Tensor, like: Outputs) -> Outputs:
    outputs = torch.empty_like(like[0]), torch.empty_like(like[1])
    run(planes.contiguous().numpy(), outputs[0].numpy(), outputs[1].numpy())
    return outputs


def folded_parts(frozen: Frozen, planes: torch.Tensor, wanted: Outputs) -> list[fx.GraphModule]:
    """Base, value and policy as graphs without batch norms; ValueError if tracing changes what they do."""
    base, value, policy = (folded(part) for part in (frozen.base_net, frozen.value, frozen.policy))
    if not agree(Frozen(base, value, policy)(planes), wanted, ROUNDING[torch.float32]):
        raise ValueError("the network does not do the same when traced")
    return [base, value, policy]


def in_openvino(frozen: Frozen, planes: torch.Tensor, wanted: Outputs, dtype: torch.dtype) -> Run:
    """See alphago.nn.inference.openvino."""
    openvino.package()  # before the work of tracing
    base, value, policy = folded_parts(frozen, planes, wanted)
    ranges = None
    if dtype is torch.int8:
        ranges, dtype = input_ranges(base, planes), quick_float()
        if not ranges:
            raise ValueError("the network has no convolution that 8 bits are for")
    bfloat16 = dtype == torch.bfloat16
    return openvino.OpenVinoModel(base, value, policy, tuple(planes.shape[1:]), bfloat16, ranges).run


def in_fused_calls(frozen: Frozen, planes: torch.Tensor, wanted: Outputs, dtype: torch.dtype) -> Run:
    """Folded, fused and scripted; see alphago.nn.inference.fusion."""
    base, value, policy = folded_parts(frozen, planes, wanted)
    planes = planes[:2].to(dtype)  # another batch size than the check afterwards
    base = fused(base.to(dtype), planes)
    features = base(planes).float()
    return torch_run(scripted(Frozen(base, fused(value, features), fused(policy, features)), planes), dtype)


def in_type(frozen: Frozen, planes: torch.Tensor, wanted: Outputs, dtype: torch.dtype) -> Run:
    """The modules as they are, the base in another type."""
    twin = copy.deepcopy(frozen)
    twin.base_net.to(dtype)
    return torch_run(twin.to(memory_format=torch.channels_last), dtype)  # type: ignore[call-overload]


def in_blocks(run: Run) -> Run:
    """The same in calls of ROWS positions, the last one filled up: products of another size have other last bits."""
    local = threading.local()

    def run_blocks(planes: np.ndarray, logits: np.ndarray, values: np.ndarray) -> None:
        whole = len(planes) - len(planes) % ROWS
        for begin in range(0, whole, ROWS):
            rows = slice(begin, begin + ROWS)
            run(planes[rows], logits[rows], values[rows])
        rest = len(planes) - whole
        if rest:
            if not hasattr(local, "block"):
                shapes = (planes.shape[1:], logits.shape[1:], values.shape[1:])
                local.block = [np.zeros((ROWS, *shape), np.float32) for shape in shapes]
            block, outputs = local.block[0], local.block[1:]
            block[:rest] = planes[whole:]
            run(block, *outputs)
            for out, output in zip((logits, values), outputs, strict=True):
                out[whole:] = output[:rest]

    return run_blocks


def torch_run(module: nn.Module, dtype: torch.dtype) -> Run:
    """A module's forward pass on channels-last planes of a type; one input buffer for each thread."""
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
