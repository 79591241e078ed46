"""`ExamResult`: the answers of several players to an exam, with grades, differences, tables and pictures."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from alphago.drawing.overlay import Overlay
from alphago.drawing.shapes import sheet
from alphago.drawing.svg import Svg, to_svg
from alphago.env.game import PLAYER_NAMES
from alphago.env.position import Look
from alphago.exams.grades import Grade, compute_grade, grade_difference, grade_table, parts_table
from alphago.exams.grading import MOST_LOST, Answers, Marks, mark
from alphago.exams.kinds import KINDS, PHASES, find_kind, find_phase
from alphago.exams.positions import Exam
from alphago.exams.statistics import Halves, compare_halves

COLUMNS = 5  # positions side by side in a picture


@dataclass(frozen=True)
class ExamResult:
    """The answers of players to an exam.

    Attributes:
        names: the players' names, such as "9x9@64".
        answers: the answers of each player.
    """

    exam: Exam
    names: tuple[str, ...]
    answers: tuple[Answers, ...]

    @cached_property
    def marks(self) -> tuple[Marks, ...]:
        """The marks of each player: its answers compared with the judge's."""
        return tuple(mark(self.exam, answers) for answers in self.answers)

    @property
    def grades(self) -> tuple[Grade, ...]:
        """The grade of each player."""
        return tuple(self.grade(player) for player in range(len(self.names)))

    def grade(self, player: int = 0, rows: np.ndarray | None = None) -> Grade:
        """Return the grade of a player, by its index, over some positions.

        Args:
            rows: their indices, or bools [n]; None for all positions.
        """
        marks = self.marks[player]
        return compute_grade(marks if rows is None else marks.take(rows))

    def paired(self, first: int = 1, second: int = 0) -> Grade:
        """Return the grade of player `first` minus that of player `second`, from the differences in each position.

        The intervals are those of the mean differences; they are far narrower than the intervals of the two grades.
        """
        return grade_difference(self.marks[first], self.marks[second])

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Pairs (later, earlier) of players with the same network or the same readouts; all pairs if there are none."""
        all_pairs = [(later, earlier) for later in range(len(self.names)) for earlier in range(later)]
        # The name "9x9@64" has the parts "9x9", "@" and "64".
        networks, _, readouts = zip(*(name.rpartition("@") for name in self.names), strict=True)
        similar = [(a, b) for a, b in all_pairs if networks[a] == networks[b] or readouts[a] == readouts[b]]
        return similar or all_pairs

    def by_phase(self, player: int = 0) -> dict[str, Grade]:
        """Return a player's grade in each phase (PHASES) of which the exam has positions."""
        return self._by_group(player, PHASES, self.phases)

    def by_kind(self, player: int = 0) -> dict[str, Grade]:
        """Return a player's grade in each kind of position (KINDS) of which the exam has positions."""
        return self._by_group(player, KINDS, self.kinds)

    def _by_group(self, player: int, groups: Sequence[str], group_of_position: Sequence[str]) -> dict[str, Grade]:
        """Return a player's grade in each group of positions, such as a phase; groups without positions are left out.

        Args:
            groups: the names of all groups, in the order of the result.
            group_of_position: for each position, the name of its group.
        """
        masks = {group: np.array(group_of_position) == group for group in groups}  # bools [n]
        return {group: self.grade(player, mask) for group, mask in masks.items() if mask.any()}

    @cached_property
    def phases(self) -> list[str]:
        """The phase of each position."""
        return [find_phase(self.exam.size, len(position.moves)) for position in self.exam.positions]

    @cached_property
    def kinds(self) -> list[str]:
        """The kind of each position."""
        return [find_kind(board, judged) for board, judged in zip(self.exam.boards, self.exam.positions, strict=True)]

    def halves(self, first: int = 0, second: int | None = None) -> Halves:
        """Return how random halves of the exam differ in the points that a player loses a move.

        Args:
            second: another player; the halves are then of the difference `first` - `second`.

        Raises:
            ValueError: if the exam has only one position.
        """
        points = self.marks[first].points
        return compare_halves(points if second is None else points - self.marks[second].points)

    def worst(self, player: int = 0, most: int = 10) -> list[int]:
        """Return the indices of the positions in which a player loses most, the worst first.

        Moves that lose equally many points are ordered by the win rate lost.
        """
        # Unlike `marks.points` not cut at MOST_LOST, so that the greatest losses are ordered too.
        points_lost = self.exam.points[np.arange(len(self.exam)), self.answers[player].actions]
        rate_lost = self.marks[player].rate
        return np.lexsort((-rate_lost, -points_lost))[:most].tolist()  # the last key is the most important one

    def sheet(self, player: int = 0, most: int = 10) -> Svg:
        """Return a picture of a player's worst moves, each with the judge's best move.

        The numbers on the discs are the judge's win rates of the side to move; the best move has a ring.
        """
        drawings, captions = [], []
        for row in self.worst(player, most):
            action = int(self.answers[player].actions[row])
            look = Look(caption="", overlay=exam_overlay(self.exam, row, action), legend=False)
            drawings.append(self.exam.boards[row].drawing(look))
            captions.append(f"{move_caption(self.exam, row, action)}; {self.kinds[row]}")
        title = f"The moves with which {self.names[player]} loses most, {len(self.exam)} positions"
        return to_svg(sheet(drawings, captions, COLUMNS, title=f"{title}; ringed: the best move"))

    def _repr_svg_(self) -> str:
        return str(self.sheet())

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the grades of all players, also by phase and kind, and the differences of `pairs`, as plain data."""
        for player, name in enumerate(self.names):
            yield {"player": name, **self.grade(player).row()}
            for key, grades in (("phase", self.by_phase(player)), ("kind", self.by_kind(player))):
                yield from ({"player": name, key: part, **grade.row()} for part, grade in grades.items())
        for later, earlier in self.pairs:
            yield {"player": self.names[later], "minus": self.names[earlier], **self.paired(later, earlier).row()}

    def __str__(self) -> str:
        """Return the grades of all players, their differences, and their losses by phase and kind, as a text."""
        exam = self.exam
        judge = f", {exam.judge}" if exam.judge else ""
        lines = [
            f"{exam.size}x{exam.size}: {len(exam)} positions{judge}; per move, losses cut at {MOST_LOST:g} points; "
            "± is a 95 % interval, the errors are root mean squares"
        ]
        lines += ["", *grade_table("player", dict(zip(self.names, self.grades, strict=True)))]
        if self.pairs:
            paired = {f"{self.names[a]} - {self.names[b]}": self.paired(a, b) for a, b in self.pairs}
            lines += ["", "Paired, on the same positions:", *grade_table("players", paired, signed=True)]
        for heading, by in (("phase", self.by_phase), ("kind", self.by_kind)):
            lines += ["", *parts_table(heading, self.names, [by(player) for player in range(len(self.names))])]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<{len(self.names)} players in an exam of {len(self.exam)} positions>"


def exam_overlay(exam: Exam, row: int, action: int) -> Overlay:
    """Return what is drawn on a position of an exam: discs on the best move and on `action`; row: its index."""
    judged, mover = exam.positions[row], exam.boards[row].to_play
    best_rate = judged.black_win if mover > 0 else 1 - judged.black_win  # the mover's, if it plays the best move
    q, priors = np.full(len(judged.rates), np.nan), np.zeros(len(judged.rates))
    for move, prior in ((action, 0.3), (judged.best, 1.0)):  # the largest prior gets the ring, the other one is paler
        priors[move] = prior
        q[move] = 2 * np.clip(best_rate - judged.rates[move], 0, 1) - 1  # `rates` are the win rates that moves lose
    return Overlay(q=q, priors=priors, show="q")


def move_caption(exam: Exam, row: int, action: int) -> str:
    """Return a caption about a move: who plays it, the number of moves before it, its loss, and the best move."""
    judged, board = exam.positions[row], exam.boards[row]
    return (
        f"{row + 1}. {PLAYER_NAMES[board.to_play]} {exam.env.to_text(action)} after {len(judged.moves)} moves loses "
        f"{judged.points[action]:.1f} points, {judged.rates[action]:.0%}; best {exam.env.to_text(judged.best)}"
    )
