"""Parts of a batch: samples in memory, and on their way to the device that learns from them."""

from typing import NamedTuple

import numpy as np
import torch

from alphago.training.memory import Sample


class DeviceSample(NamedTuple):
    """A Sample on a device, field for field."""

    planes: torch.Tensor
    policy: torch.Tensor
    value: torch.Tensor
    weight: torch.Tensor
    score: torch.Tensor
    ownership: torch.Tensor
    ended: torch.Tensor
    mass: float  # the sum of the weights, which nobody has to wait for


Part = Sample | DeviceSample


def sent(sample: Sample, place: torch.device) -> Part:
    """The sample where it is learned from; on a CPU as it is, on a GPU on its way when this returns."""
    if place.type == "cpu":
        return sample

    def send(array: np.ndarray) -> torch.Tensor:
        tensor = torch.from_numpy(array)
        if array.ndim == 4:
            tensor = tensor.contiguous(memory_format=torch.channels_last)
        return tensor.pin_memory().to(place, non_blocking=True)

    return DeviceSample(**{name: send(array) for name, array in sample._asdict().items()}, mass=mass(sample))


def mass(part: Part) -> float:
    """The sum of a part's weights."""
    return part.mass if isinstance(part, DeviceSample) else float(part.weight.sum())


def cut(part: Part, thread: int, threads: int) -> Part | None:
    """A thread's share of a part of a batch; None where there is nothing for it.  The first one always has some."""
    if threads == 1:
        return part
    assert isinstance(part, Sample)  # a device has one replica
    count = len(part.value)
    threads = min(threads, count)
    if thread >= threads:
        return None
    return Sample(*(array[count * thread // threads : count * (thread + 1) // threads] for array in part))
