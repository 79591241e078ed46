"""A learner on two processes: each computes the gradients of half of every batch, and gloo adds them.

`python examples/two_processes.py 200` trains with 200 games.
"""

import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from datetime import timedelta
from multiprocessing.connection import Client, Listener
from typing import Any

import torch
import torch.distributed as dist

from alphago import GoEnv, NeuralNet, train
from alphago.nn.threads import Workers, one_torch_thread
from alphago.training.batches import Batch, split, weight_sum
from alphago.training.learner import Accumulated, Learner
from alphago.training.settings.learning_settings import LearningSettings


class TwoProcesses:
    """A learner whose gradients are the sums of two processes'; all else is that of a Learner in this process."""

    def __init__(self, net: NeuralNet, settings: LearningSettings, workers: Workers, device: torch.device) -> None:
        self.own = Learner(net, settings, workers, device)
        self.folder = tempfile.TemporaryDirectory()
        with Listener(f"{self.folder.name}/socket") as listener:
            self.process = subprocess.Popen([sys.executable, __file__, "--join", self.folder.name])
            self.other = listener.accept()
        self.other.send_bytes(pickle.dumps((net, settings)))
        meet(self.folder.name, 0)

    def step(self, batch: Batch, *, progress: float = 0.0) -> dict[str, float] | None:
        mine, theirs = split(batch, 2)
        self.other.send((self.own.net.env, theirs, weight_sum(batch)))
        return self.own.update(accumulate_together(self.own, mine, weight_sum(batch)), progress=progress)

    def close(self) -> None:
        self.other.send(None)
        self.process.wait()
        dist.destroy_process_group()
        self.folder.cleanup()

    factor = property(lambda self: self.own.factor, lambda self, factor: setattr(self.own, "factor", factor))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.own, name)


def meet(folder: str, rank: int) -> None:
    dist.init_process_group("gloo", f"file://{folder}/group", timedelta(minutes=1), world_size=2, rank=rank)


def flat(tensors: Iterable[torch.Tensor]) -> torch.Tensor:
    return torch.cat([tensor.detach().reshape(-1) for tensor in tensors])


def accumulate_together(learner: Learner, part: Batch, batch_weight: float) -> Accumulated:
    """Compute this process's gradients with the weights of process 0, which gets the sums of gradients and losses."""
    parameters = list(learner.net.parameters())
    sizes = [parameter.numel() for parameter in parameters]
    weights = flat(parameters)
    dist.broadcast(weights, 0)
    for parameter, values in zip(parameters, weights.split(sizes), strict=True):
        parameter.data.copy_(values.view_as(parameter))
    accumulated = learner.accumulate(part, batch_weight)
    losses = {name: loss for name, loss in accumulated.metrics.items() if name.endswith("_loss")}
    sums = flat([*(parameter.grad for parameter in parameters), *losses.values()])
    dist.reduce(sums, 0)
    for parameter, values in zip(parameters, sums[: sum(sizes)].split(sizes), strict=True):
        parameter.grad.copy_(values.view_as(parameter))
    accumulated.metrics.update(zip(losses, sums[sum(sizes) :], strict=True))
    return accumulated


def join(folder: str) -> None:
    """Be process 1 until process 0 has no more batches."""
    with Client(f"{folder}/socket") as other, one_torch_thread(), Workers(1) as workers:
        learner = Learner(*pickle.loads(other.recv_bytes()), workers)
        meet(folder, 1)
        while (work := other.recv()) is not None:
            learner.resize(work[0])
            accumulate_together(learner, *work[1:])


def main() -> None:
    if sys.argv[1:2] == ["--join"]:
        return join(sys.argv[2])
    small = {"readouts": 16, "tower_height": 2, "channels": 16, "start_training_after": 100}
    net = train(GoEnv(5), int(sys.argv[1]), learner=TwoProcesses, groups=1, device="cpu", **small)
    print(f"trained on two processes: {net}")


if __name__ == "__main__":
    main()
