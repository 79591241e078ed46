"""The usual memory of a run: a window of the latest games, which grows with the run."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from alphago.env.game import GameEnv
from alphago.records.record import GameRecord
from alphago.system.validation import setting, settings
from alphago.training.memory import ReplayMemory, Sample
from alphago.training.targets import Targets


def window(positions: int, first: int = 30_000, growth: float = 0.4, exponent: float = 0.75) -> int:
    """Return the number of latest positions to train on after a run has made `positions` positions.

    The number is `first` up to `first` positions, then
    first (1 + growth ((positions / first)^exponent - 1) / exponent).  The formula is that of Wu 2019, "Accelerating
    Self-Play Learning in Go", appendix C; `first` is smaller here.
    """
    if positions <= first:
        return first
    return int(first * (1 + growth * ((positions / first) ** exponent - 1) / exponent))


@settings
class Window:
    """Settings of a memory that holds a window of the latest games."""

    memory_size: int = setting(
        "largest number of positions in memory (AlphaGo.jl 500 000; AlphaGo Zero the last 500 000 games); the memory "
        "grows up to this size",
        default=500_000,
        least=1,
        shown="positions in memory",
        python="See `alphago.training.window.window`",
    )
    samples_per_position: float = setting("how often a position is drawn for training on average", default=8.0, least=0)
    surprise_share: float = setting(
        "share of the samples that are drawn in proportion to the search's surprise at a position, instead of "
        "uniformly",
        default=1.0,
        least=0,
        most=1,
        python="See ReplayMemory",
    )

    def make_memory(
        self, env: GameEnv, *, targets: Targets, masked: bool, start: int, seed: int, threads: int = 1
    ) -> "WindowMemory":
        """Return an empty memory of games of `env`; see `MemorySettings.make_memory`."""
        share = self.surprise_share
        games = ReplayMemory(env, surprise_share=share, targets=targets, masked=masked, threads=threads)
        return WindowMemory(self, games, start)


class WindowMemory:
    """The Memory of the latest games: each new position makes `samples_per_position` samples due.

    games: holds the games.  start: the number of positions from which training begins.
    """

    def __init__(self, settings: Window, games: ReplayMemory, start: int) -> None:
        self.settings = settings
        self.games = games
        self.start = max(1, start)
        self.has_learned = False  # whether training has begun
        self.newly_added = 0  # number of positions that the last `remember` added

    def __len__(self) -> int:
        return len(self.games)

    @property
    def added(self) -> int:
        return self.games.added

    @property
    def can_learn(self) -> bool:
        return len(self.games) >= self.start

    @property
    def samples_per_position(self) -> float:
        return self.settings.samples_per_position

    def remember(self, records: Sequence[GameRecord]) -> float:
        """Add finished games; return the number of samples to learn that become due.

        No samples become due until the memory has `start` positions.  The call that reaches `start` makes samples of
        all positions so far due.  Each later call makes samples of its new positions due.
        """
        before = self.games.added
        self.games.capacity = max(min(window(before), self.settings.memory_size), self.start)
        self.games.add(records)
        self.newly_added = self.games.added - before
        if not self.can_learn:
            return 0.0
        positions = self.newly_added if self.has_learned else self.games.added
        self.has_learned = True
        return positions * self.settings.samples_per_position

    def fresh(self, count: int, generator: np.random.Generator) -> Sample | None:
        return self.games.sample(count, generator, newest=self.newly_added) if self.newly_added else None

    def batch(self, number: int, count: int, generator: np.random.Generator) -> Sample:
        return self.games.sample(count, generator)

    def latest(self, count: int) -> list[GameRecord]:
        return self.games.latest(count)

    def metrics(self) -> dict[str, float]:
        return {}

    def state(self) -> dict[str, Any]:
        games = self.games
        return {
            "games": len(games.entries),
            "capacity": games.capacity,
            "added": games.added,
            "has_learned": self.has_learned,
        }

    def restore(self, records: Iterable[GameRecord], state: Mapping[str, Any]) -> None:
        self.games.capacity = state["capacity"]
        self.games.add(records)
        self.games.added = state["added"]
        self.has_learned = state["has_learned"]
