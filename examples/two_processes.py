"""Training with a learner of one's own, `train(env, learner=…)`: two processes share every gradient step.

Each process computes the gradients of its half of a batch, and process 0 changes its weights by the sums.  Here they
exchange tensors on the CPU, by torch.distributed with "gloo"; for two GPUs it would be "nccl", and a device each.
"""

import argparse
import pickle
import subprocess
import sys
import tempfile
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection

import torch
import torch.distributed as dist

from alphago import GoEnv, train
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers, one_torch_thread
from alphago.training.batches import Batch, split
from alphago.training.learner import CPU, Accumulated, Learner
from alphago.training.settings.learning_settings import LearningSettings


class JointLearner(Learner):
    """A learner whose steps equal those of one process up to rounding."""

    def __init__(self, net: NeuralNet, settings: LearningSettings, workers: Workers, device: torch.device) -> None:
        if device != CPU or settings.batch_size < 2:
            raise ValueError(f"two processes share a CPU's batches, got batch_size {settings.batch_size} on {device}")
        super().__init__(net, settings, workers, device)
        self.folder = tempfile.TemporaryDirectory()
        self.connection, its_end = Pipe()
        command = [sys.executable, __file__, "--join", self.folder.name, str(workers.count)]
        with its_end:  # Ctrl-C does not reach a process in a new session, so this process can end the run in order
            self.process = subprocess.Popen(command, stdin=its_end.fileno(), start_new_session=True)
        self.connection.send_bytes(pickle.dumps((net, settings)))
        dist.init_process_group("gloo", f"file://{self.folder.name}/group", world_size=2, rank=0)

    def accumulate(self, batch: Batch, batch_weight: float) -> Accumulated:
        own_half, other_half = split(batch, 2)
        self.connection.send((self.net.env, other_half, batch_weight))  # the board may have changed since the last step
        share_weights(self.net)
        accumulated = super().accumulate(own_half, batch_weight)
        add_up(self.net, accumulated)
        return accumulated

    def close(self) -> None:
        with suppress(OSError):  # the other process has ended
            self.connection.send(None)
        self.process.wait()
        dist.destroy_process_group()
        self.folder.cleanup()


def share_weights(net: NeuralNet) -> None:
    """Send the weights of process 0 to process 1; both call this."""
    for parameter in net.parameters():
        dist.broadcast(parameter.data, src=0)


def add_up(net: NeuralNet, accumulated: Accumulated) -> None:
    """Add the gradients and losses of process 1 to those of process 0; both call this."""
    for parameter in net.parameters():
        if parameter.grad is None:  # the loss does not depend on it
            parameter.grad = torch.zeros_like(parameter)
        dist.reduce(parameter.grad, dst=0)
    for name in sorted(name for name in accumulated.metrics if name.endswith("_loss")):
        dist.reduce(accumulated.metrics[name], dst=0)


def join(folder: str, threads: str) -> None:
    """Work as process 1 until process 0, which is connected to standard input, has no more batches."""
    with Connection(sys.stdin.fileno()) as process_0, one_torch_thread(), Workers(int(threads)) as workers:
        learner = Learner(*pickle.loads(process_0.recv_bytes()), workers)
        dist.init_process_group("gloo", f"file://{folder}/group", world_size=2, rank=1)
        while (work := process_0.recv()) is not None:
            env, half, batch_weight = work
            if env != learner.net.env:
                learner.resize(env)
            share_weights(learner.net)
            add_up(learner.net, learner.accumulate(half, batch_weight))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=200, help="games of self-play (200)")
    parser.add_argument("--join", nargs=2, help=argparse.SUPPRESS)  # for the other process
    options = parser.parse_args()
    if options.join:
        join(*options.join)
    else:
        train(GoEnv(5), options.games, tower_height=2, channels=32, device="cpu", learner=JointLearner)


if __name__ == "__main__":
    main()
