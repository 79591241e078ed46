"""`PositionGroup`: search and analysis of several positions at once, some of which may be finished games."""

import math
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from alphago.env.game import GameEnv
from alphago.env.position import Position
from alphago.mcts.analysis_result import ARRAYS, Analysis
from alphago.mcts.analysis_search import AnalysisSearch, Forbidden, check_symmetries
from alphago.mcts.evaluator import Evaluator, Forecaster
from alphago.mcts.rule import SearchSettings
from alphago.mcts.tree_reading import read_analysis

FIRST = np.zeros(1, np.int64)  # the slot of a Position in its own batch, and the game of a group of one position
CHUNK = 256  # positions that are evaluated together


def evaluate_alone(
    env: GameEnv, evaluator: Evaluator, positions: Sequence[Position], symmetries: bool, threads: int
) -> Analysis:
    """Return the analysis of positions by the network alone; its lines of play have no plies.

    symmetries: whether to average over all symmetries of the board.  threads: number of threads.
    Raises ValueError if the evaluator, which must be for boards on the CPU, cannot average over symmetries.
    """
    forecaster = evaluator if isinstance(evaluator, Forecaster) else None
    has_forecasts = forecaster is not None and forecaster.makes_forecasts
    averaged = check_symmetries(env, evaluator, symmetries)
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
            forecaster.evaluate_forecasts(batch, slots, priors[part], values[part], forecasts, averaged)

    begins = range(0, count, CHUNK)
    if len(begins) <= 1 or threads == 1:
        for begin in begins:
            evaluate_chunk(begin)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(evaluate_chunk, begins))
    needs_search = ("q", "lower_bound", "score", "score_stdev")
    unknown: dict[str, Any] = dict.fromkeys(needs_search, np.full((count, actions), np.nan, np.float32))
    no_line = np.zeros((count, actions, 0), np.int32)
    ownership = owners.reshape(count, *shape) if has_forecasts else None
    of_live = Analysis(
        env,
        movers,
        visits=np.zeros((count, actions), np.int32),
        prior=priors,
        **unknown,
        lines=no_line,
        line_visits=no_line,
        root_visits=np.ones(count, np.int32),
        value=values,
        raw_value=values.copy(),
        root_score=scores,
        root_score_stdev=np.where(np.isnan(scores), scores, 0),
        raw_score=scores.copy(),
        ownership=ownership,
        ownership_stdev=None if ownership is None else np.zeros_like(ownership),
        raw_ownership=None if ownership is None else ownership.copy(),
    )
    return with_ended(of_live, positions, live)


class PositionGroup:
    """A search of several positions of one game; the constructor evaluates the roots.

    readouts: simulations for each position.  rules: the forbidden moves of each position.
    symmetries: whether to average over all symmetries of the board.
    """

    def __init__(
        self,
        env: GameEnv,
        evaluator: Evaluator,
        settings: SearchSettings,
        positions: Sequence[Position],
        readouts: int,
        rules: Sequence[Sequence[Forbidden]],
        symmetries: bool = False,
    ) -> None:
        self.positions = positions
        self.live = live_of(positions)  # only these are searched, each in a slot of its own
        count = len(self.live)
        slots = max(1, count)  # one idle slot if all games are over
        nodes = readouts + settings.leaves + 2  # as `AnalysisSearch.wave` needs in the end: the trees need not grow
        self.search = AnalysisSearch(env, evaluator, slots, settings, symmetries=symmetries, nodes=nodes)
        for slot, i in enumerate(self.live):
            self.search.start(slot, positions[i], rules[i])
        self.games = np.arange(count)
        self.search.prepare(self.games, np.full(count, readouts, np.int32))
        self.budget = np.full(slots, readouts if count else 0, np.int32)

    @property
    def readouts_left(self) -> int:
        """The number of simulations left, over all positions."""
        return int(self.budget.sum())

    def run(self, stop: threading.Event, until: float = math.inf) -> None:
        """Search until no readouts are left, `stop` is set, or `time.monotonic()` reaches `until`."""
        while self.readouts_left and not stop.is_set() and time.monotonic() < until:
            if not self.search.wave(self.budget):  # without a new leaf no simulation is left
                break

    def analysis(self, plies: int, move_ownership: bool = False) -> Analysis:
        """Return the analysis of all positions by the search so far.

        plies: the most plies of each expected line of play.
        move_ownership: whether to return also the ownership expected after each action.
        """
        of_live = read_analysis(self.search, self.games, plies=plies, move_ownership=move_ownership)
        return with_ended(of_live, self.positions, self.live)


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
