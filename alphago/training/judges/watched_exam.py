"""An exam that a run's networks take again and again, as something that `watch` names: "exam@0", "exam:FILE@64"."""

import math
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from alphago.env.game import GameEnv
from alphago.exams.grades import Grade, grade_of
from alphago.exams.grading import BLUNDER, Answers, ExamPlayer, exam_game, mark
from alphago.exams.positions import find_exam
from alphago.mcts.evaluator import Evaluator
from alphago.nn.threads import one_torch_thread
from alphago.system.cores import available_cores

EXAM = "exam"  # the name in `watch` of the package's exam; for another exam, a colon and its file follow
UNIT = 16  # positions of a unit of work
ROW = "exam_"  # prefix of the grade's numbers in a row of evaluations.jsonl


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

    @property
    def name(self) -> str:
        return f"{self.text}@{self.readouts}"

    def examination(self, seed: int, device: str, state: Any = None) -> "TakenExam":
        return TakenExam(self, state)


class TakenExam:
    """An exam that one network takes in units of UNIT positions; see `Examination`.

    watched: the exam.  state: the `state` of an earlier TakenExam, to continue it; None to begin.
    """

    def __init__(self, watched: WatchedExam, state: Mapping[str, Any] | None) -> None:
        self.watched = watched
        state = state or {"actions": [], "black_win": []}
        self.answers = Answers(
            actions=np.array(state["actions"], np.int64),
            black_win=np.array(state["black_win"], np.float64),
            black_lead=np.full(len(state["actions"]), np.nan),  # unknown: the state does not have it
        )
        self._evaluator: Evaluator | None = None  # of `_player`
        self._player: ExamPlayer | None = None

    @property
    def completed(self) -> int:
        return math.ceil(len(self.answers.actions) / UNIT)

    @property
    def is_over(self) -> bool:
        return len(self.answers.actions) == len(self.watched.exam)

    @property
    def at_rest(self) -> bool:
        return True

    def go_on(self, evaluator: Evaluator, at_once: int, stop: threading.Event) -> None:
        """Answer the next `at_once` units, in parallel; see `Examination.go_on`."""
        watched = self.watched
        if self._player is None or self._evaluator is not evaluator:
            self._evaluator = evaluator
            self._player = ExamPlayer(watched.exam, watched.env, evaluator, watched.readouts)
        first, end = len(self.answers.actions), len(watched.exam)
        units = [range(begin, min(begin + UNIT, end)) for begin in range(first, end, UNIT)][:at_once]
        with one_torch_thread(), ThreadPoolExecutor(min(available_cores(), len(units))) as pool:
            self.answers = self.answers.join(*pool.map(self._player.answer, units))

    @property
    def grade(self) -> Grade:
        """The grade over the positions that are answered."""
        return grade_of(mark(self.watched.exam, self.answers))

    def row(self) -> dict[str, Any] | None:
        """Return the exam's name, the readouts, and the known numbers of `Grade.row`, each with the prefix "exam_"."""
        if not self.completed:
            return None
        numbers = {ROW + name: value for name, value in self.grade.row().items() if value is not None}
        return {"opponent": self.watched.text, "readouts": self.watched.readouts, **numbers}

    def summary(self) -> str:
        grade = self.grade
        return (
            f"the network loses {grade.points.value:.2f} ± {grade.points.margin:.2f} points a move in "
            f"{grade.positions} positions, {grade.blunders.value:.1%} of its moves more than {BLUNDER:g} points"
        )

    def state(self) -> dict[str, Any]:
        return {"actions": self.answers.actions.tolist(), "black_win": self.answers.black_win.tolist()}

    def close(self) -> None:
        """Do nothing, since no unit is ever left in progress."""
