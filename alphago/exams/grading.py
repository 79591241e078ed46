"""How a network answers an exam: its move, win rate and lead in every position, many positions at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from alphago.env.game import GameEnv
from alphago.env.games import require_go
from alphago.env.go import GoEnv
from alphago.env.go_position import GoPosition
from alphago.exams.positions import Exam
from alphago.mcts.analysis import open_analyst
from alphago.mcts.analysis_result import join_analyses
from alphago.mcts.evaluator import Evaluator
from alphago.mcts.levels import FULL_STRENGTH, level_conditions
from alphago.mcts.puct import Puct
from alphago.mcts.questions import Answer, Limit
from alphago.mcts.search_specs import SearchSpec

MOST_LOST = 20.0  # points at which the loss of a move is cut, since a larger loss loses the game as well
ALIKE = 0.1  # points that a move may lose and still count as a best move
BLUNDER = 2.0  # points above which a move counts as a blunder
ROUNDING = 1e-6  # points; exams round losses to 0.01


@dataclass(frozen=True, eq=False)
class Answers:
    """A player's answers to the n positions of an exam.

    Attributes:
        actions: the moves, int64 [n]; of a player whose moves are drawn by chance, the most probable ones.
        black_win: Black's win rate, float64 [n], 0 .. 1.
        black_lead: Black's lead in points, float64 [n]; NaN if the network does not forecast scores.
        shares: the probabilities of all moves, float64 [n, A], of a player whose moves are drawn by chance; else None.
    """

    actions: np.ndarray
    black_win: np.ndarray
    black_lead: np.ndarray
    shares: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Marks:
    """A player's answers to n positions, compared with the judge's, as arrays [n].

    Attributes:
        points: points lost, at most MOST_LOST.
        rate: win rate lost, 0 .. 1.
        best, blunders: whether the move loses at most ALIKE points, and whether it loses more than BLUNDER points; for
            a player whose moves are drawn by chance, the probabilities of such moves.
        win_error, lead_error: Black's win rate and Black's lead according to the player, minus those of the judge.
        judged_black_win: Black's win rate according to the judge.
    """

    points: np.ndarray
    rate: np.ndarray
    best: np.ndarray
    blunders: np.ndarray
    win_error: np.ndarray
    lead_error: np.ndarray
    judged_black_win: np.ndarray

    def take(self, rows: np.ndarray) -> "Marks":
        """Return the marks of some positions, given by their indices or by bools."""
        return Marks(*(array[rows] for array in vars(self).values()))


def mark(exam: Exam, answers: Answers) -> Marks:
    """Return a player's marks in the first n positions of an exam; n is the number of its answers.

    For a player whose moves are drawn by chance, the marks are expected values: means over the moves, weighted with
    their probabilities.
    """
    rows = np.arange(len(answers.actions))
    points, rates = exam.points[rows].astype(np.float64), exam.rates[rows].astype(np.float64)

    def for_answers(by_move: np.ndarray) -> np.ndarray:
        """Return the values [n] of the moves in the answers, from the values [n, A] of all moves."""
        if answers.shares is None:
            return by_move[rows, answers.actions]
        return (answers.shares * np.nan_to_num(by_move)).sum(axis=1)  # illegal moves have the value NaN and share 0

    return Marks(
        points=for_answers(np.minimum(points, MOST_LOST)),
        rate=for_answers(rates),
        best=for_answers(points <= ALIKE + ROUNDING),
        blunders=for_answers(points > BLUNDER + ROUNDING),
        win_error=answers.black_win - exam.black_win[rows],
        lead_error=answers.black_lead - exam.black_lead[rows],
        judged_black_win=exam.black_win[rows],
    )


def exam_game(env: GameEnv, size: int) -> GoEnv:
    """Return a network's game under the rules of an exam, on a board of `size` x `size` points.

    Raises:
        ValueError: for another game than Go, and for games of fixed turns.
    """
    go = require_go(env, "an exam")
    if go.turns is not None:
        raise ValueError(f"an exam must be taken by a network for games that two passes end, got one for {env}")
    board = go if size == go.N else go.resized(size)
    # As in a match, passing is always legal and games are not cut off early.
    return board.replace(ko="positional", suicide=False).match_variant()


def answer_all(
    positions: Sequence[GoPosition],
    evaluator: Evaluator,
    readouts: int,
    search: SearchSpec = None,
    level: float | None = None,
    *,
    threads: int = 1,
    tell: Callable[[int], object] = lambda count: None,
) -> Answers:
    """Return a network's answers to positions, with a search or by its policy alone.

    Args:
        positions: of a network's game, as `exam_game` returns it.
        evaluator: computes the network; if it forecasts scores, the answers have leads.
        readouts: simulations per position; 0 for the policy's first move, but no pass that would lose a won game.
        search: "puct" (also None) for the most visited move, the more probable one if several are visited equally
            often; "gumbel" for the winner of sequential halving; or SearchSettings.
        level: the level at which the network plays, which has readouts of its own; None for full strength.
        threads: number of threads.
        tell: called with 1 after each position, in order.
    """
    if level is not None:
        readouts = level_conditions(level, positions[0].env, getattr(evaluator, "makes_forecasts", False)).readouts
    answers = []
    with open_analyst(positions, evaluator, readouts, search, threads=threads) as analyst:
        # An analyst that gets no level only searches, and `chosen_action` takes the most visited move.  PUCT at full
        # strength needs this: at the level FULL_STRENGTH the analyst would replace some of these moves, such as early
        # passes.  In all other cases the analyst gets a level and chooses the move.
        takes_most_visited = level is None and readouts > 0 and isinstance(analyst.settings, Puct)
        analyst_level = None if takes_most_visited else level or FULL_STRENGTH
        for question in analyst.ask_all(positions, Limit(readouts), level=analyst_level, reuse=False, plies=1):
            answers.append(question.last())
            tell(1)
    black = join_analyses([answer.found for answer in answers]).as_black()
    shares = [answer.shares for answer in answers if answer.shares is not None]  # of all answers or of none
    return Answers(
        np.array([chosen_action(answer) for answer in answers], np.int64),
        black.root_win_rate.astype(np.float64),
        black.root_score.astype(np.float64),
        np.array(shares) if shares else None,
    )


def chosen_action(answer: Answer) -> int:
    """Return the move of an answer: the most probable one if moves are drawn by chance, else the analyst's choice.

    If the analyst has chosen none, it is the most visited move, and of equals the more probable one.
    """
    if answer.shares is not None:
        return int(answer.shares.argmax())
    return int((answer.found.visits[0] + answer.found.prior[0]).argmax()) if answer.action is None else answer.action
