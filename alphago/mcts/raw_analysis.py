"""Analyses without a search: of positions by the network alone, and of finished games."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from alphago.env.game import GameEnv
from alphago.env.position import Position
from alphago.mcts.analysis_result import Analysis
from alphago.mcts.evaluator import Evaluator, Forecaster, new_boards

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

    Args:
        evaluator: for boards on the CPU.
        symmetries: as in `Forecaster.evaluate_forecasts`.
        threads: number of threads.
    """
    forecaster = evaluator if isinstance(evaluator, Forecaster) else None
    has_forecasts = forecaster is not None and forecaster.makes_forecasts
    count, actions, shape = len(positions), env.action_space, env.plane_shape
    movers = np.array([position.to_play for position in positions], np.int8)
    over = np.array([position.is_over for position in positions])
    live = np.flatnonzero(~over)
    priors, values = np.zeros((count, actions), np.float32), np.zeros(count, np.float32)
    scores = np.full(count, np.nan, np.float32)
    owners = np.zeros((count, shape[0] * shape[1] if has_forecasts else 0), np.float32)

    def evaluate_chunk(begin: int) -> None:
        """Evaluate the positions `live` from index `begin` on, at most CHUNK, into the arrays above."""
        rows = live[begin : begin + CHUNK]
        slots, found = np.arange(len(rows)), [array[rows] for array in (priors, values, scores, owners)]
        batch = new_boards(env, evaluator, len(slots))
        batch.gather([positions[i].batch for i in rows])
        if forecaster is None:
            evaluator.evaluate(batch, slots, found[0], found[1])
        else:
            forecasts = (found[2], found[3]) if has_forecasts else None
            forecaster.evaluate_forecasts(batch, slots, found[0], found[1], forecasts, symmetries)
        priors[rows], values[rows], scores[rows], owners[rows] = found

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(evaluate_chunk, range(0, len(live), CHUNK)))
    for i in np.flatnonzero(over).tolist():
        values[i] = movers[i] * positions[i].outcome
        if has_forecasts:
            scores[i] = movers[i] * positions[i].score()
            owners[i] = positions[i].batch.ownership(FIRST, np.empty((1, owners.shape[1]), np.int8))[0]
    ownership = owners.reshape(count, *shape) if has_forecasts else None
    needs_search = ("q", "lower_bound", "score", "score_stdev")
    found: dict[str, Any] = dict.fromkeys(needs_search, np.full((count, actions), np.nan, np.float32))
    found |= dict.fromkeys(("lines", "line_visits"), np.zeros((count, actions, 0), np.int32))
    found |= {"visits": np.zeros((count, actions), np.int32), "root_visits": (~over).astype(np.int32)}
    found |= {"prior": priors, "value": values, "raw_value": values, "root_score": scores, "raw_score": scores}
    found |= {"root_score_stdev": np.where(np.isnan(scores), scores, 0)}
    found |= {"ownership": ownership, "raw_ownership": ownership}
    found["ownership_stdev"] = None if ownership is None else np.zeros_like(ownership)
    return Analysis(env, movers, **found, positions=tuple(positions))
