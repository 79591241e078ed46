"""Learning rates over a run."""

import pytest
from alphago.training.schedule import checked, factor


def test_a_cosine_falls_to_a_twentieth() -> None:
    wanted = {0: 1, 1 / 3: 0.05 + 0.95 * 0.75, 0.5: 0.525, 2 / 3: 0.05 + 0.95 * 0.25, 1: 0.05}
    assert {progress: factor("cosine", progress) for progress in wanted} == pytest.approx(wanted)


def test_alphago_zeros_steps() -> None:
    """0.01 up to step 400 000, 0.001 up to 600 000, 0.0001 up to 700 000, as Silver et al. 2017 have it."""
    rates = {thousands: 0.01 * factor("steps", thousands / 700) for thousands in (0, 399, 400, 599, 600, 700)}
    assert rates == pytest.approx({0: 0.01, 399: 0.01, 400: 0.001, 599: 0.001, 600: 0.0001, 700: 0.0001})


def test_steps_of_ones_own_and_none() -> None:
    steps = checked([[0.5, 0.1], [0.75, 2]])  # as a config of a run has them
    assert steps == ((0.5, 0.1), (0.75, 2.0))
    assert [factor(steps, progress) for progress in (-1, 0.49, 0.5, 0.75, 2)] == [1, 1, 0.1, 2, 2]
    assert {factor("constant", progress) for progress in (-1, 0, 0.5, 1, 2)} == {1}


@pytest.mark.parametrize(
    "schedule", ["linear", None, 0.5, [0.5, 0.1], [(0.5, 0.1), (0.5, 0.2)], [(1.5, 0.1)], [(0.5, -1)], [("a", "b")]]
)
def test_what_is_none(schedule: object) -> None:
    with pytest.raises(ValueError, match="schedule is 'cosine', 'steps', 'constant', or pairs of a progress"):
        checked(schedule)
