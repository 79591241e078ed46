"""CUDA graphs of a function: when it is called, captured and repeated, with stand-ins for torch's graphs."""

from unittest.mock import MagicMock, Mock

import pytest
import torch

from alphago.training.batches import DeviceSample, random_sample
from alphago.training.step_graphs import WARM_UP_CALLS, CapturedGraph, Inputs
from tests.training.small_runs import GO


@pytest.fixture(autouse=True)
def replay(monkeypatch: pytest.MonkeyPatch) -> Mock:
    """Stand-ins for all of torch's CUDA; what repeats a graph is returned."""
    cuda = MagicMock()
    monkeypatch.setattr(torch, "cuda", cuda)
    return cuda.CUDAGraph.return_value.replay  # type: ignore[no-any-return]


def test_it_is_captured_once_and_repeated(replay: Mock) -> None:
    calls: list[int] = []
    work = CapturedGraph(lambda: calls.append(len(calls)) or len(calls))  # type: ignore[func-returns-value]
    results = [work() for _ in range(WARM_UP_CALLS + 5)]
    assert len(calls) == WARM_UP_CALLS + 1
    assert replay.call_count == 5
    assert results == [*range(1, WARM_UP_CALLS + 1), *[WARM_UP_CALLS + 1] * 5]
    assert work.is_captured


def test_what_cannot_be_captured_is_called(replay: Mock) -> None:
    calls: list[int] = []

    def work() -> int:
        calls.append(1)
        if len(calls) == WARM_UP_CALLS + 1:
            raise RuntimeError("operation not permitted when stream is capturing")
        return len(calls)

    captured = CapturedGraph(work)
    for _ in range(WARM_UP_CALLS + 3):
        captured()
    assert len(calls) == WARM_UP_CALLS + 4  # one of them failed, and was repeated
    assert not replay.called
    assert not captured.is_captured


def test_inputs_are_copies_with_the_strides_of_the_batch() -> None:
    sample = random_sample(GO, 2).map(torch.from_numpy)
    planes = sample.planes.contiguous(memory_format=torch.channels_last)
    batch = DeviceSample(sample._replace(planes=planes), 2.0)
    inputs = Inputs(batch)
    inputs.fill(batch, 0.25)
    assert inputs.batch.tensors.planes.stride() == planes.stride()
    for copied, given in zip(inputs.batch.tensors, batch.tensors, strict=True):
        assert torch.equal(copied, given)
        assert copied.data_ptr() != given.data_ptr()
    assert float(inputs.share) == 0.25
