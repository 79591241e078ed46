"""A learner of two processes: its weights are those of one."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

from alphago.mcts.evaluator import HashEvaluator
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers, one_torch_thread
from alphago.training.call.plan import seeded
from alphago.training.call.selfplay_call import selfplay
from alphago.training.joint_learner import JointLearner, device_of
from alphago.training.learner import CPU, Learner
from alphago.training.memory import ReplayMemory, Sample
from alphago.training.settings.learning_settings import LearningSettings
from tests.training.small_runs import GO

SETTINGS = LearningSettings(learning_rate=0.02, bfloat16=False)


def trained(
    make: Callable[..., Any], threads: int, batches: list[Sample], device: torch.device = CPU
) -> tuple[NeuralNet, list[float]]:
    """The network after a gradient step on each batch, and the losses of these steps; then a process is killed."""
    with seeded(1):
        net = NeuralNet(GO, tower_height=1, channels=8)
    with one_torch_thread(), Workers(threads) as workers:
        learner = make(net, SETTINGS, workers, device)
        try:
            rows = [learner.step(batch) for batch in batches]
            for process in getattr(learner, "started", []):
                process.kill()
                with pytest.raises(ConnectionError, match=r"learner 2 of 2 has ended \(-9\); the run can be resumed"):
                    learner.step(batches[0])
        finally:
            learner.close()
        return learner.net, [row["policy_loss"] + row["value_loss"] for row in rows if row is not None]


@pytest.mark.parametrize(
    "device",
    [
        CPU,
        pytest.param(
            torch.device("cuda"),
            marks=[pytest.mark.gpu, pytest.mark.skipif(torch.cuda.device_count() < 2, reason="two GPUs are needed")],
        ),
    ],
    ids=str,
)
def test_equal_to_one_process(device: torch.device) -> None:
    """Within rounding; and the weights have changed, and so have those that the other process is given."""
    memory = ReplayMemory(GO)
    memory.add(selfplay(GO, HashEvaluator(), 4, 6, groups=1, device="cpu", seed=0))
    batches = [memory.sample(31, np.random.default_rng(number)) for number in range(5)]
    one, expected = trained(Learner, 2, batches)
    two, found = trained(partial(JointLearner, processes=2), 1, batches, device)
    assert found == pytest.approx(expected, rel=1e-4)
    assert found[-1] < found[0]
    for mine, yours in zip(one.parameters(), two.parameters(), strict=True):
        assert torch.allclose(mine, yours.cpu(), atol=1e-5)


@pytest.mark.parametrize(
    ("gpus", "nccl", "sentence"),
    [
        (1, True, "learners must be at most the number of GPUs, 1, got 2"),
        (2, False, "learners on GPUs need a PyTorch with NCCL, got one without it"),
    ],
)
def test_gpus_that_cannot_share(monkeypatch: pytest.MonkeyPatch, gpus: int, nccl: bool, sentence: str) -> None:
    """Before anything is begun."""
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    monkeypatch.setattr(torch.distributed, "is_nccl_available", lambda: nccl)
    with Workers(1) as workers, pytest.raises(ValueError, match=sentence):
        JointLearner(NeuralNet(GO), SETTINGS, workers, torch.device("cuda"), processes=2)


@pytest.mark.gpu
def test_more_processes_than_gpus() -> None:
    """NCCL has at most one process on each GPU."""
    gpus = torch.cuda.device_count()
    with (
        Workers(1) as workers,
        pytest.raises(ValueError, match=f"learners must be at most the number of GPUs, {gpus}, got {gpus + 1}"),
    ):
        JointLearner(NeuralNet(GO), SETTINGS, workers, torch.device("cuda"), processes=gpus + 1)


@pytest.mark.parametrize(
    ("first", "rank", "expected"), [("cpu", 1, "cpu"), ("cuda", 1, "cuda:1"), ("cuda:2", 1, "cuda:0")]
)
def test_each_process_has_a_gpu(monkeypatch: pytest.MonkeyPatch, first: str, rank: int, expected: str) -> None:
    """That of the first one, and those that follow it."""
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    assert device_of(rank, torch.device(first)) == torch.device(expected)
