"""Batches: who gets how much, and which ones are drawn ahead, and again."""

import numpy as np
import pytest

from alphago.nn.inference.hardware import torch_device
from alphago.training.batches import Batch, DeviceSample, draw_ahead, random_sample, split, to_device, weight_sum
from tests.training.small_runs import GO

SAMPLE = random_sample(GO, 20)


@pytest.mark.parametrize("threads", [1, 3, 20, 33])
def test_threads_share_a_batch(threads: int) -> None:
    """Each row once, in order, and no thread has none."""
    parts = split(SAMPLE, threads)
    assert np.array_equal(np.concatenate([part.value for part in parts]), SAMPLE.value)
    assert len(parts) == min(threads, 20)
    assert all(len(part.value) for part in parts)


@pytest.mark.gpu
def test_a_sample_on_its_way_is_the_sample() -> None:
    part = to_device(SAMPLE, torch_device("cuda"))
    assert isinstance(part, DeviceSample)
    assert weight_sum(part) == pytest.approx(SAMPLE.weight.sum())
    for mine, right in zip(part.tensors, SAMPLE, strict=True):
        assert mine.is_cuda
        assert np.array_equal(mine.cpu().numpy(), right)


def draw(generator: np.random.Generator) -> Batch:
    return generator.random(3)  # type: ignore[return-value]


def generator() -> np.random.Generator:
    return np.random.default_rng(5)


class TestDrawAhead:
    def test_batches_come_in_order(self) -> None:
        """While a batch is learned the next one is drawn already; and yet the generator draws that one next."""
        drawn, twin = generator(), generator()
        for batch in draw_ahead(4, drawn, draw, lambda: True):
            assert np.array_equal(batch, draw(twin))
            assert drawn.bit_generator.state == twin.bit_generator.state
        assert list(draw_ahead(0, drawn, draw, lambda: True)) == []
        assert drawn.bit_generator.state == twin.bit_generator.state

    @pytest.mark.parametrize("learned", [0, 1, 3])
    def test_what_is_not_learned_is_not_drawn(self, learned: int) -> None:
        drawn, twin = generator(), generator()
        batches = draw_ahead(4, drawn, draw, iter([*[True] * learned, False]).__next__)
        assert len(list(batches)) == len([draw(twin) for _ in range(learned)])
        assert drawn.bit_generator.state == twin.bit_generator.state

    def test_an_error_is_raised_by_who_learns(self) -> None:
        def broken(generator: np.random.Generator) -> Batch:
            raise ValueError("no games")

        with pytest.raises(ValueError, match="no games"):
            next(draw_ahead(1, generator(), broken, lambda: True))
