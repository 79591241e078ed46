"""`DeviceEvaluator`: a frozen copy of a network on the GPU, for searches whose boards are on the GPU too."""

import threading
from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import Any

import numpy as np
import torch

from alphago.cuda.backend import find_backend
from alphago.env.batch import GameBatch
from alphago.nn.inference.cpu import NOT_FINITE, NetEvaluator, check_arguments
from alphago.nn.inference.frozen_net import TRACING_LOCK, Frozen, check_finite, frozen_parts, state_shapes
from alphago.nn.inference.gpu_forms import (
    Unsupported,
    agrees_with,
    choose_gpu_form,
    gpu_state,
    is_out_of_memory,
    translate_out_of_memory,
)
from alphago.nn.inference.gpu_stream import GpuStream
from alphago.nn.inference.hardware import choose_dtype, dtype_name, find_device, torch_device
from alphago.nn.parts import eval_mode
from alphago.system import stopwatch


class DeviceEvaluator:
    """An evaluator for search with boards and network on a device: a frozen copy of a network.

    It is a `WaveEvaluator`: kernels write planes into the network's input on the device, which then computes network
    and softmax.
    Each thread has its own stream and buffers, so the waves of several threads overlap.  Batches are padded to fixed
    sizes; a CUDA graph is captured when its size first occurs.

    Batch norm is folded into the convolutions.  Results are float32.

    All methods raise MemoryError if the device's memory is exhausted.

    Args:
        net: the NeuralNet.
        dtype: "float32" or "bfloat16"; None or "int8" for the faster one.
        device: "cuda"; or "host", for tests, which computes the kernels and the network on the CPU, by default in
            float32.

    Raises:
        ValueError: for a network whose weights are not finite or that the device cannot compute.
        BackendMissing: if there is no such device.
    """

    @translate_out_of_memory()
    def __init__(self, net: Any, *, dtype: str | None = None, device: str = "cuda") -> None:
        self.env, self.device = net.env, device
        self.made_for = net.env, dtype, device  # for `make_evaluator`
        self._backend, self._torch_device = find_backend(device), torch_device(device)
        # The default on "host" is float32, in which tests compare it with NetEvaluator.
        preferred = choose_dtype("float32" if dtype is None and device == "host" else dtype, self._torch_device)
        frozen = frozen_parts(net.base_net, net.value, net.policy)
        self._shapes = state_shapes(frozen)
        self._net, self.form, self._dtype = choose_gpu_form(frozen, net.env, preferred, self._torch_device)
        self._local = threading.local()  # each thread's GpuStream

    @property
    def dtype(self) -> str:
        """The dtype in which the network computes: "float32" or "bfloat16"."""
        return dtype_name(self._dtype)

    @translate_out_of_memory()
    @torch.no_grad()
    def load(self, net: Any) -> None:
        """Replace the weights by those of another network with the same names and shapes.

        Captured CUDA graphs use the new weights from then on.  If the current form (one of GPU_FORMS) does not compute
        the new network correctly, another form is chosen.  No thread may be evaluating during the call.

        Args:
            net: the new NeuralNet.

        Raises:
            ValueError: if the new weights are not finite or have other shapes; the old ones are kept.
        """
        source = Frozen(net.base_net, net.value, net.policy)  # of the modules themselves, whose weights are only read
        if state_shapes(source) != self._shapes:
            raise ValueError("the weights must have the names and shapes of the evaluator's network, got others")
        check_finite(source)
        with TRACING_LOCK, eval_mode(source):
            agrees = self._take_weights(source)
        if not agrees:
            frozen = frozen_parts(net.base_net, net.value, net.policy)
            self._net, self.form, self._dtype = choose_gpu_form(frozen, self.env, self._dtype, self._torch_device)
            self._local = threading.local()  # existing streams use the old form

    def _take_weights(self, source: Frozen) -> bool:
        """Copy the weights of `source`, a network in eval mode, into `_net`; return whether both then compute the same.

        If they do not, `_net` must be made anew, perhaps in another form.
        """
        tensors = self._net.state_dict()
        try:
            state = gpu_state(self._net, source)
            # In place, since the captured CUDA graphs read these tensors.
            torch._foreach_copy_(list(tensors.values()), [state[name] for name in tensors])
            return agrees_with(source, self._net, self.env, self._dtype, self._torch_device)
        except Exception as error:  # custom modules raise anything; the traced graph may lack tensors of `source`
            if is_out_of_memory(error):
                raise
            return False

    @translate_out_of_memory()
    def evaluate(self, batch: GameBatch, slots: Any, priors: Any, values: Any) -> None:
        """Compute priors and values of positions on the device or on the CPU; see `NetEvaluator.evaluate`.

        If `priors` and `values` are NumPy arrays, the call waits for the results and checks them.  If they are arrays
        on the device, the computation is only queued, and values are NaN where the network's output is not finite.

        Raises:
            ValueError: if the arrays are NumPy's and the network's output is not finite.
        """
        count = len(slots)
        if count == 0:
            return
        check_arguments(self.env, batch, count, priors, values)
        with self.stream() as stream:
            padded = stream.padded(count)
            if batch.device == self.device:
                with stopwatch.BOARDS:  # BOARDS and NET are the kinds of work whose time a Stopwatch counts
                    batch.observe(slots, *padded.rows(count))  # writes legal actions and planes into the rows
            else:
                planes = batch.planes(slots, np.empty((count, *padded.planes.shape[1:]), np.float32))
                mask = batch.legal_mask(slots, np.empty((count, self.env.action_space), np.bool_))
                padded.planes[:count].copy_(torch.from_numpy(planes))
                padded.mask[:count].copy_(torch.from_numpy(mask))
            with stopwatch.NET:
                stream.compute(padded)
                for out, result in ((priors, padded.priors[:count]), (values, padded.values[:count])):
                    torch.as_tensor(out).copy_(result)  # `as_tensor` shares the memory of `out`
        if isinstance(values, np.ndarray) and not np.isfinite(values).all():
            raise ValueError(NOT_FINITE)

    @translate_out_of_memory()
    def repeat(self, steps: Callable[[], None], graphs: dict[Any, Any], key: Hashable) -> None:
        """Run steps on this thread's stream, on a GPU as a CUDA graph; see `WaveEvaluator.repeat`."""
        self.stream().replay_or_capture(steps, graphs, key)

    def stream(self) -> GpuStream:
        """Return the current thread's stream, created on the first call."""
        stream: Any = getattr(self._local, "stream", None)
        if stream is None:
            stream = self._local.stream = GpuStream(self.env, self._net, self._dtype, self._torch_device, self._backend)
        return stream

    def __repr__(self) -> str:
        return f"DeviceEvaluator({self.env!r}, dtype={self.dtype!r}, form={self.form!r}, device={self.device!r})"


def make_evaluator(
    net: Any, dtype: str | None, device: str, exact: bool = False, before: object = None
) -> NetEvaluator | DeviceEvaluator:
    """Return an evaluator of a network.

    Args:
        net: the NeuralNet.
        dtype: as in NetEvaluator and DeviceEvaluator.
        device: the device of the network and of the searches' boards, see `alphago.nn.inference.hardware.find_device`.
            With "auto" it is also the CPU if the GPU cannot compute the network or has too little memory.
        exact: as in NetEvaluator; ignored on a GPU.
        before: on a GPU, an earlier evaluator for a network with the same shapes, game and dtype.  It gets the weights
            of this network and is returned, so that its buffers and CUDA graphs remain in use.  Any other object is
            ignored.
    """
    where = find_device(net.env, device)
    if where != "cpu":
        try:
            if isinstance(before, DeviceEvaluator) and before.made_for == (net.env, dtype, where):
                with suppress(ValueError):  # a network of other shapes
                    before.load(net)
                    return before
            return DeviceEvaluator(net, dtype=dtype, device=where)
        except (Unsupported, MemoryError):
            if device != "auto":  # with "auto" the CPU computes the network
                raise
    return NetEvaluator(net, dtype=dtype, exact=exact)
