"""`QueryReader`: what the queries of one page name: games, positions and engines."""

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from alphago.env.game import GameEnv
from alphago.env.position import Position
from alphago.mcts.lost_turns import LostTurns
from alphago.ui.web.engines import Engines, SharedEngine
from alphago.ui.web.game_tree import MOST_NODES, listed
from alphago.ui.web.new_game import next_position, start_from

Query = Mapping[str, Any]
KEPT_POSITIONS = 400  # positions that a page has asked for lately


class QueryReader:
    """Reads the queries of one page; the arguments are those of `alphago.ui.web.answers.PageAnswers`.

    tell: takes what is being done, for the page's status line, "" for nothing.
    """

    def __init__(
        self,
        engines: Engines,
        bases: dict[str, GameEnv],
        greeting: Mapping[str, Any],
        runs: Any,
        tell: Callable[[str], None],
    ) -> None:
        self.engines, self.bases, self.greeting, self.runs, self.tell = engines, bases, greeting, runs, tell
        self.lost_turns = LostTurns()  # of the engine, in all games of the page
        self._positions: OrderedDict[tuple[Any, ...], Position] = OrderedDict()  # by game and moves

    def position(self, query: Query, back: int = 0) -> Position:
        """Return the position of a query's `game` after its `moves`, without the last `back` ones."""
        moves = listed(query, "moves")
        moves = moves[: len(moves) - back]
        if len(moves) > MOST_NODES:
            raise ValueError(f"a game must have at most {MOST_NODES} moves, got {len(moves)}")
        key: list[Any] = [json.dumps(query.get("game"), sort_keys=True), *map(str, moves)]
        known = len(moves)
        while known and tuple(key[: known + 1]) not in self._positions:
            known -= 1
        position = self._positions.get(tuple(key[: known + 1])) or start_from(query.get("game"), self.bases)
        for number in range(known, len(moves)):
            position = next_position(position, moves[number])
        self._positions[tuple(key)] = position
        while len(self._positions) > KEPT_POSITIONS:
            self._positions.popitem(last=False)
        return position

    def engine(self, query: Query, env: GameEnv) -> SharedEngine:
        """Return the engine of a query's `network` for a game; load it first if it is not in memory."""
        name = str(query.get("network"))
        if (ready := self.engines.ready(name, env)) is not None:
            return ready
        self.tell(f"Loading {name} for {env.name} …")
        try:
            return self.engines.engine(name, env)
        finally:
            self.tell("")
