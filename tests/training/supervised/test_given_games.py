"""The order in which a run takes given games, and how many at once."""

import threading
from pathlib import Path

import numpy as np

from alphago import GoEnv, NeuralNet, selfplay
from alphago.mcts.evaluator import HashEvaluator
from alphago.nn.threads import Workers, one_torch_thread
from alphago.system.settings import make
from alphago.training.loop import play, remember
from alphago.training.run import Run
from alphago.training.runs.folder import RunFolder
from alphago.training.supervised.call import run_settings
from alphago.training.supervised.given_games import Epochs, RecordGames
from alphago.training.supervised.supervised_settings import SupervisedSettings

ENV = GoEnv(3, komi=0.5)
GAMES = RecordGames(ENV, selfplay(ENV, HashEvaluator(), 2, 30, seed=0, groups=1))
TOTAL = len(GAMES.lengths)


def epochs(seed: int) -> Epochs:
    return Epochs(GAMES, ENV, None, range(1000), seed=seed)


def numbers_of(seed: int, count: int) -> list[int]:
    """The numbers of the first given games that a run takes."""
    return [epochs(seed).number_of(game) for game in range(count)]


def test_every_game_once_an_epoch() -> None:
    """In another order in each."""
    numbers = numbers_of(3, 2 * TOTAL)
    assert sorted(numbers[:TOTAL]) == sorted(numbers[TOTAL:]) == list(range(TOTAL))
    assert numbers[:TOTAL] != numbers[TOTAL:]
    assert numbers_of(4, TOTAL) != numbers[:TOTAL]


def test_it_goes_on_with_the_games_that_were_begun() -> None:
    games = epochs(3)
    games.begin(None, side_by_side=4)
    again = epochs(3)
    again.restore(*games.state())
    assert again.take() == games.take() != []
    assert again.begun == games.begun == 4


def at_once(**given: int) -> int:
    settings = make(SupervisedSettings, given).completed(TOTAL)
    return run_settings(settings, GAMES).selfplay.games_in_flight


def test_an_iteration(tmp_path: Path) -> None:
    """Its games' positions are as many samples to learn, from all games, of which no copy is kept."""
    settings = make(
        SupervisedSettings, {"bfloat16": False, "num_games": 10, "checks": 5, "batch_size": 4, "threads": 1}
    )
    with RunFolder(tmp_path / "run") as folder, one_torch_thread(), Workers(1) as workers:
        run = Run(
            run_settings(settings.completed(TOTAL), GAMES),
            NeuralNet(ENV, tower_height=0, channels=4),
            env=ENV,
            folder=folder,
            workers=workers,
            make_source=lambda *arguments, **more: Epochs(GAMES, *arguments, **more),
        )
        run.begin_iteration()
        remember(run, play(run, threading.Event()))
        first_two = numbers_of(0, 2)  # as many as between two tests
        positions = int(GAMES.lengths[first_two].sum())
        assert (run.games, run.positions, run.batches_due) == (2, positions, positions // 4)
        assert run.game_metrics["game_length"] == np.mean([len(GAMES.record(number)) for number in first_two])
        assert len(list(run.batches(lambda: True))) == positions // 4
        assert run.counts.samples_due == positions % 4
        assert not folder.shards.waiting
    assert at_once(batch_size=1, checks=1) == min(TOTAL, round(32 / GAMES.lengths.mean()))
