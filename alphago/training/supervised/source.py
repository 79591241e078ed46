"""Given games in place of self-play: a source that delivers them, and a memory that samples from all of them."""

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from alphago.env.game import GameEnv
from alphago.nn.net import NeuralNet
from alphago.records.record import GameRecord
from alphago.training.memory import Sample
from alphago.training.source import Company
from alphago.training.supervised.given_games import GivenGames
from alphago.training.targets import Targets

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

    def publish(self, net: NeuralNet, dtype: str | None = None, *, company: Company | None = None) -> None:
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


@dataclass(frozen=True)
class Given:
    """The settings of a memory of given games."""

    games: GivenGames

    def make_memory(self, env: GameEnv, *, targets: Targets, masked: bool, start: int, seed: int) -> "GivenMemory":
        """Return the memory of a run on the board of `env`; raise ValueError if the games are of another board.

        masked: also sets `games.masked`.  The games determine the targets, and training begins at once.
        """
        if env != self.games.env:
            raise ValueError(f"all boards of a run on given games must be {self.games.env!r}, got {env!r}")
        self.games.masked = masked
        return GivenMemory(self.games)


class GivenMemory:
    """A Memory that draws each sample uniformly from all positions of the given games, once for each position.

    It stores no positions; samples are read from `games`.
    """

    keeps_games = False  # the run's folder does not keep the games
    can_learn = True
    rate = 1.0
    samples_per_position = 1.0

    def __init__(self, games: GivenGames) -> None:
        self.games = games
        self.added = 0  # positions of the games delivered so far
        self.new = 0  # of those delivered last

    def __len__(self) -> int:
        return int(self.games.lengths.sum())

    def remember(self, records: Sequence[GameRecord]) -> float:
        """Count the positions of games that GivenSource delivered; return their number."""
        self.new = sum(int((record.weights > 0).sum()) for record in records)
        self.added += self.new
        return float(self.new)

    def fresh(self, count: int, generator: np.random.Generator) -> Sample | None:
        """Return `count` positions of held-out games, if games were delivered last."""
        return self.games.sample(count, generator, held_out=True) if self.new else None

    def batch(self, number: int, count: int, generator: np.random.Generator) -> Sample:
        return self.games.sample(count, generator)

    def latest(self, count: int) -> list[GameRecord]:
        return []

    def metrics(self) -> dict[str, float]:
        return {}

    def state(self) -> dict[str, Any]:
        return {"games": 0, "added": self.added}

    def restore(self, records: Iterable[GameRecord], state: Mapping[str, Any]) -> None:
        self.added = state["added"]
