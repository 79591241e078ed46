"""Given games in place of self-play: a source that delivers them, and a memory that samples from all of them."""

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

STEPS_AT_ONCE = 32  # approximate number of gradient steps in an iteration


class GivenSource:
    """A GameSource that delivers given games, each game once per epoch, with a new random order in each epoch.

    The delivered games determine the number of gradient steps and the metrics.  The samples come from GivenMemory,
    which draws from all games at any time.

    games: the given games.
    limit: number of games to deliver in the whole run.
    seed: seed of the random orders.
    batch_size: the learner's batch size; an iteration's games are enough for about STEPS_AT_ONCE batches.
    most: largest number of games per iteration.
    """

    def __init__(self, games: GivenGames, limit: int, seed: int, batch_size: int, most: int) -> None:
        self.games, self.limit, self.seed = games, limit, seed
        mean = max(1.0, float(games.lengths.mean()))
        self.at_once = max(1, min(most, len(games.lengths), round(STEPS_AT_ONCE * batch_size / mean)))
        self.taken = 0  # games delivered so far
        self.moves = 0
        self.readouts_done = 0
        self.waiting = 0

    def publish(self, net: NeuralNet, dtype: str | None = None, *, lineup: Lineup | None = None) -> None:
        """Do nothing, since the games are given and no network plays them; the arguments are ignored."""

    def begin(
        self,
        plies: int | None,
        readouts: int | None = None,
        side_by_side: int | None = None,
        resign_threshold: float | None = None,
    ) -> None:
        """Make the next iteration's games available to `take`; the arguments, which are for self-play, are ignored."""
        self.waiting = self.at_once

    def go_on(self, stop: threading.Event | None = None, until: float | None = None) -> bool:
        """Return True: no moves are left to play, since the games are given."""
        return True

    def take(self) -> list[GameRecord]:
        """Return the iteration's games; a second call before `begin` returns []."""
        numbers = self.next_numbers(min(self.waiting, self.limit - self.taken))
        self.waiting = 0
        records = [self.games.record(number) for number in numbers]
        self.moves += sum(map(len, records))
        return records

    def next_numbers(self, count: int) -> list[int]:
        """Return the numbers of the next `count` games, and count them as delivered."""
        total, numbers = len(self.games.lengths), list[int]()
        while len(numbers) < count:
            epoch, place = divmod(self.taken, total)
            order = np.random.default_rng([self.seed, epoch]).permutation(total)
            part = order[place : place + count - len(numbers)]
            numbers += part.tolist()
            self.taken += len(part)
        return numbers

    def time_spent(self) -> dict[str, float]:
        """Return {}, since there are no threads whose time could be measured."""
        return {}

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Return arrays and plain data, from which `restore` continues: counts of delivered games, and a digest."""
        data = {"taken": self.taken, "moves": self.moves, "waiting": self.waiting, "digest": self.games.digest}
        return {"taken": np.array([self.taken])}, data

    def restore(self, arrays: Mapping[str, np.ndarray], data: Mapping[str, Any]) -> None:
        """Continue from the results of `state`; raise ValueError if the saved run had other given games."""
        if data["digest"] != self.games.digest:
            raise ValueError(
                f"dataset must be the run's own, of digest {data['digest']}, got one of digest {self.games.digest}: "
                "another folder begins a new run, and model=… gives it this one's network"
            )
        self.taken, self.moves, self.waiting = data["taken"], data["moves"], data["waiting"]

    def close(self) -> None:
        """Do nothing, since there is nothing to release."""

    @property
    def begun(self) -> int:
        """The number of games delivered so far."""
        return self.taken


class GivenMemory:
    """A memory that draws each sample uniformly from all positions of the given games.

    It stores no positions; samples are read from `games`.  `added`: positions of the games delivered so far.
    """

    keeps_games = False  # the run's folder does not keep the games
    entries: Sequence[Any] = ()

    def __init__(self, games: GivenGames) -> None:
        self.games, self.env = games, games.env
        self.capacity = int(games.lengths.sum())
        self.added = 0

    @classmethod
    def of(cls, games: GivenGames, env: GameEnv, *, masked: bool = False, **_: Any) -> "GivenMemory":
        """Return the memory for a run on the board of `env`; raise ValueError if the games are of another board.

        masked: whether illegal actions have `alphago.nn.loss.ILLEGAL` in the policy targets, as in ReplayMemory;
            this also sets `games.masked`.
        """
        if env != games.env:
            raise ValueError(f"all boards of a run on given games must be {games.env!r}, got {env!r}")
        games.masked = masked
        return cls(games)

    def __len__(self) -> int:
        return self.capacity

    def add(self, records: Iterable[GameRecord]) -> None:
        """Count the positions of games that GivenSource delivered."""
        self.capacity = int(self.games.lengths.sum())
        self.added += sum(int((record.weights > 0).sum()) for record in records)

    def state(self) -> dict[str, Any]:
        """Return, as plain data, what the memory needs to continue."""
        return {"games": 0, "capacity": self.capacity, "added": self.added}

    def restore(self, records: Iterable[GameRecord], capacity: int, added: int) -> None:
        """Set `added`, the number of positions delivered so far; the other arguments are ignored."""
        self.added = added

    def sample(self, count: int, generator: np.random.Generator, newest: int | None = None) -> Sample:
        """Return `count` positions drawn independently from the training games, or from held-out ones.

        newest: None for the training games; any number for the held-out games.
        """
        return self.games.sample(count, generator, held_out=newest is not None)
