"""Batches that are drawn ahead: which ones they are, and from where they are drawn again."""

import numpy as np
import pytest
from alphago.training.drawing import Drawing


def draw(generator: np.random.Generator) -> list:
    return [generator.random(3)]


def generator() -> np.random.Generator:
    return np.random.default_rng(5)


def always() -> bool:
    return True


def test_they_are_drawn_in_order() -> None:
    drawing, twin = Drawing(generator()), generator()
    for batch in drawing.batches(4, draw, always):
        assert np.array_equal(batch, draw(twin))
    assert drawing.state == twin.bit_generator.state
    assert list(drawing.batches(0, draw, always)) == []
    assert drawing.state == twin.bit_generator.state


def test_the_state_draws_what_comes_next_again() -> None:
    """While a batch is learned the next one is drawn already."""
    drawing = Drawing(generator())
    states, batches = [], []
    for batch in drawing.batches(4, draw, always):
        states.append(drawing.state)
        batches.append(batch)
    for state, wanted in zip(states, batches[1:], strict=False):
        again = Drawing(np.random.default_rng(0))
        again.state = state
        assert np.array_equal(next(again.batches(1, draw, always)), wanted)


@pytest.mark.parametrize("learned", [0, 1, 3])
def test_what_is_not_learned_is_not_drawn(learned: int) -> None:
    drawing, twin = Drawing(generator()), generator()
    batches = drawing.batches(4, draw, iter([*[True] * learned, False]).__next__)
    assert len(list(batches)) == learned
    for _ in range(learned):
        draw(twin)
    assert drawing.state == twin.bit_generator.state


def test_an_error_is_raised_by_who_learns() -> None:
    def broken(generator: np.random.Generator) -> list:
        raise ValueError("no games")

    with pytest.raises(ValueError, match="no games"):
        next(Drawing(generator()).batches(1, broken, always))
