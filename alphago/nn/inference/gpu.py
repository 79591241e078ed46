"""`DeviceEvaluator`: a network on the GPU, for searches whose boards are there too."""

import threading
from typing import Any

import numpy as np
import torch
from torch import nn

from alphago.cuda.backend import find_backend
from alphago.env.game import GameBatch, GameEnv, Leaves, Reached
from alphago.nn.inference.cpu import NOT_FINITE, NetEvaluator, check_batch, check_room
from alphago.nn.inference.devices import find_device, memory_told, torch_device
from alphago.nn.inference.dtypes import dtype_name, wanted_dtype
from alphago.nn.inference.frozen import TRACING, frozen_parts
from alphago.nn.inference.gpu_forms import Unsuited, fastest_on, gives_results, make_form
from alphago.nn.inference.gpu_stream import Lane
from alphago.system.stopwatch import BOARDS, NET, TRANSFER


class DeviceEvaluator:
    """Priors and values for search, as NetEvaluator's, with everything but the tree on a device.

    `evaluate_leaves` takes a wave in one go: where its leaves are goes up, kernels play there and write planes into the
    network's input, a CUDA graph computes network and softmax, and priors and values come down.  Each thread has a
    stream and buffers of its own, so that groups of games overlap, and waits once a wave.  Batches are padded to
    standing sizes, for each of which the graph is captured when it is first needed.

    Batch norm is folded; everything but the results is bfloat16 on a GPU that has it.

    dtype: "float32" or "bfloat16"; None takes the faster, and so does "int8", which a CPU alone computes in.
    device: "cuda"; or "host", the kernels' build for the CPU with torch there, in float32 unless said, for tests.
    Raises ValueError for a network whose weights are not finite or which the device cannot compute, BackendMissing
    where there is no such device, and everything MemoryError where the device has no room for it.
    """

    @memory_told()
    def __init__(
        self,
        env: GameEnv,
        base_net: nn.Module,
        value: nn.Module,
        policy: nn.Module,
        *,
        dtype: str | None = None,
        device: str = "cuda",
    ) -> None:
        self.env = env
        self.device = device
        self._backend = find_backend(device)
        self._place = torch_device(device)
        # On "host" float32, in which its results are compared with the CPU's own evaluator's.
        kind = wanted_dtype("float32" if dtype is None and device == "host" else dtype, self._place)
        frozen = frozen_parts(base_net, value, policy)
        self._net, self.form, self._kind = fastest_on(frozen, env, kind, self._place)
        self._local = threading.local()

    @property
    def dtype(self) -> str:
        """What the network computes in, "float32" or "bfloat16"."""
        return dtype_name(self._kind)

    @memory_told()
    @torch.no_grad()
    def load(self, base_net: nn.Module, value: nn.Module, policy: nn.Module) -> None:
        """Takes the weights of a network like the one it was made of; nobody may be evaluating meanwhile.

        Captured graphs read the new weights from now on.  Where the form does not give this network's results, another
        one is chosen.  Raises ValueError for weights that are not finite and for another network; then it keeps what
        it had.
        """
        frozen = frozen_parts(base_net, value, policy)
        with TRACING:
            made = make_form(self.form, frozen, self.env, self._kind, self._place)
        mine, new = self._net.state_dict(), made.state_dict()
        if [(name, t.shape) for name, t in mine.items()] != [(name, t.shape) for name, t in new.items()]:
            raise ValueError("weights of another network were given to an evaluator")
        with TRACING:
            follows = gives_results(made, frozen, self.env, self._kind, self._place)
        if not follows:
            self._net, self.form, self._kind = fastest_on(frozen, self.env, self._kind, self._place)
            self._local = threading.local()  # lanes have the form that they were made for
            return
        for name, tensor in mine.items():
            tensor.copy_(new[name])

    @memory_told()
    def evaluate_leaves(self, batch: GameBatch, leaves: Leaves) -> tuple[Reached, np.ndarray, np.ndarray]:
        """A wave: see `alphago.mcts.evaluator.WaveEvaluator`.  ValueError if the network's output is not finite."""
        check_batch(batch, self.env)
        count = len(leaves.slots)
        lane = self._lane()
        with lane:
            room = lane.standing(count)
            with TRANSFER:
                sent = lane.send(leaves)
            with BOARDS:
                batch.reach(sent, room.reached(count))
                batch.legal_mask(sent.slots, room.mask_rows[:count])
                batch.planes(sent.slots, room.plane_rows[:count])
            return self._finish(lane, count)

    @memory_told()
    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        """As `NetEvaluator.evaluate`, of positions on the device or on the CPU, from where their planes go up."""
        count = len(slots)
        if count == 0:
            return
        check_batch(batch, self.env)
        check_room(self.env, count, priors, values)
        lane = self._lane()
        with lane:
            room = lane.standing(count)
            room.over.zero_()
            if batch.device == self.device:
                batch.legal_mask(slots, room.mask_rows[:count])
                batch.planes(slots, room.plane_rows[:count])
            else:
                planes = batch.planes(slots, np.empty((count, *room.planes.shape[1:]), np.float32))
                mask = batch.legal_mask(slots, np.empty((count, self.env.action_space), np.bool_))
                room.planes[:count].copy_(torch.from_numpy(planes))
                room.mask[:count].copy_(torch.from_numpy(mask))
            _, told, worth = self._finish(lane, count)
        priors[:], values[:] = told, worth

    def _finish(self, lane: Lane, count: int) -> tuple[Reached, np.ndarray, np.ndarray]:
        """Computes what stands in the lane's buffers and waits for the answer."""
        with NET:  # and what the boards' kernels still have to do before it can begin
            answer = lane.compute(count)
        if answer.broken[0]:
            raise ValueError(NOT_FINITE)
        reached = Reached(answer.over[:count], answer.movers[:count], answer.values[:count])
        return reached, answer.priors[:count], answer.values[:count]

    def _lane(self) -> Lane:
        lane: Any = getattr(self._local, "lane", None)
        if lane is None:
            lane = self._local.lane = Lane(self.env, self._net, self._kind, self._place, self._backend)
        return lane

    def __repr__(self) -> str:
        return f"DeviceEvaluator({self.env!r}, dtype={self.dtype!r}, form={self.form!r}, device={self.device!r})"


def make_evaluator(
    env: GameEnv, parts: tuple[nn.Module, nn.Module, nn.Module], dtype: str | None, device: str, exact: bool = False
) -> NetEvaluator | DeviceEvaluator:
    """The evaluator of a network's base, value and policy where it is wanted.

    device: where it computes and searches' boards should be, see `alphago.nn.inference.devices.find_device`; "auto"
        takes the CPU also for a network that the GPU cannot compute or has no room for.
    exact: see NetEvaluator; on a GPU nothing is.
    """
    where = find_device(env, device)
    if where != "cpu":
        try:
            return DeviceEvaluator(env, *parts, dtype=dtype, device=where)
        except (Unsuited, MemoryError):
            if device != "auto":
                raise
    return NetEvaluator(env, *parts, dtype=dtype, exact=exact)
