"""Small runs for tests: what they are told, and their sudden end."""

import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from alphago.env.go import GoEnv
from alphago.nn.net import NeuralNet
from alphago.system.validation import UNSET, Unset
from alphago.training.runs.state import StateFiles
from alphago.training.selfplay import SelfPlay
from alphago.training.session import train
from alphago.training.watch import run_clock as clock

GO = GoEnv(3, komi=0.5)
TINY: dict[str, Any] = {
    "tower_height": 0, "channels": 8, "readouts": 4, "batch_size": 16, "start_training_after": 40,
    "plies_per_iteration": 6, "games_in_flight": 4, "groups": 2, "ckp_freq": 5,
}  # fmt: skip


class Listener:
    """A report that keeps what it is told."""

    def __init__(self, at_iteration: Callable[[int], Any] | None = None) -> None:
        self.rows: list[dict[str, Any]] = []
        self.notes: list[str] = []
        self.at_iteration = at_iteration

    def start(self, folder: Path, settings: dict[str, Any]) -> None:
        self.folder, self.settings = folder, settings

    def iteration(self, metrics: dict[str, Any]) -> None:
        self.rows.append(metrics)
        if self.at_iteration:
            self.at_iteration(len(self.rows))

    def note(self, text: str) -> None:
        self.notes.append(text)

    def finish(self, metrics: dict[str, Any], weights: Path, stopped: bool) -> None:
        self.last, self.weights, self.stopped = metrics, weights, stopped


def run(folder: Path, num_games: int | None = 16, env: GoEnv = GO, **settings: Any) -> tuple[NeuralNet, Listener]:
    """A run of tiny settings, from its beginning or from where its folder stands."""
    listener = Listener()
    net = train(env, num_games, folder=folder, reports=[listener], **{**TINY, **settings})
    return net, listener


def go_on(
    folder: Path, num_games: int | Unset | None = UNSET, env: GoEnv = GO, **settings: Any
) -> tuple[NeuralNet, Listener]:
    """A run goes on, with nothing said but what is given."""
    listener = Listener()
    return train(env, num_games, folder=folder, reports=[listener], **settings), listener


class Killed(Exception):
    """The process ends, and nothing is saved any more."""


def run_killed(folder: Path, saves: int, **settings: Any) -> None:
    """A run that saves before every move and every gradient step, until it is killed after so many saves."""
    write, written = StateFiles.write, []

    def counted(self: StateFiles, state: Any) -> None:
        write(self, state)
        written.append(state)
        if len(written) == saves:
            raise Killed

    with pytest.MonkeyPatch.context() as patch:
        save_always(patch)
        patch.setattr(StateFiles, "write", counted)
        with pytest.raises(Killed):
            run(folder, **settings)


def save_always(patch: pytest.MonkeyPatch, seconds: float = 0.0) -> None:
    """Makes runs save before every move and every gradient step, but for so many seconds after each time."""
    patch.setattr(clock, "SAVE_EVERY", seconds)
    patch.setattr(clock, "SAVING_SHARE", 1e9)


def time_by_iterations(patch: pytest.MonkeyPatch, *seconds: float) -> None:
    """The clock of runs stands still, but for so many seconds at each time of self-play, the last number ever after."""
    play, now, steps = SelfPlay.go_on, time.monotonic() + 1e6, list(seconds)

    def go_on(selfplay: SelfPlay, *options: Any) -> bool:
        nonlocal now
        now += steps.pop(0) if len(steps) > 1 else steps[0]
        return play(selfplay, *options)

    patch.setattr(SelfPlay, "go_on", go_on)
    patch.setattr(clock, "time", SimpleNamespace(monotonic=lambda: now, process_time=time.process_time))


def same(one: NeuralNet, other: NeuralNet) -> bool:
    """Whether two networks have the same weights, to the last bit."""
    pairs = zip(one.state_dict().values(), other.state_dict().values(), strict=True)
    return all(torch.equal(mine, yours) for mine, yours in pairs)
