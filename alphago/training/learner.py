"""The learner: gradient steps on training samples, with their metrics."""

import copy
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
import torch

from alphago.env.game import GameEnv
from alphago.nn.inference.hardware import trains_in_bfloat16
from alphago.nn.loss import Losses, LossFunction, LossWeights, add_l2_gradient, alphazero_loss, forecast_loss
from alphago.nn.net import NeuralNet
from alphago.nn.parts import strip_prefix
from alphago.nn.policy import may_drift
from alphago.nn.threads import Workers
from alphago.system.validation import shown
from alphago.training.batches import Batch, DeviceSample, split, to_device, to_tensors, weight_sum
from alphago.training.memory import Sample
from alphago.training.metrics import Outputs, batch_metrics, to_numbers
from alphago.training.optimizer import OPTIMIZERS, rate_factor, slow_down_dense
from alphago.training.settings.learning_settings import LearningSettings
from alphago.training.step_graphs import CapturedGraph, Inputs

WARM_UP_STEPS = 200
LARGEST_WEIGHT = 1e6  # a larger weight means divergence; weights of sound networks are below 100
CPU = torch.device("cpu")
Gradients = list[torch.Tensor | None]  # of a network's parameters, in order; None for a parameter that had no part


class Accumulated(NamedTuple):
    """The results of computing the gradients of a batch, beside the gradients.

    Attributes:
        metrics: the batch's losses and statistics, scalars by name.
        buffers: copies of the network's buffers, such as running statistics, before the batch.  `Learner.update` puts
            them back if it skips the step.
    """

    metrics: dict[str, torch.Tensor]
    buffers: list[torch.Tensor]


class GpuStep(NamedTuple):
    """The two functions that take a gradient step with a batch of a certain size on a GPU, and their inputs.

    Attributes:
        inputs: where each batch is copied to.
        accumulate: the first half of a step, which computes the gradients and returns them with its other results.
        update: the second half, which changes the weights.
    """

    inputs: Inputs
    accumulate: CapturedGraph[tuple[Accumulated, Gradients]]
    update: Callable[[], object]


class Learner:
    """Takes gradient steps on AlphaGo Zero's loss, plus the losses of ownership and score if the network predicts them.

    On a CPU each batch is divided among threads, since torch's own threads are up to ten times slower on busy machines.
    Each thread has a replica of the network with shared weights and its own gradients.  The loss is the mean over all
    positions of the batch.  Batch norm uses the statistics of each thread's own rows; only the first replica's running
    statistics are kept.

    On a GPU both halves of a step are CUDA graphs: the gradients, and for "muon" and "adamw" the change of the weights.
    There is a pair of graphs for each size of batch.  Without graphs the GPU would wait for Python, which begins a
    step's hundreds of operations more slowly than the GPU does them.

    The learning rate rises over the first WARM_UP_STEPS steps and then follows the schedule.  A step whose loss or
    gradient is not finite is left out and counted in `skipped`.

    Args:
        net: the network, trained in place and moved to `device`; `net.cpu()` moves it back.
        settings: determine losses, optimizer, learning rate, clipping and bfloat16.
        workers: the threads; on a GPU only one replica is used.
    """

    def __init__(
        self, net: NeuralNet, settings: LearningSettings, workers: Workers, device: torch.device = CPU
    ) -> None:
        self.net = net
        self.settings = settings
        # The loss `log_sum` keeps logits near 0, which is needed only if they may drift away.
        self.weights = settings.weights if may_drift(net.policy) else replace(settings.weights, log_sum=0.0)
        if isinstance(settings.losses, LossWeights):
            self.loss: LossFunction = partial(alphazero_loss, weights=self.weights)
        else:
            self.loss = partial(call_loss, settings.losses)
        self.workers = workers
        self.device = device
        self.steps = 0  # number of gradient steps taken
        self.skipped = 0
        self.factor = 1.0  # another factor of the learning rate, which a user's `make_learner` may set
        net.to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        threads = min(workers.count, settings.learner_threads or workers.count) if device.type == "cpu" else 1
        self.replicas = [net, *(replica(net) for _ in range(threads - 1))]  # one for each thread
        make_optimizer = OPTIMIZERS[settings.optimizer] if isinstance(settings.optimizer, str) else settings.optimizer
        self.optimizer = make_optimizer(net.parameters(), settings.learning_rate, settings.weight_decay)
        if settings.dense_rate != 1:
            slow_down_dense(self.optimizer, settings.dense_rate)
        self._gpu_steps: dict[tuple[object, ...], GpuStep] = {}  # by the shapes of batches
        self._optimizer_step: Callable[[], object] = self.optimizer.step  # or a CUDA graph of it
        if self.optimizer.defaults.get("capturable"):
            for group in self.optimizer.param_groups:  # CUDA graphs read the rate of a step from the GPU's memory
                group["lr"] = torch.tensor(float(group["lr"]), device=device)
        self.autocast = bool(choose_bfloat16(settings, net, device).bfloat16)

    def resize(self, env: GameEnv) -> None:
        """Replace `net` by a network that shares its weights and plays on the board of `env`; the optimizer stays."""
        self.replicas = [net.resized(env) for net in self.replicas]
        self.net = self.replicas[0]
        self._gpu_steps = {}  # the old ones compute with the network of the old board

    def rate(self, progress: float) -> float:
        """Return the learning rate of the next step; progress: the run's progress, 0 .. 1."""
        warm_up = min(1.0, (self.steps + 1) / WARM_UP_STEPS)
        return self.settings.learning_rate * rate_factor(self.settings.schedule, progress) * warm_up * self.factor

    def step(self, batch: Batch, *, progress: float = 0.0) -> dict[str, float] | None:
        """Take one gradient step on a batch; return its metrics by name, or None if the step was skipped.

        Args:
            progress: the run's progress, 0 .. 1, for the learning rate's schedule.
        """
        batch = to_device(batch, self.device) if isinstance(batch, Sample) else batch
        accumulated = self.accumulate(batch, max(weight_sum(batch), 1e-12))  # no division by 0
        return self.update(accumulated, progress=progress)

    def accumulate(self, batch: Batch, batch_weight: float) -> Accumulated:
        """Compute the gradients of a batch, which replace the gradients of the parameters of `net`.

        Args:
            batch_weight: the sum of the batch's weights, by which the loss is divided.  If this batch is a part of a
                larger one, the sum of the larger one's weights.
        """
        if isinstance(batch, DeviceSample):
            return self._accumulate_on_gpu(batch, batch.weight_sum / batch_weight)
        # Computing the gradients changes the running statistics: `update` puts the copies back if it skips the step.
        buffers_before = [buffer.clone() for buffer in self.net.buffers()]
        parts = split(batch, len(self.replicas))
        replicas = self.replicas[: len(parts)]  # a small batch has fewer parts than there are replicas
        tasks = [
            partial(self.gradients, net, part, weight_sum(part) / batch_weight)
            for net, part in zip(replicas, parts, strict=True)
        ]
        outputs = self.workers.run(tasks)
        # Add the other replicas' gradients to those of `net`, the first replica.
        for parameter, *twins in zip(*(net.parameters() for net in replicas), strict=True):
            for twin in twins:
                if twin.grad is not None:
                    parameter.grad += twin.grad
        return Accumulated(batch_metrics(batch, outputs), buffers_before)

    def _accumulate_on_gpu(self, batch: DeviceSample, share: float) -> Accumulated:
        """Compute the gradients of a batch as `accumulate` does, on a GPU.

        share: the sum of the batch's weights, divided by the `batch_weight` of `accumulate`.
        """
        gpu_step = self._gpu_step_for(batch)
        gpu_step.inputs.fill(batch, share)
        accumulated, gradients = gpu_step.accumulate()
        # A graph writes to the same gradients in every call.  After a step with a batch of another size, the parameters
        # have other gradients.
        for parameter, gradient in zip(self.net.parameters(), gradients, strict=True):
            parameter.grad = gradient
        # Without a graph, each call makes new gradients, and a graph of the update would read old ones.
        self._optimizer_step = gpu_step.update if gpu_step.accumulate.is_captured else self.optimizer.step
        self.net.train()  # the method `gradients` does so, too, but a graph repeats only its operations on the GPU
        # A graph returns the same dict in every call, and `update` adds to it: hence a copy.
        return Accumulated(dict(accumulated.metrics), accumulated.buffers)

    def _gpu_step_for(self, batch: DeviceSample) -> GpuStep:
        """Return the GpuStep for batches of this size."""
        shapes = batch.tensors.map(lambda tensor: tuple(tensor.shape))
        if shapes not in self._gpu_steps:
            inputs = Inputs(batch)
            compute = partial(self._accumulate_whole, inputs.batch, inputs.share)
            # A graph of the optimizer's step is possible only if the learning rate is in the GPU's memory.
            has_rate_on_gpu = self.optimizer.defaults.get("capturable")
            update = CapturedGraph(self.optimizer.step) if has_rate_on_gpu else self.optimizer.step
            self._gpu_steps[shapes] = GpuStep(inputs, accumulate=CapturedGraph(compute), update=update)
        return self._gpu_steps[shapes]

    def _accumulate_whole(self, batch: DeviceSample, share: torch.Tensor) -> tuple[Accumulated, Gradients]:
        """Compute the gradients of a batch that is not divided, and return them too; a CUDA graph repeats this.

        share: a scalar on the GPU, as in `_accumulate_on_gpu`.
        """
        buffers_before = [buffer.clone() for buffer in self.net.buffers()]  # for `update`, in case it skips the step
        metrics = batch_metrics(batch, [self.gradients(self.net, batch, share)])
        return Accumulated(metrics, buffers_before), [parameter.grad for parameter in self.net.parameters()]

    def update(self, accumulated: Accumulated, *, progress: float = 0.0) -> dict[str, float] | None:
        """Change the weights by the gradients that `accumulate` has left in the parameters of `net`.

        Args:
            accumulated: the result of `accumulate`; its metrics get the entry "gradient_norm".
            progress: as in `step`.

        Returns:
            The metrics by name.  If a metric is not finite, the weights do not change, the buffers are put back, and
            the result is None.
        """
        scalars = accumulated.metrics
        parameters = list(self.net.parameters())
        add_l2_gradient(parameters, self.weights.l2)
        scalars["gradient_norm"] = torch.nn.utils.clip_grad_norm_(parameters, self.settings.gradient_norm or math.inf)
        metrics = to_numbers(scalars)
        if not all(map(math.isfinite, metrics.values())):
            self.skipped += 1
            for buffer, before in zip(self.net.buffers(), accumulated.buffers, strict=True):
                buffer.copy_(before)
            return None
        for group in self.optimizer.param_groups:
            rate = self.rate(progress) * group.get("share", 1.0)  # `slow_down_dense` sets the share
            if isinstance(group["lr"], torch.Tensor):
                group["lr"].fill_(rate)  # in place, since a CUDA graph reads the rate from this tensor
            else:
                group["lr"] = rate
        self._optimizer_step()
        self.steps += 1
        return metrics

    def close(self) -> None:
        """Do nothing, since the run closes the threads."""

    @property
    def has_diverged(self) -> bool:
        """Whether gradient steps have made a weight infinite, NaN, or larger than LARGEST_WEIGHT."""
        are_sound = (bool((weight.abs() < LARGEST_WEIGHT).all()) for weight in self.net.parameters())
        return self.steps > 0 and not all(are_sound)

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return the weights and the optimizer's state by name, as tensors on the CPU.

        The names are "net.NAME" for an entry of the network's `state_dict`, "optimizer.FIELD.PARAMETER" for a tensor of
        the optimizer's state, and "number.FIELD.PARAMETER" for a number of it.  Tensors that are already on the CPU are
        not copied.

        Raises:
            ValueError: if the optimizer's state of a parameter has anything but tensors and numbers, or None, which is
                left out.
        """
        tensors = self.net.state_dict(prefix="net.")
        for name, parameter in self.net.named_parameters():
            for field, value in self.optimizer.state.get(parameter, {}).items():
                if isinstance(value, torch.Tensor):
                    tensors[f"optimizer.{field}.{name}"] = value
                elif isinstance(value, (int, float)):
                    tensors[f"number.{field}.{name}"] = torch.from_numpy(np.array(value))  # without rounding to float32
                elif value is not None:
                    kind = type(self.optimizer).__name__
                    what = f"{field} is a {type(value).__name__}, must be a tensor or a number"
                    raise ValueError(f"the state of optimizer {kind} cannot be saved: {what}")
        return {name: tensor.cpu() for name, tensor in tensors.items()}

    @torch.no_grad()
    def restore(self, tensors: Mapping[str, torch.Tensor], steps: int, skipped: int) -> None:
        """Continue from saved weights and optimizer state.

        Args:
            tensors: the result of the method `tensors`; other entries are ignored.
            steps, skipped: the saved counts.

        Raises:
            RuntimeError: if the weights do not fit the network.
        """
        weights = strip_prefix(tensors, "net.")
        for net in self.replicas:  # they share weights, but have running statistics of their own
            net.load_state_dict(weights)
        parameters = dict(self.net.named_parameters())
        for key, tensor in tensors.items():
            # Keys "optimizer.FIELD.PARAMETER", and "number.FIELD.PARAMETER" for what the optimizer has as a number.
            kind, _, rest = key.partition(".")
            field, _, name = rest.partition(".")
            if kind == "number":
                self.optimizer.state[parameters[name]][field] = tensor.item()
            if kind == "optimizer":
                self.optimizer.state[parameters[name]][field] = self._optimizer_tensor(tensor, parameters[name])
        self.steps, self.skipped = steps, skipped

    def _optimizer_tensor(self, tensor: torch.Tensor, parameter: torch.Tensor) -> torch.Tensor:
        """Return a copy of a tensor of optimizer state on the device and with the strides that the optimizer needs.

        parameter: the parameter to which the tensor belongs.  Scalars such as step counts stay on the CPU unless the
            optimizer is fused.
        """
        if tensor.shape == parameter.shape:
            # The fused step ignores strides, so the copy must have the parameter's memory layout.
            return torch.empty_like(parameter, dtype=tensor.dtype).copy_(tensor)
        on_device = tensor.dim() > 0 or self.optimizer.defaults.get("fused")
        return tensor.to(self.device, copy=True) if on_device else tensor.clone()

    def gradients(self, net: NeuralNet, part: Batch, share: float | torch.Tensor) -> Outputs:
        """Compute the gradients of a thread's rows of a batch; they replace the gradients of `net`'s parameters.

        Args:
            net: the thread's replica.
            part: the thread's rows.
            share: the rows' share of the whole batch's weight, by which their mean loss is multiplied.

        Returns:
            The network's outputs, and the losses times `share`.
        """
        net.train()
        net.zero_grad(set_to_none=True)
        targets = to_tensors(part)
        planes = targets.planes.contiguous(memory_format=torch.channels_last)  # as those on a GPU already are
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.autocast):
            logits, value, forecast = net.forecast(planes)
        logits, value = logits.float(), value.float()
        losses = self.loss(logits, value, targets.policy, targets.value, targets.weight)
        total = losses.total
        by_name = {"policy_loss": losses.policy, "value_loss": losses.value}
        if forecast is not None:
            forecast_losses = forecast_loss(forecast, targets, weights=self.weights)
            total = total + forecast_losses.total
            by_name |= forecast_losses.metrics()
        (total * share).backward()
        scaled = {name: share * loss.detach().double() for name, loss in by_name.items()}
        return Outputs(scaled, logits.detach(), value.detach())

    @torch.no_grad()
    def losses_on(self, sample: Sample) -> dict[str, float]:
        """Return the losses on new positions, named `fresh_policy_loss` and `fresh_value_loss`.

        The network computes in eval mode.
        """
        targets = to_tensors(to_device(sample, self.device))
        logits, value = self.net.eval()(targets.planes.contiguous(memory_format=torch.channels_last))
        losses = self.loss(logits, value, targets.policy, targets.value, targets.weight)
        return {"fresh_policy_loss": float(losses.policy), "fresh_value_loss": float(losses.value)}


def choose_bfloat16(settings: LearningSettings, net: NeuralNet, device: torch.device = CPU) -> LearningSettings:
    """Return the settings; a `bfloat16` of None is replaced by what is faster for a network of this size.

    Args:
        device: where the network is trained.
    """
    if settings.bfloat16 is not None:
        return settings
    weights = sum(parameter.numel() for parameter in net.parameters())
    return replace(settings, bfloat16=trains_in_bfloat16(weights, device))


def call_loss(function: LossFunction, *arguments: torch.Tensor) -> Losses:
    """Call a custom loss function and return its result; raise TypeError unless the result is Losses."""
    losses = function(*arguments)
    if not isinstance(losses, Losses):
        raise TypeError(f"losses must give alphago.nn.loss.Losses(total, policy, value), got {shown(losses)}")
    return losses


# (net, settings, workers, device) -> an object with the public attributes and methods of Learner
MakeLearner = Callable[..., Learner]


def replica(net: NeuralNet) -> NeuralNet:
    """Return a copy of the network that shares the weights but has its own gradients and running statistics."""
    twin = copy.deepcopy(net)
    for parameter, original in zip(twin.parameters(), net.parameters(), strict=True):
        parameter.data = original.data
    return twin
