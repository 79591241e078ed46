"""A learner of two processes: its weights are those of one."""

from collections.abc import Callable
from contextlib import closing
from typing import Any

import numpy as np
import pytest
import torch

from alphago import NeuralNet, ReplayMemory, selfplay
from alphago.mcts.evaluator import HashEvaluator
from alphago.nn.threads import Workers, one_torch_thread
from alphago.training.call.start import seeded
from alphago.training.learner import CPU, Learner
from alphago.training.memory import Sample
from alphago.training.settings.learning_settings import LearningSettings
from examples.two_processes import JointLearner
from tests.training.small_runs import GO

SETTINGS = LearningSettings(learning_rate=0.02, bfloat16=False)


def trained(make: Callable[..., Any], threads: int, batches: list[Sample]) -> tuple[NeuralNet, list[float]]:
    """The network after a gradient step on each batch, and the losses of these steps."""
    with seeded(1):
        net = NeuralNet(GO, tower_height=1, channels=8)
    with one_torch_thread(), Workers(threads) as workers, closing(make(net, SETTINGS, workers, CPU)) as learner:
        rows = [learner.step(batch) for batch in batches]
        return learner.net, [row["policy_loss"] + row["value_loss"] for row in rows if row is not None]


@pytest.mark.slow
def test_equal_to_one_process() -> None:
    """Within rounding; and the weights have changed, and so have those that the other process is given."""
    memory = ReplayMemory(GO)
    memory.add(selfplay(GO, HashEvaluator(), 4, 6, groups=1, device="cpu", seed=0))
    batches = [memory.sample(31, np.random.default_rng(number)) for number in range(5)]
    one, expected = trained(Learner, 2, batches)
    two, found = trained(JointLearner, 1, batches)
    assert found == pytest.approx(expected, rel=1e-4)
    assert found[-1] < found[0]
    for mine, yours in zip(one.parameters(), two.parameters(), strict=True):
        assert torch.allclose(mine, yours, atol=1e-5)


def test_a_gpu_is_refused() -> None:
    """Before anything is begun."""
    with Workers(1) as workers, pytest.raises(ValueError, match="share a CPU's batches, got batch_size 64 on cuda"):
        JointLearner(NeuralNet(GO), LearningSettings(batch_size=64), workers, torch.device("cuda"))
