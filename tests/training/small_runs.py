"""Small runs for tests: their settings, their reports, games without a network, and a sudden end."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import EllipsisType
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

from alphago import GameEnv, GameRecord, GoEnv, NeuralNet, Report, train
from alphago.nn.inference.frozen_net import frozen_copy
from alphago.records.record import RecordBuilder, load_records, read_arrays, to_arrays
from alphago.system.settings import make_settings, values_by_path
from alphago.training.call.session import open_run
from alphago.training.call.start import Call, Start, seeded
from alphago.training.call.train_call import new_run, resumed_run
from alphago.training.history import EVALUATIONS, read_rows
from alphago.training.judge import Judge
from alphago.training.loop import train_loop
from alphago.training.run import Run
from alphago.training.run_clock import SavingTimes
from alphago.training.runs.folder import RunFolder
from alphago.training.selfplay import SelfPlay
from alphago.training.settings.run_settings import RunSettings
from alphago.training.source import GameSource, MakeSource

GO, GO4 = GoEnv(3, komi=0.5), GoEnv(4, komi=0.5)
BLACK_WINS = GoEnv(3, komi=-50)  # every game: a candidate, which has either colour equally often, wins half
# The same numbers on every processor that computes in float32, however many cores there are.
EXACT: dict[str, Any] = {"groups": 1, "selfplay_dtype": "float32", "bfloat16": False}
SIZES = {"tower_height": 0, "channels": 8}
SETTINGS: dict[str, Any] = {
    "readouts": 4,
    "batch_size": 64,
    "start_training_after": 40,
    "plies_per_iteration": 6,
    "games_in_flight": 4,
    "ckp_freq": 5,
    "learning_rate": 2e-3,
    **EXACT,
}
TINY: dict[str, Any] = {**SIZES, **SETTINGS}


def nadam(parameters: Any, learning_rate: float, weight_decay: float) -> torch.optim.Optimizer:
    """An optimizer of one's own."""
    return torch.optim.NAdam(parameters, lr=learning_rate, weight_decay=weight_decay)


class Listener(Report):
    """A report that keeps what it is called with; `at_iteration` is called with the number of its rows."""

    def __init__(self, at_iteration: Callable[[int], Any] | None = None) -> None:
        self.rows: list[dict[str, Any]] = []
        self.notes: list[str] = []
        self.records: list[GameRecord] = []
        self.at_iteration = at_iteration

    def start(self, folder: Path, settings: dict[str, Any], progress: Callable[[], object]) -> None:
        self.folder, self.settings = folder, settings

    def iteration(self, metrics: dict[str, Any]) -> None:
        self.rows.append(metrics)
        if self.at_iteration:
            self.at_iteration(len(self.rows))

    def games(self, env: GameEnv, records: Sequence[GameRecord]) -> None:
        self.records += records

    def note(self, text: str) -> None:
        self.notes.append(text)

    def finish(self, metrics: dict[str, Any], weights: Path, stopped: bool) -> None:
        self.last, self.weights, self.stopped = metrics, weights, stopped

    def noted(self, part: str) -> bool:
        """Return whether this is part of a note."""
        return any(part in note for note in self.notes)

    def rises(self, *names: str) -> bool:
        """Return whether these metrics never fall."""
        columns = [[row[name] for row in self.rows] for name in names]
        return all(column == sorted(column) for column in columns)


class Small(NamedTuple):
    """A run that has ended."""

    folder: Path
    net: NeuralNet
    listener: Listener


def interrupt(_: int = 0) -> None:
    """Press Ctrl-C."""
    os.kill(os.getpid(), signal.SIGINT)


def interrupt_at(iteration: int) -> Listener:
    """A report that presses Ctrl-C after so many iterations."""
    return Listener(lambda number: interrupt() if number == iteration else None)


def run(folder: Path, num_games: int | None = 16, env: GameEnv = GO, **settings: Any) -> tuple[NeuralNet, Listener]:
    """A run of tiny settings, from its beginning or from where its folder stands."""
    listener = settings.pop("report", None) or Listener()
    net = train(env, num_games, folder=folder, reports=[listener], **{**TINY, **settings})
    return net, listener


def go_on(
    folder: Path, num_games: int | EllipsisType | None = ..., env: GameEnv = GO, **settings: Any
) -> tuple[NeuralNet, Listener]:
    """A run goes on, with no settings but these."""
    listener = Listener()
    return train(env, num_games, folder=folder, reports=[listener], **settings), listener


def run_settings(**given: Any) -> RunSettings:
    """The settings of a run that has these values."""
    return make_settings(RunSettings, given)


def started(
    env: GameEnv, given: Mapping[str, Any], *, device: str = "cpu", preset: str | None = None, **sizes: int
) -> Start:
    """How a new run starts whose call gives these settings."""
    call = Call(env, None, sizes, "cpu")
    call.device = device  # there may be no GPU
    return new_run(call, values_by_path(RunSettings, given), preset)


class Made(NamedTuple):
    """Settings of a judge that is there already."""

    judge: Judge[Run]
    chooses: bool = False

    def make_judge(self, env: GameEnv, net: NeuralNet, folder: Path) -> Judge[Run]:
        return self.judge


@contextmanager
def opened(
    folder: Path,
    num_games: int = 16,
    env: GameEnv = GO,
    *,
    saving: SavingTimes | None = None,
    extra: Sequence[Judge[Run]] = (),
    source: MakeSource = SelfPlay,
    report: Listener | None = None,
    tower_height: int = SIZES["tower_height"],
    **settings: Any,
) -> Iterator[Run]:
    """The run that `train` makes, with other parts, for tests that take it further themselves."""
    given = values_by_path(RunSettings, {**SETTINGS, "num_games": num_games, **settings})
    sizes = {**SIZES, "tower_height": tower_height}
    call = Call(env, None, sizes, "cpu", reports=[report or Listener()], make_source=source)
    with RunFolder(folder) as run_folder:
        config = run_folder.config
        start = new_run(call, given, None) if config is None else resumed_run(call, given, None, config, folder)
        settings_of_run = replace(start.settings, judges=(*start.settings.judges, *map(Made, extra)))
        start = replace(start, settings=settings_of_run)
        with open_run(call, start, run_folder, "cpu") as made:
            made.saving = saving or made.saving
            yield made


class Killed(Exception):
    """The process ends, and nothing is saved any more."""


class EagerSaving(SavingTimes):
    """Saves before every move and every gradient step, but for so many seconds; dies after so many saves."""

    def __init__(self, seconds: float = 0.0, kill_after: int | None = None) -> None:
        super().__init__()
        self.seconds, self.left = seconds, kill_after
        self.next = 0.0

    def schedule_next(self, began: float) -> None:
        self.next = time.monotonic() + self.seconds
        if self.left is not None:
            self.left -= 1
            if self.left == 0:
                raise Killed


def run_killed(folder: Path, saves: int, **settings: Any) -> None:
    """A run that saves before every move and every gradient step, until it is killed after so many saves."""
    with pytest.raises(Killed), opened(folder, saving=EagerSaving(kill_after=saves), **settings) as run:
        train_loop(run, threading.Event())


def net_of(seed: int, env: GoEnv = GO) -> NeuralNet:
    """A small network with random weights of that seed."""
    with seeded(seed):
        return NeuralNet(env, tower_height=0, channels=8).eval()


def same(one: NeuralNet, other: NeuralNet) -> bool:
    """Return whether two networks have the same weights, to the last bit."""
    pairs = zip(one.state_dict().values(), other.state_dict().values(), strict=True)
    return all(torch.equal(mine, yours) for mine, yours in pairs)


def without_times(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of metrics without what differs from machine to machine."""
    ends = ("seconds", "_per_second", "_share")
    return [{name: value for name, value in row.items() if not name.endswith(ends)} for row in rows]


def games_in(folder: Path) -> list[GameRecord]:
    """Return the games of a run's folder in the order of their files."""
    return [record for path in sorted((folder / "games").iterdir()) for record in load_records(path)]


class RandomGames(GameSource):
    """A GameSource without a network: whole games of random moves, one after the other."""

    moves = readouts_done = closed = 0

    def __init__(self, env: GameEnv, settings: Any, numbers: range, workers: Any, *, seed: int = 0, **_: Any) -> None:
        self.env, self.numbers, self.seed = env, numbers, seed
        self.left = 0  # games to play in this iteration
        self.finished: list[GameRecord] = []
        self.published: list[NeuralNet] = []
        self.asked: list[tuple[int | None, int | None, int | None]] = []  # plies, readouts, games side by side

    @property
    def begun(self) -> int:
        return self.numbers.start

    def publish(self, net: NeuralNet, dtype: str | None = None) -> None:
        self.published.append(frozen_copy(net))

    def begin(self, plies: Any, readouts: Any = None, side_by_side: Any = None, resign_threshold: Any = None) -> None:
        assert self.published
        self.asked.append((plies, readouts, side_by_side))
        self.left = min(side_by_side or 1, len(self.numbers))

    def advance(self, stop: threading.Event | None = None, until: float | None = None) -> bool:
        while self.left and not (stop is not None and stop.is_set()):
            self.finished.append(self.game(self.numbers[0]))
            self.numbers, self.left = self.numbers[1:], self.left - 1
            if until is not None and time.monotonic() >= until:
                break
        return not self.left

    def game(self, number: int) -> GameRecord:
        generator = np.random.default_rng([self.seed, number])
        setup = self.env.random_setup(generator)
        builder, position = RecordBuilder(setup, seed=(self.seed, number)), self.env.position(**setup)
        while not position.is_over:
            legal = np.flatnonzero(position.legal_mask)
            policy = position.legal_mask.astype(np.float32) / len(legal)
            action = int(generator.choice(legal))
            builder.add(action, policy, 0.0, len(legal), position.to_play)
            position = position.play(action)
        self.moves += len(builder)
        outcome = position.result
        assert outcome is not None
        return builder.finish(outcome, position.score(), False, self.env.action_space)

    def take(self) -> list[GameRecord]:
        finished, self.finished = self.finished, []
        return finished

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        return to_arrays(self.finished), {"next": self.numbers.start, "left": self.left}

    def restore(self, arrays: Mapping[str, np.ndarray], data: Mapping[str, Any]) -> None:
        self.finished = read_arrays(arrays)
        self.numbers, self.left = range(data["next"], self.numbers.stop, self.numbers.step), data["left"]

    def close(self) -> None:
        self.closed += 1


class Sources:
    """Makes sources of one kind, and keeps them in `made`."""

    def __init__(self, kind: MakeSource = RandomGames) -> None:
        self.kind = kind
        self.made: list[Any] = []

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        self.made.append(self.kind(*arguments, **options))
        return self.made[-1]


def evaluations(folder: Path) -> list[Any]:
    """Return the rows of a run's judges."""
    return list(read_rows(folder / EVALUATIONS, "opponent"))


def files(folder: Path) -> dict[str, bytes]:
    """Return what is in the files of a folder, by their paths in it."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def spoil(path: Path, how: str) -> None:
    """Make a file "cut" off, "empty" or "gone", change a bit of it ("flipped"), or put in its place a "pipe", a "link"
    to itself, or a file that claims to be "huge".
    """
    data = (path.read_bytes() if path.exists() else b"") or bytes(1)
    flipped = bytearray(data)
    flipped[len(data) // 2] ^= 1
    path.unlink(missing_ok=True)
    if how == "pipe":
        os.mkfifo(path)
    elif how == "link":
        path.symlink_to(path)
    elif how != "gone":
        path.write_bytes({"cut": data[:-20], "flipped": bytes(flipped)}.get(how, b""))
    if how == "huge":
        os.truncate(path, 20 * 10**9)
