"""GpuSeats: the evaluators on a worker's GPU, which are reused with the weights of other versions of the network."""

import contextlib
import threading
from collections.abc import Iterator
from typing import NamedTuple

from alphago.nn.inference.gpu import DeviceEvaluator
from alphago.nn.net import NeuralNet

MOST_FREE = 8  # evaluators kept for later tasks


class Seat(NamedTuple):
    """An evaluator, and the network whose weights it has."""

    evaluator: DeviceEvaluator
    kind: tuple[object, ...]  # game, config of the network, dtype and device: the weights of such networks fit it
    net: NeuralNet


class GpuSeats:
    """Evaluators that tasks use one after another.

    A new evaluator takes seconds: it chooses a form, and captures a CUDA graph for each size of batch.  New weights
    take milliseconds.
    """

    def __init__(self) -> None:
        self.free: list[Seat] = []  # the most recently used last
        self.lock = threading.Lock()

    @contextlib.contextmanager
    def taken(self, net: NeuralNet, dtype: str | None, device: str) -> Iterator[DeviceEvaluator]:
        """Lend an evaluator of a network; no other task uses this evaluator within the `with` block.

        dtype, device: as in DeviceEvaluator.
        """
        kind = (net.env, net.config, dtype, device)
        with self.lock:
            fitting = [seat for seat in self.free if seat.kind == kind]
            seat = max(fitting, key=lambda seat: seat.net is net, default=None)  # rather a seat with these weights
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
