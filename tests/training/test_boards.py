"""A run's boards: what comes into memory, and when it is learned from."""

import numpy as np

from alphago.env.go import GoEnv
from alphago.records.record import GameRecord, RecordBuilder
from alphago.training.boards import Board
from alphago.training.memory import ReplayMemory
from alphago.training.selfplay import SelfPlay

GO = GoEnv(3, komi=0.5)


class Finished(SelfPlay):
    """Self-play that is over after the same game each time it is asked."""

    def __init__(self, plies: int) -> None:
        self.plies = plies

    def take(self) -> list[GameRecord]:
        builder = RecordBuilder()
        for ply in range(self.plies):
            builder.add(9, np.eye(10, dtype=np.float32)[9], 0.0, 10, 1 - 2 * (ply % 2))
        return [builder.finish(-1, -0.5, True, 10)]


def board(needed: int, memory: ReplayMemory | None = None) -> Board:
    return Board(GO, 1.0, memory or ReplayMemory(GO), Finished(10), needed)


def test_all_that_came_before_the_start_is_learned_from_once() -> None:
    learning = board(35)
    assert [learning.collect(100) for _ in range(6)] == [(10, 0)] * 3 + [(10, 40), (10, 10), (10, 10)]


def test_a_memory_keeps_what_the_start_waits_for() -> None:
    """However small the window is."""
    learning = board(35)
    told = [learning.collect(20) for _ in range(5)]
    assert told == [(10, 0)] * 3 + [(10, 40), (10, 10)]
    assert len(learning.memory) == 40


def test_a_later_start_does_not_make_old_positions_due_again() -> None:
    """A run that goes on with a larger start_training_after waits for so many, and learns from new ones then."""
    learning = board(15)
    assert [learning.collect(100)[1] for _ in range(3)] == [0, 20, 10]
    learning.needed = 55
    assert [learning.collect(100)[1] for _ in range(4)] == [0, 0, 10, 10]


def test_a_memory_that_goes_on_has_been_learned_from() -> None:
    """On a board that was there in the stage before."""
    first = board(15)
    for _ in range(3):
        first.collect(100)
    assert board(15, first.memory).collect(100) == (10, 10)
