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

FIRST = np.zeros(1, np.int64)
CHUNK = 256  # positions that are evaluated together


def evaluate_alone(
    env: GameEnv, evaluator: Evaluator, positions: Sequence[Position], symmetries: bool, threads: int
) -> Analysis:
    """Return the analysis of positions by the network alone; its lines of play have no plies.

    symmetries: whether to average over all symmetries of the board.  threads: number of threads.
    Raises ValueError if the evaluator is not for boards on the CPU, or cannot average over symmetries.
    """
    count, actions, shape = len(positions), env.action_space, env.plane_shape
    forecaster = evaluator if isinstance(evaluator, Forecaster) else None
    known = forecaster is not None and forecaster.makes_forecasts
    chosen = check_symmetries(env, evaluator, symmetries)
    priors, values = np.zeros((count, actions), np.float32), np.zeros(count, np.float32)
    scores = np.full(count, np.nan, np.float32)
    owners = np.zeros((count, shape[0] * shape[1] if known else 0), np.float32)
    movers, visits = np.zeros(count, np.int8), np.zeros(count, np.int32)

    def work(begin: int) -> None:
        """Evaluate the positions from index `begin` on, at most CHUNK, into the arrays above."""
        part = slice(begin, min(begin + CHUNK, count))
        batch, slots = env.new_batch(part.stop - begin), np.arange(part.stop - begin)
        batch.gather([position.batch for position in positions[part]])
        batch.to_play(slots, movers[part])
        over = batch.is_over(slots, np.empty(len(slots), np.bool_))
        live = slots[~over] if over.any() else slots
        whole = len(live) == len(slots)
        own = [array[part] if whole else array[part][live] for array in (priors, values, scores, owners)]
        if forecaster is not None:
            forecasts = (own[2], own[3]) if known else None
            forecaster.evaluate_forecasts(batch, live, own[0], own[1], forecasts, chosen)
        elif len(live):
            evaluator.evaluate(batch, live, own[0], own[1])
        visits[part][live] = 1
        if not whole:
            for array, found in zip((priors, values, scores, owners), own, strict=True):
                array[part][live] = found

    if evaluator.device != "cpu":
        raise ValueError(f"the evaluator must be for the CPU, got one for {evaluator.device!r}")
    begins = range(0, count, CHUNK)
    if len(begins) == 1 or threads == 1:
        for begin in begins:
            work(begin)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, begins))
    unknown, none = np.full((count, actions), np.nan, np.float32), np.zeros((count, actions, 0), np.int32)
    board = owners.reshape(count, *shape) if known else None
    found = Analysis(
        env,
        movers,
        visits=np.zeros((count, actions), np.int32),
        prior=priors,
        **dict.fromkeys(("q", "lower_bound", "score", "score_stdev"), unknown),
        lines=none,
        line_visits=none,
        root_visits=visits,
        value=values,
        raw_value=values.copy(),
        root_score=scores,
        root_score_stdev=np.where(np.isnan(scores), scores, 0),
        raw_score=scores.copy(),
        ownership=board,
        ownership_stdev=None if board is None else np.zeros_like(board),
        raw_ownership=None if board is None else board.copy(),
        positions=tuple(positions),
    )
    for i in np.flatnonzero(visits == 0):
        tell_ended(found, int(i), positions[int(i)])
    return found


class PositionGroup:
    """A search of several positions of one game; the constructor evaluates the roots.

    readouts: simulations for each position. rules: the forbidden moves of each position.
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
        self.live = np.array([i for i, position in enumerate(positions) if not position.is_over], np.int64)
        count = len(self.live)
        slots = max(1, count)  # one idle slot if all games are over
        self.search = AnalysisSearch(
            env, evaluator, slots, settings, symmetries=symmetries, nodes=readouts + settings.leaves + 2
        )
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
            if not self.search.wave(self.budget):
                break

    def analysis(self, plies: int, move_ownership: bool = False) -> Analysis:
        """Return the analysis of all positions by the search so far.

        plies: the most plies of each expected line of play.
        move_ownership: whether to return also the ownership expected after each action.
        """
        found = read_analysis(self.search, self.games, plies=plies, move_ownership=move_ownership)
        if len(self.games) != len(self.positions):
            found = with_ended(found, self.positions, self.live)
        return replace(found, positions=tuple(self.positions))


def with_ended(found: Analysis, positions: Sequence[Position], live: np.ndarray) -> Analysis:
    """Return the analysis of all positions, from the analysis of those whose games are not over.

    found: the analysis of the positions `live`.  live: int64, the indices of these positions among all positions.
    """
    arrays: dict[str, Any] = {}
    for name in ARRAYS:
        part = getattr(found, name)
        if part is None:
            continue
        fill: Any = np.nan if part.dtype.kind == "f" else -1 if name == "lines" else 0
        arrays[name] = np.full((len(positions), *part.shape[1:]), fill, part.dtype)
        arrays[name][live] = part
    whole = replace(found, **arrays)
    for i in np.setdiff1d(np.arange(len(positions)), live):
        tell_ended(whole, int(i), positions[int(i)])
    return whole


def tell_ended(analysis: Analysis, i: int, position: Position) -> None:
    """Write the outcome, score and ownership of a finished game into row i of the analysis."""
    mover = position.to_play
    analysis.to_play[i], analysis.prior[i] = mover, 0
    analysis.value[i] = analysis.raw_value[i] = mover * position.outcome
    if analysis.ownership is None or analysis.raw_ownership is None or analysis.ownership_stdev is None:
        return
    analysis.root_score[i] = analysis.raw_score[i] = mover * position.score()
    analysis.root_score_stdev[i] = analysis.ownership_stdev[i] = 0
    owners = position.batch.ownership(FIRST, np.empty((1, analysis.ownership[i].size), np.int8))
    analysis.ownership[i] = analysis.raw_ownership[i] = owners.reshape(analysis.ownership[i].shape)
