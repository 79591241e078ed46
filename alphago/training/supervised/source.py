"""Given games in the place of self-play: a GameSource that hands them out, and a memory that draws from all of them."""

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from alphago.env.game import GameEnv
from alphago.nn.net import NeuralNet
from alphago.records.record import GameRecord
from alphago.training.lineup import Lineup
from alphago.training.memory import Sample
from alphago.training.supervised.given_games import GivenGames

STEPS_AT_ONCE = 32  # gradient steps of an iteration, about


class GivenSource:
    """The source of a run's games that are given: each epoch all of them once, in an order of its own.

    What it hands out paces the run, and is what its metrics describe; GivenMemory draws what is learned.
    """

    def __init__(self, games: GivenGames, limit: int, seed: int, batch_size: int, most: int) -> None:
        """Hand out `limit` games in all, at most `most` of them in an iteration."""
        self.games, self.limit, self.seed = games, limit, seed
        mean = max(1.0, float(games.lengths.mean()))
        self.at_once = max(1, min(most, len(games.lengths), round(STEPS_AT_ONCE * batch_size / mean)))
        self.taken = 0  # games handed out so far
        self.moves = 0
        self.readouts_done = 0
        self.waiting = 0

    def publish(self, net: NeuralNet, dtype: str | None = None, *, lineup: Lineup | None = None) -> None:
        """Do nothing: no network plays."""

    def begin(
        self,
        plies: int | None,
        readouts: int | None = None,
        side_by_side: int | None = None,
        resign_threshold: float | None = None,
    ) -> None:
        """Let the next `go_on` hand out an iteration's games."""
        self.waiting = self.at_once

    def go_on(self, stop: threading.Event | None = None, until: float | None = None) -> bool:
        """Return True: given games are there at once."""
        return True

    def take(self) -> list[GameRecord]:
        """Return the next games."""
        numbers = self.next_numbers(min(self.waiting, self.limit - self.taken))
        self.waiting = 0
        records = [self.games.record(number) for number in numbers]
        self.moves += sum(map(len, records))
        return records

    def next_numbers(self, count: int) -> list[int]:
        """Return the numbers of the next games, and count them as taken."""
        total, numbers = len(self.games.lengths), list[int]()
        while len(numbers) < count:
            epoch, place = divmod(self.taken, total)
            order = np.random.default_rng([self.seed, epoch]).permutation(total)
            part = order[place : place + count - len(numbers)]
            numbers += part.tolist()
            self.taken += len(part)
        return numbers

    def time_spent(self) -> dict[str, float]:
        """Return nothing: there are no threads."""
        return {}

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Return the games handed out, and the digest of all."""
        data = {"taken": self.taken, "moves": self.moves, "waiting": self.waiting, "digest": self.games.digest}
        return {"taken": np.array([self.taken])}, data

    def restore(self, arrays: Mapping[str, np.ndarray], data: Mapping[str, Any]) -> None:
        """Continue; raise ValueError if these are other games than the run's."""
        if data["digest"] != self.games.digest:
            raise ValueError(
                f"dataset must be the run's own, of digest {data['digest']}, got one of digest {self.games.digest}: "
                "another folder begins a new run, and model=… gives it this one's network"
            )
        self.taken, self.moves, self.waiting = data["taken"], data["moves"], data["waiting"]

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    @property
    def begun(self) -> int:
        """The number of games handed out so far."""
        return self.taken


class GivenMemory:
    """A memory from which every position of the given games may be drawn at any time, all alike.

    It holds nothing: games are read from where they are.  `added` counts the positions that were handed out.
    """

    keeps_games = False  # in the run folder
    entries: Sequence[Any] = ()

    def __init__(self, games: GivenGames) -> None:
        self.games, self.env = games, games.env
        self.capacity = int(games.lengths.sum())
        self.added = 0

    @classmethod
    def of(cls, games: GivenGames, env: GameEnv, *, masked: bool = False, **_: Any) -> "GivenMemory":
        """Return the memory for a run on a board; raise ValueError if the games are of another.

        masked: whether samples tell illegal actions, as in ReplayMemory.
        """
        if env != games.env:
            raise ValueError(f"all boards of a run on given games must be {games.env!r}, got {env!r}")
        games.masked = masked
        return cls(games)

    def __len__(self) -> int:
        return self.capacity

    def add(self, records: Iterable[GameRecord]) -> None:
        """Count the positions of games that were handed out."""
        self.capacity = int(self.games.lengths.sum())
        self.added += sum(int((record.weights > 0).sum()) for record in records)

    def state(self) -> dict[str, Any]:
        """Return, as plain data, what the memory needs to continue."""
        return {"games": 0, "capacity": self.capacity, "added": self.added}

    def restore(self, records: Iterable[GameRecord], capacity: int, added: int) -> None:
        """Continue with a count."""
        self.added = added

    def sample(self, count: int, generator: np.random.Generator, newest: int | None = None) -> Sample:
        """Return positions drawn independently; from games held out where `newest` asks for new ones."""
        return self.games.sample(count, generator, held_out=newest is not None)
