"""`train(watch=…)`: what watching may cost, when opponents are met and how, and that the run is the same as without."""

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alphago import ConnectFourEnv, GameRecord, GoEnv, selfplay
from alphago.arena.engine import Engine, EngineError
from alphago.exams.grades import compute_grade
from alphago.exams.grading import answer_all, mark
from alphago.mcts.evaluator import Evaluator, FunctionEvaluator, HashEvaluator, UniformEvaluator
from alphago.records.collection import read_collection
from alphago.records.record import records_to_bytes
from alphago.records.sgf import write_sgf
from alphago.records.sgf.sgf_game import SgfGame
from alphago.system.cores import available_cores
from alphago.system.interrupts import Stopped
from alphago.training.history import EVALUATIONS
from alphago.training.judges.prediction import WatchedRecords
from alphago.training.judges.results import WatchResult
from alphago.training.judges.watcher import (
    PAIRS,
    RUN_PARTS,
    WatchedExam,
    WatchedOpponent,
    Watcher,
    make_watched,
    more_pairs,
    watched_by_name,
)
from alphago.training.run import Run
from alphago.training.settings.judge_settings import WatchList, split_readouts
from tests.exams.small_exams import row, write
from tests.networks import prefers
from tests.system.test_stopwatch import Clock
from tests.training.conftest import STAGES
from tests.training.small_runs import GO, GO4, RandomGames, Small, evaluations, go_on, opened, run, run_settings, same
from tests.training.workers.crews import STOPPED

SHARE = 0.05


class Slow:
    """A watched opponent whose pairs of games take `seconds()` each."""

    def __init__(self, name: str, clock: Clock, seconds: Callable[[], float], first: int = 1) -> None:
        self.name, self.clock, self.seconds, self.first = name, clock, seconds, first

    def test(self, evaluator: Any, device: str, *, seconds_left: Callable[[], float], **_: Any) -> WatchResult:
        count, played, at_first = self.first, 0, seconds_left()
        while count > 0:
            self.clock.now += sum(self.seconds() for _ in range(count))
            played += count
            count = more_pairs(played, at_first, seconds_left())
        row = {"opponent": self.name, "readouts": None, "played": played}
        return WatchResult(row, "played", part=played / PAIRS, least_part=self.first / PAIRS)


@contextmanager
def watched(folder: Path, watcher: Watcher) -> Iterator[Run]:
    """A run by the clock with this judge, whose clock the test turns."""
    with opened(folder, None, source=RandomGames, extra=[watcher], max_minutes=10.0) as made:  # type: ignore[arg-type]
        made.clock.ready = 0.0
        yield made


def train_for(run: Run, watcher: Watcher, until: float) -> Iterator[float]:
    """Let the run's clock go on in steps, with the judge asked after each; yields the time that is watched."""
    seconds = run.clock.seconds
    while seconds < until:
        seconds += 1.5
        run.clock.go_on_from(seconds)
        run.set_counts(iterations=run.counts.iterations + 1, games=run.games + 3)
        run.judge(threading.Event())
        yield watcher.spent


class TestShare:
    @pytest.mark.slow
    @pytest.mark.parametrize("first", [1, 4])
    def test_it_is_kept_all_along(self, tmp_path: Path, first: int) -> None:
        """Whatever an opponent takes: beyond it are one opponent's first games at most, which nobody can foresee."""
        clock, pace = Clock(), iter(range(10**6))
        watched_by = [
            Slow("fast", clock, lambda: 0.02, first),
            Slow("slow", clock, lambda: 4.0 / first, first),
            Slow("slower and slower", clock, lambda: 1e-2 * next(pace), first),
        ]
        watcher = Watcher(GO, watched_by, SHARE, clock=clock)
        with watched(tmp_path, watcher) as run:
            for spent in train_for(run, watcher, 600):
                assert spent <= SHARE / (1 - SHARE) * run.clock.seconds + 4.5
            assert run.is_over
            used = watcher.spent / (watcher.spent + run.clock.seconds)
            assert 0.6 * SHARE < used < SHARE + 0.007
            assert f"{used:.1%} of the time (at most 5.0% was asked for)" in watcher.conclusion("")
        rows = evaluations(tmp_path)
        for name in ("fast", "slow", "slower and slower"):
            own = [row for row in rows if row["opponent"] == name]
            assert own[0]["seconds"] <= 120  # early
            assert own[-1]["games"] == 1200  # and the run's last
            assert len({row["games"] for row in own}) == len(own)
            assert RUN_PARTS / 2 <= len(own) <= RUN_PARTS + 1 or name != "fast"
            assert len(own) >= 3  # with what they have after an eighth
        assert rows[-1]["watch_seconds"] == pytest.approx(watcher.spent)

    @pytest.mark.slow
    def test_an_opponent_of_no_length_tests_the_last_network(self, tmp_path: Path) -> None:
        """With its first games, whatever they take."""
        clock = Clock()
        watcher = Watcher(GO, [Slow("slow", clock, lambda: 1000.0)], SHARE, clock=clock)
        with watched(tmp_path, watcher) as run:
            list(train_for(run, watcher, 600))
        assert [row["played"] for row in evaluations(tmp_path)] == [1, 1]


class TestTests:
    def test_what_a_checkpoint_keeps(self, tmp_path: Path) -> None:
        """Time that was spent stays spent, and no part of the run is tested twice."""
        clock = Clock()
        slow = Slow("slow", clock, lambda: 0.02)
        watcher = Watcher(GO, [slow], SHARE, clock=clock)
        with watched(tmp_path, watcher) as run:
            list(train_for(run, watcher, 60))
            saved = json.loads(json.dumps(run.state().data["judges"]["watch"]))
            other = Watcher(GO, [slow, Slow("new", clock, lambda: 0.02)], SHARE, clock=clock)
            other.restore(run, {}, saved)
            assert (other.spent, other.tests) == (watcher.spent, watcher.tests)
            (task,) = watcher.tasks
            assert (other.tasks[0], other.tasks[1].spent) == (task, task.spent)  # no advantage to make up for
            assert not watcher.due(run)
            assert other.due(run)

    @pytest.mark.slow
    def test_a_stopped_match_is_played_anew(self, tmp_path: Path) -> None:
        with opened(tmp_path, 100, source=RandomGames, watch=["random@0"], watch_share=0.9) as run:
            (watcher,) = run.judges
            run.clock.go_on_from(1000.0)
            with pytest.raises(Stopped):
                watcher.judge(run, STOPPED)
            assert not (tmp_path / EVALUATIONS).exists()
            assert watcher.due(run)
            watcher.judge(run, threading.Event())
        assert [row["played"] for row in evaluations(tmp_path)] == [20]

    @pytest.mark.slow
    def test_an_engine_that_fails(self, tmp_path: Path) -> None:
        """It is told, and the run goes on; its next test is tried.  A stop is no failure."""
        clock = Clock()
        watcher = Watcher(GO, [Broken("broken", clock, lambda: 1.0)], SHARE, clock=clock)
        with watched(tmp_path, watcher) as run:
            list(train_for(run, watcher, 90))
            *_, listener = run.reporter.reports
            assert sum("watching broken failed" in note and "out of cheese" in note for note in listener.notes) == 4
            run.clock.go_on_from(300.0)
            with pytest.raises(Stopped):
                watcher.judge(run, STOPPED)
        assert not (tmp_path / EVALUATIONS).exists()


class TestRuns:
    def test_it_changes_nothing(self, tmp_path: Path, undisturbed: Small) -> None:
        """Weights and games are the same to the last bit."""
        net, listener = run(tmp_path / "watched", watch=["random@0", "random@4"], watch_share=0.9, **STAGES)
        assert same(net, undisturbed.net)
        rows = evaluations(tmp_path / "watched")
        assert {(row["judge"], row["opponent"]) for row in rows} == {("watch", "random")}
        assert {row["readouts"] for row in rows} == {0, 4}
        last = rows[-1]
        assert last["games"] == 16
        assert last["wins"] + last["draws"] + last["losses"] == last["played"] == len(last["moves"])
        assert 0 <= last["low"] <= last["win_rate"] <= last["high"] <= 1
        assert min(last["captures"], last["captured"]) >= 0
        lengths = [len(game["moves"].split()) for game in last["moves"]]
        assert sum(lengths) / len(lengths) == pytest.approx(last["moves_per_game"])
        assert listener.noted("random@4 after ")
        assert listener.noted("watching took ")

    @pytest.mark.slow
    def test_a_run_that_is_over(self, finished: Path) -> None:
        """Its last network can still be examined, and once more is nothing to do."""
        _, listener = go_on(finished, watch="random@0", watch_share=0.9)
        rows = evaluations(finished)
        assert [(row["opponent"], row["games"]) for row in rows] == [("random", 40)]
        go_on(finished)
        assert evaluations(finished) == rows
        _, listener = go_on(finished, watch=None)
        assert listener.noted("watch is None from now on, not WatchList(opponents=('random@0',), share=0.9)")

    @pytest.mark.slow
    def test_another_network(self, finished: Path, tmp_path: Path) -> None:
        """It gets as many readouts as the run's."""
        run(tmp_path / "new", 8, watch=[f"{finished}@2"], watch_share=0.9, source=RandomGames)
        assert {(row["opponent"], row["readouts"]) for row in evaluations(tmp_path / "new")} == {(str(finished), 2)}

    def test_texts(self) -> None:
        """64 readouts are usual."""
        assert run_settings(watch=[]).watch is None
        texts = {"gnugo": ("gnugo", 64), "uct:9@0": ("uct:9", 0), "records:a@b": ("records:a@b", 64)}
        assert {text: split_readouts(text) for text in texts} == texts


NEVER = threading.Event()


def save(path: Path, records: list[GameRecord]) -> Path:
    path.write_bytes(records_to_bytes(records))
    return path


def seconds(*left: float) -> Callable[[], float]:
    """A function that returns these numbers one after another, and then the last again and again."""
    return chain(left, repeat(left[-1])).__next__


def play(watched: WatchedOpponent, evaluator: Evaluator, seed: int = 0, *left: float, stop: Any = NEVER) -> WatchResult:
    return watched.test(evaluator, "cpu", seed=seed, seconds_left=seconds(*(left or (9.0, 8.0))), stop=stop)


class TestMatches:
    def test_parts_are_of_the_whole(self) -> None:
        """The games of a match that ends early are its first."""
        random = WatchedOpponent("random", 4, GO4)
        whole = play(random, HashEvaluator(), 3)
        assert (whole.part, whole.row["played"]) == (1, 2 * PAIRS)
        first = round(PAIRS * whole.least_part)
        assert first == min(PAIRS, max(1, available_cores() // 2))
        part = play(random, HashEvaluator(), 3, 9.0, -1.0)
        assert part.row["played"] == 2 * first == round(2 * PAIRS * part.part)
        assert part.row["moves"] == whole.row["moves"][: 2 * first]
        assert play(random, HashEvaluator(), 4).row != whole.row

    def test_how_many_more(self) -> None:
        assert more_pairs(2, 10.0, 8.0) == 8  # one second each, eight are left
        assert more_pairs(2, 10.0, 4.0) == 1  # three seconds each
        assert more_pairs(2, 10.0, 2.0) == more_pairs(PAIRS, 10.0, 9.0) == 0
        assert more_pairs(1, 1.0, 1.0) == PAIRS - 1  # they took no time

    def test_a_stop_ends_it_at_the_next_move(self) -> None:
        with pytest.raises(Stopped):
            play(WatchedOpponent("random", 0, GO4), UniformEvaluator(), stop=Moves(5))

    @pytest.mark.slow
    def test_an_engine_that_fails_stops_no_run(self, monkeypatch: pytest.MonkeyPatch) -> None:
        engine = Engine("gone", (sys.executable, "-c", ""), at_once=1)
        monkeypatch.setattr("alphago.arena.entrant.find_player", lambda name: engine)
        monkeypatch.setattr("alphago.arena.entrant.check_engine", lambda *_: None)  # it fails later
        stop = threading.Event()
        with pytest.raises(EngineError):
            WatchedOpponent("gone", 0, GO4).test(HashEvaluator(), "cpu", seed=0, seconds_left=seconds(9.0), stop=stop)
        assert not stop.is_set()


class Moves(threading.Event):
    """Is set after it was asked so many times."""

    def __init__(self, moves: int) -> None:
        super().__init__()
        self.left = moves

    def is_set(self) -> bool:
        self.left -= 1
        return self.left < 0


class TestRecords:
    def test_against_a_count_by_hand(self, records: list[GameRecord]) -> None:
        watched = WatchedRecords("records:x", GO4, records)
        evaluator = FunctionEvaluator(prefers("pass", value=0.5))  # Black wins by half
        tested = watched.test(evaluator, "cpu", stop=NEVER)
        assert tested.part == 1
        row = tested.row
        with pytest.raises(Stopped):
            watched.test(evaluator, "cpu", stop=Moves(1))
        moves = [(record, ply) for record in records for ply in range(len(record)) if record.weights[ply]]
        passes = np.array([record.moves[ply] == GO4.pass_action for record, ply in moves])
        counts = np.array([record.legal_counts[ply] for record, ply in moves])
        entropies = -np.log(np.where(passes, 1000, 1e-3) / (1000 + 1e-3 * (counts - 1)))
        assert row["positions_judged"] == len(moves)
        assert row["accuracy"] == pytest.approx(np.mean(passes))
        assert row["cross_entropy"] == pytest.approx(np.mean(entropies))
        assert row["value_error"] == pytest.approx(np.mean([(0.5 - record.outcome) ** 2 for record, _ in moves]))

    def test_what_a_folder_holds(self, records: list[GameRecord], tmp_path: Path) -> None:
        """Records and SGF files below it, without games of other boards and what is no game.

        A file that is named tells what it is, and what is wrong with its games.
        """
        (tmp_path / "deep").mkdir()
        save(tmp_path / "deep" / "SOME.NPZ", records[:3])
        save(tmp_path / "other.npz", selfplay(GoEnv(3), HashEvaluator(), 2, 1))
        (tmp_path / "notes.txt").write_text("no game")
        (tmp_path / "damaged.npz").write_bytes(b"PK")
        (tmp_path / "x.sgf").write_text("(;GM[1]SZ[4]RE[B+1];B[aa];W[aa])(;GM[1]SZ[4]RE[B+1])")
        write_sgf(tmp_path / "one.sgf", SgfGame.in_game(GO4, (5, 10, 16, 16), result="W+0.5"))
        found = read_collection(tmp_path, GO4, 10**6)
        assert sorted(map(len, found)) == sorted([4, *map(len, records[:3])])
        few = read_collection(save(tmp_path / "many.npz", records), GO4, 40)
        assert 40 <= sum(map(len, few)) < 40 + max(map(len, records))
        for name, game, sentence in (
            ("damaged.npz", GO4, r"damaged.npz holds no game records"),
            ("x.sgf", ConnectFourEnv(), r"env must be Go for SGF files, such as .*x.sgf, got ConnectFour"),
            ("x.sgf", GO4, r": 1 occupied point, 1 without moves \(.*x.sgf, .*node 2: move 2, White A4, is illegal"),
        ):
            with pytest.raises(ValueError, match=sentence):
                read_collection(tmp_path / name, game, 10)


POSITIONS = 24


@pytest.fixture
def file(tmp_path: Path) -> Path:
    moves = [f"{a}{i} {b}{j}" for a, b in ("AB", "BC", "CA") for i in (1, 2, 3) for j in (1, 2, 3)][:POSITIONS]
    return write(tmp_path / "exam", *(row(one, {"C3": [0.0, 0.0]} if "C3" not in one else {}) for one in moves))


def test_a_row(file: Path) -> None:
    """The grade of `answer_all`."""
    watched = WatchedExam(f"exam:{file}", 8, GO)
    tested = watched.test(HashEvaluator(), "cpu")
    found = tested.row
    assert (found["opponent"], found["readouts"], found["exam_positions"]) == (f"exam:{file}", 8, POSITIONS)
    answers = answer_all(watched.exam.positions_of(watched.env), HashEvaluator(), 8)
    assert found["exam_points"] == compute_grade(mark(watched.exam, answers)).points.value
    assert found["exam_points_low"] <= found["exam_points"] <= found["exam_points_high"]
    assert f"loses {found['exam_points']:.2f} ±" in tested.summary
    assert tested.part == tested.least_part == 1


class TestNames:
    def test_the_packages_exam(self) -> None:
        watched = watched_by_name("exam@0", GoEnv(7))
        assert isinstance(watched, WatchedExam)
        assert (watched.name, watched.readouts, len(watched.exam)) == ("exam@0", 0, 80)
        assert watched_by_name("exam", GoEnv(9)).name == "exam@64"

    def test_what_cannot_be(self, file: Path) -> None:
        with pytest.raises(ValueError, match="must be an exam on the run's board, 5x5, got one on 3x3"):
            watched_by_name(f"exam:{file}@0", GoEnv(5))
        with pytest.raises(FileNotFoundError, match="the exam nothing cannot be read"):
            make_watched(WatchList(("exam:nothing@0",)), GO)


class Broken(Slow):
    def test(self, *_: Any, **__: Any) -> WatchResult:
        raise EngineError("out of cheese")
