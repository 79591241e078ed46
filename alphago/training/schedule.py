"""Learning-rate schedules: what the rate is multiplied by as a run goes on."""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from numbers import Real

LAST_SHARE = 0.05  # of the learning rate, at the end of a cosine
# Silver et al. 2017, Methods: 0.01, then 0.001 and 0.0001 after 400 000 and 600 000 of 700 000 steps.
ALPHAGO_ZERO = ((4 / 7, 0.1), (6 / 7, 0.01))
Steps = tuple[tuple[float, float], ...]  # (progress, factor from there on), in order


def cosine(progress: float) -> float:
    """From 1 to LAST_SHARE (Loshchilov & Hutter 2017, without restarts)."""
    return LAST_SHARE + (1 - LAST_SHARE) * 0.5 * (1 + math.cos(math.pi * progress))


def constant(progress: float) -> float:
    """1 throughout."""
    return 1.0


SCHEDULES: dict[str, Callable[[float], float]] = {
    "cosine": cosine,
    "steps": lambda progress: stepped(ALPHAGO_ZERO, progress),
    "constant": constant,
}


def factor(schedule: str | Steps, progress: float) -> float:
    """What the learning rate is multiplied by; `progress` counts as 0 below 0 and as 1 above 1.

    schedule: a name of SCHEDULES, or steps as `checked` gives them.
    """
    progress = min(max(progress, 0.0), 1.0)
    return SCHEDULES[schedule](progress) if isinstance(schedule, str) else stepped(schedule, progress)


def stepped(steps: Steps, progress: float) -> float:
    """The factor of the last step that was reached, 1 before the first."""
    return next((share for begin, share in reversed(steps) if progress >= begin), 1.0)


def checked(schedule: object) -> str | Steps:
    """A schedule as settings keep it; ValueError that says what was wanted if it is none."""
    if isinstance(schedule, str):
        if schedule in SCHEDULES:
            return schedule
    elif isinstance(schedule, Sequence) and all(is_step(step) for step in schedule):
        steps = tuple((float(begin), float(share)) for begin, share in schedule)
        if all(one[0] < other[0] for one, other in pairwise(steps)):
            return steps
    raise ValueError(
        f"schedule is {', '.join(map(repr, SCHEDULES))}, or pairs of a progress from 0 to 1 and a factor from 0, "
        f"in order, got {schedule!r}"
    )


def is_step(step: object) -> bool:
    """Whether it is a progress and a factor."""
    if not isinstance(step, Sequence) or len(step) != 2 or not all(isinstance(number, Real) for number in step):
        return False
    return bool(0 <= step[0] <= 1 and 0 <= step[1] < math.inf)
