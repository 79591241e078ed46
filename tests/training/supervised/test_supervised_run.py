"""The order in which a run takes given games, and how many at once."""

import numpy as np
import pytest

from alphago.env.go import GoEnv
from alphago.mcts.evaluator import HashEvaluator
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers, one_torch_thread
from alphago.system.settings import make
from alphago.training.call.selfplay_call import selfplay
from alphago.training.runs.folder import RunFolder
from alphago.training.supervised.given_games import RecordGames
from alphago.training.supervised.supervised_run import SupervisedRun
from alphago.training.supervised.supervised_settings import SupervisedSettings

ENV = GoEnv(3, komi=0.5)
GAMES = RecordGames(ENV, selfplay(ENV, HashEvaluator(), 2, 30, seed=0, groups=1))


def made(folder: RunFolder, workers: Workers, **given: int) -> SupervisedRun:
    """A run that has not begun to learn."""
    settings = make(SupervisedSettings, {"bfloat16": False, **given}).completed(len(GAMES.lengths))
    net = NeuralNet(ENV, tower_height=0, channels=4)
    return SupervisedRun(settings, net, env=ENV, folder=folder, workers=workers, given=GAMES)


@pytest.fixture
def folder(tmp_path):
    with RunFolder(tmp_path / "run") as opened, one_torch_thread():
        yield opened


def test_every_game_once_an_epoch(folder: RunFolder) -> None:
    """In another order in each; and the order does not depend on how many are taken at once."""
    with Workers(1) as workers:
        run, total = made(folder, workers, seed=3), len(GAMES.lengths)
        numbers = run.numbers(0, 2 * total)
        assert sorted(numbers[:total]) == sorted(numbers[total:]) == list(range(total))
        assert numbers[:total] != numbers[total:]
        assert [run.numbers(game, game + 1)[0] for game in range(2 * total)] == numbers
        assert made(folder, workers, seed=4).numbers(0, total) != numbers[:total]


def test_an_iteration(folder: RunFolder) -> None:
    """Its games' positions are as many samples to learn, from all games; a second call takes no more games."""
    with Workers(1) as workers:
        run = made(folder, workers, num_games=10, checks=5, batch_size=4)
        assert run.at_once == 2  # as many as between two tests
        for _ in range(2):
            run.begin_iteration()
            positions = int(GAMES.lengths[run.numbers(0, 2)].sum())
            assert (run.games, run.positions, run.batches_due) == (2, positions, positions // 4)
        assert run.game_metrics["game_length"] == np.mean([len(GAMES.record(number)) for number in run.numbers(0, 2)])
        batch = list(run.batches(lambda: True))
        assert len(batch) == positions // 4
        assert run.counts.samples_due == positions % 4
        assert made(folder, workers, batch_size=1, checks=1).at_once == min(
            len(GAMES.lengths), round(32 / GAMES.lengths.mean())
        )
