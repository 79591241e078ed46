"""`train(until=…)`: examinations by an opponent, and the run's end when it is beaten for sure."""

import json
import re
import threading
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from alphago import GoEnv, train
from alphago.arena.engine import EngineError
from alphago.arena.match import MatchStopped
from alphago.training.call.summary import why_over
from alphago.training.history import EVALUATIONS
from alphago.training.judges.proof import PROOF, Examiner
from alphago.training.settings.judge_settings import Opponent
from tests.arena.playing import install_fake_gnugo
from tests.training.small_runs import GO, TINY, Listener, RandomGames, evaluations, go_on, opened, run
from tests.training.workers.crews import STOPPED

# Examined when the run is over, by its policy alone.
AT_THE_END = Opponent("random", readouts=0, first=1e9, most_games=20)


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., None]:
    """Make "gnugo:1" an engine that does this at its first move: it dies in the games of some seeds."""

    def install(answer: str, dies: str = "0", command: str = "genmove") -> None:
        case = rf"{command}) [ $(({dies})) = 1 ] && exit; printf '{answer}\n\n' ;;"
        install_fake_gnugo(monkeypatch, tmp_path_factory.mktemp("engine"), case)

    return install


def examined(folder: Path, opponent: Opponent) -> tuple[Examiner, list[str]]:
    """An untrained network is examined; returns who has done it, and what was noted."""
    listener = Listener()
    with opened(folder, 2, source=RandomGames, until=opponent, report=listener) as run:
        (examiner,) = run.judges
        assert isinstance(examiner, Examiner)
        examiner.judge(run, threading.Event())
    return examiner, listener.notes


class TestEnginesThatFail:
    OPPONENT = Opponent("gnugo:1", readouts=0, most_games=20, random_opening=0)

    def test_forfeits_and_their_partners_do_not_count(self, engine: Callable[..., None], tmp_path: Path) -> None:
        """The first game of each four, and with it the second: wins that are none."""
        engine("= pass", dies="seed % 4 == 1")
        _, notes = examined(tmp_path, self.OPPONENT)
        (row,) = evaluations(tmp_path)
        assert (row["played"], row["forfeits"]) == (10, 5)
        assert row["wins"] + row["draws"] + row["losses"] == 10
        assert "not counted: 5 games that gnugo:1 lost by a fault" in notes[-1]

    def test_nothing_but_forfeits(self, engine: Callable[..., None], tmp_path: Path) -> None:
        engine("= pass", dies="seed % 2")
        with pytest.raises(EngineError, match=r"^gnugo:1 played no pair of games without a fault of its own: gnugo:1"):
            examined(tmp_path, self.OPPONENT)
        assert not (tmp_path / EVALUATIONS).exists()
        assert not (tmp_path / PROOF).exists()

    def test_the_proof(self, engine: Callable[..., None], tmp_path: Path) -> None:
        """Of an engine that resigns all games: it has those that counted, and says how many did not."""
        engine("= resign", dies="seed == 3")
        examiner, notes = examined(tmp_path, replace(self.OPPONENT, most_games=80))
        assert examiner.ends_run
        assert "proved to be stronger" in notes[-1]
        proof = json.loads((tmp_path / PROOF).read_text())
        reasons = [why_over({"until": until}, {}, evaluations(tmp_path)) for until in (vars(self.OPPONENT), None)]
        assert reasons == ["yes, proved to be stronger than gnugo:1", ""], "the second went on after its proof"
        assert (proof["played"], proof["forfeits"], len(proof["moves"]), proof["wins"]) == (58, 1, 58, 58)


@pytest.mark.slow
class TestWithoutProof:
    """A run that its length ends has its final network examined, and says what came of it."""

    def test_the_final_network(self, tmp_path: Path) -> None:
        """Once: not again when nothing is left to do, but when the run was prolonged."""
        _, listener = run(tmp_path, 8, until=AT_THE_END, source=RandomGames)
        (row,) = evaluations(tmp_path)
        assert (row["games"], row["played"]) == (8, 20)
        assert listener.noted(" minutes against random: ")
        result = f"without a proof .* in 20 games \\({row['distinct']} distinct\\): {row['win_rate']:.1%}"
        assert re.search(f"{result}.* alphago train --folder {tmp_path} --games 16$", listener.notes[-1])
        _, listener = go_on(tmp_path, source=RandomGames)
        assert len(evaluations(tmp_path)) == 1
        assert not listener.noted("ends without")
        _, listener = go_on(tmp_path, 12, source=RandomGames)
        assert [row["games"] for row in evaluations(tmp_path)] == [8, 12]

    def test_a_run_by_the_clock(self, tmp_path: Path) -> None:
        """Time may end it within the curriculum: the network is examined on the run's own board all the same."""
        settings = {"max_minutes": 0.002, "curriculum": ((3, 0.9),), "source": RandomGames}
        _, listener = run(tmp_path, None, GoEnv(4, komi=0.5), until=AT_THE_END, **settings)
        (row,) = evaluations(tmp_path)
        assert row["games"] == listener.last["games"]
        assert listener.notes[-1].endswith(f"alphago train --folder {tmp_path} --minutes 0.004")


def test_a_proof_at_the_end(tmp_path: Path, engine: Callable[..., None]) -> None:
    """The last network may be the one that is strong enough."""
    engine("= resign")
    late = Opponent("gnugo:1", readouts=0, first=1e9, most_games=60)
    _, listener = run(tmp_path, 8, until=late, source=RandomGames)
    assert json.loads((tmp_path / PROOF).read_text())["games"] == 8
    assert "with its proof" in listener.notes[-1]


@pytest.mark.slow
class TestExaminations:
    @contextmanager
    def run(self, folder: Path, opponent: Opponent) -> Any:
        with opened(folder, 100, source=RandomGames, until=opponent) as run:
            (examiner,) = run.judges
            yield run, examiner

    def test_they_are_not_training_time(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The clock goes on from where it stood, whatever it shows at the end of a match."""
        monkeypatch.setattr(Examiner, "examine", lambda examiner, run, stop: run.clock.go_on_from(1e6))
        with self.run(tmp_path, AT_THE_END) as (run, examiner):
            examiner.judge(run, threading.Event())
            assert run.clock.seconds < 1e5

    def test_their_schedule_goes_on(self, tmp_path: Path) -> None:
        """None is lost or made twice, and a new opponent has a schedule of its own."""
        opponent = Opponent("random", readouts=0, first=60.0, every=120.0, most_games=20)
        with self.run(tmp_path, opponent) as (run, examiner):
            due = []
            for seconds in (1000, 4000, 9000, 14_000):
                run.clock.go_on_from(seconds)
                due.append(examiner.due(run))
                if due[-1]:
                    run.judge(threading.Event())
            run.checkpoint()
        assert due == [False, True, False, True]
        with self.run(tmp_path, opponent) as (run, examiner):
            assert (examiner.examinations, 21_200 <= examiner.next_at < 23_000) == (2, True)
            state = examiner.state()
        other = Examiner(GO, Opponent("random", 32, first=0.0), tmp_path)
        other.restore(run, {}, state)
        assert (other.examinations, other.next_at) == (2, 0.0)  # other seeds, its own times

    def test_a_stop_puts_one_off(self, tmp_path: Path) -> None:
        """Nothing of it is written down, and it is made again."""
        with self.run(tmp_path, Opponent("random", readouts=0, first=0, most_games=20)) as (run, examiner):
            assert examiner.due(run)
            with pytest.raises(MatchStopped):
                examiner.judge(run, STOPPED)
            assert not (tmp_path / EVALUATIONS).exists()
            assert examiner.due(run)
            run.judge(threading.Event())
            assert not examiner.due(run)
        assert len(evaluations(tmp_path)) == 1


def test_an_engine_that_refuses_the_board(tmp_path: Path, engine: Callable[..., None]) -> None:
    """Before anything is written."""
    engine("? unacceptable size", command="boardsize")
    with pytest.raises(EngineError, match=r"^gnugo:1 refused 'boardsize 4': unacceptable size$"):
        train(GoEnv(4), 4, folder=tmp_path / "run", reports=[], until="gnugo:1", **TINY)
    assert not (tmp_path / "run").exists()
