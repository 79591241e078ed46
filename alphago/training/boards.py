"""The boards that a stage plays side by side: each has its own games and memory, all have one network."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator
from alphago.records.record import GameRecord
from alphago.training.memory import ReplayMemory
from alphago.training.selfplay import SelfPlay, SelfPlaySettings
from alphago.training.unfinished import go_on_with, unfinished


class Board:
    """One size of board in a run: its games, its memory, and how much of the run is its share."""

    def __init__(self, env: GameEnv, share: float, memory: ReplayMemory, selfplay: SelfPlay, needed: int) -> None:
        """needed: positions in memory before anybody learns from them."""
        self.env = env
        self.share = share
        self.memory = memory
        self.selfplay = selfplay
        self.needed = max(needed, 1)
        self.records: list[GameRecord] = []  # of the iteration in progress, once it has come to learning

    @property
    def may_learn(self) -> bool:
        """Whether there are positions enough to learn from."""
        return len(self.memory) >= self.needed

    def collect(self, capacity: int) -> int:
        """Puts the games that are over into memory, which keeps so many positions; returns how many came."""
        before = self.memory.added
        self.records = self.selfplay.take()
        self.memory.capacity = max(capacity, 1)
        self.memory.add(self.records)
        return self.memory.added - before

    def state(self) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
        """All that the board needs to go on, but for the games in memory: tensors by name, and plain data."""
        tensors, selfplay = unfinished(self.selfplay)
        memory = {"games": len(self.memory.entries), "capacity": self.memory.capacity, "added": self.memory.added}
        data = {"memory": memory, "new_games": len(self.records), "selfplay": selfplay}
        return {self.prefix + name: tensor for name, tensor in tensors.items()}, data

    def restore(
        self, records: list[GameRecord], evaluator: Evaluator, tensors: Mapping[str, torch.Tensor], data: Any
    ) -> None:
        """Goes on from what `state` gave, with the games that were in memory (oldest first)."""
        self.memory.restore(records, data["memory"]["capacity"], data["memory"]["added"])
        self.records = records[max(0, len(records) - data["new_games"]) :]
        own = {n.removeprefix(self.prefix): tensor for n, tensor in tensors.items() if n.startswith(self.prefix)}
        go_on_with(self.selfplay, evaluator, own, data["selfplay"])

    @property
    def prefix(self) -> str:
        """Of the names of its tensors."""
        return f"selfplay{self.env.N}."


def share_out(
    numbers: range, boards: Sequence[tuple[GameEnv, float]], settings: SelfPlaySettings
) -> list[tuple[range, SelfPlaySettings]]:
    """Each board's games (as their numbers) and settings of self-play: so many games, and so many of them at once.

    A board's share is one of moves: of the games side by side.  Games of a larger board are longer, as its area, so
    that it gets fewer of them, and all boards come to their last game at about the same time.  Of B boards, board b
    has every B-th number from b on, whatever its share: no two games of a run have a random stream in common.
    """
    shares = [share for _, share in boards]
    flights = apportion(settings.games_in_flight, shares)
    counts = apportion(len(numbers), [share / env.N**2 for env, share in boards])
    apart = len(boards)
    return [
        (range(numbers.start + b, numbers.start + b + apart * count, apart), replace(settings, games_in_flight=flight))
        for b, (count, flight) in enumerate(zip(counts, flights, strict=True))
    ]


def apportion(whole: int, shares: Sequence[float]) -> list[int]:
    """Whole numbers that are `whole` in all, in proportion to the shares; none is 0 where there is enough for all."""
    least = 1 if whole >= len(shares) else 0
    ends = np.round((whole - least * len(shares)) * np.cumsum(shares) / np.sum(shares)).astype(int)
    return [least + int(count) for count in np.diff(ends, prepend=0)]
