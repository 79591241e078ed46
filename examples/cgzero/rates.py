"""Learning rates by generation: factors of the run's learning rate that change as a pool's generations go by."""

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from pool import SamplePool

from alphago.env.game import GameEnv
from alphago.nn.net import NeuralNet
from alphago.system.validation import check_float, check_int, setting, settings
from alphago.training.judge import Judge
from alphago.training.run import Run

Rates = tuple[tuple[int, float], ...]  # pairs (first generation, factor from this generation on), in order


@settings
class GenerationRates:
    """Settings of a RateKeeper.  The defaults are CGZero's, for a learning rate of 0.001 with momentum."""

    rates: Rates = setting(
        "factors of the learning rate, as pairs (first generation, factor); the run's `schedule` applies as well",
        default=((0, 8.0), (1, 6.0), (5, 2.0), (10, 1.0)),
    )

    chooses = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "rates", check_rates(self.rates))

    def make_judge(self, env: GameEnv, net: NeuralNet, folder: Path) -> "RateKeeper":
        return RateKeeper(self)

    def factor(self, generation: int) -> float:
        """Return the factor of the learning rate in a generation, counted from 0."""
        return next(factor for first, factor in reversed(self.rates) if generation >= first)


class RateKeeper(Judge[Run]):
    """A judge without verdicts, which is asked between two iterations, and then sets the next generation's factor."""

    name = "rates"
    decides = False

    def __init__(self, rates: GenerationRates) -> None:
        self.rates = rates
        self.present = 1.0  # the learner's factor

    def due(self, run: Run) -> bool:
        """Set the factor of the next generation, and return False, since there is nothing to judge."""
        memory = run.stage.memory
        if not isinstance(memory, SamplePool):
            raise TypeError(f"GenerationRates need the generations of memory=Pool(), got {memory!r}")
        if not run.batches_due:  # there are some if a run stopped within a generation, whose factor stays
            self.present = run.learner.factor = self.rates.factor(memory.current.generation)
        return False

    def judge(self, run: Run, stop: threading.Event) -> None:
        """Never called, since `due` is always False."""

    def state(self) -> dict[str, Any]:
        return {"factor": self.present}

    def restore(self, run: Run, tensors: Mapping[str, torch.Tensor], state: Mapping[str, Any] | None) -> None:
        if state is not None:
            self.present = run.learner.factor = state["factor"]


def check_rates(given: Any) -> Rates:
    """Return pairs (first generation, factor) as tuples.

    Raises:
        ValueError: unless the generations rise from 0 on, and the factors are numbers >= 0.
    """
    try:
        rates = tuple((check_int("", generation, 0), check_float("", factor, 0)) for generation, factor in given)
    except (TypeError, ValueError):
        rates = ()  # refused below, by a message about all pairs
    numbers = [generation for generation, _ in rates]
    if not rates or numbers[0] != 0 or numbers != sorted(set(numbers)):
        raise ValueError(
            "rates must be pairs (generation, factor >= 0) with rising generations from 0 on, such as "
            f"((0, 8), (10, 1)), got {given!r}"
        )
    return rates
