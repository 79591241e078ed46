"""`NetEvaluator`: a frozen copy of a network, as fast as the CPU allows, for search."""

import copy
import threading
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import torch
from torch import fx, nn

from alphago.env.game import GameBatch, GameEnv
from alphago.nn import openvino
from alphago.nn.fusion import folded, fused, scripted
from alphago.nn.kernels.priors import clip_values, masked_softmax_batch
from alphago.nn.slots import structure

Outputs = tuple[torch.Tensor, torch.Tensor]  # logits [B, action_space], values [B]
Part = TypeVar("Part", bound=nn.Module)
Run = Callable[[np.ndarray, np.ndarray, np.ndarray], None]  # planes [n, …] -> logits [n, A], values [n], all float32
# Differences, relative to the largest output, that are rounding: of a mistake in tracing, float32 shows
# the smallest; with bfloat16 and many layers, rounding itself is large.
ROUNDING = {torch.float32: 0.001, torch.bfloat16: 0.2}
TRACING = threading.Lock()  # torch.fx traces one module at a time
FORMS = ("openvino", "fused", "modules")
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


class NetEvaluator:
    """Priors and values for search: a snapshot that later training does not touch.

    Batch norm is folded into the convolutions, and everything but the results is bfloat16 where the CPU has
    instructions for it.  Where `openvino` is installed it computes the network, one thread a call; elsewhere
    torch does, with as many threads as it is set to.  Safe to call from several threads at once.

    Against the module, float32 differs by 1e-5.  bfloat16, measured on briefly trained networks: policies by
    0.002 in the mean and 0.024 at most (total variation) with torch, whose heads stay float32, and by 0.09 at
    most with OpenVINO on a sharp 5x5 network; values by 0.0005 in the mean and 0.02 at most.

    dtype: "float32" or "bfloat16"; None takes the faster.  A network whose modules cannot follow runs in
        float32 and as it is, which `dtype` and `form` then say.
    form: what computes it: "openvino", "fused" (torch with oneDNN's fused calls) or "modules" (torch, as it is);
        None takes the fastest that there is and that gives the network's results.
    Raises ValueError for a network whose weights are not finite, and if `form` cannot compute it here.
    """

    def __init__(
        self,
        env: GameEnv,
        base_net: nn.Module,
        value: nn.Module,
        policy: nn.Module,
        *,
        dtype: str | None = None,
        form: str | None = None,
    ) -> None:
        if dtype is None:
            dtype = "bfloat16" if has_native_bfloat16() else "float32"
        if dtype not in DTYPES:
            raise ValueError(f"dtype is 'float32', 'bfloat16' or None, came {dtype!r}")
        if form not in (None, *FORMS):
            raise ValueError(f"form is {', '.join(map(repr, FORMS))} or None, came {form!r}")
        for module in (base_net, value, policy):
            check_finite(module)
        frozen = Frozen(*(frozen_copy(module) for module in (base_net, value, policy)))
        self.env = env
        with TRACING, torch.no_grad():
            self._run, self._compute_dtype, self.form = fastest(frozen, example_planes(env), DTYPES[dtype], form)
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
        self._check(batch, count, priors, values)
        scratch = self._scratch(count)
        planes = batch.planes(slots, scratch.planes[:count])
        mask = batch.legal_mask(slots, scratch.mask[:count])
        logits, raw = scratch.logits[:count], scratch.values[:count]
        self._run(planes, logits, raw)
        broken = masked_softmax_batch(logits, mask, priors)
        if clip_values(raw, values) or broken:
            raise ValueError("the network's output is not finite: its weights are too large")

    def _check(self, batch: GameBatch, count: int, priors: np.ndarray, values: np.ndarray) -> None:
        """ValueError where kernels, which do not look, would write outside the arrays."""
        if batch.env is not self.env and structure(batch.env) != structure(self.env):
            raise ValueError(f"a batch of {batch.env} was given to an evaluator of {self.env}")
        if priors.shape != (count, self.env.action_space) or values.shape != (count,):
            raise ValueError(
                f"priors {priors.shape} and values {values.shape} do not suit {count} slots of {self.env}:"
                f" wanted {(count, self.env.action_space)} and {(count,)}"
            )

    @property
    def dtype(self) -> str:
        """What the base computes in, "float32" or "bfloat16"."""
        return str(self._compute_dtype).removeprefix("torch.")

    def _scratch(self, count: int) -> "Scratch":
        scratch = getattr(self._local, "scratch", None)
        if scratch is None or len(scratch.mask) < count:
            room = max(count, 32 if scratch is None else 2 * len(scratch.mask))
            scratch = self._local.scratch = Scratch(self.env, room)
        return scratch

    def __repr__(self) -> str:
        return f"NetEvaluator({self.env!r}, dtype={self.dtype!r}, form={self.form!r})"


class Scratch:
    """Arrays of one thread, for up to `count` positions."""

    def __init__(self, env: GameEnv, count: int) -> None:
        self.planes = np.empty((count, env.planes, *env.plane_shape), np.float32)
        self.mask = np.empty((count, env.action_space), np.bool_)
        self.logits = np.empty((count, env.action_space), np.float32)
        self.values = np.empty(count, np.float32)


class Frozen(nn.Module):
    """The three parts as one function of planes: base in its own type, heads and results in float32."""

    def __init__(self, base_net: nn.Module, value: nn.Module, policy: nn.Module) -> None:
        super().__init__()
        self.base_net = base_net
        self.value = value
        self.policy = policy

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        features = self.base_net(planes).float()
        return self.policy(features).float(), self.value(features).float().flatten()


def has_native_bfloat16() -> bool:
    """Whether this CPU multiplies bfloat16 itself; elsewhere it is slower than float32."""
    checks = (getattr(torch.cpu, f"_is_{name}_supported", None) for name in ("avx512_bf16", "amx_tile"))
    return any(check() for check in checks if check is not None)


def check_finite(module: nn.Module) -> None:
    """ValueError if a weight or a running statistic is NaN or infinite."""
    for name, tensor in module.state_dict().items():
        if isinstance(tensor, torch.Tensor) and not bool(torch.isfinite(tensor).all()):
            raise ValueError(f"the network's weights hold NaN or infinite numbers (first in {name})")


def frozen_copy(module: Part) -> Part:
    """A copy on the CPU, in eval mode and float32, that will not be trained."""
    return copy.deepcopy(module).cpu().float().eval().requires_grad_(False)


def example_planes(env: GameEnv) -> torch.Tensor:
    """Random zeros and ones, float32 [3, planes, height, width], the same on every call."""
    generator = torch.Generator().manual_seed(1)
    planes = torch.rand(3, env.planes, *env.plane_shape, generator=generator).round()
    return planes.contiguous(memory_format=torch.channels_last)


def fastest(
    frozen: Frozen, planes: torch.Tensor, dtype: torch.dtype, wished: str | None = None
) -> tuple[Run, torch.dtype, str]:
    """The fastest form that gives the same results, the type it computes in, and its name.

    ValueError if a form was wished for that does not.
    """
    wanted = frozen(planes)
    forms: tuple[tuple[str, Callable[..., Run], torch.dtype], ...] = (
        ("openvino", in_openvino, dtype),
        ("fused", in_fused_calls, dtype),
        ("modules", in_type, dtype),
        ("fused", in_fused_calls, torch.float32),
    )
    for name, form, kind in forms:
        if wished not in (None, name):
            continue
        try:
            run = form(frozen, planes, wanted, kind)
            if agree(results(run, planes, wanted), wanted, ROUNDING[kind]):
                return run, kind, name
        except Exception:  # whatever a user's module, torch.fx, TorchScript or OpenVINO may raise: take the next form
            continue
    if wished not in (None, "modules"):
        raise ValueError(f"the form {wished!r} cannot compute this network here")
    return torch_run(frozen, torch.float32), torch.float32, "modules"


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
    """See alphago.nn.openvino."""
    openvino.package()  # before the work of tracing
    base, value, policy = folded_parts(frozen, planes, wanted)
    return openvino.OpenVinoModel(base, value, policy, tuple(planes.shape[1:]), dtype == torch.bfloat16).run


def in_fused_calls(frozen: Frozen, planes: torch.Tensor, wanted: Outputs, dtype: torch.dtype) -> Run:
    """Folded, fused and scripted; see alphago.nn.fusion."""
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


def agree(got: Outputs, wanted: Outputs, tolerance: float) -> bool:
    """Whether logits and values are the same but for rounding."""
    for mine, right in zip(got, wanted, strict=True):
        if mine.shape != right.shape or not (mine - right).abs().max() <= tolerance * (1 + right.abs().max()):
            return False
    return True
