"""Analyses without a search: of positions by the network alone, and of finished games."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from alphago.env.game import GameEnv
from alphago.env.position import Position
from alphago.mcts.analysis_result import ARRAYS, Analysis
from alphago.mcts.evaluator import Evaluator, Forecaster

FIRST = np.zeros(1, np.int64)  # the slot of a Position in its own batch
CHUNK = 256  # positions that are evaluated together


def evaluate_alone(
    env: GameEnv,
    evaluator: Evaluator,
    positions: Sequence[Position],
    symmetries: Sequence[int] = (0,),
    threads: int = 1,
) -> Analysis:
    """Return the analysis of positions by the network alone; its lines of play have no plies.

    evaluator: for boards on the CPU.  symmetries: as in `Forecaster.evaluate_forecasts`.  threads: number of threads.
    """
    forecaster = evaluator if isinstance(evaluator, Forecaster) else None
    has_forecasts = forecaster is not None and forecaster.makes_forecasts
    live = live_of(positions)
    count, actions, shape = len(live), env.action_space, env.plane_shape
    movers = np.zeros(count, np.int8)
    priors = np.zeros((count, actions), np.float32)
    values = np.zeros(count, np.float32)
    scores = np.full(count, np.nan, np.float32)
    owners = np.zeros((count, shape[0] * shape[1] if has_forecasts else 0), np.float32)

    def evaluate_chunk(begin: int) -> None:
        """Evaluate the positions `live` from index `begin` on, at most CHUNK, into the arrays above."""
        part = slice(begin, min(begin + CHUNK, count))
        slots = np.arange(part.stop - begin)
        batch = env.new_batch(len(slots))
        batch.gather([positions[i].batch for i in live[part]])
        batch.to_play(slots, movers[part])
        if forecaster is None:
            evaluator.evaluate(batch, slots, priors[part], values[part])
        else:
            forecasts = (scores[part], owners[part]) if has_forecasts else None
            forecaster.evaluate_forecasts(batch, slots, priors[part], values[part], forecasts, symmetries)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(evaluate_chunk, range(0, count, CHUNK)))
    ownership = owners.reshape(count, *shape) if has_forecasts else None
    needs_search = ("q", "lower_bound", "score", "score_stdev")
    found: dict[str, Any] = dict.fromkeys(needs_search, np.full((count, actions), np.nan, np.float32))
    found |= dict.fromkeys(("lines", "line_visits"), np.zeros((count, actions, 0), np.int32))
    found |= {"visits": np.zeros((count, actions), np.int32), "root_visits": np.ones(count, np.int32)}
    found |= {"prior": priors, "value": values, "raw_value": values, "root_score": scores, "raw_score": scores}
    found |= {"root_score_stdev": np.where(np.isnan(scores), scores, 0)}
    found |= {"ownership": ownership, "raw_ownership": ownership}
    found["ownership_stdev"] = None if ownership is None else np.zeros_like(ownership)
    return with_ended(Analysis(env, movers, **found), positions, live)


def live_of(positions: Sequence[Position]) -> np.ndarray:
    """Return the indices of the positions whose games are not over, int64."""
    return np.array([i for i, position in enumerate(positions) if not position.is_over], np.int64)


def with_ended(of_live: Analysis, positions: Sequence[Position], live: np.ndarray) -> Analysis:
    """Return the analysis of all positions, from the analysis of those whose games are not over.

    of_live: the analysis of the positions `live`.  live: int64, the indices of these positions among all positions.
    """
    if len(live) == len(positions):
        return replace(of_live, positions=tuple(positions))
    arrays: dict[str, Any] = {}
    for name in ARRAYS:
        part = getattr(of_live, name)
        if part is None:
            continue
        unknown: Any = np.nan if part.dtype.kind == "f" else 0
        if name == "lines":
            unknown = -1
        arrays[name] = np.full((len(positions), *part.shape[1:]), unknown, part.dtype)
        arrays[name][live] = part
    of_all = replace(of_live, **arrays, positions=tuple(positions))
    for i in np.setdiff1d(np.arange(len(positions)), live).tolist():
        write_ended(of_all, i, positions[i])
    return of_all


def write_ended(analysis: Analysis, i: int, position: Position) -> None:
    """Write the outcome, score and ownership of a finished game into row i of the analysis."""
    mover = position.to_play
    analysis.to_play[i], analysis.prior[i] = mover, 0
    analysis.value[i] = analysis.raw_value[i] = mover * position.outcome
    if analysis.ownership is None or analysis.raw_ownership is None or analysis.ownership_stdev is None:
        return  # a network without forecasts: the scores stay NaN
    analysis.root_score[i] = analysis.raw_score[i] = mover * position.score()
    analysis.root_score_stdev[i] = analysis.ownership_stdev[i] = 0
    owners = position.batch.ownership(FIRST, np.empty((1, analysis.ownership[i].size), np.int8))
    analysis.ownership[i] = analysis.raw_ownership[i] = owners.reshape(analysis.ownership[i].shape)
