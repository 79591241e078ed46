"""Games that workers play: those of one process, bit for bit, whatever the workers do."""

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch

from alphago import GameRecord, Gumbel, NeuralNet, Puct, SearchSettings
from alphago.nn.inference import gpu
from alphago.nn.inference.gpu import DeviceEvaluator
from alphago.nn.threads import Workers, one_torch_thread
from alphago.training.selfplay import SelfPlay
from alphago.training.settings.selfplay_settings import SelfPlaySettings
from alphago.training.source import GameSource, MakeSource
from alphago.training.watch.plots import TRAINING
from alphago.training.workers.group_player import GroupMessage, GroupPlayer, Version
from alphago.training.workers.remote_selfplay import RemoteSelfPlay
from alphago.workers import jobs
from alphago.workers.work import HAS_LEFT, JobAnswer, WorkBench, build_info, to_publish
from tests.training.small_runs import GO, net_of
from tests.training.test_group import assert_same_games
from tests.training.workers.crews import NEVER, Behaviour, Local, damaging, dying, failing, honest, refusing, source_of

GAMES, PLIES = 7, 6
NET = net_of(1)


@contextmanager
def source(make: MakeSource, search: SearchSettings | None = None) -> Iterator[Any]:
    """A source of seven games in two groups of two slots, whose network is there."""
    settings = SelfPlaySettings(readouts=4, search=search or Gumbel(), games_in_flight=4, groups=2)
    with one_torch_thread(), Workers(2) as workers, closing(make(GO, settings, range(GAMES), workers, seed=3)) as made:
        made.publish(NET, "float32")
        yield made


def iteration(games: GameSource, told: list[str] | None = None) -> list[GameRecord]:
    """Play an iteration's moves; `told` gets the news."""
    told = [] if told is None else told
    games.begin(PLIES, side_by_side=3)
    while not games.advance():
        told += games.news()
    told += games.news()
    return games.take()


def all_games(games: GameSource, told: list[str] | None = None, played: Sequence[GameRecord] = ()) -> list[GameRecord]:
    """Play all games but those that were played before; return all."""
    played = [*played]
    while len(played) < GAMES:
        played += iteration(games, told)
    return played


@pytest.fixture(scope="module")
def wanted() -> list[GameRecord]:
    with source(SelfPlay) as games:
        return all_games(games)


class TestSynchronous:
    @pytest.mark.parametrize(
        ("workers", "told"),
        [
            ({"a": honest}, "worker a has come"),
            ({"a": honest, "b": honest, "c": honest}, "worker c has come"),
            ({"a": dying, "b": dying, "c": honest}, "worker a has gone"),
            ({"a": failing, "b": honest}, "a task failed on worker a: ArithmeticError"),
            ({"a": damaging, "b": honest}, "a task failed on worker a: NotImplementedError"),
            ({"a": refusing, "b": honest}, "worker a is left out: this worker must be another one"),
        ],
    )
    def test_the_same_games_whatever_workers_do(
        self, wanted: list[GameRecord], workers: dict[str, Behaviour], told: str
    ) -> None:
        """In the same order too, and each task is counted once."""
        transport, sentences = Local(**workers), list[str]()
        with source(source_of(transport)) as games:
            assert_same_games(all_games(games, sentences), wanted)
            metrics = games.metrics()
            assert games.moves == sum(map(len, wanted))
        first = told.split("worker ")[1][0]  # which may have come too late for a task, if the others were quick
        if first in transport.asked:
            assert any(told in sentence for sentence in sentences)
        assert metrics["tasks_done"] == len({key for _, key in transport.done})
        assert transport.closed == 1

    @pytest.mark.parametrize("search", [Puct(), Gumbel()], ids=str)
    def test_a_run_changes_between_threads_and_workers(self, search: SearchSettings) -> None:
        """Their states are the same, to the bit, after each iteration, and either goes on from the other's."""
        assert RemoteSelfPlay.state is SelfPlay.state  # by which a run tells whose games it has
        with source(SelfPlay, search) as threads, source(source_of(Local(a=honest)), search) as remote:
            for _ in range(2):
                assert_same_games(iteration(remote), iteration(threads))
                states = [one.state() for one in (remote, threads)]
                assert states[0][1] == states[1][1]
                assert states[0][0].keys() == states[1][0].keys()
                assert all((states[0][0][name] == states[1][0][name]).all() for name in states[0][0])
                for one, state in zip((remote, threads), reversed(states), strict=True):
                    one.restore(*state)

    def test_a_pause_loses_nothing(self, wanted: list[GameRecord]) -> None:
        """At a pause within an iteration, the state has the groups that are done and those that are not."""
        with source(source_of(Local(a=honest))) as games:
            games.begin(PLIES, side_by_side=3)
            while not games.advance(until=0.0):
                if {group.left for group in games.groups} == {0, PLIES}:
                    break
            state = games.state()
        with source(source_of(Local(a=honest))) as again:
            again.restore(*state)
            while not again.advance():
                again.news()
            assert_same_games(all_games(again, played=again.take()), wanted)

    def test_a_task_that_nobody_can_do_ends_the_run(self) -> None:
        with source(source_of(Local(a=failing, b=failing))) as games:
            for act in (partial(all_games, games), partial(games.publish, NET, "float32")):  # whatever is done next
                with pytest.raises(RuntimeError, match=r"failed 3 times, on \w and \w:\nTraceback\nArithmeticError"):
                    act()

    def test_a_task_that_ends_its_workers_ends_the_run(self) -> None:
        dies = source_of(Local(**{f"w{number}": dying for number in range(20)}))
        sentence = r"a task failed 6 times, on w\d+ and .*:\nits worker has ended"
        with source(dies) as games, pytest.raises(RuntimeError, match=sentence):
            all_games(games)

    def test_workers_that_leave_are_no_fault_of_a_task(self, wanted: list[GameRecord]) -> None:
        number = 2 * jobs.MOST_ENDS

        def leave(answer: JobAnswer) -> None:
            transport.gone[answer.worker] = HAS_LEFT
            if len(transport.gone) == number:
                transport.behaviours["last"] = honest

        transport = Local(**{f"w{i}": leave for i in range(number)})
        with source(source_of(transport)) as games:
            assert_same_games(all_games(games), wanted)

    def test_without_workers_it_says_what_to_do(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(jobs, "SILENCE", 0.01)
        with source(source_of(Local())) as games:
            games.begin(PLIES)
            assert not games.advance()
            assert games.news()[0] == "the run waits for a worker, and there is none: add one"

    def test_a_network_of_own_modules_is_refused(self) -> None:
        net = NeuralNet(GO, base_net=torch.nn.Conv2d(GO.planes, 8, 3, padding=1))
        with source(source_of(Local())) as games, pytest.raises(ValueError, match="Conv2d must be a registered part"):
            games.publish(net, "float32")


class TestAsynchronous:
    def test_every_game_is_counted_once(self) -> None:
        with source(source_of(Local(a=honest, b=dying, c=honest), max_lag=1)) as games:
            played = all_games(games)
            assert sorted(record.seed[1] for record in played if record.seed) == list(range(GAMES))
            metrics = games.metrics()
        assert metrics["too_old"] == 0
        drawn = {key for panel in TRAINING for key in panel.keys if key.startswith(("workers", "tasks", "lag"))}
        assert drawn <= metrics.keys()

    @pytest.mark.slow
    @pytest.mark.parametrize("max_lag", [0, 2])
    def test_workers_play_ahead_of_a_slow_learner(self, max_lag: int) -> None:
        """By `max_lag` versions and no more."""
        with source(source_of(Local(a=honest), max_lag=max_lag)) as games:
            for number in range(4):
                games.begin(1)
                while not games.advance():
                    games.news()
                games.take()
                while games.in_flight:
                    NEVER.wait(0.001)
                assert games.moves == 4 * (number + 1 + max_lag)
                assert max(games.lags) == max_lag
                games.publish(NET, "float32")

    @pytest.mark.slow
    def test_workers_play_on_a_gpu(self, wanted: list[GameRecord], monkeypatch: pytest.MonkeyPatch) -> None:
        """All versions on one evaluator, which takes their weights; on their CPU for a run on the CPU's bits."""
        made: list[DeviceEvaluator] = []

        class Counted(DeviceEvaluator):
            def __init__(self, *parts: Any, **options: Any) -> None:
                made.append(self)
                super().__init__(*parts, **options)

        monkeypatch.setattr(gpu, "DeviceEvaluator", Counted)
        with source(source_of(Local(device="host", a=honest), max_lag=0)) as games:
            first = iteration(games)
            games.publish(net_of(2), "float32")
            iteration(games)
            assert len(first) + len(iteration(games))
        on_cpu = source_of(Local(device="cuda", a=honest))
        with pytest.warns(UserWarning, match="played on the CPU"), source(on_cpu) as games:
            assert_same_games(all_games(games), wanted)
        assert len(made) == 1

    @pytest.mark.slow
    def test_games_of_an_old_network_are_played_again(self) -> None:
        transport = Local()
        with source(source_of(transport, max_lag=0)) as games:
            games.begin(PLIES)
            games.advance(until=0.0)
            games.publish(net_of(2), "float32")
            transport.behaviours["a"] = honest
            while not games.advance():
                games.news()
            metrics = games.metrics()
        assert metrics["too_old"] >= 2
        assert metrics["lag"] == 0


class TestTasks:
    def version(self, check: str | None = None) -> Version:
        settings = SelfPlaySettings(readouts=4, search=Gumbel(), games_in_flight=2, groups=1)
        return Version(GO, settings, NET, "float32", 3, check)

    def task(self, left: int) -> GroupMessage:
        state = {"next": 0, "left": left, "readouts": 4, "resign_threshold": None, "capacity": 2, "finished": 0}
        return GroupMessage({**state, "slots": [None, None], "end": 2, "step": 1}, [], {})

    def test_a_worker_that_leaves_answers_with_its_last_move(self) -> None:
        """Another goes on from there, and all in all it is one game."""
        player, stop = GroupPlayer(self.version()), threading.Event()
        whole = player.play(self.task(4), stop)
        first = player.play(self.task(2), stop)
        assert whole is not None
        assert first is not None
        state = {**first.state, "left": 2, "end": 2, "step": 1}
        rest = player.play(GroupMessage(state, first.games, {}), stop)
        assert rest is not None
        assert rest.state == whole.state
        assert_same_games(rest.games, whole.games)
        stop.set()
        assert (left := player.play(self.task(4), stop)) is not None
        assert left.state["left"] == 4

    def test_tasks_of_search_trees_are_not_cut(self) -> None:
        version = self.version()
        version = version._replace(settings=replace(version.settings, search=Puct()))
        stop = threading.Event()
        stop.set()
        assert GroupPlayer(version).play(self.task(4), stop) is None

    def test_a_network_keeps_its_own_game(self) -> None:
        """By whose rules 8-bit numbers are calibrated, whatever the run plays."""
        sent = self.version()._replace(env=GO.replace(komi_spread=1.0, first_pass=4))
        got = Version.from_bytes(sent.to_bytes())
        assert (got.env, got.net.env) == (sent.env, NET.env)

    def test_other_programs_and_numbers_are_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Of a library's version only where games must be equal to the bit."""
        exact = to_publish(GroupPlayer, self.version("0" * 32).to_bytes(), exact=True)
        loose = to_publish(GroupPlayer, self.version().to_bytes(), exact=False)

        def kind_and_data(work: bytes) -> tuple[str, bytes]:
            return WorkBench(lambda _: work).do("w", self.task(1).to_bytes, threading.Event())

        def check_refused(work: bytes, why: str) -> None:
            kind, data = kind_and_data(work)
            assert kind == "refused"
            assert re.search(why, data.decode())

        check_refused(exact, "bit for bit: its float32 gives other numbers")
        monkeypatch.setattr("alphago.workers.work.build_info", lambda: {**build_info(), "numpy": "1.0"})
        assert kind_and_data(loose)[0] == "done"
        check_refused(exact, r"the same versions as the run: numpy \S+, got 1\.0")
        monkeypatch.setattr("alphago.workers.work.build_info", lambda: {**build_info(), "alphago": "0"})
        check_refused(loose, "alphago")
