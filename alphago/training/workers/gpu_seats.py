"""GpuSeats: the evaluators on a worker's GPU, which take the weights of one version of the network after another."""

import contextlib
import threading
from collections.abc import Iterator
from typing import NamedTuple

from alphago.nn.inference.gpu import DeviceEvaluator
from alphago.nn.net import NeuralNet

MOST_FREE = 8  # evaluators kept for later tasks


class Seat(NamedTuple):
    """An evaluator, what it was made for, and the network whose weights it has."""

    evaluator: DeviceEvaluator
    kind: tuple[object, ...]
    net: NeuralNet


class GpuSeats:
    """Evaluators that tasks use one after another.

    A new evaluator takes seconds: it chooses a form, and captures a CUDA graph for each size of batch.  New weights
    take milliseconds.
    """

    def __init__(self) -> None:
        self.free: list[Seat] = []  # the latest used last
        self.lock = threading.Lock()

    @contextlib.contextmanager
    def taken(self, net: NeuralNet, dtype: str | None, device: str) -> Iterator[DeviceEvaluator]:
        """Lend an evaluator of a network, which no other task uses within the `with` block.

        dtype, device: as in DeviceEvaluator.
        """
        kind = (net.env, net.config, dtype, device)
        with self.lock:
            alike = [seat for seat in self.free if seat.kind == kind]
            seat = next((seat for seat in alike if seat.net is net), alike[-1] if alike else None)
            self.free = [other for other in self.free if other is not seat]
        if seat is None:
            evaluator = DeviceEvaluator(net.env, net.base_net, net.value, net.policy, dtype=dtype, device=device)
        else:
            evaluator = seat.evaluator
            if seat.net is not net:
                evaluator.load(net.base_net, net.value, net.policy)
        try:
            yield evaluator
        finally:
            with self.lock:
                self.free = [*self.free, Seat(evaluator, kind, net)][-MOST_FREE:]


SEATS = GpuSeats()
