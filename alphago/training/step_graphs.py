"""CUDA graphs of gradient steps: a GPU repeats a step's hundreds of small operations without waiting for Python."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import torch

from alphago.nn.inference.frozen_net import TRACING_LOCK
from alphago.training.batches import DeviceSample

WARM_UP_CALLS = 2  # calls before the capture: in these, libraries allocate workspaces, and optimizers their state
Result = TypeVar("Result")


class CapturedGraph(Generic[Result]):
    """A function on a GPU, whose operations are captured as a CUDA graph and then repeated.

    The function must read and write the same memory in every call.  The tensors that it returns are the same in every
    call, too.  A function that cannot be captured, for example because it waits for the GPU, is called as it is.

    Args:
        work: the function.
    """

    def __init__(self, work: Callable[[], Result]) -> None:
        self._work = work
        self._calls = 0
        self._graph: torch.cuda.CUDAGraph | None = None
        self._result: Any = None

    def __call__(self) -> Result:
        """Call the function: the first WARM_UP_CALLS times as it is, then by repeating its operations."""
        self._calls += 1
        if self._calls == WARM_UP_CALLS + 1:
            self._capture()
        if self._graph is None:
            return self._work()
        self._graph.replay()
        return self._result

    @property
    def is_captured(self) -> bool:
        """Whether the operations are a graph by now."""
        return self._graph is not None

    def _capture(self) -> None:
        """Capture the function's operations, if that is possible; they are not executed by this."""
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        before = torch.cuda.current_stream()
        # torch captures one graph at a time, hence the lock.  After a failed capture, the stream of the capture stays
        # the current stream, so `torch.cuda.stream(before)` restores the stream before it.
        with TRACING_LOCK, torch.cuda.stream(before):
            try:
                with torch.cuda.graph(graph, capture_error_mode="thread_local"):
                    self._result = self._work()
            except RuntimeError:  # a user's loss or part cannot be captured: its operations still run one by one
                torch.cuda.synchronize()
                return
        self._graph = graph


class Inputs:
    """The inputs of a captured step, in tensors that stay the same: a batch, and the batch's share of the loss.

    Args:
        batch: a batch of the size of all batches to come; the values in its tensors are not used.
    """

    def __init__(self, batch: DeviceSample) -> None:
        # Memory that `fill` overwrites for each step, but for the sum of weights.  No step reads that sum: it is a part
        # of `share`, which the caller of `fill` computes.
        self.batch = DeviceSample(batch.tensors.map(torch.empty_like), batch.weight_sum)
        self.share = torch.ones((), device=batch.tensors.value.device)

    def fill(self, batch: DeviceSample, share: float) -> None:
        """Copy a batch and its share of the loss into these tensors."""
        for target, source in zip(self.batch.tensors, batch.tensors, strict=True):
            if target is not None:  # a Sample may lack a target
                target.copy_(source, non_blocking=True)
        self.share.fill_(share)
