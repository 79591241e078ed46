"""The algorithm: when it learns, how often, and that a stop within it changes nothing."""

import threading
from pathlib import Path
from typing import Any

import pytest

from alphago import GomokuEnv, NeuralNet, Puct, evaluate, train
from alphago.system.interrupts import Stopped
from alphago.training.loop import learn, play, remember, train_loop
from alphago.training.selfplay import SelfPlay
from tests.training.conftest import STAGES
from tests.training.small_runs import EXACT, Listener, RandomGames, Small, Sources, interrupt, opened, run, same
from tests.training.workers.crews import STOPPED


def random_games(folder: Path, num_games: int = 24, **settings: Any) -> Listener:
    """A run on games of random moves."""
    return run(folder, num_games, **{"source": RandomGames, "samples_per_position": 1, "ckp_freq": 100, **settings})[1]


class TestLearning:
    def test_start_training_after_counts_positions(self, tmp_path: Path) -> None:
        """Not games, as AlphaGo.jl's README says."""
        listener = random_games(tmp_path, 12, start_training_after=100, games_in_flight=1)
        assert all((row["steps"] > 0) == (row["positions"] >= 100) for row in listener.rows)
        at_start = next(row for row in listener.rows if row["steps"])
        assert at_start["games"] < 12 < 100

    @pytest.mark.parametrize(
        ("batch_size", "samples"), [(1, 0.5), (7, 2), pytest.param(100, 2, marks=pytest.mark.slow)]
    )
    def test_any_batch_size(self, tmp_path: Path, batch_size: int, samples: float) -> None:
        """AlphaGo.jl broke on anything but multiples of 32."""
        listener = random_games(tmp_path, 8, batch_size=batch_size, samples_per_position=samples)
        assert listener.last["steps"] == samples * listener.last["positions"] // batch_size > 0
        assert listener.last["skipped_steps"] == 0

    def test_epochs_are_steps_on_each_batch(self, tmp_path: Path) -> None:
        listener = random_games(tmp_path, epochs=3)
        assert listener.last["steps"] == 3 * (listener.last["positions"] // 64) > 0

    def test_new_games_are_measured_before_they_are_learned(self, tmp_path: Path) -> None:
        rows = random_games(tmp_path).rows
        began = next(number for number, row in enumerate(rows) if row["steps"])
        assert [("fresh_policy_loss" in row) for row in rows] == [number > began for number in range(len(rows))]


class PausesOften(SelfPlay):
    """Pauses after every move, and presses Ctrl-C at the one of a number."""

    calls = 0
    interrupt_at = 0

    def advance(self, stop: threading.Event | None = None, until: float | None = None) -> bool:
        PausesOften.calls += 1
        if PausesOften.calls == self.interrupt_at:
            interrupt()
        return super().advance(stop, 0.0)


class TestStop:
    @pytest.mark.parametrize("move", [pytest.param(1, marks=pytest.mark.slow), 20])
    def test_within_an_iterations_moves(self, tmp_path: Path, undisturbed: Small, move: int) -> None:
        """The run goes on right there, and ends with the same weights."""
        PausesOften.calls, PausesOften.interrupt_at = 0, move
        _, listener = run(tmp_path, source=PausesOften, **STAGES)
        assert (listener.stopped, len(listener.rows) < len(undisturbed.listener.rows)) == (True, True)
        assert same(run(tmp_path, **STAGES)[0], undisturbed.net)

    def test_it_ends_what_is_in_progress(self, tmp_path: Path) -> None:
        """Neither moves nor gradient steps follow it."""
        with opened(tmp_path, source=(sources := Sources())) as run:
            train_loop(run, STOPPED)
            run.begin_iteration()
            with pytest.raises(Stopped):
                play(run, STOPPED)
            remember(run, play(run, threading.Event()))
            run.set_counts(samples_due=100.0)
            moves = sources.made[0].moves
            with pytest.raises(Stopped):
                learn(run, STOPPED)
            assert (sources.made[0].moves, run.learner.steps) == (moves, 0)


NETWORK: dict[str, Any] = {"tower_height": 1, "channels": 16}
SEARCH = Puct(dirichlet_weight=0.5, dirichlet_alpha=1.0)
SETTINGS: dict[str, Any] = {"num_games": 500, "readouts": 40, "temperature_plies": 9, "search": SEARCH, **EXACT}
SETTINGS |= {"batch_size": 64, "start_training_after": 150, "samples_per_position": 6, "learning_rate": 1e-2}


@pytest.mark.slow
def test_it_learns_and_hardly_loses_to_random(tmp_path: Path) -> None:
    """Three in a row from random weights, in float32 on one thread.

    Of many games in either colour hardly one is lost with a search, few are without.  A network that is sure of a
    wrong reply can hide the five plies that refute it from 200 readouts.
    """
    env = GomokuEnv(3, 3, planes=3)  # its rules in kernels take no time
    net = train(env, folder=tmp_path, reports=[], seed=1, **NETWORK, **SETTINGS)
    searching = evaluate(env, net, "random", 80, readouts=200, seed=1)
    assert searching.losses <= 1, searching
    assert searching.wins > 64
    assert evaluate(env, net, "random", 200, readouts=0, seed=1).losses < 30
    untrained = NeuralNet(env, **NETWORK)
    assert evaluate(env, untrained, "random", 200, readouts=0, seed=1).losses > 45
