"""Gradient steps on samples, and what they tell about the network."""

import copy
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch

from alphago.nn.evaluator import has_native_bfloat16
from alphago.nn.loss import alphazero_loss
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers
from alphago.training.memory import Sample

GRADIENT_NORM = 5.0
WARM_UP_STEPS = 100


class Learner:
    """AdamW on AlphaGo Zero's loss, in bfloat16 where the CPU computes it.

    A batch is shared out among threads, each with a replica of the network that uses the same weights
    but has gradients of its own (torch's own threads wait for each other at every operation, which
    costs up to ten times on a busy machine).  Batch norm sees each share alone, and the running
    statistics are the first replica's.  The learning rate rises over the first steps and falls with
    the run's progress, by a cosine to a twentieth.  A step whose loss or gradient is not finite
    changes nothing and is counted in `skipped`.
    """

    def __init__(self, net: NeuralNet, learning_rate: float, weight_decay: float, workers: Workers) -> None:
        self.net = net
        self.workers = workers
        self.learning_rate = learning_rate
        self.steps = 0
        self.skipped = 0
        net.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.replicas = [net, *(replica(net) for _ in range(workers.count - 1))]
        matrices = [p for p in net.parameters() if p.dim() > 1]
        others = [p for p in net.parameters() if p.dim() <= 1]
        self.optimizer = torch.optim.AdamW(
            [{"params": matrices, "weight_decay": weight_decay}, {"params": others, "weight_decay": 0.0}],
            lr=learning_rate,
            fused=True,
        )
        self.autocast = has_native_bfloat16()

    def rate(self, progress: float) -> float:
        """The learning rate of the next step; `progress` is 0 .. 1."""
        fall = 0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * min(max(progress, 0.0), 1.0)))
        return self.learning_rate * fall * min(1.0, (self.steps + 1) / WARM_UP_STEPS)

    def step(self, sample: Sample, progress: float = 0.0) -> dict[str, float] | None:
        """One gradient step; its metrics, or None if it was skipped."""
        count = len(sample.value)
        threads = min(len(self.replicas), count)
        bounds = [count * i // threads for i in range(threads + 1)]
        statistics = [buffer.clone() for buffer in self.net.buffers()]
        results = self.workers.run(
            [
                lambda net=net, begin=begin, end=end: self.gradients(net, sample, begin, end)  # type: ignore[misc]
                for net, begin, end in zip(self.replicas, bounds, bounds[1:], strict=False)
            ]
        )
        logits, value = torch.cat([r[0] for r in results]), torch.cat([r[1] for r in results])
        target_policy, target_value = torch.from_numpy(sample.policy), torch.from_numpy(sample.value)
        losses = alphazero_loss(logits, value, target_policy, target_value, torch.from_numpy(sample.weight))
        for parameters in zip(*(net.parameters() for net in self.replicas[:threads]), strict=True):
            for other in parameters[1:]:
                if other.grad is not None:
                    parameters[0].grad += other.grad
        norm = torch.nn.utils.clip_grad_norm_(self.net.parameters(), GRADIENT_NORM)
        if not (torch.isfinite(norm) and torch.isfinite(losses.total)):
            self.skipped += 1
            for buffer, before in zip(self.net.buffers(), statistics, strict=True):
                buffer.copy_(before)
            return None
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate(progress)
        self.optimizer.step()
        self.steps += 1
        return measure(logits, value, target_policy, target_value) | {
            "policy_loss": float(losses.policy),
            "value_loss": float(losses.value),
            "gradient_norm": float(norm),
        }

    def gradients(self, net: NeuralNet, sample: Sample, begin: int, end: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Leaves in `net` the gradients of a share of the batch; returns its logits and values, detached."""
        net.train()
        net.zero_grad(set_to_none=True)
        planes, policy, result, weight = (torch.from_numpy(array[begin:end]) for array in sample)
        with torch.autocast("cpu", torch.bfloat16, enabled=self.autocast):
            logits, value = net(planes.contiguous(memory_format=torch.channels_last))
        logits, value = logits.float(), value.float()
        share = float(weight.sum()) / max(float(sample.weight.sum()), 1e-12)
        (alphazero_loss(logits, value, policy, result, weight).total * share).backward()
        return logits.detach(), value.detach()


def replica(net: NeuralNet) -> NeuralNet:
    """A copy whose parameters are the same memory; gradients and running statistics are its own."""
    twin = copy.deepcopy(net)
    for parameter, original in zip(twin.parameters(), net.parameters(), strict=True):
        parameter.data = original.data
    return twin


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
        "top_move_agreement": float((logits.argmax(dim=1) == target_policy.argmax(dim=1)).float().mean()),
    }


def pearson(a: torch.Tensor, b: torch.Tensor) -> float:
    """Pearson's r; 0 where one of the two does not vary."""
    a, b = a - a.mean(), b - b.mean()
    norm = float(a.norm() * b.norm())
    return float((a * b).sum()) / norm if norm > 1e-12 else 0.0


def mean_metrics(rows: Iterable[dict[str, float]]) -> dict[str, Any]:
    """The mean of each metric over steps; None for all of them if there was no step."""
    rows = list(rows)
    names = (
        "policy_loss", "value_loss", "value_correlation", "policy_entropy", "target_entropy",
        "top_move_agreement", "gradient_norm",
    )  # fmt: skip
    return {name: float(np.mean([row[name] for row in rows])) if rows else None for name in names}
