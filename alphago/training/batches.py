"""Batches: draw them from memory in a thread, move them to the learner's device, divide them among threads."""

import copy
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import torch

from alphago.env.game import GameEnv
from alphago.system import stopwatch
from alphago.training.memory import Sample


class DeviceSample(NamedTuple):
    """A Sample on a GPU, and the sum of its weights."""

    tensors: Sample[torch.Tensor]
    weight_sum: float  # a Python float, so that reading it does not wait for the GPU


Batch = Sample[np.ndarray] | DeviceSample


def to_device(sample: Sample[np.ndarray], device: torch.device) -> Batch:
    """Return the sample unchanged for a CPU, or an asynchronous copy of it on a GPU."""
    if device.type == "cpu":
        return sample

    def send(array: np.ndarray) -> torch.Tensor:
        # Only from pinned memory is a copy asynchronous.
        tensor = torch.from_numpy(array).pin_memory().to(device, non_blocking=True)
        # Planes become channels-last on the GPU, not before: a CPU does this slowly, since it jumps about in memory.
        return tensor.contiguous(memory_format=torch.channels_last) if array.ndim == 4 else tensor

    # The weights are summed here, from the CPU's arrays: a sum on the GPU would have to be waited for.
    return DeviceSample(sample.map(send), weight_sum(sample))


def to_tensors(batch: Batch) -> Sample[torch.Tensor]:
    """Return a batch as tensors, without copying it."""
    return batch.tensors if isinstance(batch, DeviceSample) else batch.map(torch.as_tensor)


def weight_sum(batch: Batch) -> float:
    """Return the sum of the sample weights in a batch."""
    return batch.weight_sum if isinstance(batch, DeviceSample) else float(batch.weight.sum())


def split(batch: Batch, parts: int) -> list[Batch]:
    """Divide the rows of a batch, in order, into batches of nearly equal size, none of them empty; nothing is copied.

    Args:
        parts: number of batches; a batch with fewer rows is divided into single rows.
    """
    if parts == 1:
        return [batch]
    assert isinstance(batch, Sample)  # a batch on a GPU is never divided
    parts = min(parts, len(batch.value))
    bounds = [len(batch.value) * part // parts for part in range(parts + 1)]
    # `itemgetter(slice(begin, end))` is the function that returns array[begin:end].
    return [batch.map(itemgetter(slice(begin, end))) for begin, end in pairwise(bounds)]


def draw_ahead(
    count: int,
    generator: np.random.Generator,
    draw: Callable[[np.random.Generator], Batch],
    may_go_on: Callable[[], bool],
) -> Iterator[Batch]:
    """Yield `count` random batches, or fewer if `may_go_on` returns False; a thread draws the next one meanwhile.

    Args:
        generator: the random generator.  The thread draws with a copy of it.  Whenever a batch is yielded, `generator`
            gets the state that the copy had after drawing this batch.  So a batch that was drawn ahead and not yielded
            will be drawn again.
        draw: function that draws a batch with the generator that it is given; the thread calls it.
        may_go_on: function that is called before each batch; if it returns False, no more batches follow.
    """
    ahead = copy.deepcopy(generator)

    def draw_next() -> tuple[Batch, Mapping[str, Any]]:
        """Return the next batch, and the generator's state after drawing it."""
        return draw(ahead), ahead.bit_generator.state

    with ThreadPoolExecutor(1) as drawer:
        drawing = drawer.submit(draw_next) if count else None  # the next batch; None after the last
        while drawing is not None and may_go_on():
            with stopwatch.SAMPLING:  # the time that the caller waits for the thread
                batch, generator.bit_generator.state = drawing.result()
            count -= 1
            drawing = drawer.submit(draw_next) if count else None
            yield batch


def random_sample(env: GameEnv, count: int) -> Sample:
    """Return a Sample of `count` random rows, the same on every call."""
    generator = np.random.default_rng(1)
    points = env.plane_shape[0] * env.plane_shape[1] if env.has_ownership else 0
    return Sample(
        planes=generator.integers(0, 2, (count, env.planes, *env.plane_shape)).astype(np.float32),
        policy=generator.dirichlet(np.full(env.action_space, 0.1), count).astype(np.float32),  # few likely moves
        value=generator.uniform(-1, 1, count).astype(np.float32),
        weight=np.ones(count, np.float32),
        score=np.zeros(count, np.float32),
        ownership=generator.integers(-1, 2, (count, points)).astype(np.int8),  # -1, 0 or 1
        ended=np.ones(count, np.float32),
    )
