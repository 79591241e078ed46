"""The call: `train_supervised`, which trains on given games as `train` does on games of self-play."""

import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from alphago.env.game import GameEnv, check_env
from alphago.nn.net import NeuralNet
from alphago.nn.threads import one_torch_thread
from alphago.records.record import GameRecord
from alphago.system.validation import check_float, check_int, checks_keywords
from alphago.training.judges.held_out import HeldOut
from alphago.training.memory import MakeMemory
from alphago.training.session import RunParts, Slice, train_run
from alphago.training.settings import TrainingSettings
from alphago.training.supervised.given_games import GivenGames, given_games
from alphago.training.supervised.source import GivenMemory, GivenSource
from alphago.training.watch.report import Report

HELD_OUT_POSITIONS = 20_000  # of an examination: enough to tell 47 % from 48 %
CHECKS = 20  # examinations of a run

# What differs from the settings of self-play: every position once an epoch, by the rules of the game itself.
SUPERVISED: dict[str, Any] = {
    "samples_per_position": 1.0, "start_training_after": 0, "exact_rules": True, "curriculum": (), "sizes": (),
    "gate": None, "champions": None, "pool": None, "first_readouts": None, "first_games_in_flight": None,
    "batch_size": 256, "learning_rate": 0.01,
    "search_share": 0.0, "surprise_share": 0.0, "opening_plies": 0, "max_minutes": None,
}  # fmt: skip
# Settings that say how games are played, or that given games decide.
OF_SELF_PLAY = (
    "num_games", "exact_rules", "curriculum", "sizes", "gate", "champions", "pool", "start_training_after",
    "samples_per_position", "surprise_share", "search_share", "resign_threshold", "adaptive_resignation",
    "opening_plies", "value_targets", "result_share", "result_growth", "visits_until", "played_from",
    "random_move_share", "random_move_plies",
)  # fmt: skip


@checks_keywords(TrainingSettings)
def train_supervised(
    env: GameEnv,
    dataset: Any,
    net: NeuralNet | str | Path | None = None,
    *,
    epochs: float = 1.0,
    tower_height: int | None = None,
    channels: int | None = None,
    folder: str | Path | None = None,
    reports: Sequence[Report] | None = None,
    stop_after: float | None = None,
    device: str = "auto",
    held_out_positions: int = HELD_OUT_POSITIONS,
    checks: int = CHECKS,
    **settings: Any,
) -> NeuralNet:
    """Train a network to play the moves of given games and to foresee their results, and return the best one.

    The run is one like those of `train`: a folder that is resumed, the same learner, reports, watchers and plots.
    Policies are the moves played, values the results from the view of the player about to move; score and ownership
    are learned where the last board tells them.  Now and then the network predicts games held out, and the one that
    predicts most moves is what the folder has and the call returns; it plays, and `train` goes on with it.

    Args:
        dataset: a Dataset or its folder (`alphago sgf FILES --to FOLDER`); or records, as `selfplay` returns them; or
            files or folders of records or SGF, such as a run of self-play.
        net: a network to continue with, trained in place, or its name or path; None for a new one.
        epochs: how often each game is learned from on average, 0.001 or more.
        tower_height, channels: of a new network; None for the board's recipe's.
        folder: where the run is kept; None for a new folder under runs/.  The folder of such a run resumes it.
        reports: as in `train`.
        stop_after: minutes after which this call ends, as by Ctrl-C.
        device: "cpu", "cuda" or "auto".
        held_out_positions: of the games held out, that an examination takes.
        checks: examinations in a run, evenly spread, beside that of the new network.
        settings: keywords of TrainingSettings, such as `batch_size`, `learning_rate`, `optimizer`, `watch`,
            `max_minutes` and `seed`; those of self-play have no effect.

    Raises:
        ValueError: for a dataset without games of env's board, and for settings that given games decide.
        FileNotFoundError: if there is no dataset.
        Else as `train`.
    """
    check_env(env)
    if decided := [name for name in OF_SELF_PLAY if name in settings]:
        raise ValueError(f"{decided[0]} must be left out in supervised learning, got {settings[decided[0]]!r}")
    epochs = check_float("epochs", epochs, 0.001, 1e6)
    games = given_games(env, dataset)
    total = max(1, round(epochs * len(games.lengths)))
    records = games.held_out(check_int("held_out_positions", held_out_positions, 1))
    if not records:
        raise ValueError(f"dataset must have validation games of {env!r}, got none: a larger one, or another split")
    chosen = {**SUPERVISED, "ckp_freq": max(1, total // check_int("checks", checks, 1)), **settings}
    every = max(1, total // checks)
    source, memory = parts_of(games, chosen["batch_size"], every)
    judge = HeldOut(env, records, checks)
    return train_run(
        env, total, chosen, Slice(folder, reports, stop_after), source, parts=RunParts(memory, [judge]),
        model=net, sizes={"tower_height": tower_height, "channels": channels}, until=None, device=device,
    )  # fmt: skip


def parts_of(games: GivenGames, batch_size: int, most: int) -> tuple[Any, MakeMemory]:
    """Return what makes the source and the memory of a run on given games; `most`: of an iteration."""

    def make_source(env: Any, settings: Any, numbers: range, *_: Any, seed: int = 0, **__: Any) -> GivenSource:
        return GivenSource(games, numbers.stop, seed, batch_size, most)

    return make_source, partial(GivenMemory.of, games)


def predict_games(net: NeuralNet, dataset: Any, *, split: str = "test", positions: int = 50_000) -> dict[str, float]:
    """Return how well a network, without search, predicts the games of a dataset's split.

    Args:
        net: of the game that the dataset has.
        dataset: as in `train_supervised`; of records, those held out.
        split: "train", "validation" or "test".
        positions: about how many.

    Returns: what `alphago.training.judges.prediction.Counts.measures` names: accuracy (top-1), top5, cross_entropy,
    value_error, value_accuracy, calibration_error, positions_judged.

    Raises ValueError if the split has no game of the network's board.
    """
    games = given_games(net.env, dataset)
    records: list[GameRecord] = games.held_out(positions, split)
    if not records:
        raise ValueError(f"dataset must have games of {net.env!r} in its split {split!r}, got none")
    with one_torch_thread():
        counts = HeldOut(net.env, records, 1).examine(net, "cpu", threading.Event())
    assert counts is not None
    return counts.measures()
