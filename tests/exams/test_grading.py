"""Players answer an exam: which moves, win rates and leads they give, and what these lose."""

from pathlib import Path

import numpy as np
import pytest

from alphago import GoEnv, NeuralNet, analyze
from alphago.arena.entrant import Entrant
from alphago.arena.match_games import make_player
from alphago.exams.grading import ALIKE, BLUNDER, MOST_LOST, Answers, answer_all, exam_game, mark
from alphago.exams.positions import Exam
from alphago.mcts.evaluator import FunctionEvaluator, HashEvaluator
from alphago.mcts.search import leaves_for
from tests.exams.small_exams import ENV, exam_of, row
from tests.networks import prefers


def actions_of(answers: Answers) -> list[str]:
    return [ENV.to_text(int(action)) for action in answers.actions]


@pytest.fixture
def exam(tmp_path: Path) -> Exam:
    """Black to move, White to move, and White to move where Black has won unless White plays A1."""
    return exam_of(
        tmp_path / "exam",
        row("B2 A1", {"C3": [0.0, 0.0], "C1": [0.05, 0.2]}),
        row("B2", {"A2": [0.0, 0.0], "C2": [30.0, 0.6]}, black_win=0.25, black_lead=-1.0),
        row("B2 A1 C3", {"A2": [BLUNDER, 0.0], "C2": [BLUNDER + 0.1, 0.3]}),
    )


class TestAnswers:
    def test_the_policy_alone(self, exam: Exam) -> None:
        answers = answer_all(exam.positions_of(ENV), FunctionEvaluator(prefers("C2", "C1", value=0.5)), 0)
        assert actions_of(answers) == ["C2", "C2", "C2"]
        assert answers.black_win.tolist() == pytest.approx([0.75] * 3)  # Black's, whoever is to move
        assert np.isnan(answers.black_lead).all()

    def test_a_policy_that_passes_in_a_won_game(self, tmp_path: Path) -> None:
        """Black has the board: it may pass.  White has nothing and believes to win: the pass would lose."""
        exam = exam_of(tmp_path / "x", row("B2 pass"), row("B2"))
        passes, rash = (
            actions_of(answer_all(exam.positions_of(ENV), FunctionEvaluator(prefers("pass", value=value)), 0))
            for value in (1.0, -1.0)
        )
        assert passes == ["pass", "pass"]
        assert [action == "pass" for action in rash] == [True, False]

    def test_a_level_is_graded_by_what_to_expect(self, exam: Exam) -> None:
        answers = answer_all(exam.positions_of(ENV), HashEvaluator(), 0, level=1)
        assert answers.shares is not None
        assert answers.shares.sum(axis=1) == pytest.approx(1)
        marks = mark(exam, answers)
        lost = np.minimum(np.nan_to_num(exam.points), MOST_LOST)
        assert marks.points == pytest.approx((answers.shares * lost).sum(axis=1))
        assert ((marks.best > 0) & (marks.best < 1)).any()

    def test_a_search(self, exam: Exam) -> None:
        """The most visited move and the mean value of `analyze`."""
        positions = exam.positions_of(ENV)
        answers, found = answer_all(positions, HashEvaluator(), 48), analyze(positions, HashEvaluator(), 48)
        assert answers.actions.tolist() == [found.best(i) for i in range(3)]
        assert answers.black_win.tolist() == found.as_black().root_win_rate.tolist()
        assert answers.actions.tolist() != answer_all(positions, HashEvaluator(), 0).actions.tolist()

    @pytest.mark.parametrize("readouts", [4, 32])
    def test_gumbel_search(self, tmp_path: Path, readouts: int) -> None:
        """The moves that a match would see, in positions that no symmetry maps to themselves."""
        exam = exam_of(tmp_path / "x", row("B3 A1"), row("C2 A1 B1"), row("A3 B1 C2 B3"))
        answers = answer_all(exam.positions_of(ENV), HashEvaluator(), readouts, "gumbel")
        for judged, action in zip(exam.positions, answers.actions, strict=True):
            entrant = Entrant(HashEvaluator(), readouts, "gumbel")
            player = make_player(ENV, entrant, [1], leaves_for(len(exam), readouts))
            for move in judged.moves:
                player.follow(np.zeros(1, np.int64), np.array([move], np.int32))
            assert player.choose(np.zeros(1, np.int64), np.zeros(1, np.bool_), np.zeros(1)).tolist() == [action]

    def test_leads(self, exam: Exam) -> None:
        """A network that forecasts scores has leads, in Black's view whoever is to move."""
        net = NeuralNet(GoEnv(3), tower_height=1, channels=8).eval()
        answers = answer_all(exam.positions_of(exam_game(net.env, 3)), net.forecast_evaluator(), 0)
        expected = [net.forecast(position).score for position in exam.positions_of(net.env)]
        assert answers.black_lead.tolist() == pytest.approx(expected, abs=1e-3)

    @pytest.mark.parametrize("readouts", [0, 16])
    def test_every_device(self, exam: Exam, device: str, readouts: int) -> None:
        """Also where a run's boards are on the device of its network."""
        net = NeuralNet(GoEnv(3), tower_height=1, channels=8).eval()
        env = exam_game(net.env, 3)
        positions = exam.positions_of(env)
        expected = answer_all(positions, net.evaluator("float32"), readouts)
        found = answer_all(positions, net.evaluator("float32", device), readouts)
        assert found.black_win.tolist() == pytest.approx(expected.black_win.tolist(), abs=1e-3)


class TestMarks:
    def test_losses(self, exam: Exam) -> None:
        actions = np.array([ENV.from_text(move) for move in ("C1", "C2", "A2")])
        marks = mark(exam, Answers(actions, np.array([0.5, 0.5, 0.75]), np.array([4.0, np.nan, 1.0])))
        assert marks.points.tolist() == pytest.approx([0.05, MOST_LOST, BLUNDER])
        assert marks.rate.tolist() == pytest.approx([0.2, 0.6, 0.0])
        assert marks.best.tolist() == [True, False, False]
        assert marks.blunders.tolist() == [False, True, False]
        assert marks.win_error.tolist() == [-0.25, 0.25, 0.0]
        np.testing.assert_array_equal(marks.lead_error, [2.0, np.nan, -1.0])
        assert marks.judged_black_win.tolist() == [0.75, 0.25, 0.75]
        assert marks.take(np.array([False, True, False])).points.tolist() == [MOST_LOST]
        assert len(mark(exam, Answers(actions[:1], np.zeros(1), np.zeros(1))).points) == 1  # the first positions only

    def test_the_limits_belong_to_the_better_side(self, tmp_path: Path) -> None:
        exam = exam_of(tmp_path / "x", row("B2", {"A1": [ALIKE, 0], "C1": [ALIKE + 0.01, 0], "C2": [2.01, 0]}))
        for move, best, blunder in (("A1", True, False), ("C1", False, False), ("C2", False, True)):
            marks = mark(exam, Answers(np.array([ENV.from_text(move)]), np.zeros(1), np.zeros(1)))
            assert (marks.best.item(), marks.blunders.item()) == (best, blunder)


class TestGame:
    def test_the_rules_of_the_exam(self) -> None:
        env = exam_game(GoEnv(9, komi=5.5, ko="simple", suicide=True, planes=17, first_pass=40), 13)
        assert (env.N, env.ko, env.suicide, env.planes, env.first_pass) == (13, "positional", False, 17, 0)

    def test_a_game_of_fixed_turns(self) -> None:
        with pytest.raises(ValueError, match="for games that two passes end, got one for GoEnv\\(7"):
            exam_game(GoEnv(7, turns=30), 7)
