"""The things that `watch` can name: an opponent to play, game records to predict, or an exam to take."""

import threading
from collections.abc import Callable
from typing import Any, Protocol

from alphago.arena.engine import Engine
from alphago.arena.engine_player import check_engine
from alphago.env.game import GameEnv
from alphago.env.games import require_go
from alphago.exams.grades import grade_of
from alphago.exams.grading import BLUNDER, answer_all, exam_game, mark
from alphago.exams.positions import find_exam
from alphago.mcts.evaluator import Evaluator
from alphago.nn.threads import one_torch_thread
from alphago.records.collection import read_collection
from alphago.system.cores import available_cores
from alphago.training.judges.prediction import WatchedRecords
from alphago.training.judges.results import WatchResult
from alphago.training.judges.watched_opponent import WatchedOpponent
from alphago.training.settings.judge_settings import RECORDS, WatchList, split_readouts

POSITIONS = 4096  # positions of records to predict: enough to distinguish an accuracy of 40 % from 42 %
EXAM = "exam"  # the name in `watch` of the package's exam; for another exam, a colon and its file follow
ROW = "exam_"  # prefix of the grade's numbers in a row of evaluations.jsonl


class Watched(Protocol):
    """An opponent, a set of game records, or an exam, that tests a run's networks again and again."""

    @property
    def name(self) -> str:
        """The name of this opponent, set of records or exam in `watch`."""

    def test(
        self, evaluator: Evaluator, device: str, *, seed: int, left: Callable[[], float], stop: threading.Event
    ) -> WatchResult | None:
        """Test a network; return None if `stop` was set before the end.

        evaluator: the evaluator of the network that is tested.  device: where an opponent's network is computed.
        seed: determines all random choices of the test.
        left: returns the seconds that the test may still take; a match has fewer games if that is too little.
        Raises EngineError if an engine does not start.
        """


def make_watched(watch: WatchList | None, env: GameEnv) -> list[Watched]:
    """Return an opponent, records or an exam for each name in the run's setting `watch`.

    Raises ValueError, OSError or EngineError for the first name that does not exist or cannot play the game `env`.
    """
    return [] if watch is None else [watched_by_name(name, env) for name in watch.opponents]


def watched_by_name(text: str, env: GameEnv) -> Watched:
    """Return the opponent, the records or the exam for one name in `watch`, such as "gnugo:10@64".

    Raises the errors of `make_watched`.
    """
    if text.startswith(RECORDS):
        return WatchedRecords(text, env, read_collection(text.removeprefix(RECORDS), env, POSITIONS))
    name, readouts = split_readouts(text)
    if is_exam(name):
        return WatchedExam(name, readouts, env)
    watched = WatchedOpponent(name, readouts, env)
    player = watched.entrant("cpu").player
    if isinstance(player, Engine):
        check_engine(require_go(env.match_variant(), player.name), player)
    return watched


def is_exam(name: str) -> bool:
    """Return whether a name in `watch`, without its readouts, means an exam."""
    return name == EXAM or name.startswith(f"{EXAM}:")


class WatchedExam:
    """An exam that tests a run's networks; see `Watched`.

    text: "exam" for the package's exam of the run's board, or "exam:FILE".
    readouts: simulations in each position; 0 for the policy alone.
    env: the run's game.
    Raises ValueError if there is no such exam, or if it is not of the run's game and board.
    """

    def __init__(self, text: str, readouts: int, env: GameEnv) -> None:
        self.text = text
        self.readouts = readouts
        self.env = exam_game(env, env.N)
        file = text.partition(":")[2]  # "" for the packaged exam of the board
        self.exam = find_exam(file or None, env.N)
        if self.exam.size != env.N:
            board = f"{self.exam.size}x{self.exam.size}"
            raise ValueError(f"{text} must be an exam on the run's board, {env.N}x{env.N}, got one on {board}")
        self.positions = self.exam.positions_of(self.env)

    @property
    def name(self) -> str:
        return f"{self.text}@{self.readouts}"

    def test(self, evaluator: Evaluator, device: str, **_: Any) -> WatchResult:
        """Let a network take the whole exam; see `Watched.test`."""
        with one_torch_thread():
            answers = answer_all(self.positions, evaluator, self.readouts, threads=available_cores())
        grade = grade_of(mark(self.exam, answers))
        numbers = {ROW + name: value for name, value in grade.row().items() if value is not None}
        summary = (
            f"the network loses {grade.points.value:.2f} ± {grade.points.margin:.2f} points a move in "
            f"{grade.positions} positions, {grade.blunders.value:.1%} of its moves more than {BLUNDER:g} points"
        )
        return WatchResult({"opponent": self.text, "readouts": self.readouts, **numbers}, summary)
