"""An exam that a run's networks take again and again, as something that `watch` names: "exam@0", "exam:FILE@64"."""

import math
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

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

    def test(self, evaluator: Evaluator, device: str, seed: int) -> "TakenExam":
        return TakenExam(self, evaluator)


class TakenExam:
    """An exam that one network takes in units of UNIT positions; see `WatchedTest`."""

    def __init__(self, watched: WatchedExam, evaluator: Evaluator) -> None:
        self.watched = watched
        self.player = ExamPlayer(watched.exam, watched.env, evaluator, watched.readouts)
        self.units = math.ceil(len(watched.exam) / UNIT)
        self.answers: list[Answers] = []  # of each completed unit

    @property
    def done(self) -> int:
        return len(self.answers)

    def go_on(self, count: int, stop: threading.Event) -> None:
        """Answer the next `count` units, in parallel; see `WatchedTest.go_on`."""
        end = len(self.watched.exam)
        units = [range(begin, min(begin + UNIT, end)) for begin in range(0, end, UNIT)][self.done :][:count]
        with one_torch_thread(), ThreadPoolExecutor(min(available_cores(), len(units))) as pool:
            self.answers += pool.map(self.player.answer, units)

    @property
    def grade(self) -> Grade:
        """The grade over the positions that are answered."""
        first, *others = self.answers
        return grade_of(mark(self.watched.exam, first.join(*others)))

    def row(self) -> dict[str, Any]:
        """Return the exam's name, the readouts, and the known numbers of `Grade.row`, each with the prefix "exam_"."""
        numbers = {ROW + name: value for name, value in self.grade.row().items() if value is not None}
        return {"opponent": self.watched.text, "readouts": self.watched.readouts, **numbers}

    def summary(self) -> str:
        grade = self.grade
        return (
            f"the network loses {grade.points.value:.2f} ± {grade.points.margin:.2f} points a move in "
            f"{grade.positions} positions, {grade.blunders.value:.1%} of its moves more than {BLUNDER:g} points"
        )
