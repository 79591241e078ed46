"""The order in which a run takes given games, and how many at once."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from alphago import GoEnv, selfplay
from alphago.mcts.evaluator import HashEvaluator
from alphago.system.settings import make_settings
from alphago.training.supervised.call import run_settings, train_supervised
from alphago.training.supervised.given_games import Epochs, RecordGames
from alphago.training.supervised.supervised_settings import SupervisedSettings
from tests.training.small_runs import Listener

ENV = GoEnv(3, komi=0.5)
RECORDS = selfplay(ENV, HashEvaluator(), 2, 30, seed=0, groups=1)
GAMES = RecordGames(ENV, RECORDS)
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


def test_an_iteration(tmp_path: Path) -> None:
    """Its games' positions are as many samples to learn, from all games, of which no copy is kept.

    What is left out is told.
    """
    given = {"bfloat16": False, "batch_size": 4, "threads": 1, "tower_height": 0, "channels": 4, "device": "cpu"}
    listener, idle = Listener(), replace(RECORDS[0], weights=np.zeros_like(RECORDS[0].weights))
    train_supervised(ENV, [*RECORDS, idle], num_games=10, checks=5, folder=tmp_path, reports=[listener], **given)
    assert listener.notes[0] == "1 game is left out: 1 without moves to learn"
    first, last = listener.rows[0], listener.last
    first_two = numbers_of(0, 2)  # as many as between two tests
    positions = int(GAMES.lengths[first_two].sum())
    assert (first["games"], first["positions"], first["steps"]) == (2, positions, positions // 4)
    assert first["game_length"] == np.mean([len(GAMES.record(number)) for number in first_two])
    assert (last["games"], last["steps"]) == (10, last["positions"] // 4)
    assert first["selfplay_share"] is None  # so no advice about self-play is given
    assert not (tmp_path / "games").exists()
    settings = make_settings(SupervisedSettings, {"batch_size": 1, "checks": 1}).completed(TOTAL)
    at_once = run_settings(settings, GAMES).selfplay.games_in_flight
    assert at_once == min(TOTAL, round(32 / GAMES.lengths.mean()))
