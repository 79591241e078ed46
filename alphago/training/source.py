"""GameSource: the interface between a run and the threads or machines that play its games."""

import threading
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from alphago.nn.net import NeuralNet
from alphago.records.record import GameRecord

# Called with a finished game's number and its record, in any order and from several threads at the same time.
OnGame = Callable[[int, GameRecord], object]


class GameSource(Protocol):
    """The source of a run's games on one board: threads of this process (SelfPlay), or for example other machines.

    In each iteration a run calls `publish` if the network has changed, then `begin`, then `advance` until it returns
    True, then `take`.  Between two moves it may call `state`, from which another source of the same class and settings
    can continue.  A run makes a source for each stage, and closes it when the stage or `train` ends.

    Attributes:
        plays: whether the games are new, so that the run's folder keeps them.
    """

    plays: bool = True

    def publish(self, net: NeuralNet, dtype: str | None = None) -> None:
        """Let the next iterations use a snapshot of a network.

        Args:
            dtype: dtype of inference, as in NetEvaluator.
        """

    def begin(
        self,
        plies: int | None,
        readouts: int | None = None,
        side_by_side: int | None = None,
        resign_threshold: float | None = None,
    ) -> None:
        """Begin an iteration, whose moves the next calls of `advance` play.

        Args:
            plies: moves to play in each game; None for all games to their ends.
            readouts: simulations per move; None for the settings' number.
            side_by_side: largest number of games in progress; None for the settings' `games_in_flight`.
            resign_threshold: a player resigns if the root's value is below it; None for the settings' threshold.
        """

    def advance(self, stop: threading.Event | None = None, until: float | None = None) -> bool:
        """Play until the iteration's moves are played, `stop` is set, or time.monotonic() reaches `until`.

        Returns:
            Whether all the iteration's moves are played.
        """

    def take(self) -> list[GameRecord]:
        """Return the games finished since the last call, in the order of their numbers."""

    def time_spent(self) -> dict[str, float]:
        """Return the seconds of each kind of work since the last call, summed over all threads."""
        return {}

    def metrics(self) -> Mapping[str, Any]:
        """Return the source's metrics for an iteration's row of metrics.jsonl, by name."""
        return {}

    def news(self) -> list[str]:
        """Return sentences to report, about what happened since the last call."""
        return []

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Return arrays by name and plain data for `restore`; they include the unfinished games."""

    def restore(self, arrays: Mapping[str, np.ndarray], data: Mapping[str, Any]) -> None:
        """Continue from the results of `state`; the caller must have called `publish` before."""

    def close(self) -> None:
        """Release threads, processes and connections; no more games can be played."""
        return  # a body, so that the method is not abstract

    @property
    def begun(self) -> int:
        """A number greater than the numbers of all games begun so far."""

    @property
    def moves(self) -> int:
        """The number of moves played so far."""

    @property
    def readouts_done(self) -> int:
        """The number of simulations and of evaluations of root positions so far."""


# (env, settings, numbers of the games, workers, seed=…, device=…) -> GameSource
MakeSource = Callable[..., GameSource]
