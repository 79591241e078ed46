"""`Analysis`: evaluations of positions by a search or by a network alone, as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from alphago.drawing.svg import Svg
from alphago.env.game import PLAYER_NAMES, GameEnv
from alphago.env.position import Position

DEVIATIONS = 5.0  # standard errors between a win rate and its lower bound (KataGo's default)
PLIES = 15  # most plies of a line of play


class MoveAnalysis(NamedTuple):
    """The evaluation of one move; `Analysis` explains points of view and units."""

    action: int
    order: int  # the rank among the candidates, 0 for the best move
    visits: int
    prior: float
    q: float  # this field and the next four are NaN without visits
    win_rate: float
    lower_bound: float
    score: float  # NaN also if the network forecasts no scores
    score_stdev: float
    line: tuple[int, ...]  # actions, this move first; without visits this move only
    line_visits: tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Analysis:
    """Evaluations of n positions of a game with A actions and a board of H x W points, as arrays.

    Values, scores and ownership are from the view of the player to move; `as_black` converts them to Black's view.
    Values are -1 .. 1. Win rates and their bounds are 0 .. 1; a draw counts half. Scores are margins in points, komi
    included. Ownership is 1 for a point that becomes the player's, -1 for a point that becomes the other side's.  NaN
    means unknown: so are the results of actions without visits. If the network forecasts no scores, all scores are NaN
    and ownership is None.

    For a finished game the value is the outcome, score and ownership are those of the board, and there are no visits.

    Arrays, with one row for each position:

    - int8 [n]: to_play, +1 Black, -1 White.
    - int32 [n, A]: visits.
    - float32 [n, A]: prior, q, lower_bound, score, score_stdev; also win_rate.
    - int32 [n, A, plies]: lines, the actions of the line of play from each action on, -1 beyond its end; line_visits,
      the visits of these actions, 0 beyond the line's end.  Without a search plies is 0.
    - int32 [n]: root_visits.
    - float32 [n]: value, raw_value, root_score, root_score_stdev, raw_score; also root_win_rate.
    - float32 [n, H, W]: ownership, ownership_stdev, raw_ownership, or None; row 0 is the top.
    - float32 [n, A, H, W]: move_ownership, move_ownership_stdev; None unless requested.
    """

    env: GameEnv
    to_play: np.ndarray  # int8 [n], +1 the first player (Black), -1 the second
    visits: np.ndarray  # int32 [n, A]
    prior: np.ndarray  # float32 [n, A], the network's probabilities; 0 for illegal actions
    q: np.ndarray  # float32 [n, A], the mean value of the simulations through an action
    lower_bound: np.ndarray  # float32 [n, A], of the win rate, DEVIATIONS standard errors below it; may be below 0
    score: np.ndarray  # float32 [n, A], the mean score of the simulations through an action
    score_stdev: np.ndarray  # float32 [n, A], standard deviation of the network's scores of these simulations
    lines: np.ndarray  # int32 [n, A, plies], the most visited line of play from each action on, -1 beyond its end
    line_visits: np.ndarray  # int32 [n, A, plies], the visits of these moves; 0 beyond the line's end
    root_visits: np.ndarray  # int32 [n], simulations, the position's own evaluation included
    value: np.ndarray  # float32 [n], the mean value of all simulations
    raw_value: np.ndarray  # float32 [n], the network's value of the position
    root_score: np.ndarray  # float32 [n], the mean score of all simulations
    root_score_stdev: np.ndarray  # float32 [n]
    raw_score: np.ndarray  # float32 [n], the network's score of the position
    ownership: np.ndarray | None  # float32 [n, H, W], the mean over all simulations; row 0 is the top
    ownership_stdev: np.ndarray | None  # float32 [n, H, W], the standard deviation of the network's forecasts
    raw_ownership: np.ndarray | None  # float32 [n, H, W], the network's ownership of the position
    move_ownership: np.ndarray | None = None  # float32 [n, A, H, W], the mean below each action; None by default
    move_ownership_stdev: np.ndarray | None = None  # float32 [n, A, H, W]
    positions: tuple[Position, ...] = ()  # for pictures; empty if unknown
    views: np.ndarray | None = None  # int8 [n], 1 for a row in the mover's view, -1 in the other side's; None: all 1

    def __len__(self) -> int:
        return len(self.to_play)

    def __repr__(self) -> str:
        visits = int(self.root_visits.sum())
        return f"<an analysis of {len(self)} position{'s' * (len(self) != 1)} of {self.env}, {visits} visits>"

    @cached_property
    def _arrays(self) -> dict[str, Any]:
        """The fields that are arrays, by name, without those that are unknown."""
        return {name: array for name in ARRAYS if (array := getattr(self, name)) is not None}

    @property
    def win_rate(self) -> np.ndarray:
        """The win rate of each action, float32 [n, A], 0 .. 1."""
        return (1 + self.q) / 2

    @property
    def root_win_rate(self) -> np.ndarray:
        """The win rate of each position, float32 [n], 0 .. 1: the mean of all simulations."""
        return (1 + self.value) / 2

    @property
    def has_scores(self) -> bool:
        """Whether scores and ownership are known."""
        return self.ownership is not None

    @property
    def signs(self) -> np.ndarray:
        """The signs that turn the rows to the mover's view, and back: those of `views`, int8 [n]."""
        return np.ones(len(self), np.int8) if self.views is None else self.views

    def as_black(self) -> "Analysis":
        """Return the analyses from Black's view; where White is to move, lower bounds become upper bounds."""
        return self.turned(self.to_play * self.signs)

    def as_white(self) -> "Analysis":
        """Return the analyses from White's view; where Black is to move, lower bounds become upper bounds."""
        return self.turned(-self.to_play * self.signs)

    def turned(self, signs: np.ndarray) -> "Analysis":
        """Return the analyses, with some of the rows turned to the view of the other side.

        Args:
            signs: int8 [n], -1 for a row to turn, 1 for a row to keep.
        """
        # Transposed, so that each row is multiplied by its sign, whatever the number of axes.
        arrays = {name: (array.T * signs).T for name, array in self._arrays.items() if name in TURNED}
        # A bound is of a win rate, which is 1 - x for the other side.  There it is an upper bound, under the same name.
        arrays["lower_bound"] = np.where(signs[:, None] > 0, self.lower_bound, 1 - self.lower_bound)
        return replace(self, **arrays, views=signs * self.signs)

    def svg(
        self,
        i: int = 0,
        *,
        show: str | None = None,
        ownership: bool = True,
        line: bool = False,
        size: float | None = None,
    ) -> Svg:
        """Return an SVG picture of position i and its evaluation, which a notebook displays.

        Candidate moves are labelled with win rates and visits, or with what `show` names (see `Position.svg`).

        Args:
            ownership: whether to draw the ownership, if known, as squares.
            line: whether to draw the expected line of play instead of the moves' labels.
            size: width in pixels.

        Raises:
            ValueError: if the analysis has no positions.
        """
        if not self.positions:
            raise ValueError("positions must be known for a picture, as they are in what analyze() returns")
        to_mover = int(self.signs[i])
        arrays: dict[str, Any] = {"priors": self.prior[i]}  # keywords of Position.svg
        if self.visits[i].any():
            shown_q, _, _ = self.readings  # not `self.q`: no move is shown as better than the best one
            arrays |= {"visits": self.visits[i], "q": to_mover * shown_q[i]}
        if ownership and self.ownership is not None:
            arrays["ownership"] = to_mover * int(self.to_play[i]) * self.ownership[i]  # in Black's view
        moves = self.move(i, self.best(i), order=0).line if line else ()
        return self.positions[i].svg(line=moves, show=show, size=size, **arrays)

    def _repr_svg_(self) -> str | None:
        """Return the picture of the first position for a notebook; None (the notebook shows text) without positions."""
        return str(self.svg()) if self.positions else None

    def order(self, i: int = 0) -> np.ndarray:
        """Return the actions of position i that have visits, or without a search those that have a prior, int64.

        The best action comes first: the one with the most visits, of equals the one with the best value for the mover,
        and of equals again the one with the greatest prior.
        """
        count = np.count_nonzero(self.visits[i]) or np.count_nonzero(self.prior[i])
        return self._ranked[i, :count]

    @cached_property
    def _ranked(self) -> np.ndarray:
        """All actions of each position, the best first, int64 [n, A]; `order` has the rule."""
        values = np.nan_to_num(self.signs[:, None] * self.q)  # unknown only without visits
        return np.lexsort((-self.prior, -values, -self.visits))

    @cached_property
    def leading(self) -> np.ndarray:
        """The best action of each position, int64 [n]: the first of its `order`."""
        return self._ranked[:, 0]

    def _of_leading(self, values: np.ndarray) -> np.ndarray:
        """Return the value of each position's best action, [n], given values of all actions, [n, A]."""
        return values[np.arange(len(self)), self.leading]

    def _worse_for_mover(self, values: np.ndarray, limits: np.ndarray) -> np.ndarray:
        """Return the value or the limit of each action, whichever is worse for the player to move, float32 [n, A].

        Args:
            values, limits: [n, A] or [n, 1], in the rows' views; NaN if unknown, and so is the result.
        """
        sign = self.signs[:, None]  # int8, so that the results stay float32
        return sign * np.minimum(sign * values, sign * limits)

    @cached_property
    def readings(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The values, scores and lower bounds of the actions, each float32 [n, A], to be shown to people.

        No value or score is better for the mover than that of the best action, which is the one that is played: a
        better one comes from fewer visits, is less certain, and is replaced by that of the best action.  No bound is
        better for the mover than the win rate that belongs to the value.
        """
        q = self._worse_for_mover(self.q, self._of_leading(self.q)[:, None])
        score = self._worse_for_mover(self.score, self._of_leading(self.score)[:, None])
        return q, score, self._worse_for_mover(self.lower_bound, (1 + q) / 2)

    @cached_property
    def root_readings(self) -> tuple[np.ndarray, np.ndarray]:
        """The values and scores of the positions, each float32 [n], to be shown to people: those of the best action.

        A position is worth what its best action is worth, while the means over all simulations are lower if many
        actions lose.  Without visits the value and score are the network's.
        """
        best_value, best_score = self._of_leading(self.q), self._of_leading(self.score)
        value = np.where(np.isnan(best_value), self.value, best_value)
        return value, np.where(np.isnan(best_score), self.root_score, best_score)

    def best(self, i: int = 0) -> int:
        """Return the best action of position i; raise ValueError if its game is over."""
        if not len(order := self.order(i)):
            raise ValueError(f"position {i} has no move: its game is over")
        return int(order[0])

    def moves(self, i: int = 0, least: int = 0) -> list[MoveAnalysis]:
        """Return the moves of position i that have visits, best first.

        Args:
            least: the least number of moves to return, if there are as many legal ones.  Moves without visits are added
                in the order of their priors.
        """
        legal = np.count_nonzero((self.visits[i] > 0) | (self.prior[i] > 0))
        count = max(np.count_nonzero(self.visits[i]), min(least, legal))
        return [self.move(i, int(action), order) for order, action in enumerate(self._ranked[i, :count])]

    def move(self, i: int, action: int, order: int) -> MoveAnalysis:
        """Return the evaluation of one move of position i, from `readings`.

        Args:
            order: the field `order` of the result.
        """
        line = self.lines[i, action]
        plies = int((line >= 0).sum())
        q, score, bound = (values[i, action].item() for values in self.readings)
        return MoveAnalysis(
            action,
            order,
            visits=int(self.visits[i, action]),
            prior=float(self.prior[i, action]),
            q=q,
            win_rate=(1 + q) / 2,
            lower_bound=bound,
            score=score,
            score_stdev=float(self.score_stdev[i, action]),
            line=tuple(line[:plies].tolist()) or (action,),
            line_visits=tuple(self.line_visits[i, action, :plies].tolist()) or (0,),
        )

    def line_text(self, action: int, i: int = 0) -> str:
        """Return the line of play expected after an action, as text that begins with the action itself."""
        return " ".join(map(self.env.to_text, self.move(i, action, order=0).line))

    def describe(self, i: int = 0, lines: int = 5, plies: int = 6) -> str:
        """Return a table of the best moves of position i: visits, mean value, prior, and the expected line.

        The first line names the player from whose view the values are.

        Args:
            lines: the most moves in the table.
            plies: the most plies of each expected line.
        """
        mover, side = (PLAYER_NAMES[int(player)] for player in (self.to_play[i], self.to_play[i] * self.signs[i]))
        values, _ = self.root_readings  # those of the best actions, not the means of all simulations
        head = f"{mover} to play, {self.root_visits[i]} visits, value {values[i]:+.3f} for {side}"
        rows = [
            f"  {self.env.to_text(move.action):>5} {move.visits:6d} visits  value {move.q:+.3f}"
            f"  prior {move.prior:.3f}  {' '.join(map(self.env.to_text, move.line[:plies]))}"
            for move in self.moves(i)[:lines]
        ]
        return "\n".join([head, *rows])

    def take(self, rows: Sequence[int] | np.ndarray) -> "Analysis":
        """Return the analyses of the positions with these indices, in this order."""
        arrays: dict[str, Any] = {name: array[rows] for name, array in self._arrays.items()}
        indices = np.arange(len(self))[rows]  # also if `rows` is a slice or counts from the end
        return replace(self, **arrays, positions=tuple(self.positions[i] for i in indices) if self.positions else ())


ARRAYS = tuple(field.name for field in fields(Analysis) if field.name not in ("env", "positions"))
TURNED = ("q", "score", "value", "raw_value", "root_score", "raw_score", "ownership", "raw_ownership", "move_ownership")


def join_analyses(parts: Sequence[Analysis]) -> Analysis:
    """Return one analysis with the rows of several analyses of the same game."""
    names = parts[0]._arrays  # the same in all parts
    joined: dict[str, Any] = {name: np.concatenate([part._arrays[name] for part in parts]) for name in names}
    return replace(parts[0], **joined, positions=tuple(position for part in parts for position in part.positions))
