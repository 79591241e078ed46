"""Given games for supervised training: from records or a dataset, and in place of self-play as a run's source."""

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from alphago.env.game import GameEnv
from alphago.env.games import require_go
from alphago.nn.net import NeuralNet
from alphago.records.collection import file_records, files_with_games, reason_of
from alphago.records.dataset import Dataset, is_dataset
from alphago.records.dataset_writer import LeftOut
from alphago.records.record import GameRecord, to_arrays
from alphago.system import stopwatch
from alphago.system.files import bytes_digest, user_path
from alphago.training.memory import ReplayMemory, Sample
from alphago.training.source import GameSource
from alphago.training.supervised.dataset_games import DatasetGames, GivenGames, LabelledGames
from alphago.training.targets import Targets

UNLIMITED = 2**31  # more positions than given games have
HELD_OUT_SHARE = 0.05  # share of held-out games among records, which have no splits


class RecordGames(GivenGames):
    """Records, such as those of self-play, as given games; see `GivenGames`.

    The policy's targets are the records' policies.  Every twentieth game is held out.

    Args:
        left_out: how many games the caller has left out, by reason.

    Raises:
        ValueError: if the records are of another game, or fewer than 20 of them have moves to learn.
    """

    def __init__(self, env: GameEnv, records: Sequence[GameRecord], left_out: Mapping[str, int] | None = None) -> None:
        kept = [record for record in records if (record.weights > 0).any()]
        every = round(1 / HELD_OUT_SHARE)
        self.held_out_games = kept[every - 1 :: every]
        self.records = [record for number, record in enumerate(kept, 1) if number % every != 0]
        # The plus removes reasons that no game has.
        self.left_out = +Counter({**(left_out or {}), "without moves to learn": len(records) - len(kept)})
        if not self.held_out_games:
            raise ValueError(
                f"records must be at least {every} games with moves to learn, got {len(kept)}{reason_of(self.left_out)}"
            )
        self.env = env
        kept[0].position(env)  # raises ValueError for records of another game
        self.lengths = np.array([int((record.weights > 0).sum()) for record in self.records], np.int64)
        arrays = to_arrays(kept)
        self.digest = bytes_digest(b"".join(arrays[name].tobytes() for name in ("moves", "lengths", "outcomes")))

    def set_targets(self, targets: Targets, masked: bool) -> None:
        """Put the games into memories, whose samples get these targets."""
        self.memory = ReplayMemory(self.env, UNLIMITED, targets=targets, masked=masked)
        self.validation = ReplayMemory(self.env, UNLIMITED, targets=targets, masked=masked)
        self.memory.add(self.records)
        self.validation.add(self.held_out_games)

    def record(self, number: int) -> GameRecord:
        """Return the training game with this number."""
        return self.records[number]

    def held_out(self, positions: int, split: str = "validation") -> list[GameRecord]:
        """Return the first held-out games with about `positions` positions in all; `split` is ignored."""
        # For each game, the number of positions in the games before it.  `accumulate` yields one more entry, the total,
        # which belongs to no game: hence not strict.
        before = accumulate(map(len, self.held_out_games), initial=0)
        return [record for record, count in zip(self.held_out_games, before, strict=False) if count < positions]

    def sample(self, count: int, generator: np.random.Generator, *, held_out: bool = False) -> Sample:
        """Return `count` random positions of the training games, or with `held_out` of the held-out games."""
        return (self.validation if held_out else self.memory).sample(count, generator)


def given_games(env: GameEnv, dataset: object) -> GivenGames:
    """Return the games that the argument `dataset` of `train_supervised` names.

    Args:
        dataset: a Dataset; a sequence of records; or the path of a dataset's folder, of a file of records or SGF, of an
            archive, or of a folder of such files.  It may be a run's folder, whose matches are left out.

    Raises:
        FileNotFoundError: if the path does not exist.
        ValueError: if there are too few games to learn `env` from.
        TypeError: if `dataset` is of another type.
    """
    if isinstance(dataset, Dataset):
        kind = LabelledGames if dataset.teacher else DatasetGames
        return kind(require_go(env, "datasets"), dataset)
    if isinstance(dataset, (str, Path)):
        path = user_path(dataset)
        if is_dataset(path):
            return given_games(env, Dataset(path))
        left_out = LeftOut()
        files = [file for file in files_with_games(path) if file == path or file.parent.name != "matches"]
        # If `dataset` is the path of a file, the file must be readable.  In a folder, unreadable files are left out.
        records = [record for file in files for record in file_records(file, env, left_out, explicit=file == path)]
        if not records:
            raise ValueError(f"{path} holds no game of {env!r} to learn from{reason_of(left_out)}")
        return RecordGames(env, records, left_out)
    if isinstance(dataset, Sequence) and all(isinstance(record, GameRecord) for record in dataset):
        return RecordGames(env, dataset)
    raise TypeError(f"dataset must be a Dataset, records, or the path of either, got {dataset!r}")


class Epochs(GameSource):
    """The source that takes each given game once an epoch, in a new random order, instead of playing games.

    The number of these games' positions determines the number of gradient steps.  The samples come from all games.

    Args:
        given: the games.
        numbers: the numbers of the games to take, counted through all epochs.
        seed: the run's seed.
        env, settings and others: arguments of SelfPlay that are not used.
    """

    plays = False
    moves = readouts_done = 0  # none are played

    def __init__(
        self, given: GivenGames, env: Any, settings: Any, numbers: range, *_: Any, seed: int, **__: Any
    ) -> None:
        # The other parameters are those of SelfPlay, in whose place a run makes this source.
        self.given = given
        self.numbers = numbers
        self.seed = seed
        self.next = numbers.start  # number of the next game
        self.num_chosen = 0  # number of games, the last ones before `next`, that `begin` has chosen; 0 after `take`

    @property
    def begun(self) -> int:
        """A number greater than the numbers of all games begun so far: that of the next game."""
        return self.next

    def number_of(self, game: int) -> int:
        """Return the number of the given game that is the run's game number `game`."""
        epoch, index = divmod(game, len(self.given.lengths))
        return int(epoch_order(self.seed, epoch, len(self.given.lengths))[index])

    def publish(self, net: NeuralNet, dtype: str | None = None) -> None:
        """Do nothing, since no network plays."""

    def begin(self, plies: int | None, *_: Any, side_by_side: int | None = None, **__: Any) -> None:
        """Choose the next `side_by_side` games (1 if None) for `take`; all other arguments are ignored."""
        self.num_chosen = min(side_by_side or 1, self.numbers.stop - self.next)
        self.next += self.num_chosen

    def advance(self, stop: threading.Event | None = None, until: float | None = None) -> bool:
        """Return True at once: nothing is left to play."""
        return True

    @stopwatch.SAMPLING
    def take(self) -> list[GameRecord]:
        """Return the games that the latest `begin` has chosen; [] on a second call."""
        games = range(self.next - self.num_chosen, self.next)
        self.num_chosen = 0
        return [self.given.record(self.number_of(game)) for game in games]

    def metrics(self) -> dict[str, Any]:
        """Return None as the readouts in an iteration's row, in place of the run's setting: there is no search."""
        return {"readouts": None}

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Return no arrays, and as data which game is next, how many are chosen, and the digest of all games."""
        return {}, {"next": self.next, "taken": self.num_chosen, "digest": self.given.digest}

    def restore(self, arrays: Mapping[str, np.ndarray], data: Mapping[str, Any]) -> None:
        """Continue from a state; raise ValueError if it was saved by a run on other games."""
        if data["digest"] != self.given.digest:
            raise ValueError(
                f"dataset must be the run's own, of digest {data['digest']}, got one of digest "
                f"{self.given.digest}: another folder begins a new run, and model=… gives it this one's network"
            )
        self.next, self.num_chosen = data["next"], data["taken"]  # "taken": the games for `take`


@lru_cache(2)  # the games of an iteration may belong to two epochs
def epoch_order(seed: int, epoch: int, games: int) -> np.ndarray:
    """Return the order in which an epoch takes the given games, int64 [games]."""
    return np.random.default_rng([seed, epoch]).permutation(games)
