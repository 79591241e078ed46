"""JointLearner: several processes, each with a GPU or some cores, share every gradient step by torch.distributed.

Each process computes the gradients of its rows of a batch, and their sums change the weights of the first.
"""

import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from datetime import timedelta
from multiprocessing.connection import Client, Connection, Listener
from typing import Any

import torch
import torch.distributed as dist

from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers, one_torch_thread
from alphago.system.validation import check_int
from alphago.training.batches import Batch, split, to_device, weight_sum
from alphago.training.learner import CPU, Accumulated, Learner
from alphago.training.memory import Sample
from alphago.training.settings.learning_settings import LearningSettings

PATIENCE = timedelta(minutes=5)  # for the slowest process of a step


class JointLearner:
    """A learner of several processes; steps equal those of a Learner up to rounding.  For other attributes see Learner.

    processes: the number of processes, this one included.  On GPUs each has the one of its number.
    The others: as in Learner.
    Raises ValueError if there are fewer GPUs.
    """

    device = CPU  # where batches are to be: each process moves its own rows

    def __init__(
        self,
        net: NeuralNet,
        settings: LearningSettings,
        workers: Workers,
        device: torch.device = CPU,
        *,
        processes: int,
    ) -> None:
        self.processes = check_int("learners", processes, 1, settings.batch_size)
        gpus = torch.cuda.device_count()
        if device.type == "cuda" and processes > gpus:
            raise ValueError(f"learners must be at most the number of GPUs, {gpus}, got {processes}")
        self.own = Learner(net, settings, workers, device)
        self.folder = tempfile.TemporaryDirectory()
        self.others: list[Connection] = []
        self.started: list[subprocess.Popen[bytes]] = []
        with Listener(f"{self.folder.name}/socket") as listener:
            for rank in range(1, processes):
                words = [self.folder.name, str(rank), str(processes), device.type, str(workers.count)]
                self.started.append(subprocess.Popen([sys.executable, "-m", __name__, *words]))
                self.others.append(listener.accept())
                self.others[-1].send_bytes(pickle.dumps((net, settings)))
        meet(self.folder.name, 0, processes, device)

    def step(self, batch: Batch, *, progress: float = 0.0) -> dict[str, float] | None:
        """Take one gradient step on a batch, as Learner.step does."""
        total = max(weight_sum(batch), 1e-12)
        mine, *theirs = split(batch, self.processes)
        for other, part in zip(self.others, theirs, strict=True):
            other.send((self.own.net.env, part, total))
        return self.own.update(accumulate_together(self.own, mine, total), progress=progress)

    def close(self) -> None:
        """End the other processes."""
        for other in self.others:
            other.send(None)
        for process in self.started:
            process.wait()
        dist.destroy_process_group()
        self.folder.cleanup()

    @property
    def factor(self) -> float:
        return self.own.factor

    @factor.setter
    def factor(self, factor: float) -> None:
        self.own.factor = factor

    def __getattr__(self, name: str) -> Any:
        return getattr(self.own, name)


def meet(folder: str, rank: int, processes: int, device: torch.device) -> None:
    """Wait until all processes are there."""
    backend = "nccl" if device.type == "cuda" else "gloo"
    dist.init_process_group(backend, f"file://{folder}/group", PATIENCE, world_size=processes, rank=rank)


def flat(tensors: Iterable[torch.Tensor], like: torch.Tensor) -> torch.Tensor:
    """Return tensors as one, with the dtype and on the device of `like`."""
    return torch.cat([tensor.detach().reshape(-1).to(like) for tensor in tensors])


def accumulate_together(learner: Learner, part: Batch, batch_weight: float) -> Accumulated:
    """Compute this process's gradients with the weights of process 0, which gets the sums of gradients and losses."""
    parameters = list(learner.net.parameters())
    sizes = [parameter.numel() for parameter in parameters]
    weights = flat(parameters, parameters[0])
    dist.broadcast(weights, 0)
    for parameter, values in zip(parameters, weights.split(sizes), strict=True):
        parameter.data.copy_(values.view_as(parameter))
    moved = to_device(part, learner.device) if isinstance(part, Sample) else part
    accumulated = learner.accumulate(moved, batch_weight)
    losses = {name: loss for name, loss in accumulated.metrics.items() if name.endswith("_loss")}
    sums = flat([*(gradient_of(parameter) for parameter in parameters), *losses.values()], weights)
    dist.reduce(sums, 0)
    for parameter, values in zip(parameters, sums[: sum(sizes)].split(sizes), strict=True):
        gradient_of(parameter).copy_(values.view_as(parameter))
    accumulated.metrics.update(zip(losses, sums[sum(sizes) :], strict=True))
    return accumulated


def gradient_of(parameter: torch.nn.Parameter) -> torch.Tensor:
    """Return a parameter's gradient, which is made of zeros where the loss does not depend on it."""
    if parameter.grad is None:
        parameter.grad = torch.zeros_like(parameter)
    return parameter.grad


def join(folder: str, rank: int, processes: int, kind: str, threads: int) -> None:
    """Be a process of a JointLearner until the first one has no more batches."""
    device = torch.device(kind, rank) if kind == "cuda" else torch.device(kind)
    with Client(f"{folder}/socket") as first, one_torch_thread(), Workers(threads) as workers:
        net, settings = pickle.loads(first.recv_bytes())
        learner = Learner(net, settings, workers, device)
        meet(folder, rank, processes, device)
        while (work := first.recv()) is not None:
            env, part, total = work
            if env != learner.net.env:
                learner.resize(env)
            accumulate_together(learner, part, total)
        dist.destroy_process_group()


if __name__ == "__main__":
    join(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], int(sys.argv[5]))
