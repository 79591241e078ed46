"""A stage of a run: what comes into memory, and when it is learned from."""

from typing import Any

import numpy as np
import pytest
import torch

from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers
from alphago.records.record import GameRecord, RecordBuilder
from alphago.training.memory import ReplayMemory
from alphago.training.selfplay import SelfPlay
from alphago.training.settings import TrainingSettings
from alphago.training.stage import Stage
from tests.training.small_runs import GO, RandomGames


def game_of(plies: int) -> GameRecord:
    builder = RecordBuilder()
    for ply in range(plies):
        builder.add(9, np.eye(10, dtype=np.float32)[9], 0.0, 10, 1 - 2 * (ply % 2))
    return builder.finish(-1, -0.5, True, 10)


def stage(needed: int = 0, memory: ReplayMemory | None = None, **settings: Any) -> Stage:
    with Workers(1) as workers:
        chosen = TrainingSettings(start_training_after=needed, samples_per_position=1, **settings)
        return Stage(GO, chosen, range(8), workers, make_source=RandomGames, memory=memory)


def remember(learning: Stage, times: int) -> list[tuple[int, float]]:
    """New and due positions each time that a game of ten plies comes."""
    return [learning.remember([game_of(10)]) for _ in range(times)]


class TestMemory:
    def test_all_that_came_before_the_start_is_learned_from_once(self) -> None:
        assert remember(stage(35), 6) == [(10, 0)] * 3 + [(10, 40), (10, 10), (10, 10)]

    def test_a_memory_keeps_what_the_start_waits_for(self) -> None:
        """However small the window is."""
        learning = stage(35, memory_size=35)
        assert remember(learning, 5) == [(10, 0)] * 3 + [(10, 40), (10, 10)]
        assert len(learning.memory) == 40

    def test_a_later_start_does_not_make_old_positions_due_again(self) -> None:
        """A run that goes on with a larger start_training_after waits for so many, and learns from new ones then."""
        learning = stage(15)
        assert [due for _, due in remember(learning, 3)] == [0, 20, 10]
        learning.needed = 55
        assert [due for _, due in remember(learning, 4)] == [0, 0, 10, 10]

    def test_one_that_goes_on_has_been_learned_from(self) -> None:
        """On a board that was there in the stage before."""
        first = stage(15)
        remember(first, 3)
        assert remember(stage(15, first.memory), 1) == [(10, 10)]


@pytest.mark.parametrize("dtype", ["float32", "int8", None])
def test_self_play_computes_in_what_the_settings_say(dtype: str | None) -> None:
    torch.manual_seed(0)
    net = NeuralNet(GO, tower_height=1, channels=8)
    with Workers(1) as workers:
        stage = Stage(GO, TrainingSettings(num_games=8, selfplay_dtype=dtype), range(8), workers, make_source=SelfPlay)
        stage.publish(net)
    assert stage.source.evaluator.dtype == net.evaluator(dtype).dtype  # type: ignore[attr-defined]
