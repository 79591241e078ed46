"""`Searches`: searches of positions, side by side, which later requests continue."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from alphago.env.game import GameEnv
from alphago.env.position import Position
from alphago.mcts.analysis import GroupMaker
from alphago.mcts.analysis_group import FIRST, PositionGroup
from alphago.mcts.analysis_result import PLIES, Analysis, join_analyses
from alphago.mcts.evaluator import as_forecast_evaluator
from alphago.mcts.search_forms import SearchForm
from alphago.system.cores import available_cores
from alphago.system.validation import check_int

Key = tuple[int, ...]  # of a group of positions


def key_of(positions: Sequence[Position]) -> Key:
    """Return the key of a group of positions, their ids; the group's search holds the positions, so that ids stay."""
    return tuple(id(position) for position in positions)


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
        self.kept: dict[Key, tuple[PositionGroup, int]] = {}  # searches of groups, each with its readouts so far

    def __call__(self, wanted: Sequence[tuple[Sequence[Position], int]]) -> Analysis:
        """Return the analysis of positions, in groups: each with its positions, and the readouts of each of them.

        The positions of a group are evaluated together.  A group of positions that were searched before, as the same
        objects, is searched with the readouts that are missing; each group may be in `wanted` once.
        """
        with ThreadPoolExecutor(self.threads) as pool:
            return join_analyses(list(pool.map(self._search, *zip(*wanted, strict=True))))

    def continue_below(self, position: Position, action: int, after: Position) -> None:
        """Let the search of `after`, the position after a move, begin with what the search of `position` found there.

        Without a search of `position`, or if its rule keeps no trees, `after` will be searched from the beginning.
        """
        if after.is_over or key_of([after]) in self.kept or key_of([position]) not in self.kept:
            return
        group, _ = self.kept[key_of([position])]
        if group.search.rule.keeps_trees:
            below = group.below(action, after)
            readouts = int(below.search.visits(FIRST).sum())
            self.kept[key_of([after])] = below, readouts

    def _search(self, positions: Sequence[Position], readouts: int) -> Analysis:
        key = key_of(positions)
        if key in self.kept:
            group, done = self.kept[key]
            group.add_readouts(max(0, readouts - done))
        else:
            maker = GroupMaker(
                positions,
                self.evaluator,
                readouts,
                settings=self.settings,
                symmetries=self.symmetries,
                device=self.device,
            )
            group, done = maker.group(range(len(positions))), 0
        group.run(threading.Event())
        self.kept[key] = group, max(done, readouts)
        return group.analysis(PLIES)
