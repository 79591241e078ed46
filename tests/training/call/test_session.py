"""The call of `train`: how it stops, with which network it goes on, in which folder, on which device."""

import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from alphago import GoEnv, NeuralNet, evaluate, load_model, train
from alphago.arena.match import MatchStopped
from alphago.cuda.contract import BackendMissing
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.nn.inference.hardware import why_not_gpu
from alphago.training.runs.config import holds_run, read_config
from alphago.training.runs.folder import new_folder
from alphago.training.selfplay import SelfPlay
from tests.devices import needs_compiler
from tests.training.small_runs import (
    GO,
    SETTINGS,
    SIZES,
    TINY,
    Listener,
    RandomGames,
    games_in,
    go_on,
    interrupt,
    interrupt_at,
    net_of,
    run,
    same,
)
from tests.training.workers.crews import STOPPED

FIXED = NeuralNet(GO, **SIZES, size_free=False)  # for one board


class TestStopping:
    @pytest.mark.parametrize(
        ("limit", "time"), [("max_minutes", "seconds"), ("max_processor_minutes", "processor_seconds")]
    )
    def test_a_limit_of_time(self, tmp_path: Path, limit: str, time: str) -> None:
        """At the next move, not after all the plies of an iteration."""
        settings = {limit: 0.01, "plies_per_iteration": 10**9, "games_in_flight": 16}
        _, listener = run(tmp_path, 10**9, GoEnv(5), **settings)
        assert listener.last[time] >= 0.6
        assert (listener.last["iteration"], listener.stopped) == (1, False)
        load_model(tmp_path, GoEnv(5))

    def test_interrupt_saves_and_stops(self, tmp_path: Path) -> None:
        """The first Ctrl-C; here in this process, at the second iteration."""
        handler, listener = signal.getsignal(signal.SIGINT), interrupt_at(2)
        net, _ = run(tmp_path, 100_000, report=listener)
        assert (len(listener.rows), listener.stopped) == (2, True)
        assert signal.getsignal(signal.SIGINT) is handler
        assert same(load_model(tmp_path, GO), net)
        assert len(games_in(tmp_path)) == listener.last["games"]

    @pytest.mark.slow
    @pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
    def test_a_signal_from_outside(self, tmp_path: Path, number: int, code: int) -> None:
        """A program that is interrupted goes on after `train`; one that is to end has saved, and ends.

        Both behind a progress bar that is closed.
        """
        program = textwrap.dedent(
            f"""
            from alphago import GoEnv, train
            train(GoEnv(3), 10**6, folder={str(tmp_path / "run")!r}, readouts=2, tower_height=0, channels=8,
                  start_training_after=40, batch_size=16, games_in_flight=4, groups=1, device="cpu")
            """
        )
        command, here = [sys.executable, "-c", program], Path(__file__).parents[3]  # from which it imports
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=here)
        try:
            metrics = tmp_path / "run" / "metrics.jsonl"
            while not (metrics.exists() and metrics.read_text().count("\n") > 2):
                assert process.poll() is None, process.communicate()[1]
                time.sleep(0.05)
            process.send_signal(number)
            _, errors = process.communicate()
        finally:
            process.kill()
        assert process.returncode == code, errors
        assert ("Traceback" in errors, "stopped after" in errors) == (False, True)
        assert f"it goes on with: alphago train --folder {tmp_path / 'run'}\n" in errors
        load_model(tmp_path / "run", GoEnv(3))

    @pytest.mark.slow
    def test_a_second_interrupt_ends_it_at_once(self, tmp_path: Path) -> None:
        def twice(number: int) -> None:
            interrupt()
            interrupt()

        threads = threading.active_count()
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path, 100_000, report=Listener(twice), source=RandomGames)
        assert threading.active_count() == threads

    def test_something_else_that_is_stopped_is_an_error(self, tmp_path: Path) -> None:
        """Such as a match of a judge of one's own: the run would end as if it were over."""
        match = partial(evaluate, GO, "random", "random", stop=STOPPED)
        with pytest.raises(MatchStopped):
            run(tmp_path, 8, report=Listener(match), source=RandomGames)

    @pytest.mark.slow
    def test_in_another_thread(self, tmp_path: Path) -> None:
        """Where Python allows no signal handler."""
        with ThreadPoolExecutor(1) as other:
            _, listener = other.submit(run, tmp_path, 4).result()
        assert listener.last["games"] == 4

    @pytest.mark.slow
    def test_threads_and_random_state_are_put_back(self, tmp_path: Path) -> None:
        before, state = threading.active_count(), torch.get_rng_state()
        torch.set_num_threads(2)
        run(tmp_path, 4)
        assert torch.get_num_threads() == 2
        assert threading.active_count() == before
        assert torch.equal(torch.get_rng_state(), state)


class Breaking(torch.optim.SGD):
    """Takes no steps but one, its third, which multiplies all weights by a factor."""

    def __init__(self, factor: float, parameters: Any, learning_rate: float, weight_decay: float) -> None:
        super().__init__(list(parameters), lr=learning_rate)
        self.factor, self.calls = factor, 0

    def step(self, closure: None = None) -> None:  # type: ignore[override]
        self.calls += 1
        for parameter in self.param_groups[0]["params"] if self.calls == 3 else ():
            parameter.data *= self.factor


def breaking(factor: float) -> Any:
    return lambda *given: Breaking(factor, *given)


class TestDivergence:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("factor", "warning"), [(1e3, "exploded loss: the policy's loss is "), (-1e9, "training has diverged after ")]
    )
    def test_a_run_ends_with_a_warning(self, tmp_path: Path, factor: float, warning: str) -> None:
        """It ended well, after a policy loss of 5e18."""
        _, listener = run(tmp_path, 12, optimizer=breaking(factor), source=RandomGames, batch_size=32, groups=2)
        assert listener.notes[-1].startswith(warning)
        assert "lower learning_rate" in listener.notes[-1]

    def test_weights_that_cannot_play(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match=r"must be finite.*; training has diverged after 3 .* lower learning_rate"):
            run(tmp_path, 16, optimizer=breaking(float("inf")), start_training_after=0)


def test_a_run_that_learned_nothing_is_told(tmp_path: Path) -> None:
    """Or next to nothing: a minute on a busy machine ended after 57 steps, weaker than random moves."""
    _, listener = run(tmp_path / "few", 8, source=RandomGames)
    assert 0 < (steps := listener.last["steps"]) < 100
    assert f"after {steps} gradient steps: its network may still lose to random moves; a longer" in listener.notes[-1]
    assert listener.notes[-1].endswith(f"--folder {tmp_path / 'few'} --games 16")
    _, listener = run(tmp_path / "none", 2, source=RandomGames, start_training_after=1000)
    assert "games: 2) without a gradient step" in listener.notes[-1]
    settings = {**TINY, "start_training_after": 1000}
    with pytest.warns(UserWarning, match="without a gradient step: its network is as it began") as warned:
        train(GO, 2, folder=tmp_path / "warned", reports=[], source=RandomGames, **settings)
    assert warned[0].filename == __file__  # the line to change is the caller's


class TestModel:
    def test_it_goes_on_with_a_network(self, tmp_path: Path) -> None:
        """Trained in place; its notes are those of the run: a threshold of other weights says nothing of these."""
        net, before = net_of(0), net_of(0)
        net.notes = {"resign_threshold": "-0.5"}
        again = train(GO, 12, model=net, folder=tmp_path, reports=[], source=RandomGames, **SETTINGS)
        assert again is net
        assert not same(net, before)
        assert net.notes == load_model(tmp_path).notes
        assert (net.notes["games"], net.resign_threshold) == ("12", -1.0)

    @pytest.mark.slow
    @pytest.mark.parametrize("env", [GoEnv(4), GO.replace(komi=2.5)], ids=["board", "komi"])
    def test_it_goes_on_with_another_game(self, tmp_path: Path, env: GoEnv) -> None:
        """What comes back is for the game that was trained, with the same weights: those given have learned too."""
        net, report = net_of(0), Listener()
        other = train(env, 12, model=net, folder=tmp_path, reports=[report], source=RandomGames, **SETTINGS)
        assert report.noted(f"the model is for {GO}: its weights learn {env}")
        assert (other.env, net.env, load_model(tmp_path).env) == (env, GO, env)
        assert not same(net, net_of(0))
        assert same(net, other)

    def test_the_usual_search_suits_the_readouts(self, tmp_path: Path) -> None:
        """Also where a run goes on with other readouts, unless the call says how to search."""
        run(tmp_path, 2, readouts=4, source=RandomGames)
        for games, given, considered in ((3, {"readouts": 8}, 4), (4, {"readouts": 64, "considered": 4}, 4)):
            go_on(tmp_path, games, source=RandomGames, **given)
            assert read_config(tmp_path)["settings"]["selfplay"]["search"]["considered"] == considered

    @pytest.mark.parametrize(
        ("env", "given", "sentence"),
        [
            (GO, {"model": net_of(0), "channels": 1}, "channels must be left out with a model, which has its own"),
            (GoEnv(5), {"model": FIXED}, "fit one board size"),
            (GO, {"model": FIXED, "curriculum": ((2, 0.5),)}, r"GoEnv\(2.* fit one board size"),
            (TicTacToeEnv(), {"model": net_of(0)}, "is another game"),
            (TicTacToeEnv(), {"curriculum": ((2, 0.5),)}, "has only one board size, "),
            (GO, {"curriculum": ((40, 0.5),)}, "board_size .* 25, got 40"),
            (GO, {"watch": ["gnu@0"]}, "no player is called 'gnu': did you mean gnugo"),
            (GO, {"watch": ["random@many"]}, "after @ come the readouts of the run's network, as in random@64"),
            (GO, {"watch": ["random", "random@64"]}, "watch must name each opponent once, got 'random' twice"),
            (GO, {"watch": ["records:nowhere"]}, "games must be in a dataset, a run, or a file or folder of games"),
            (GO, {"until": "gnu"}, "no player is called 'gnu'"),
            (GO, {"device": "cuda"}, "no CUDA device can be used"),
            (GO, {"device": "gpu"}, "device .*'cpu', 'cuda', 'auto'.*, got 'gpu'"),
        ],
    )
    def test_refusals(self, tmp_path: Path, env: Any, given: dict[str, Any], sentence: str) -> None:
        """Before anything is written: the folder stays free for the next attempt."""
        with pytest.raises((ValueError, OSError, BackendMissing), match=sentence):
            train(env, folder=tmp_path / "run", reports=[], **{"num_games": 4, **given})
        assert not (tmp_path / "run").exists()


class TestFolders:
    @pytest.mark.filterwarnings("ignore:this run is over")
    def test_the_default_one(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """runs/<game>-<date>-<time>, for each run its own, however many begin in one second."""
        monkeypatch.chdir(tmp_path)
        with ThreadPoolExecutor(4) as callers:
            made = [path.name for path in callers.map(new_folder, ["go3"] * 12)]
        train(GO, 1, reports=[], source=RandomGames, **TINY)
        (another,) = {path.name for path in (tmp_path / "runs").iterdir()} - set(made)
        assert len(set(made)) == 12
        assert all(name.startswith("go3-") for name in [*made, another])

    def test_a_file_in_the_way(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("mine")
        for folder, sentence in (("file", "a file is there"), ("file/run", "cannot be made: Not a directory")):
            with pytest.raises(OSError, match=sentence):
                run(tmp_path / folder)


def factored(parameters: Any, learning_rate: float, weight_decay: float) -> torch.optim.Optimizer:
    """An optimizer whose memory of a matrix is its rows and columns."""
    return torch.optim.Adafactor(parameters, lr=learning_rate, weight_decay=weight_decay)


class TestDevice:
    @pytest.mark.slow
    def test_a_run_goes_on_on_the_cpu_and_back(self, device: str, tmp_path: Path) -> None:
        """Also where the optimizer's memory has other shapes than the weights."""
        net, listener = run(tmp_path, 8, device=device, optimizer=factored)
        assert listener.notes[0] == f"boards and network are on {device}"
        assert {parameter.device.type for parameter in net.parameters()} == {"cpu"}
        assert listener.last["steps"] > 0
        for where, games in (("cpu", 11), (device, 14)):
            net, listener = go_on(tmp_path, games, device=where, optimizer=factored)
            assert listener.last["games"] >= games
            assert listener.last["skipped_steps"] == 0
            assert "device" not in str(read_config(tmp_path))  # nothing that the run has to know
            assert all(torch.isfinite(parameter).all() for parameter in net.parameters())

    @pytest.mark.slow
    @needs_compiler
    def test_a_gpu_that_becomes_full(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """ "auto" goes on on the CPU from where it was saved, others are told in one sentence."""

        class Fills(SelfPlay):
            calls = 0

            def advance(self, stop: threading.Event | None = None, until: float | None = None) -> bool:
                Fills.calls += 1
                if Fills.calls == 8:
                    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has no more")
                return super().advance(stop, until)

        for module in ("alphago.training.call.start", "alphago.nn.inference.gpu"):
            monkeypatch.setattr(f"{module}.find_device", lambda env, name: "host" if name == "auto" else name)
        sentence = "20.00 MiB does not fit into the memory that is left on the GPU"
        settings = {"source": Fills, "plies_per_iteration": 2}
        _, listener = run(tmp_path / "auto", 10, device="auto", **settings)
        assert listener.notes[0] == "boards and network are on host"
        assert sum(sentence in note for note in listener.notes) == 1
        assert listener.noted("this run goes on after ")
        assert (listener.last["games"], listener.stopped) == (10, False)
        assert sorted(game.seed for game in games_in(tmp_path / "auto")) == [(0, number) for number in range(10)]
        Fills.calls = 0
        with pytest.raises(MemoryError, match=f"^{sentence}$"):
            run(tmp_path / "host", 10, device="host", **settings)
        assert holds_run(tmp_path / "host")


def test_a_gpu_that_cannot_be_used_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no memory left from the beginning, for example; then "auto" is the CPU."""

    def full(env: object, device: str = "auto") -> str:
        raise MemoryError("2 MiB do not fit")

    with monkeypatch.context() as patch:  # ends before a torch that is built for GPUs takes a step
        patch.setattr("torch.cuda.is_available", lambda: True)
        patch.setattr("alphago.nn.inference.hardware.choose_device", full)
        reason = why_not_gpu(GO)
    monkeypatch.setattr("alphago.training.call.session.why_not_gpu", lambda env: reason)
    _, listener = run(tmp_path, 2, device="auto")
    assert listener.noted("boards and network are on the CPU, since the GPU cannot be used: 2 MiB do not fit")
    assert listener.last["games"] == 2
