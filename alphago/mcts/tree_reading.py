"""`read_analysis`: compute an `Analysis` from the trees of a search."""

from typing import Any, NamedTuple

import numpy as np

from alphago.env.position import Position
from alphago.mcts.analysis_result import DEVIATIONS, PLIES, Analysis
from alphago.mcts.kernels import tree_reading as kernels
from alphago.mcts.kernels.nodes import TERMINAL
from alphago.mcts.kernels.tree_reading import OWNERS
from alphago.mcts.search import Search
from alphago.mcts.tree import read_children


class TreeSums(NamedTuple):
    """Sums over the simulations through each action of n roots; index A is for all simulations of the root."""

    weight: np.ndarray  # float64 [n, A + 1], the numbers of simulations
    squared_value: np.ndarray  # float64 [n, A + 1]
    score: np.ndarray  # float64 [n, A + 1]
    squared_score: np.ndarray  # float64 [n, A + 1]
    ownership: np.ndarray  # float32 [n, A + 1, P] for P points, or [n, 1, P] for all simulations of the root only
    squared_ownership: np.ndarray  # float32, as `ownership`


def read_analysis(
    search: Search,
    games: np.ndarray | None = None,
    *,
    plies: int = PLIES,
    move_ownership: bool = False,
    positions: tuple[Position, ...] = (),
) -> Analysis:
    """Return the analysis of games of a search, from its simulations so far; their roots must be evaluated.

    Args:
        games: int64 [n]; None for all games.
        plies: the most plies of each expected line of play.
        move_ownership: whether to return also the ownership expected after each action.
        positions: the games' positions, for pictures; () if they are not known.
    """
    games = np.arange(search.games) if games is None else np.asarray(games, np.int64)
    env, tree, shape = search.env, search.tree, (len(games), search.env.action_space)
    sums = add_up(search, games, move_ownership)
    lines = np.full((*shape, plies), -1, np.int32)
    line_visits = np.zeros_like(lines)
    tree.launch(kernels.write_lines, games, lines, line_visits)
    visits = search.visits(games)
    over = tree.at("state", games) == TERMINAL
    with np.errstate(invalid="ignore"):  # 0 / 0 without visits
        q = (read_children(tree, games, "value_sum", np.zeros(shape, np.float32)) / visits).astype(np.float32)
    # The last column is for all simulations, the others are for those of one action.
    score, score_stdev = mean_and_stdev(sums.score, sums.squared_score, sums.weight)
    return Analysis(
        env,
        to_play=tree.at("mover", games),
        visits=visits,
        prior=np.where(over[:, None], np.float32(0), search.priors(games)),
        q=q,
        lower_bound=lower_bounds(q, visits, sums.squared_value[:, :-1]),
        score=score[:, :-1],
        score_stdev=score_stdev[:, :-1],
        lines=lines,
        line_visits=line_visits,
        root_visits=np.where(over, 0, tree.at("visits", games)),
        value=search.root_values(games),
        raw_value=tree.at("value", games),
        root_score=score[:, -1],
        root_score_stdev=score_stdev[:, -1],
        raw_score=tree.at("score", games),
        positions=positions,
        **ownership_fields(search, games, sums),
    )


def add_up(search: Search, games: np.ndarray, moves: bool) -> TreeSums:
    """Return the sums over the trees of games (int64 [n]); moves: whether to sum ownership also for each action."""
    columns = search.env.action_space + 1  # the last one is for the whole tree
    numbers = np.zeros((4, len(games), columns))
    ownership = np.zeros((2, len(games), columns if moves else 1, search.points), np.float32)
    sums = TreeSums(*numbers, *ownership)  # four fields of numbers, then two of ownership
    branch = np.empty(search.tree.used.max(), np.int32)  # scratch of the kernel, for the nodes of one tree
    search.tree.launch(kernels.add_up, games, branch, sums)  # this kernel runs on the CPU in any case: it fills `sums`
    return sums


def ownership_fields(search: Search, games: np.ndarray, sums: TreeSums) -> dict[str, Any]:
    """Return the fields of an `Analysis` with the ownership in games (int64 [n]); None for what is unknown.

    Those of moves are left out if `sums` has ownership only for all simulations of the root.
    """
    if not search.has_forecasts:
        return dict.fromkeys(("ownership", "ownership_stdev", "raw_ownership"))
    # One column for each action and last one for all simulations of the root, or only the last.
    plane_shape, columns = search.env.plane_shape, sums.ownership.shape[1]
    moments = mean_and_stdev(sums.ownership, sums.squared_ownership, sums.weight[:, -columns:, None])
    mean, stdev = (moment.reshape(len(games), columns, *plane_shape) for moment in moments)
    raw = (search.tree.at("owners", games) / np.float32(OWNERS)).reshape(-1, *plane_shape)
    fields = {"ownership": mean[:, -1], "ownership_stdev": stdev[:, -1], "raw_ownership": raw}
    if columns > 1:
        fields |= {"move_ownership": mean[:, :-1], "move_ownership_stdev": stdev[:, :-1]}
    return fields


def mean_and_stdev(total: np.ndarray, squared: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the weighted means and standard deviations of numbers, float32; NaN where the sum of weights is 0.

    Args:
        total: sums of the numbers times their weights.
        squared: sums of the squares of the numbers times their weights.
        weight: sums of the weights.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = total / weight
        variance = np.maximum(squared / weight - mean * mean, 0)
    return mean.astype(np.float32), np.sqrt(variance).astype(np.float32)


def lower_bounds(q: np.ndarray, visits: np.ndarray, squared: np.ndarray) -> np.ndarray:
    """Return lower bounds of the win rates, float32 [n, A]; NaN for actions without visits.

    A lower bound is DEVIATIONS standard errors below the win rate.

    The sample variance of few visits is unreliable.  So it is averaged with a variance that is greater by 1, the
    largest variance of values from -1 to 1.  For N visits the weights are N and 1 / N^2, as in KataGo
    (`Search::getSelfUtilityLCBAndRadius`).  A variance is the mean square minus q^2, so the mean squares are averaged.

    Args:
        q: [n, A], mean values.
        visits: [n, A].
        squared: [n, A], sums of squared values.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        count = visits.astype(np.float64)
        extra_weight = 1 / (count * count)
        mean_square = squared / count
        mixed_mean_square = (mean_square * count + (mean_square + 1) * extra_weight) / (count + extra_weight)
        variance = np.maximum(mixed_mean_square - q.astype(np.float64) ** 2, 0)
        # Of weighted numbers: (sum of weights)^2 / (sum of squared weights), here of N weights of 1 and the extra one.
        effective_count = (count + extra_weight) ** 2 / (count + extra_weight * extra_weight)
        radius = DEVIATIONS * np.sqrt(variance / effective_count)
    return ((1 + q - radius) / 2).astype(np.float32)
