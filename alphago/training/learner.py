"""Gradient steps on samples, and what they tell about the network."""

import copy
import math
from collections.abc import Mapping, Sequence

import torch

from alphago.env.game import GameEnv
from alphago.nn.inference.devices import has_native_bfloat16
from alphago.nn.inference.frozen import frozen_copy
from alphago.nn.loss import add_l2_gradient, alphazero_loss, forecast_loss
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers
from alphago.training.batches import DeviceSample, Part, cut, mass, sent
from alphago.training.memory import Sample
from alphago.training.optimizer import OPTIMIZERS
from alphago.training.schedule import factor
from alphago.training.settings import TrainingSettings
from alphago.training.watch.measures import Share, in_numbers, told_of_batch

WARM_UP_STEPS = 200
CPU = torch.device("cpu")


class Learner:
    """Gradient steps on AlphaGo Zero's loss and, where the network makes a Forecast, on that.

    `settings` say which losses, optimizer, schedule and clipping, and whether in bfloat16.

    A batch is shared out among threads, each with a replica of the network that uses the same weights
    but has gradients of its own (torch's own threads wait for each other at every operation, which
    costs up to ten times on a busy machine).  Batch norm sees each share alone, and the running
    statistics are the first replica's.  A batch may have parts of several boards: each is shared out so, and the
    gradient is that of all positions' mean loss.  The learning rate rises over the first steps and then follows
    its schedule over the run's progress.  A step whose loss or gradient is not finite
    changes nothing and is counted in `skipped`.

    On a GPU there is one replica, weights, optimizer and average are there, and `net` comes back by `net.cpu()`.

    `average` is the network to play with: a moving average of the weights, `settings.weight_averaging` of which is
    kept at each step (less at the beginning).
    """

    def __init__(self, net: NeuralNet, settings: TrainingSettings, workers: Workers, place: torch.device = CPU) -> None:
        self.net = net
        self.settings = settings
        self.average = frozen_copy(net).to(place)
        if place.type != "cpu":  # laid out as the weights that it follows, or a GPU takes them one by one
            self.average.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.workers = workers
        self.place = place
        self.steps = 0
        self.skipped = 0
        net.to(place, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.replicas = [net, *(replica(net) for _ in range(workers.count - 1 if place.type == "cpu" else 0))]
        make = OPTIMIZERS[settings.optimizer] if isinstance(settings.optimizer, str) else settings.optimizer
        self.optimizer = make(net.parameters(), settings.learning_rate, settings.weight_decay)
        self.autocast = has_native_bfloat16(place) if settings.bfloat16 is None else settings.bfloat16

    def resize(self, env: GameEnv) -> None:
        """Goes on for another board of the game; weights and optimizer stay.  Samples may be of any board."""
        self.net, *others = (net.resized(env) for net in self.replicas)
        self.replicas = [self.net, *others]
        self.average = self.average.resized(env).eval()

    def rate(self, progress: float) -> float:
        """The learning rate of the next step; `progress` is 0 .. 1."""
        rise = min(1.0, (self.steps + 1) / WARM_UP_STEPS)
        return self.settings.learning_rate * factor(self.settings.schedule, progress) * rise

    def step(self, *parts: Part, progress: float = 0.0) -> dict[str, float] | None:
        """One gradient step on a batch of one part for each board; its metrics, or None if it was skipped.

        Where there are several parts, each metric comes for each of them too, as `value_loss_7x7`.
        """
        threads = min(len(self.replicas), max(len(part.value) for part in parts))
        parts = tuple(sent(part, self.place) if isinstance(part, Sample) else part for part in parts)
        weight = max(sum(mass(part) for part in parts), 1e-12)
        statistics = [buffer.clone() for buffer in self.net.buffers()]
        work = [[cut(part, thread, threads) for part in parts] for thread in range(threads)]
        results = self.workers.run(
            [
                lambda net=net, samples=samples: self.gradients(net, samples, weight)  # type: ignore[misc]
                for net, samples in zip(self.replicas, work, strict=False)
            ]
        )
        told = told_of_batch(parts, [list(shares) for shares in zip(*results, strict=True)])
        for same in zip(*(net.parameters() for net in self.replicas[:threads]), strict=True):
            for other in same[1:]:
                if other.grad is not None:
                    same[0].grad += other.grad
        parameters = list(self.net.parameters())
        add_l2_gradient(parameters, self.settings.losses.l2)
        told["gradient_norm"] = torch.nn.utils.clip_grad_norm_(parameters, self.settings.gradient_norm or math.inf)
        metrics = in_numbers(told)
        if not all(map(math.isfinite, metrics.values())):
            self.skipped += 1
            for buffer, before in zip(self.net.buffers(), statistics, strict=True):
                buffer.copy_(before)
            return None
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate(progress)
        self.optimizer.step()
        self.steps += 1
        self._update_average()
        return metrics

    def tensors(self) -> dict[str, torch.Tensor]:
        """Weights, averaged weights and the optimizer's memory, by name, on the CPU; where they are, not copies.

        ValueError if the optimizer keeps something else for a parameter than tensors and numbers.
        """
        found = {f"net.{name}": tensor for name, tensor in self.net.state_dict().items()}
        found |= {f"average.{name}": tensor for name, tensor in self.average.state_dict().items()}
        for name, parameter in self.net.named_parameters():
            kept = self.optimizer.state.get(parameter, {})
            for field, value in kept.items():
                if isinstance(value, torch.Tensor):
                    found[f"optimizer.{field}.{name}"] = value
                elif isinstance(value, (int, float)):
                    found[f"number.{field}.{name}"] = torch.tensor(value, dtype=number_type(value))
                elif value is not None:
                    kind = type(self.optimizer).__name__
                    raise ValueError(f"{kind} keeps {field}, a {type(value).__name__}, wanted tensors and numbers")
        return {name: tensor.cpu() for name, tensor in found.items()}

    @torch.no_grad()
    def restore(self, tensors: Mapping[str, torch.Tensor], steps: int, skipped: int) -> None:
        """Goes on from what `tensors` gave, after so many steps; RuntimeError if it is another network's."""
        for prefix, nets in (("net.", self.replicas), ("average.", [self.average])):
            named = {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
            for net in nets:
                net.load_state_dict(named)
        parameters = dict(self.net.named_parameters())
        for key, tensor in tensors.items():
            kind, _, rest = key.partition(".")
            field, _, name = rest.partition(".")
            if kind == "number":
                self.optimizer.state[parameters[name]][field] = tensor.item()
            if kind == "optimizer":
                self.optimizer.state[parameters[name]][field] = self._remembered(tensor, parameters[name])
        self.steps, self.skipped = steps, skipped

    def _remembered(self, tensor: torch.Tensor, parameter: torch.Tensor) -> torch.Tensor:
        """A tensor of the optimizer's memory where a step looks for it: counts only where the step is fused."""
        if tensor.shape == parameter.shape:
            # Laid out as the parameter is: the fused step goes through memory without looking at strides.
            return torch.empty_like(parameter, dtype=tensor.dtype).copy_(tensor)
        on_device = tensor.dim() > 0 or self.optimizer.defaults.get("fused")
        return tensor.to(self.place, copy=True) if on_device else tensor.clone()

    @torch.no_grad()
    def _update_average(self) -> None:
        kept = min(self.settings.weight_averaging, self.steps / (self.steps + 10))
        mine, new = self.average.state_dict(), self.net.state_dict()
        moving = [name for name, tensor in mine.items() if tensor.is_floating_point()]
        torch._foreach_lerp_([mine[name] for name in moving], [new[name] for name in moving], 1 - kept)

    def gradients(self, net: NeuralNet, samples: Sequence[Part | None], weight: float) -> list["Share | None"]:
        """Leaves in `net` the gradients of a thread's shares of a batch; returns what the network said to each.

        weight: of the whole batch.
        """
        net.train()
        net.zero_grad(set_to_none=True)
        return [None if sample is None else self.add_gradients(net, sample, weight) for sample in samples]

    def add_gradients(self, net: NeuralNet, part: Part, whole: float) -> "Share":
        """Adds the gradients of a share of a batch of such a whole weight to those in `net`."""
        policy, result, weight = (torch.as_tensor(array) for array in (part.policy, part.value, part.weight))
        planes = torch.as_tensor(part.planes).contiguous(memory_format=torch.channels_last)
        with torch.autocast(self.place.type, torch.bfloat16, enabled=self.autocast):
            logits, value, forecast = net.forecast(planes)
        logits, value = logits.float(), value.float()
        losses = alphazero_loss(logits, value, policy, result, weight, weights=self.settings.losses)
        total = losses.total
        parts = {"policy_loss": losses.policy, "value_loss": losses.value}
        if forecast is not None and part.ownership.shape[1]:
            ownership, score, ended = (torch.as_tensor(array) for array in (part.ownership, part.score, part.ended))
            more = forecast_loss(forecast, ownership, score, weight, ended, weights=self.settings.losses)
            total = total + more.total
            parts |= more.metrics()
        share = (part.mass if isinstance(part, DeviceSample) else float(weight.sum())) / whole
        (total * share).backward()
        told = {name: share * loss.detach().double() for name, loss in parts.items()}
        return Share(told, logits.detach(), value.detach())

    @torch.no_grad()
    def unseen(self, sample: Sample) -> dict[str, float]:
        """The losses of the averaged network on positions that it has not been trained on."""
        part = sent(sample, self.place)
        logits, value = self.average(torch.as_tensor(part.planes).contiguous(memory_format=torch.channels_last))
        targets = (torch.as_tensor(array) for array in (part.policy, part.value, part.weight))
        losses = alphazero_loss(logits, value, *targets, weights=self.settings.losses)
        return {"fresh_policy_loss": float(losses.policy), "fresh_value_loss": float(losses.value)}


def number_type(value: int | float) -> torch.dtype:
    """A type that holds the number exactly."""
    return torch.bool if isinstance(value, bool) else torch.int64 if isinstance(value, int) else torch.float64


def replica(net: NeuralNet) -> NeuralNet:
    """A copy whose parameters are the same memory; gradients and running statistics are its own."""
    twin = copy.deepcopy(net)
    for parameter, original in zip(twin.parameters(), net.parameters(), strict=True):
        parameter.data = original.data
    return twin
