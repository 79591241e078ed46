"""An exam that a run's networks take again and again, as something that `watch` names: "exam@0", "exam:FILE@64"."""

from typing import Any

from alphago.env.game import GameEnv
from alphago.exams.grades import grade_of
from alphago.exams.grading import BLUNDER, ExamPlayer, exam_game, mark
from alphago.exams.positions import find_exam
from alphago.mcts.evaluator import Evaluator
from alphago.nn.threads import one_torch_thread
from alphago.system.cores import available_cores
from alphago.training.judges.results import WatchResult

EXAM = "exam"  # the name in `watch` of the package's exam; for another exam, a colon and its file follow
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

    def test(self, evaluator: Evaluator, device: str, **_: Any) -> WatchResult:
        """Let a network take the whole exam; see `Watched.test`."""
        with one_torch_thread():
            answers = ExamPlayer(self.exam, self.env, evaluator, self.readouts).answer_all(available_cores())
        grade = grade_of(mark(self.exam, answers))
        numbers = {ROW + name: value for name, value in grade.row().items() if value is not None}
        summary = (
            f"the network loses {grade.points.value:.2f} ± {grade.points.margin:.2f} points a move in "
            f"{grade.positions} positions, {grade.blunders.value:.1%} of its moves more than {BLUNDER:g} points"
        )
        return WatchResult({"opponent": self.text, "readouts": self.readouts, **numbers}, summary)
