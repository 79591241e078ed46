"""Analyses without a search: of positions by the network alone, and of finished games."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from alphago.env.game import GameEnv
from alphago.env.position import Position
from alphago.mcts.analysis_result import Analysis
from alphago.mcts.evaluator import Evaluations, Evaluator, evaluate_all, new_boards, points_forecast

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
    points = points_forecast(env, evaluator)

    def evaluate_chunk(begin: int) -> Evaluations:
        """Evaluate the positions from index `begin` on, at most CHUNK."""
        chunk = positions[begin : begin + CHUNK]
        batch = new_boards(env, evaluator, len(chunk))
        batch.gather([position.batch for position in chunk])
        return evaluate_all(evaluator, batch, points, symmetries)

    with ThreadPoolExecutor(threads) as pool:
        parts = list(pool.map(evaluate_chunk, range(0, len(positions), CHUNK)))
    priors, values, scores, owners = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    count, actions = priors.shape
    over = np.array([position.is_over for position in positions])
    ownership = owners.reshape(count, *env.plane_shape) if points else None
    needs_search = ("q", "lower_bound", "score", "score_stdev")
    found: dict[str, Any] = dict.fromkeys(needs_search, np.full((count, actions), np.nan, np.float32))
    found |= dict.fromkeys(("lines", "line_visits"), np.zeros((count, actions, 0), np.int32))
    found |= {"visits": np.zeros((count, actions), np.int32), "root_visits": (~over).astype(np.int32)}
    found |= {"prior": priors, "value": values, "raw_value": values, "root_score": scores, "raw_score": scores}
    found |= {"root_score_stdev": np.where(np.isnan(scores), scores, 0)}
    found |= {"ownership": ownership, "raw_ownership": ownership}
    found["ownership_stdev"] = None if ownership is None else np.zeros_like(ownership)
    movers = np.array([position.to_play for position in positions], np.int8)
    return Analysis(env, movers, **found, positions=tuple(positions))
