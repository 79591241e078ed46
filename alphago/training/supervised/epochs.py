"""Given games as a run's source of games, so that the loop of self-play learns from them."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from alphago.env.game import GameEnv
from alphago.nn.net import NeuralNet
from alphago.records.record import GameRecord
from alphago.system.stopwatch import SAMPLING
from alphago.training.source import GameSource
from alphago.training.supervised.dataset_games import GivenGames


class Epochs(GameSource):
    """The source that takes each given game once an epoch, in a new random order, instead of playing games.

    The games taken determine the number of gradient steps and the metrics.  The samples come from all games.

    given: the games.  numbers: the numbers of the games to take, counted through all epochs.
    seed: the run's seed.  The other arguments of SelfPlay are not used.
    """

    plays = False
    moves = readouts_done = 0

    def __init__(
        self, given: GivenGames, env: Any, settings: Any, numbers: range, *_: Any, seed: int, **__: Any
    ) -> None:
        self.given = given
        self.numbers = numbers
        self.seed = seed
        self.next = numbers.start
        self.taken: list[GameRecord] = []

    @property
    def begun(self) -> int:
        return self.next

    def number_of(self, game: int) -> int:
        """Return the number of the given game that is the run's game number `game`."""
        epoch, place = divmod(game, len(self.given.lengths))
        return int(order_of(self.seed, epoch, len(self.given.lengths))[place])

    def publish(self, net: NeuralNet, dtype: str | None = None) -> None:
        """Do nothing, since no network plays."""

    @SAMPLING
    def begin(self, plies: int | None, *_: Any, side_by_side: int | None = None, **__: Any) -> None:
        """Take the next `side_by_side` games."""
        before = self.next
        self.next = min(before + (side_by_side or 1), self.numbers.stop)
        self._take(self.next - before)
        self.moves += sum(map(len, self.taken))

    def _take(self, count: int) -> None:
        """Let `take` return the last `count` of the games begun."""
        self.taken = [self.given.record(self.number_of(game)) for game in range(self.next - count, self.next)]

    def go_on(self, stop: threading.Event | None = None, until: float | None = None) -> bool:
        return True

    def take(self) -> list[GameRecord]:
        taken, self.taken = self.taken, []
        return taken

    def time_spent(self) -> dict[str, float]:
        return {}

    def metrics(self) -> dict[str, Any]:
        return {"readouts": None}

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Return which game is next, the number of games before it that `take` has not returned, and a hash of all."""
        return {}, {"next": self.next, "taken": len(self.taken), "digest": self.given.digest}

    def restore(self, arrays: Mapping[str, np.ndarray], data: Mapping[str, Any]) -> None:
        """Continue from a state; raise ValueError if it was saved by a run on other games."""
        if data["digest"] != self.given.digest:
            raise ValueError(
                f"dataset must be the run's own, of digest {data['digest']}, got one of digest "
                f"{self.given.digest}: another folder begins a new run, and model=… gives it this one's network"
            )
        self.next = data["next"]
        self._take(data["taken"])


@lru_cache(2)
def order_of(seed: int, epoch: int, games: int) -> np.ndarray:
    """Return the order in which an epoch takes the given games, int64 [games]."""
    return np.random.default_rng([seed, epoch]).permutation(games)


@dataclass(frozen=True)
class GivenMemory:
    """The settings of a memory that has all given games from the beginning; the settings of the run make it.

    search_share: see GivenGames.
    """

    given: GivenGames
    search_share: float

    def make_memory(self, env: GameEnv, *, masked: bool, **_: Any) -> GivenGames:
        """Return the memory, with its samples' targets set; see `MemorySettings.make_memory`."""
        self.given.added = 0
        self.given.prepare(masked, self.search_share)
        return self.given
