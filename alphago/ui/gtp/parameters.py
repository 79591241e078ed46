"""`Parameters`: the settings of a GTP engine that may change while it runs."""

import math
from dataclasses import dataclass

from alphago.mcts.levels import LEVELS, Level


@dataclass
class Parameters:
    """Settings that may change while an engine runs.

    readouts: simulations for each move. max_time: seconds for each move.
    resign_threshold, ponder, level: as in `serve`. allow_resignation: whether the engine may resign at all.
    side: from whose view analyses are reported, one of `alphago.ui.katago.SIDES`.
    c_puct: as in Puct; None for its default.
    """

    readouts: int = 800
    max_time: float = math.inf
    resign_threshold: float | None = None
    allow_resignation: bool = True
    ponder: bool = False
    side: str = "SIDETOMOVE"
    c_puct: float | None = None
    level: Level = LEVELS
