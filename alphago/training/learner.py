"""Gradient steps on samples, and what they tell about the network."""

import copy
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch

from alphago.env.game import GameEnv
from alphago.nn.evaluator import frozen_copy, has_native_bfloat16
from alphago.nn.loss import add_l2_gradient, alphazero_loss, forecast_loss
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers
from alphago.training.memory import Sample
from alphago.training.optimizer import OPTIMIZERS
from alphago.training.schedule import factor
from alphago.training.settings import TrainingSettings

WARM_UP_STEPS = 200


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

    `average` is the network to play with: a moving average of the weights, `settings.weight_averaging` of which is
    kept at each step (less at the beginning).
    """

    def __init__(self, net: NeuralNet, settings: TrainingSettings, workers: Workers) -> None:
        self.net = net
        self.settings = settings
        self.average = frozen_copy(net)
        self.workers = workers
        self.steps = 0
        self.skipped = 0
        net.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.replicas = [net, *(replica(net) for _ in range(workers.count - 1))]
        make = OPTIMIZERS[settings.optimizer] if isinstance(settings.optimizer, str) else settings.optimizer
        self.optimizer = make(net.parameters(), settings.learning_rate, settings.weight_decay)
        self.autocast = has_native_bfloat16() if settings.bfloat16 is None else settings.bfloat16

    def resize(self, env: GameEnv) -> None:
        """Goes on for another board of the game; weights and optimizer stay.  Samples may be of any board."""
        self.net, *others = (net.resized(env) for net in self.replicas)
        self.replicas = [self.net, *others]
        self.average = self.average.resized(env).eval()

    def rate(self, progress: float) -> float:
        """The learning rate of the next step; `progress` is 0 .. 1."""
        rise = min(1.0, (self.steps + 1) / WARM_UP_STEPS)
        return self.settings.learning_rate * factor(self.settings.schedule, progress) * rise

    def step(self, *parts: Sample, progress: float = 0.0) -> dict[str, float] | None:
        """One gradient step on a batch of one part for each board; its metrics, or None if it was skipped.

        Where there are several parts, each metric comes for each of them too, as `value_loss_7x7`.
        """
        threads = min(len(self.replicas), max(len(part.value) for part in parts))
        weight = max(sum(float(part.weight.sum()) for part in parts), 1e-12)
        statistics = [buffer.clone() for buffer in self.net.buffers()]
        work = [[cut(part, thread, threads) for part in parts] for thread in range(threads)]
        results = self.workers.run(
            [
                lambda net=net, samples=samples: self.gradients(net, samples, weight)  # type: ignore[misc]
                for net, samples in zip(self.replicas, work, strict=False)
            ]
        )
        metrics = told_of_batch(parts, [list(shares) for shares in zip(*results, strict=True)])
        for same in zip(*(net.parameters() for net in self.replicas[:threads]), strict=True):
            for other in same[1:]:
                if other.grad is not None:
                    same[0].grad += other.grad
        parameters = list(self.net.parameters())
        add_l2_gradient(parameters, self.settings.losses.l2)
        norm = torch.nn.utils.clip_grad_norm_(parameters, self.settings.gradient_norm or math.inf)
        if not (math.isfinite(float(norm)) and all(map(math.isfinite, metrics.values()))):
            self.skipped += 1
            for buffer, before in zip(self.net.buffers(), statistics, strict=True):
                buffer.copy_(before)
            return None
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate(progress)
        self.optimizer.step()
        self.steps += 1
        self._update_average()
        return metrics | {"gradient_norm": float(norm)}

    def tensors(self) -> dict[str, torch.Tensor]:
        """Weights, averaged weights and the optimizer's memory, by name; not copies.

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
        return found

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
                # Laid out as the parameter is: the fused step goes through memory without looking at strides.
                like = parameters[name] if tensor.shape == parameters[name].shape else tensor
                self.optimizer.state[parameters[name]][field] = torch.empty_like(like, dtype=tensor.dtype).copy_(tensor)
        self.steps, self.skipped = steps, skipped

    @torch.no_grad()
    def _update_average(self) -> None:
        kept = min(self.settings.weight_averaging, self.steps / (self.steps + 10))
        mine, new = self.average.state_dict(), self.net.state_dict()
        moving = [name for name, tensor in mine.items() if tensor.is_floating_point()]
        torch._foreach_lerp_([mine[name] for name in moving], [new[name] for name in moving], 1 - kept)

    def gradients(self, net: NeuralNet, samples: Sequence[Sample | None], weight: float) -> list["Share | None"]:
        """Leaves in `net` the gradients of a thread's shares of a batch; returns what the network said to each.

        weight: of the whole batch.
        """
        net.train()
        net.zero_grad(set_to_none=True)
        return [None if sample is None else self.add_gradients(net, sample, weight) for sample in samples]

    def add_gradients(self, net: NeuralNet, part: Sample, whole: float) -> "Share":
        """Adds the gradients of a share of a batch of such a whole weight to those in `net`."""
        policy, result, weight = (torch.from_numpy(array) for array in (part.policy, part.value, part.weight))
        planes = torch.from_numpy(part.planes).contiguous(memory_format=torch.channels_last)
        with torch.autocast("cpu", torch.bfloat16, enabled=self.autocast):
            logits, value, forecast = net.forecast(planes)
        logits, value = logits.float(), value.float()
        losses = alphazero_loss(logits, value, policy, result, weight, weights=self.settings.losses)
        total = losses.total
        parts = {"policy_loss": losses.policy, "value_loss": losses.value}
        if forecast is not None and part.ownership.shape[1]:
            ownership, score = torch.from_numpy(part.ownership), torch.from_numpy(part.score)
            more = forecast_loss(forecast, ownership, score, weight, weights=self.settings.losses)
            total = total + more.total
            parts |= {"ownership_loss": more.ownership, "score_loss": more.score}
        share = float(weight.sum()) / whole
        (total * share).backward()
        told = {name: share * float(loss.detach()) for name, loss in parts.items()}
        return Share(told, logits.detach(), value.detach())

    @torch.no_grad()
    def unseen(self, sample: Sample) -> dict[str, float]:
        """The losses of the averaged network on positions that it has not been trained on."""
        logits, value = self.average(torch.from_numpy(sample.planes).contiguous(memory_format=torch.channels_last))
        targets = (torch.from_numpy(array) for array in (sample.policy, sample.value, sample.weight))
        losses = alphazero_loss(logits, value, *targets, weights=self.settings.losses)
        return {"fresh_policy_loss": float(losses.policy), "fresh_value_loss": float(losses.value)}


def number_type(value: int | float) -> torch.dtype:
    """A type that holds the number exactly."""
    return torch.bool if isinstance(value, bool) else torch.int64 if isinstance(value, int) else torch.float64


class Share(NamedTuple):
    """What the network said to one thread's share of a part of a batch."""

    losses: dict[str, float]  # each times the part's share of the batch's weight
    logits: torch.Tensor
    value: torch.Tensor


def replica(net: NeuralNet) -> NeuralNet:
    """A copy whose parameters are the same memory; gradients and running statistics are its own."""
    twin = copy.deepcopy(net)
    for parameter, original in zip(twin.parameters(), net.parameters(), strict=True):
        parameter.data = original.data
    return twin


def cut(part: Sample, thread: int, threads: int) -> Sample | None:
    """A thread's share of a part of a batch; None where there is nothing for it.  The first one always has some."""
    count = len(part.value)
    threads = min(threads, count)
    if thread >= threads:
        return None
    return Sample(*(array[count * thread // threads : count * (thread + 1) // threads] for array in part))


def told_of_batch(parts: Sequence[Sample], shares: Sequence[Sequence[Share | None]]) -> dict[str, float]:
    """Mean losses and measurements of a batch; where it has several parts, of each of them too."""
    count = sum(len(part.value) for part in parts)
    weight = max(sum(float(part.weight.sum()) for part in parts), 1e-12)
    told: dict[str, float] = {}
    apart: dict[str, float] = {}
    for part, of_threads in zip(parts, shares, strict=True):
        said = [share for share in of_threads if share is not None]
        # Losses are the share's of the batch's mean: they count as much as their weights.
        losses = {name: sum(share.losses[name] for share in said) for name in said[0].losses}
        logits, value = torch.cat([share.logits for share in said]), torch.cat([share.value for share in said])
        measured = measure(logits, value, torch.from_numpy(part.policy), torch.from_numpy(part.value))
        for name, loss in losses.items():
            told[name] = told.get(name, 0.0) + loss
            apart[f"{name}_{board_of(part)}"] = loss * weight / max(float(part.weight.sum()), 1e-12)
        for name, found in measured.items():
            told[name] = told.get(name, 0.0) + found * len(part.value) / count
            apart[f"{name}_{board_of(part)}"] = found
    return told if len(parts) == 1 else told | apart


def board_of(sample: Sample) -> str:
    """The size of a sample's board, as "7x7"."""
    height, width = sample.planes.shape[2:]
    return f"{height}x{width}"


@torch.no_grad()
def measure(
    logits: torch.Tensor, value: torch.Tensor, target_policy: torch.Tensor, target_value: torch.Tensor
) -> dict[str, float]:
    """What the losses do not say: correlation of values, entropies in nats, agreement on the best move."""
    log_policy = torch.log_softmax(logits, dim=1)
    return {
        "value_correlation": pearson(value, target_value),
        "policy_entropy": float(-(log_policy.exp() * log_policy).sum(dim=1).mean()),
        "target_entropy": float(-torch.xlogy(target_policy, target_policy).sum(dim=1).mean()),
        "value_variance": float(target_value.var()) if len(target_value) > 1 else 0.0,
        "top_move_agreement": float((logits.argmax(dim=1) == target_policy.argmax(dim=1)).float().mean()),
    }


def pearson(a: torch.Tensor, b: torch.Tensor) -> float:
    """Pearson's r; 0 where one of the two does not vary."""
    a, b = a - a.mean(), b - b.mean()
    norm = float(a.norm() * b.norm())
    return float((a * b).sum()) / norm if norm > 1e-12 else 0.0


METRICS = (
    "policy_loss", "value_loss", "ownership_loss", "score_loss", "value_correlation", "value_variance",
    "policy_entropy", "target_entropy", "top_move_agreement", "gradient_norm",
)  # fmt: skip


def mean_metrics(rows: Iterable[dict[str, float]]) -> dict[str, float | None]:
    """The mean of each metric over the steps that have it; None for those of METRICS that no step has."""
    rows = list(rows)
    names = dict.fromkeys([*METRICS, *(name for row in rows for name in row)])
    told = {name: [row[name] for row in rows if name in row] for name in names}
    return {name: float(np.mean(values)) if values else None for name, values in told.items()}
