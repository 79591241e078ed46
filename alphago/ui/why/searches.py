"""`Searches`: searches of single positions, side by side, which later requests continue."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from alphago.env.game import GameEnv
from alphago.env.position import Position
from alphago.mcts.analysis import GroupMaker
from alphago.mcts.analysis_group import PositionGroup
from alphago.mcts.analysis_result import PLIES, Analysis, join_analyses
from alphago.mcts.evaluator import as_forecast_evaluator
from alphago.mcts.search_forms import SearchForm
from alphago.system.cores import available_cores
from alphago.system.validation import check_int


class Searches:
    """Searches positions of one game, each with a tree of its own, which is kept.

    env: the game.  net, symmetries, settings, device, threads: as in `alphago.analyze`.
    """

    def __init__(
        self,
        env: GameEnv,
        net: object,
        *,
        symmetries: bool = False,
        settings: SearchForm = None,
        device: str = "auto",
        threads: int | None = None,
    ) -> None:
        self.evaluator = as_forecast_evaluator(net, env, device)
        self.symmetries, self.settings, self.device = symmetries, settings, device
        self.threads = available_cores() if threads is None else check_int("threads", threads, 1)
        self.kept: dict[int, tuple[PositionGroup, int]] = {}  # by position: its search and its readouts

    def __call__(self, wanted: Sequence[tuple[Position, int]]) -> Analysis:
        """Return the analysis of positions, each with its number of readouts; each position may be in it once.

        A position that was searched before, as the same object, is searched with the readouts that are missing.
        """
        with ThreadPoolExecutor(self.threads) as pool:
            return join_analyses(list(pool.map(self._search, *zip(*wanted, strict=True))))

    def _search(self, position: Position, readouts: int) -> Analysis:
        if id(position) in self.kept:
            group, done = self.kept[id(position)]
            group.add_readouts(max(0, readouts - done))
        else:
            maker = GroupMaker(
                position,
                self.evaluator,
                readouts,
                settings=self.settings,
                symmetries=self.symmetries,
                device=self.device,
            )
            group, done = maker.group(range(1)), 0  # the group of the only position
        group.run(threading.Event())
        self.kept[id(position)] = group, max(done, readouts)  # the group holds the position, so that its id stays
        return group.analysis(PLIES)
