"""`PositionGroup`: the search of some positions side by side, and their analysis, ended games included."""

import math
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from alphago.env.game import GameEnv, Position
from alphago.mcts.analysis_result import ARRAYS, Analysis
from alphago.mcts.analysis_search import AnalysisSearch, Forbidden
from alphago.mcts.evaluator import Evaluator
from alphago.mcts.search import SearchSettings
from alphago.mcts.tree_reading import read_analysis


class PositionGroup:
    """A search of positions of one game, whose roots are evaluated when it is made.

    readouts: simulations for each position. rules: what is forbidden in each of them.
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
        games = len(self.live)
        self.search = AnalysisSearch(
            env, evaluator, max(1, games), settings, symmetries=symmetries, nodes=readouts + settings.leaves + 2
        )
        for game, i in enumerate(self.live):
            self.search.start(game, positions[i], rules[i])
        self.games = np.arange(games)
        self.search.prepare(self.games, np.full(games, readouts))
        self.budget = np.full(max(1, games), readouts, np.int32) * (games > 0)

    @property
    def readouts_left(self) -> int:
        """The simulations that are still to be made, of all positions together."""
        return int(self.budget.sum())

    def run(self, stop: threading.Event, until: float = math.inf) -> None:
        """Search until the end, until the event is set, or until a time of `time.monotonic`."""
        while self.readouts_left and not stop.is_set() and time.monotonic() < until:
            if not self.search.wave(self.budget):
                break

    def analysis(self, plies: int, move_ownership: bool = False) -> Analysis:
        """Return the analysis of all positions, as the search stands."""
        found = read_analysis(self.search, self.games, plies=plies, move_ownership=move_ownership)
        if len(self.games) != len(self.positions):
            found = with_ended(found, self.positions, self.live)
        return replace(found, positions=tuple(self.positions))


def with_ended(found: Analysis, positions: Sequence[Position], live: np.ndarray) -> Analysis:
    """Return the analysis of all positions, given that of the `live` ones; the others' games are over."""
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
        position = positions[i]
        mover, first = position.to_play, np.zeros(1, np.int64)
        whole.to_play[i], whole.prior[i] = mover, 0
        whole.value[i] = whole.raw_value[i] = mover * position.outcome
        if whole.ownership is None or whole.raw_ownership is None or whole.ownership_stdev is None:
            continue
        whole.root_score[i] = whole.raw_score[i] = mover * position.score()
        whole.root_score_stdev[i] = whole.ownership_stdev[i] = 0
        owners = position.batch.ownership(first, np.empty((1, whole.ownership[i].size), np.int8))
        whole.ownership[i] = whole.raw_ownership[i] = owners.reshape(whole.ownership[i].shape)
    return whole
