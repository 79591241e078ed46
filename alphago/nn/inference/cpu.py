"""`NetEvaluator`: a frozen copy of a network for search and analysis of positions on the CPU, compiled to be fast."""

import json
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from alphago.env.batch import GameBatch
from alphago.env.game import GameEnv
from alphago.nn.inference.cpu_forms import FORMS, Compiled, Run, choose_form, in_blocks, threads_for, torch_run
from alphago.nn.inference.frozen_net import TRACING_LOCK, Frozen, example_planes, frozen_parts
from alphago.nn.inference.gpu_forms import choose_gpu_form, translate_out_of_memory
from alphago.nn.inference.hardware import choose_dtype, dtype_name, torch_device
from alphago.nn.inference.openvino import BATCH_SIZE, OpenVinoModel, SharedModel
from alphago.nn.kernels.priors import clip_values, masked_softmax_batch
from alphago.nn.parts import game_structure
from alphago.nn.threads import own_settings
from alphago.nn.value import POINTS_PER_SCORE_UNIT, ForecastHead
from alphago.system import stopwatch
from alphago.system.files import parse_json
from alphago.system.kernels.cache import warn_once

NOT_FINITE = "the network's output is not finite: its weights are too large"


class RunEvaluator:
    """An evaluator for search on the CPU, whose network is a `Run`; several threads may call it at the same time.

    Args:
        env: the game.
        run: the compiled network.
        dtype, form: the dtype and the form in which it computes.
        columns: number of outputs of the value head: 2 + H W if it also forecasts score and ownership, otherwise 1.
    """

    device = "cpu"  # the device of the positions

    def __init__(self, env: GameEnv, run: Run, dtype: str, form: str, columns: int = 1) -> None:
        self.env, self.dtype, self.form = env, dtype, form
        self.makes_forecasts = columns > 1  # a value alone is one column
        self._run, self._columns = run, columns
        self._local = threading.local()  # each thread's Scratch

    def __reduce__(self) -> Any:
        """Raise TypeError, since the compiled network exists in this process only."""
        raise TypeError(
            "a network that is ready to compute, as in a player, cannot be pickled: pass the network itself, its name "
            "or its file to the other process, and make the player there"
        )

    @translate_out_of_memory()
    def evaluate(
        self,
        batch: GameBatch,
        slots: np.ndarray,
        priors: np.ndarray,
        values: np.ndarray,
        forecasts: tuple[np.ndarray, np.ndarray] | None = None,
        symmetries: Sequence[int] = (0,),
    ) -> None:
        """Compute priors, values, scores and ownership of positions.

        All results are in the view of the player about to move.

        Args:
            batch, slots: the positions are those in `slots`, int64 [n], of `batch`; their games must not be over.
            priors: float32 [n, action_space], overwritten with a softmax over the legal actions, 0 for illegal ones.
            values: float32 [n], overwritten with values -1 .. 1.
            forecasts: a pair of arrays, both overwritten: scores float32 [n], the expected margins in points, and
                ownership float32 [n, H W], each point's expected owner (1 the player about to move, -1 the opponent).
                None to compute neither.
            symmetries: symmetries of the board, as indices into `env.symmetries`.  The network evaluates each position
                under each of the symmetries, and the results are the means.

        Raises:
            ValueError: if the network's output is not finite, or if `forecasts` is given and the network does not
                predict score and ownership.
        """
        count = len(slots)
        if forecasts is not None and not self.makes_forecasts:
            raise ValueError("the network's value head makes no forecasts of score and ownership")
        if count == 0:
            return
        check_arguments(self.env, batch, count, priors, values)
        scratch = self._buffers(count)
        with stopwatch.BOARDS:
            planes = batch.planes(slots, scratch.planes[:count])
            mask = batch.legal_mask(slots, scratch.mask[:count])
        outputs = (priors, values, *(forecasts or ()))
        if tuple(symmetries) == (0,):  # the identity alone
            self._evaluate_planes(planes, mask, outputs)
        else:
            self._evaluate_turned(planes, mask, outputs, symmetries)

    def _evaluate_turned(
        self, planes: np.ndarray, mask: np.ndarray, outputs: Sequence[np.ndarray], symmetries: Sequence[int]
    ) -> None:
        """Evaluate n planes under each of several symmetries, and write the means of the results.

        Args:
            planes, mask, outputs: as in `_evaluate_planes`.
            symmetries: indices into `env.symmetries`.
        """
        sums = [np.zeros_like(output) for output in outputs]
        flat_planes = planes.reshape(*planes.shape[:2], -1)
        for symmetry in symmetries:
            points, actions = self.env.symmetries.points[symmetry], self.env.symmetries.actions[symmetry]
            turned_planes = np.ascontiguousarray(flat_planes[..., points]).reshape(planes.shape)
            self._evaluate_planes(turned_planes, np.ascontiguousarray(mask[:, actions]), outputs)
            # For priors, values, scores and ownership, the indices of the unturned board to which the results belong.
            # Not strict: without forecasts there are only the first two outputs.
            indices = (actions, slice(None), slice(None), points)
            for total, output, index in zip(sums, outputs, indices, strict=False):
                total[..., index] += output
        for output, total in zip(outputs, sums, strict=True):
            np.divide(total, len(symmetries), out=output)

    def _evaluate_planes(self, planes: np.ndarray, mask: np.ndarray, outputs: Sequence[np.ndarray]) -> None:
        """Evaluate n planes.

        Args:
            planes: float32 [n, planes, height, width].
            mask: bool [n, A], whether an action is legal.
            outputs: priors, values and, if they are asked for, scores and ownership, all overwritten; see `evaluate`.
        """
        priors, values, *forecasts = outputs
        count = len(planes)
        # `evaluate` keeps `planes` and `mask` in this Scratch too.  Only the Scratch's two other arrays are used here.
        scratch = self._buffers(count)
        logits = scratch.logits[:count]
        columns = scratch.columns[:count]  # the value, then the score in tens of points, and the ownership
        with stopwatch.NET:
            self._run(planes, logits, columns if self.makes_forecasts else columns[:, 0])  # a single column as [n]
        broken_rows = masked_softmax_batch(logits, mask, priors)
        broken_rows += clip_values(columns[:, 0].copy(), values)  # a copy is contiguous, as the kernel needs
        # One number that is not finite makes the sum so.
        if broken_rows or (forecasts and not np.isfinite(columns.sum())):
            raise ValueError(NOT_FINITE)
        if forecasts:
            scores, ownership = forecasts
            np.multiply(columns[:, 1], np.float32(POINTS_PER_SCORE_UNIT), out=scores)
            np.copyto(ownership, columns[:, 2:])

    def _buffers(self, count: int) -> "Scratch":
        """Return the current thread's buffers for at least `count` positions."""
        scratch: Scratch | None = getattr(self._local, "scratch", None)
        if scratch is None or len(scratch.mask) < count:
            # At least twice the size, so that growing batches seldom need new buffers.
            capacity = max(count, 32 if scratch is None else 2 * len(scratch.mask))
            scratch = self._local.scratch = Scratch(self.env, capacity, self._columns)
        return scratch

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.env!r}, dtype={self.dtype!r}, form={self.form!r})"


class NetEvaluator(RunEvaluator):
    """An evaluator for search on the CPU: a frozen copy of a network, which later training does not change.

    Batch norm is folded into the convolutions.  By default the base network computes in int8 if the CPU has VNNI but
    not AMX and OpenVINO is installed, else in bfloat16 if the CPU has instructions for it (AMX, AVX512-BF16), else in
    float32.  OpenVINO computes the network if it is installed, with one thread per call; otherwise torch computes it,
    with as many threads as torch is set to use.  Several threads may call an evaluator at the same time.

    In float32, results differ from those of the torch modules by 1e-5.  In bfloat16, on briefly trained networks,
    policies differ by a total variation of 0.002 on average (0.09 at most), values by 0.0005 (0.02 at most).  In int8
    (see alphago.nn.inference.int8), on the packaged networks, policies differ by a divergence of 0.001 nats on average,
    values by 0.008 to 0.016.

    Args:
        net: the NeuralNet.
        dtype: "float32", "bfloat16" or "int8"; None for the fastest.  int8 needs OpenVINO and a CPU with VNNI, bfloat16
            a CPU with instructions for it; otherwise the fastest floating-point dtype is used.  Networks that do not
            support the dtype run in float32.  The attributes `dtype` and `form` tell what was chosen.
        exact: whether a position's results must be bit-identical whatever other positions are in the same call.  The
            network then computes padded blocks of BATCH_SIZE positions.
        form: the implementation on a CPU: "openvino", "folded" (torch, with batch norms folded into the convolutions)
            or "modules" (the torch modules unchanged); None for the fastest available one whose results agree with the
            network's.
        forecasts: whether to predict score and ownership too, if the value head does; it takes no longer, since a
            single forward pass computes everything.
        where: the device that computes the network, "cpu", "cuda" or "host" (see
            `alphago.nn.inference.hardware.find_device`); the positions are on the CPU in any case.

    Attributes:
        model: the model that `compiled_network` sends to another process; None unless `form` is "openvino" and the
            evaluator is `exact` and makes no forecasts.

    Raises:
        ValueError: for a network whose weights are not finite, and if `form` cannot compute it on this machine.
    """

    @own_settings()
    def __init__(
        self,
        net: Any,
        *,
        dtype: str | None = None,
        exact: bool = False,
        form: str | None = None,
        forecasts: bool = False,
        where: str = "cpu",
    ) -> None:
        if form not in (None, *FORMS):
            raise ValueError(f"form must be {', '.join(map(repr, FORMS))} or None, got {form!r}")
        env, value = net.env, net.value
        may_forecast = forecasts and env.has_ownership and isinstance(value, ForecastHead)
        frozen = frozen_parts(net.base_net, ForecastOutputs(value) if may_forecast else value, net.policy)
        columns = value_columns(frozen, env) if may_forecast else 1
        run, run_dtype, run_form = compile_for(where, frozen, env, dtype, form)
        super().__init__(env, in_blocks(run) if exact else run, dtype_name(run_dtype), run_form, columns)
        # `compiled_network` sends the model to other processes, where it computes in padded blocks and makes no
        # forecasts.  The model is kept only if this evaluator computes in the same way.
        can_be_sent = exact and not self.makes_forecasts
        self.model = run.models[BATCH_SIZE] if can_be_sent and isinstance(run, OpenVinoModel) else None


@torch.no_grad()
def value_columns(frozen: Frozen, env: GameEnv) -> int:
    """Return how many numbers the value part of a network computes for each position."""
    _, values = frozen(example_planes(env))  # [B, columns] or [B]
    return values[0].numel()


def compile_for(where: str, frozen: Frozen, env: GameEnv, dtype: str | None, form: str | None) -> Compiled:
    """Compile a network for the device `where`; dtype, form, where: as in NetEvaluator."""
    if where == "cpu":
        with TRACING_LOCK, torch.no_grad(), threads_for(frozen):
            return choose_form(frozen, env, choose_dtype(dtype), form)
    device = torch_device(where)
    net, gpu_form, net_dtype = choose_gpu_form(frozen, env, choose_dtype(dtype, device), device)
    return Compiled(torch_run(net, net_dtype, device), net_dtype, gpu_form)


def compiled_network(evaluator: object) -> bytes:
    """Return an evaluator's compiled network as bytes, from which `compiled_evaluator` makes one in another process.

    The result is b"" unless the evaluator is a NetEvaluator in the form "openvino", with `exact` and without forecasts.
    """
    if not isinstance(evaluator, NetEvaluator) or evaluator.model is None:  # no model: one of the conditions is not met
        return b""
    # The first line has the arguments `dtype` and `form` of the RunEvaluator that `compiled_evaluator` makes.
    return json.dumps([evaluator.dtype, evaluator.form]).encode() + b"\n" + evaluator.model.to_bytes()


def compiled_evaluator(env: GameEnv, data: bytes) -> RunEvaluator | None:
    """Return an evaluator of a network that another process has compiled.

    Its results are those of a NetEvaluator with `exact`.  Making it takes a fifth of the time of compiling.

    Args:
        data: from `compiled_network`.

    Returns:
        None if `data` is empty or damaged, or was compiled on another kind of machine.
    """
    head, _, rest = data.partition(b"\n")
    if not head:
        return None
    try:
        dtype, form = parse_json(head)
        model = SharedModel.from_bytes(rest)
    except Exception as error:  # OpenVINO raises exceptions of many classes
        warn_once(f"a compiled network is damaged ({type(error).__name__}), and is compiled here")
        return None
    return None if model is None else RunEvaluator(env, in_blocks(model), dtype, form)


def check_arguments(env: GameEnv, batch: GameBatch, count: int, priors: np.ndarray, values: np.ndarray) -> None:
    """Check the arguments of a call of an evaluator for the game `env` with `count` positions.

    The kernels do not check shapes, and would write outside of the arrays.

    Raises:
        ValueError: if the network cannot play the batch's game, or `priors` or `values` has the wrong shape.
    """
    if batch.env is not env and game_structure(batch.env) != game_structure(env):  # usually it is the same object
        raise ValueError(f"the batch must be of {env}, which the evaluator is for, got one of {batch.env}")
    if priors.shape != (count, env.action_space) or values.shape != (count,):
        raise ValueError(
            f"priors and values must have shapes {(count, env.action_space)} and {(count,)} for {count} slots of {env},"
            f" got {priors.shape} and {values.shape}"
        )


class Scratch:
    """The buffers of one thread for up to `count` positions.

    Args:
        num_columns: number of outputs of the value head.
    """

    def __init__(self, env: GameEnv, count: int, num_columns: int) -> None:
        self.planes = np.empty((count, env.planes, *env.plane_shape), np.float32)
        self.mask = np.empty((count, env.action_space), np.bool_)
        self.logits = np.empty((count, env.action_space), np.float32)
        self.columns = np.empty((count, num_columns), np.float32)  # the value head's outputs


class ValueOutputs(nn.Module):
    """A value head as a module whose output is (value, score, ownership) if the head predicts them, else the value."""

    def __init__(self, head: nn.Module) -> None:
        super().__init__()
        self.head = head

    def forward(self, features: torch.Tensor) -> torch.Tensor | tuple[torch.Tensor, ...]:
        if not isinstance(self.head, ForecastHead):
            return self.head(features)
        value, score, ownership = self.head.forecast(features)
        return value if score is None or ownership is None else (value, score, ownership)


class ForecastOutputs(ValueOutputs):
    """A value head as a module with one output [B, 2 + H W]: value, score in tens of points, and ownership.

    All are in the view of the player about to move.  The output is the value [B] alone if the head does not predict
    both of the others.
    """

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        outputs = super().forward(features)
        if not isinstance(outputs, tuple):
            return outputs
        value, score, ownership = outputs
        # [B] becomes [B, 1] by `unflatten`, for which alphago.nn.translator has an operation.
        return torch.cat([value.unflatten(0, (-1, 1)), score.unflatten(0, (-1, 1)), ownership], dim=1)
