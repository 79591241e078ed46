"""Tests of a network: matches against an opponent, and moves of given records."""

import math
import sys
import threading
from collections.abc import Callable
from itertools import chain, repeat
from pathlib import Path

import numpy as np
import pytest

from alphago.arena.engine import Engine, EngineError
from alphago.env.go import GoEnv
from alphago.env.oware import OwareEnv
from alphago.exams.grades import grade_of
from alphago.exams.grading import answer_all, mark
from alphago.mcts.evaluator import Evaluator, HashEvaluator, UniformEvaluator
from alphago.records.collection import read_collection
from alphago.records.record import GameRecord, records_to_bytes
from alphago.records.sgf import write_sgf
from alphago.records.sgf.sgf_game import SgfGame
from alphago.system.cores import available_cores
from alphago.training.call.selfplay_call import selfplay
from alphago.training.judges.prediction import WatchedRecords
from alphago.training.judges.results import WatchResult
from alphago.training.judges.watcher import (
    PAIRS,
    WatchedExam,
    WatchedOpponent,
    make_watched,
    more_pairs,
    watched_by_name,
)
from alphago.training.settings.judge_settings import WatchList
from tests.exams.small_exams import row, write
from tests.training.small_runs import GO

ENV = GoEnv(4, komi=0.5)
NEVER = threading.Event()


@pytest.fixture(scope="module")
def records() -> list[GameRecord]:
    return selfplay(ENV, HashEvaluator(), 4, 70, seed=1, groups=1, opening_plies=0)


def save(path: Path, records: list[GameRecord]) -> Path:
    path.write_bytes(records_to_bytes(records))
    return path


def seconds(*left: float) -> Callable[[], float]:
    """A function that returns these numbers one after another, and then the last again and again."""
    return chain(left, repeat(left[-1])).__next__


def play(watched: WatchedOpponent, evaluator: Evaluator, seed: int = 0, *left: float) -> WatchResult:
    tested = watched.test(evaluator, "cpu", seed=seed, left=seconds(*(left or (9.0, 8.0))), stop=NEVER)
    assert tested is not None
    return tested


class TestMatches:
    def test_parts_are_of_the_whole(self) -> None:
        """The games of a match that ends early are its first."""
        random = WatchedOpponent("random", 4, ENV)
        whole = play(random, HashEvaluator(), 3)
        assert (whole.part, whole.row["played"]) == (1, 2 * PAIRS)
        first = round(PAIRS * whole.least)
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
        match = WatchedOpponent("random", 0, ENV)
        assert match.test(UniformEvaluator(), "cpu", seed=0, left=seconds(9.0), stop=Moves(5)) is None

    @pytest.mark.slow
    def test_an_engine_that_fails_stops_no_run(self, monkeypatch: pytest.MonkeyPatch) -> None:
        engine = Engine("gone", (sys.executable, "-c", ""), at_once=1)
        monkeypatch.setattr("alphago.arena.players.find_player", lambda name: engine)
        stop = threading.Event()
        with pytest.raises(EngineError):
            WatchedOpponent("gone", 0, ENV).test(UniformEvaluator(), "cpu", seed=0, left=seconds(9.0), stop=stop)
        assert not stop.is_set()


class Moves(threading.Event):
    """Is set after it was asked so many times."""

    def __init__(self, moves: int) -> None:
        super().__init__()
        self.left = moves

    def is_set(self) -> bool:
        self.left -= 1
        return self.left < 0


class Favourite(Evaluator):
    """Half of the probability for the pass, and Black wins by half."""

    def evaluate(self, batch, slots, priors, values) -> None:
        UniformEvaluator().evaluate(batch, slots, priors, values)
        priors /= 2
        priors[:, batch.env.pass_action] += 0.5
        values[:] = batch.to_play(slots, np.empty(len(slots), np.int8)) / 2


class TestRecords:
    def test_against_a_count_by_hand(self, records: list[GameRecord]) -> None:
        watched = WatchedRecords("records:x", ENV, records)
        tested = watched.test(Favourite(), "cpu", stop=NEVER)
        assert tested is not None
        assert tested.part == 1
        row = tested.row
        assert watched.test(Favourite(), "cpu", stop=Moves(1)) is None
        moves = [(record, ply) for record in records for ply in range(len(record)) if record.weights[ply]]
        passes = [record.moves[ply] == ENV.pass_action for record, ply in moves]
        entropies = [
            -math.log(0.5 / record.legal_counts[ply] + 0.5 * passed)
            for (record, ply), passed in zip(moves, passes, strict=True)
        ]
        assert row["positions_judged"] == len(moves)
        assert row["accuracy"] == pytest.approx(np.mean(passes))
        assert row["cross_entropy"] == pytest.approx(np.mean(entropies))
        assert row["value_error"] == pytest.approx(np.mean([(0.5 - record.outcome) ** 2 for record, _ in moves]))

    def test_what_a_folder_holds(self, records: list[GameRecord], tmp_path: Path) -> None:
        """Records and SGF files below it, without games of other boards and what is no game."""
        (tmp_path / "deep").mkdir()
        save(tmp_path / "deep" / "some.npz", records[:3])
        exact = selfplay(GoEnv(3), HashEvaluator(), 2, 1)
        save(tmp_path / "other.npz", exact)
        (tmp_path / "notes.txt").write_text("no game")
        (tmp_path / "bad.sgf").write_text("(;GM[1]SZ[4]RE[B+1];B[zz])")
        write_sgf(tmp_path / "one.sgf", SgfGame.in_game(ENV, (5, 10, 16, 16), result="W+0.5"))
        found = read_collection(tmp_path, ENV, 10**6)
        assert sorted(len(record) for record in found) == sorted([4, *(len(record) for record in records[:3])])
        few = read_collection(save(tmp_path / "many.npz", records), ENV, 40)
        assert 40 <= sum(map(len, few)) < 40 + max(map(len, records))


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
    assert found["exam_points"] == grade_of(mark(watched.exam, answers)).points.value
    assert found["exam_points_low"] <= found["exam_points"] <= found["exam_points_high"]
    assert f"loses {found['exam_points']:.2f} ±" in tested.summary
    assert tested.part == tested.least == 1


class TestNames:
    def test_the_packages_exam(self) -> None:
        watched = watched_by_name("exam@0", GoEnv(7))
        assert isinstance(watched, WatchedExam)
        assert (watched.name, watched.readouts, len(watched.exam)) == ("exam@0", 0, 80)
        assert watched_by_name("exam", GoEnv(9)).name == "exam@64"

    def test_what_cannot_be(self, file: Path) -> None:
        with pytest.raises(ValueError, match="there must be an exam for the board, got 5x5"):
            watched_by_name("exam@0", GoEnv(5))
        with pytest.raises(ValueError, match="must be an exam on the run's board, 5x5, got one on 3x3"):
            watched_by_name(f"exam:{file}@0", GoEnv(5))
        with pytest.raises(FileNotFoundError, match="the exam nothing cannot be read"):
            make_watched(WatchList(("exam:nothing@0",)), GO)
        with pytest.raises(ValueError, match="env must be Go for an exam, got OwareEnv"):
            watched_by_name(f"exam:{file}@0", OwareEnv())
