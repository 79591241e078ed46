"""JointLearner: several processes, each with a GPU or some cores, share every gradient step by torch.distributed.

Each process computes the gradients for its rows of a batch.  The first process changes its weights by the sums.
"""

import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

import torch
import torch.distributed as dist

from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers, one_torch_thread
from alphago.system.children import child_environment, python_command
from alphago.system.validation import check_int
from alphago.training.batches import Batch, split, to_device, weight_sum
from alphago.training.learner import CPU, Accumulated, Learner
from alphago.training.memory import Sample
from alphago.training.settings.learning_settings import LearningSettings

STANDARD_INPUT = 0
PATIENCE = timedelta(minutes=5)  # longest time that processes wait for each other
DYING = 1.0  # seconds that a process that has failed may take to end


class JointLearner:
    """A learner of several processes; its steps equal those of a Learner up to rounding.

    processes: the number of processes, this process included.  On GPUs, each process has a GPU of its own: this process
        has `device`, and the others have the next GPUs.
    The other arguments and attributes: as in Learner.
    Raises ValueError if there are fewer GPUs than processes, or PyTorch has no NCCL for GPUs; ConnectionError if a
    process ends.
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
        if device.type == "cuda" and not dist.is_nccl_available():
            raise ValueError("learners on GPUs need a PyTorch with NCCL, got one without it")
        self.own = Learner(net, settings, workers, device)
        self.folder = tempfile.TemporaryDirectory()
        self.connections: list[Connection] = []  # to the other processes
        self.subprocesses: list[subprocess.Popen[bytes]] = []  # the other processes
        for rank in range(1, processes):
            self._start(rank, device_of(rank, device), workers.count)
        with self.explain_ended_process():
            for connection in self.connections:
                connection.send_bytes(pickle.dumps((net, settings)))
            for connection in self.connections:
                connection.recv()  # the process has made its learner
            meet(self.folder.name, rank=0, processes=processes, device=device)

    def _start(self, rank: int, device: torch.device, threads: int) -> None:
        """Start another process, which runs `join`; rank, device, threads: as there."""
        own_end, its_end = Pipe()
        words = [self.folder.name, str(rank), str(self.processes), str(device), str(threads)]
        command = python_command("-m", __name__, *words)
        with its_end:
            # Ctrl-C does not reach a process in a new session, so this process can end the run in order.
            self.subprocesses.append(
                subprocess.Popen(command, stdin=its_end.fileno(), start_new_session=True, env=child_environment())
            )
        self.connections.append(own_end)

    def step(self, batch: Batch, *, progress: float = 0.0) -> dict[str, float] | None:
        """Take one gradient step on a batch, as Learner.step does."""
        batch_weight = max(weight_sum(batch), 1e-12)  # no division by 0
        own_part, *other_parts = split(batch, self.processes)
        with self.explain_ended_process():
            for connection, part in zip(self.connections, other_parts, strict=True):
                # The game is sent too, since the board may have changed since the last step.
                connection.send((self.own.net.env, part, batch_weight))
            accumulated = accumulate_together(self.own, own_part, batch_weight)
        return self.own.update(accumulated, progress=progress)

    @contextmanager
    def explain_ended_process(self) -> Iterator[None]:
        """Raise ConnectionError if the `with` block fails because another process has ended."""
        try:
            yield
        except (EOFError, OSError, RuntimeError) as error:
            for rank, process in enumerate(self.subprocesses, 1):
                with suppress(subprocess.TimeoutExpired):  # this process has not ended: look at the next one
                    process.wait(DYING)
                    ended = f"learner {rank + 1} of {self.processes} has ended ({process.returncode})"
                    raise ConnectionError(f"{ended}; the run can be resumed") from error
            raise

    def close(self) -> None:
        """End the other processes."""
        for connection in self.connections:
            with suppress(OSError):  # the process has ended
                connection.send(None)
        for process in self.subprocesses:
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


def device_of(rank: int, first: torch.device) -> torch.device:
    """Return the device of a process: the CPU, or a GPU of its own; first: the device of process 0."""
    if first.type != "cuda":
        return first
    return torch.device("cuda", ((first.index or 0) + rank) % torch.cuda.device_count())


def meet(folder: str, rank: int, processes: int, device: torch.device) -> None:
    """Join the group of processes: wait until all of them have called this function.

    folder: where the processes meet, by a file.  rank: this process's number, 0 .. `processes` - 1.
    """
    backend = "nccl" if device.type == "cuda" else "gloo"
    dist.init_process_group(backend, f"file://{folder}/group", PATIENCE, world_size=processes, rank=rank)


def flat(tensors: Iterable[torch.Tensor], like: torch.Tensor) -> torch.Tensor:
    """Join tensors to one flat tensor, with the dtype and on the device of `like`."""
    return torch.cat([tensor.detach().reshape(-1).to(like) for tensor in tensors])


def copy_parts(values: torch.Tensor, tensors: Sequence[torch.Tensor]) -> None:
    """Copy the parts of a flat tensor to `tensors`; values: as `flat` makes it of tensors of these shapes."""
    for tensor, part in zip(tensors, values.split([tensor.numel() for tensor in tensors]), strict=True):
        tensor.copy_(part.view_as(tensor))


def accumulate_together(learner: Learner, part: Batch, batch_weight: float) -> Accumulated:
    """Compute the gradients of this process's part of a batch, with the weights of process 0.

    Process 0 gets the sums over all processes, both of the gradients and of the losses.

    batch_weight: the total weight of the whole batch.
    """
    parameters = list(learner.net.parameters())
    weights = flat(parameters, like=parameters[0])
    dist.broadcast(weights, src=0)
    copy_parts(weights, [parameter.data for parameter in parameters])
    moved = to_device(part, learner.device) if isinstance(part, Sample) else part
    accumulated = learner.accumulate(moved, batch_weight)
    gradients = [gradient_of(parameter) for parameter in parameters]
    losses = {name: loss for name, loss in accumulated.metrics.items() if name.endswith("_loss")}
    sums = flat([*gradients, *losses.values()], like=weights)
    dist.reduce(sums, dst=0)
    copy_parts(sums[: len(weights)], gradients)
    accumulated.metrics.update(zip(losses, sums[len(weights) :], strict=True))
    return accumulated


def gradient_of(parameter: torch.nn.Parameter) -> torch.Tensor:
    """Return a parameter's gradient; if the loss does not depend on the parameter, make the gradient of zeros."""
    if parameter.grad is None:
        parameter.grad = torch.zeros_like(parameter)
    return parameter.grad


def join(folder: str, rank: int, processes: int, device: torch.device, threads: int) -> None:
    """Be a process of a JointLearner until process 0, which is connected to standard input, has no more batches.

    folder, rank, processes: as in `meet`.  threads: number of threads of this process.
    """
    if device.type == "cuda":
        torch.cuda.set_device(device)
    with Connection(STANDARD_INPUT) as process_0, one_torch_thread(), Workers(threads) as workers:
        net, settings = pickle.loads(process_0.recv_bytes())
        learner = Learner(net, settings, workers, device)
        process_0.send(rank)  # any answer will do: the learner is ready
        meet(folder, rank, processes, device)
        while (work := process_0.recv()) is not None:
            env, part, batch_weight = work
            if env != learner.net.env:
                learner.resize(env)
            accumulate_together(learner, part, batch_weight)
        dist.destroy_process_group()


if __name__ == "__main__":
    with suppress(EOFError):  # process 0 has ended
        join(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), torch.device(sys.argv[4]), int(sys.argv[5]))
