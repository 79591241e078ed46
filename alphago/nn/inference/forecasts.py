"""`ForecastEvaluator`: a fast frozen copy of a network that also predicts score and ownership, for analysis."""

import threading
from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

from alphago.env.game import GameBatch, GameEnv
from alphago.nn.inference.cpu import NOT_FINITE, Run, check_batch, check_outputs, choose_form, own_scratch, threads_for
from alphago.nn.inference.frozen import TRACING, example_planes, frozen_copy, frozen_parts
from alphago.nn.inference.gpu import choose_gpu_form, translate_out_of_memory
from alphago.nn.inference.hardware import choose_dtype, dtype_name, torch_device
from alphago.nn.kernels.priors import clip_values, masked_softmax_batch
from alphago.nn.value import POINTS, ForecastHead
from alphago.system.stopwatch import BOARDS, NET


class ForecastOutputs(nn.Module):
    """A value head as a module with one output [B, 2 + H W]: value, score in tens of points, and ownership.

    All are in the view of the player about to move.
    """

    def __init__(self, head: ForecastHead) -> None:
        super().__init__()
        self.head = head

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        forecast = self.head.forecast(features)
        assert forecast.score is not None
        assert forecast.ownership is not None
        columns = [tensor.unflatten(0, (-1, 1)) for tensor in (forecast.value, forecast.score)]
        return torch.cat([*columns, forecast.ownership], dim=1)


@torch.no_grad()
def makes_forecasts(env: GameEnv, base_net: nn.Module, value: nn.Module) -> bool:
    """Return whether a value head predicts both score and ownership, and the game `env` has owners of points."""
    if not (env.has_ownership and isinstance(value, ForecastHead)):
        return False
    forecast = frozen_copy(value).forecast(frozen_copy(base_net)(example_planes(env)))
    return forecast.score is not None and forecast.ownership is not None


class ForecastEvaluator:
    """An evaluator that also computes score and ownership, for positions on the CPU.

    It is a frozen copy of a network, which later training does not change.  It has the forms and dtypes of
    `NetEvaluator` and is as fast, since a single forward pass computes everything.

    env, base_net, value, policy: the game and the parts of a NeuralNet.
    dtype: "float32", "bfloat16" or "int8"; None for the fastest.
    where: the device that computes the network, "cpu", "cuda" or "host" (see
        `alphago.nn.inference.hardware.find_device`); the positions are on the CPU in any case.
    Raises ValueError for a network whose weights are not finite.
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
        where: str = "cpu",
    ) -> None:
        self.env, self.where = env, where
        self.makes_forecasts = makes_forecasts(env, base_net, value)
        if self.makes_forecasts:
            assert isinstance(value, ForecastHead)
            value = ForecastOutputs(value)
        frozen = frozen_parts(base_net, value, policy)
        self._run: Run
        if where == "cpu":
            with TRACING, torch.no_grad(), threads_for(frozen):
                self._run, chosen, self.form = choose_form(frozen, env, choose_dtype(dtype))
        else:
            device = torch_device(where)
            with translate_out_of_memory():
                net, self.form, chosen = choose_gpu_form(frozen, env, choose_dtype(dtype, device), device)
            self._run = device_run(net, chosen, device)
        self.dtype = dtype_name(chosen)
        self._columns = 2 + env.plane_shape[0] * env.plane_shape[1] if self.makes_forecasts else 1
        self._local = threading.local()

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        """Compute priors and values of positions; see `NetEvaluator.evaluate`."""
        self.evaluate_forecasts(batch, slots, priors, values, None)

    @translate_out_of_memory()
    def evaluate_forecasts(
        self,
        batch: GameBatch,
        slots: np.ndarray,
        priors: np.ndarray,
        values: np.ndarray,
        forecasts: tuple[np.ndarray, np.ndarray] | None,
        symmetries: Sequence[int] = (0,),
    ) -> None:
        """Compute priors, values, scores and ownership of positions.

        All results are in the view of the player about to move.

        batch, slots: the positions are those in `slots`, int64 [n], of `batch`; their games must not be over.
        priors: float32 [n, action_space], overwritten with a softmax over the legal actions, 0 for illegal ones.
        values: float32 [n], overwritten with values -1 .. 1.
        forecasts: a pair of arrays, both overwritten: scores float32 [n], the expected margins in points, and
            ownership float32 [n, H W], each point's expected owner (1 the player about to move, -1 the opponent).
            None to compute neither.
        symmetries: symmetries of the board, as indices into `env.symmetries`; the network evaluates each position
            under each of them, and the results are means over them.
        Raises ValueError if the network's output is not finite, or if `forecasts` is given and the network does not
        predict score and ownership.
        """
        count = len(slots)
        if forecasts is not None and not self.makes_forecasts:
            raise ValueError("the network's value head makes no forecasts of score and ownership")
        if count == 0:
            return
        check_batch(batch, self.env)
        check_outputs(self.env, count, priors, values)
        scratch = own_scratch(self._local, self.env, count, self._columns)
        with BOARDS:
            planes = batch.planes(slots, scratch.planes[:count])
            mask = batch.legal_mask(slots, scratch.mask[:count])
        if tuple(symmetries) == (0,):
            self._evaluate_planes(planes, mask, priors, values, forecasts)
            return
        outputs = [priors, values, *(forecasts or ())]
        sums = [np.zeros_like(output) for output in outputs]
        for symmetry in symmetries:
            points, actions = self.env.symmetries.points[symmetry], self.env.symmetries.actions[symmetry]
            turned = np.ascontiguousarray(planes.reshape(count, self.env.planes, -1)[..., points]).reshape(planes.shape)
            self._evaluate_planes(turned, np.ascontiguousarray(mask[:, actions]), priors, values, forecasts)
            sums[0][:, actions] += priors
            sums[1] += values
            if forecasts is not None:
                sums[2] += forecasts[0]
                sums[3][:, points] += forecasts[1]
        for output, total in zip(outputs, sums, strict=True):
            np.divide(total, len(symmetries), out=output)

    def _evaluate_planes(
        self,
        planes: np.ndarray,
        mask: np.ndarray,
        priors: np.ndarray,
        values: np.ndarray,
        forecasts: tuple[np.ndarray, np.ndarray] | None,
    ) -> None:
        count = len(planes)
        scratch = own_scratch(self._local, self.env, count, self._columns)
        logits, columns = scratch.logits[:count], scratch.columns[:count]
        with NET:
            self._run(planes, logits, columns if self.makes_forecasts else columns[:, 0])
        broken = masked_softmax_batch(logits, mask, priors)
        if clip_values(columns[:, 0].copy(), values) or broken:
            raise ValueError(NOT_FINITE)
        if forecasts is not None:
            if not np.isfinite(columns.sum()):
                raise ValueError(NOT_FINITE)
            np.multiply(columns[:, 1], np.float32(POINTS), out=forecasts[0])
            np.copyto(forecasts[1], columns[:, 2:])

    def __repr__(self) -> str:
        return f"ForecastEvaluator({self.env!r}, dtype={self.dtype!r}, form={self.form!r})"


def device_run(net: nn.Module, dtype: torch.dtype, device: torch.device) -> Run:
    """Return a `Run` that computes a module on a device; planes and outputs are in the CPU's memory."""

    def run(planes: np.ndarray, logits: np.ndarray, values: np.ndarray) -> None:
        inputs = torch.from_numpy(planes).to(device, dtype).contiguous(memory_format=torch.channels_last)
        with torch.inference_mode():
            outputs = net.forward(inputs)
        for out, output in zip((logits, values), outputs, strict=True):
            out[:] = output.cpu().numpy()

    return run
