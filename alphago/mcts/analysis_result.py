"""`Analysis`: what a search or a network says of positions, as arrays, and how it is read from the search's trees."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np

from alphago.env.game import PLAYER_NAMES, GameEnv
from alphago.mcts.analysis_search import AnalysisSearch, root_state
from alphago.mcts.kernels import summary
from alphago.mcts.kernels.nodes import ROOT
from alphago.mcts.kernels.summary import OWNERS
from alphago.mcts.search import Search

DEVIATIONS = 5.0  # standard errors by which the lower bound of a win rate is below it, as in KataGo's default
PLIES = 15  # of a line of play


class MoveAnalysis(NamedTuple):
    """What a search says of one move; see `Analysis` for views and units."""

    action: int
    order: int  # 0 for the best move
    visits: int
    prior: float
    q: float  # NaN without visits, and so are the next four
    win_rate: float
    lower_bound: float
    score: float  # NaN too without forecasts
    score_stdev: float
    line: tuple[int, ...]  # actions, this one first; without visits this one alone
    line_visits: tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Analysis:
    """Analyses of n positions of a game with A actions and a board of H x W points, as arrays.

    Values, scores and ownership are from the view of the player to move; `as_black` turns them to Black's.  Values are
    -1 .. 1, win rates and their bounds 0 .. 1 with a draw counting half, scores are margins in points with komi, and
    ownership is 1 where a point becomes the player's and -1 where it becomes the other side's.  What is unknown is NaN:
    numbers of actions without visits, and scores where the network forecasts none; ownership is then None.

    In a position whose game is over nothing is searched: its value is the outcome, and the score the board's.
    """

    env: GameEnv
    to_play: np.ndarray  # int8 [n], +1 the first player (Black), -1 the second
    visits: np.ndarray  # int32 [n, A]
    prior: np.ndarray  # float32 [n, A], the network's probabilities; 0 for illegal actions
    q: np.ndarray  # float32 [n, A], the mean value of the simulations through an action
    lower_bound: np.ndarray  # float32 [n, A], of the win rate, DEVIATIONS standard errors below it; may be below 0
    score: np.ndarray  # float32 [n, A], the mean of the scores below an action
    score_stdev: np.ndarray  # float32 [n, A], the standard deviation of the scores that the network gives below it
    lines: np.ndarray  # int32 [n, A, plies], the most visited line of play from each action on; -1 beyond its end
    line_visits: np.ndarray  # int32 [n, A, plies], the visits of these moves; 0 beyond the line's end
    root_visits: np.ndarray  # int32 [n], simulations, the position's own evaluation included
    value: np.ndarray  # float32 [n], the mean value of all simulations
    raw_value: np.ndarray  # float32 [n], the network's own
    root_score: np.ndarray  # float32 [n], the mean score of all simulations
    root_score_stdev: np.ndarray  # float32 [n]
    raw_score: np.ndarray  # float32 [n], the network's own
    ownership: np.ndarray | None  # float32 [n, H, W], the mean over all simulations; row 0 is the top
    ownership_stdev: np.ndarray | None  # float32 [n, H, W], the standard deviation of the network's forecasts
    raw_ownership: np.ndarray | None  # float32 [n, H, W], the network's own
    move_ownership: np.ndarray | None = None  # float32 [n, A, H, W], below each action, if it was asked for
    move_ownership_stdev: np.ndarray | None = None  # float32 [n, A, H, W]

    def __len__(self) -> int:
        return len(self.to_play)

    def __repr__(self) -> str:
        visits = int(self.root_visits.sum())
        return f"<an analysis of {len(self)} position{'s' * (len(self) != 1)} of {self.env}, {visits} visits>"

    @property
    def win_rate(self) -> np.ndarray:
        """The win rate of each action, float32 [n, A], 0 .. 1."""
        return (1 + self.q) / 2

    @property
    def root_win_rate(self) -> np.ndarray:
        """The win rate of each position, float32 [n], 0 .. 1."""
        return (1 + self.value) / 2

    @property
    def has_scores(self) -> bool:
        """Whether scores and ownership are known."""
        return self.ownership is not None

    def as_black(self) -> "Analysis":
        """Return the same analyses from Black's view; a lower bound becomes an upper one where White is to move."""
        black = self.to_play == 1
        turned: dict[str, Any] = {}
        for name in TURNED:
            array = getattr(self, name)
            if array is not None:
                turned[name] = array * self.to_play.reshape(-1, *[1] * (array.ndim - 1))
        turned["lower_bound"] = np.where(black[:, None], self.lower_bound, 1 - self.lower_bound)
        return replace(self, **turned)

    def order(self, i: int = 0) -> np.ndarray:
        """Return the actions of position i, int64, with visits or, without a search, a prior, the best first.

        The most visited is the best, of equals the one with the greatest prior.
        """
        known = self.visits[i] if self.visits[i].any() else self.prior[i]
        ranked = np.lexsort((-self.prior[i], -self.visits[i]))
        return ranked[known[ranked] > 0]

    def best(self, i: int = 0) -> int:
        """Return the best action of position i; raise ValueError if its game is over."""
        order = self.order(i)
        if not len(order):
            raise ValueError(f"position {i} has no move: its game is over")
        return int(order[0])

    def moves(self, i: int = 0, least: int = 0) -> list[MoveAnalysis]:
        """Return the moves of position i that have visits, the best first.

        least: the number of moves to return at least; those without visits follow by their prior.
        """
        searched = self.order(i) if self.visits[i].any() else np.zeros(0, np.int64)
        if least > len(searched):
            others = np.argsort(-self.prior[i], kind="stable")
            others = others[(self.prior[i, others] > 0) & ~np.isin(others, searched)]
            searched = np.concatenate([searched, others[: least - len(searched)]])
        return [self.move(i, int(action), order) for order, action in enumerate(searched)]

    def move(self, i: int, action: int, order: int) -> MoveAnalysis:
        """Return the numbers of one move of position i."""
        line = self.lines[i, action]
        plies = int((line >= 0).sum())
        q = float(self.q[i, action])
        return MoveAnalysis(
            action, order, int(self.visits[i, action]), float(self.prior[i, action]), q, (1 + q) / 2,
            float(self.lower_bound[i, action]), float(self.score[i, action]), float(self.score_stdev[i, action]),
            tuple(line[:plies].tolist()) or (action,), tuple(self.line_visits[i, action, :plies].tolist()) or (0,),
        )  # fmt: skip

    def describe(self, i: int = 0, lines: int = 5, plies: int = 6) -> str:
        """Return the best moves of position i as text, a line each: visits, mean value, prior, and the expected line.

        Values are from the view of the player to move, whom the head line names.
        """
        mover, value = PLAYER_NAMES[int(self.to_play[i])], self.value[i]
        head = f"{mover} to play, {self.root_visits[i]} visits, value {value:+.3f} for {mover}"
        rows = [
            f"  {self.env.to_text(move.action):>5} {move.visits:6d} visits  value {move.q:+.3f}"
            f"  prior {move.prior:.3f}  {' '.join(map(self.env.to_text, move.line[:plies]))}"
            for move in self.moves(i)[:lines]
        ]
        return "\n".join([head, *rows])

    def take(self, rows: Sequence[int] | np.ndarray) -> "Analysis":
        """Return the analyses of some of the positions, in this order."""
        parts = {name: getattr(self, name) for name in ARRAYS}
        return Analysis(self.env, **{name: None if a is None else a[rows] for name, a in parts.items()})


ARRAYS = tuple(field.name for field in fields(Analysis) if field.name != "env")
TURNED = (
    "q", "score", "value", "raw_value", "root_score", "raw_score", "ownership", "raw_ownership", "move_ownership",
)  # fmt: skip


def join_analyses(parts: Sequence[Analysis]) -> Analysis:
    """Return one analysis of the positions of all parts, which are of one game, in order."""
    columns = {name: [getattr(part, name) for part in parts] for name in ARRAYS}
    joined = {name: None if arrays[0] is None else np.concatenate(arrays) for name, arrays in columns.items()}
    return Analysis(parts[0].env, **joined)


class Sums(NamedTuple):
    """Sums over the simulations of a search, weighted by their number; see `alphago.mcts.kernels.summary.add_up`."""

    weight: np.ndarray  # float64 [n, A + 1]
    squared_value: np.ndarray
    score: np.ndarray
    squared_score: np.ndarray
    ownership: np.ndarray  # float32 [n, 1 or A + 1, P]
    squared_ownership: np.ndarray


def add_up(search: Search, games: np.ndarray, every_move: bool) -> Sums:
    """Return the sums of some games' trees; every_move: those of ownership below each action too."""
    actions, known = search.env.action_space, isinstance(search, AnalysisSearch) and search.has_forecasts
    scores = search.scores if known else np.zeros(search.tree.parent.shape, np.float32)  # type: ignore[attr-defined]
    owners = search.owners if known else np.zeros((*scores.shape, 0), np.int8)  # type: ignore[attr-defined]
    numbers = [np.zeros((len(games), actions + 1)) for _ in range(4)]
    shape = (len(games), actions + 1 if every_move else 1, owners.shape[2])
    sums = Sums(*numbers, np.zeros(shape, np.float32), np.zeros(shape, np.float32))
    summary.add_up(search.tree, games, scores, owners, np.zeros(scores.shape[1], np.int32), sums)
    return sums


def read_analysis(
    search: Search, games: np.ndarray | None = None, *, plies: int = PLIES, move_ownership: bool = False
) -> Analysis:
    """Return the analysis of some games of a search, whose roots are evaluated, as it stands.

    games: int64 [n]; None for all. plies: of the lines. move_ownership: whether to add up ownership below each action.
    """
    games = np.arange(search.games) if games is None else np.asarray(games, np.int64)
    env, n, tree = search.env, len(games), search.tree
    sums = add_up(search, games, move_ownership)
    movers, raw_values = root_state(search, games)
    known = isinstance(search, AnalysisSearch) and search.has_forecasts
    lines = np.full((n, env.action_space, plies), -1, np.int32)
    line_visits = np.zeros_like(lines)
    summary.write_lines(tree, games, lines, line_visits)
    q = np.full((n, env.action_space), np.nan, np.float32)
    summary.root_values(tree, games, q)
    visits = search.visits(games)
    score, score_stdev = mean_and_stdev(sums.score, sums.squared_score, sums.weight) if known else (None, None)
    unknown = np.full((n, env.action_space + 1), np.nan, np.float32)
    score, score_stdev = (unknown, unknown) if score is None or score_stdev is None else (score, score_stdev)
    owners: dict[str, np.ndarray | None] = dict.fromkeys(("ownership", "ownership_stdev", "raw_ownership"))
    raw_score = np.full(n, np.nan, np.float32)
    if isinstance(search, AnalysisSearch) and known:
        raw_score = search.scores[games, ROOT]
        owners = ownership_of(sums, env) | {
            "raw_ownership": (search.owners[games, ROOT] / np.float32(OWNERS)).reshape(n, *env.plane_shape)
        }
        if not move_ownership:
            owners |= {"move_ownership": None, "move_ownership_stdev": None}
    return Analysis(
        env, movers.copy(), visits, search.priors(games), q, lower_bounds(q, visits, sums.squared_value[:, :-1]),
        score[:, :-1], score_stdev[:, :-1], lines, line_visits, tree.visits[games, ROOT].copy(),
        search.root_values(games), raw_values.copy(), score[:, -1], score_stdev[:, -1], raw_score.copy(), **owners,
    )  # fmt: skip


def mean_and_stdev(total: np.ndarray, squared: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return means and standard deviations, float32, of weighted sums; NaN without weight."""
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = total / weight
        variance = np.maximum(squared / weight - mean * mean, 0)
    return mean.astype(np.float32), np.sqrt(variance).astype(np.float32)


def ownership_of(sums: Sums, env: GameEnv) -> dict[str, np.ndarray | None]:
    """Return the ownership fields of an analysis: the whole tree's, and those below each action."""
    weight = sums.weight if sums.ownership.shape[1] > 1 else sums.weight[:, -1:]
    pair = mean_and_stdev(sums.ownership, sums.squared_ownership, weight[:, :, None])
    mean, stdev = (array.reshape(*array.shape[:2], *env.plane_shape) for array in pair)
    return {
        "ownership": mean[:, -1],
        "ownership_stdev": stdev[:, -1],
        "move_ownership": mean[:, :-1],
        "move_ownership_stdev": stdev[:, :-1],
    }


def lower_bounds(q: np.ndarray, visits: np.ndarray, squared: np.ndarray) -> np.ndarray:
    """Return lower bounds of the win rates, float32 [n, A]: DEVIATIONS standard errors below them; NaN without visits.

    squared: [n, A], the sums of squared values.  With few visits their spread says little, so the largest possible
    variance is mixed in with the weight 1 / N^2 of N visits, as KataGo does (`Search::getSelfUtilityLCBAndRadius`).
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        count = visits.astype(np.float64)
        own = 1 / (count * count)
        mean_square = squared / count
        mixed = (mean_square * count + (mean_square + 1) * own) / (count + own)
        variance = np.maximum(mixed - q.astype(np.float64) ** 2, 0)
        effective = (count + own) ** 2 / (count + own * own)
        radius = DEVIATIONS * np.sqrt(variance / effective)
    return ((1 + q - radius) / 2).astype(np.float32)
