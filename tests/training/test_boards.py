"""A run's boards: what comes into memory, when it is learned from, and how games are shared out."""

import numpy as np
import pytest
import torch

from alphago.env.go import GoEnv
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers
from alphago.records.record import GameRecord, RecordBuilder
from alphago.training.boards import Boards, BoardTraining
from alphago.training.curriculum import stages
from alphago.training.memory import ReplayMemory
from alphago.training.selfplay import SelfPlay
from alphago.training.settings import SelfPlaySettings, TrainingSettings
from tests.training.small_runs import GO, RandomGames


def game_of(plies: int) -> GameRecord:
    builder = RecordBuilder()
    for ply in range(plies):
        builder.add(9, np.eye(10, dtype=np.float32)[9], 0.0, 10, 1 - 2 * (ply % 2))
    return builder.finish(-1, -0.5, True, 10)


def board(needed: int, memory: ReplayMemory | None = None) -> BoardTraining:
    source = RandomGames(GO, None, range(0), None)
    parts = (memory or ReplayMemory(GO), source, needed)
    return BoardTraining(GO, 1.0, *parts, selfplay=SelfPlaySettings(), adapts=False)


def remember(learning: BoardTraining, times: int, capacity: int = 100) -> list[tuple[int, int]]:
    """New and due positions each time that a game of ten plies comes."""
    return [learning.remember([game_of(10)], capacity) for _ in range(times)]


class TestMemory:
    def test_all_that_came_before_the_start_is_learned_from_once(self) -> None:
        assert remember(board(35), 6) == [(10, 0)] * 3 + [(10, 40), (10, 10), (10, 10)]

    def test_a_memory_keeps_what_the_start_waits_for(self) -> None:
        """However small the window is."""
        learning = board(35)
        assert remember(learning, 5, capacity=20) == [(10, 0)] * 3 + [(10, 40), (10, 10)]
        assert len(learning.memory) == 40

    def test_a_later_start_does_not_make_old_positions_due_again(self) -> None:
        """A run that goes on with a larger start_training_after waits for so many, and learns from new ones then."""
        learning = board(15)
        assert [due for _, due in remember(learning, 3)] == [0, 20, 10]
        learning.needed = 55
        assert [due for _, due in remember(learning, 4)] == [0, 0, 10, 10]

    def test_one_that_goes_on_has_been_learned_from(self) -> None:
        """On a board that was there in the stage before."""
        first = board(15)
        remember(first, 3)
        assert remember(board(15, first.memory), 1) == [(10, 10)]


def boards_of(env: GoEnv, settings: TrainingSettings, numbers: range, device: str = "cpu") -> Boards:
    """The boards of a run's first stage; nothing is played."""
    with Workers(1) as workers:
        stage = stages(env, settings.curriculum, settings.sizes)[0]
        return Boards(stage, settings, numbers, {}, workers=workers, make_source=SelfPlay, device=device)


class TestShares:
    def test_games_of_a_stage(self) -> None:
        """Side by side as the shares say; of the larger board fewer in all; no number twice."""
        settings = TrainingSettings(num_games=1000, games_in_flight=100, sizes=((5, 0.5), (7, 0.5)), readouts=4)
        sources = boards_of(GoEnv(7), settings, range(30, 1000)).sources
        assert [source.settings.games_in_flight for source in sources] == [50, 50]  # type: ignore[attr-defined]
        five, seven = (source.numbers for source in sources)  # type: ignore[attr-defined]
        assert len(five) + len(seven) == 970
        assert len(five) / len(seven) == pytest.approx(49 / 25, rel=0.01)
        assert not set(five) & set(seven)
        assert min(five[0], seven[0]) == 30

    def test_komi_of_each_board(self) -> None:
        """The run's own is as it was given, the others have their usual one."""
        settings = TrainingSettings(sizes=((7, 0.5), (9, 0.5)), curriculum=((7, 0.1), (((5, 0.5), (9, 0.5)), 0.2)))
        parts = stages(GoEnv(9, komi=5.5), settings.curriculum, settings.sizes)
        assert [[env for env, _ in stage.boards] for stage in parts] == [
            [GoEnv(7)], [GoEnv(5), GoEnv(9, komi=5.5)], [GoEnv(7), GoEnv(9, komi=5.5)],
        ]  # fmt: skip
        assert [stage.end for stage in parts] == pytest.approx([0.1, 0.3, 1.0])


@pytest.mark.parametrize("dtype", ["float32", "int8", None])
def test_self_play_computes_in_what_the_settings_say(dtype: str | None) -> None:
    torch.manual_seed(0)
    net = NeuralNet(GO, tower_height=1, channels=8)
    boards = boards_of(GO, TrainingSettings(num_games=8, selfplay_dtype=dtype), range(8))
    boards.publish(net)
    (source,) = boards.sources
    assert source.evaluator.dtype == net.evaluator(dtype).dtype  # type: ignore[attr-defined]
