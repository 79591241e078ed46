"""Which network analyses a board: the part of an analysis engine that a server with several networks replaces."""

import threading
from abc import ABC, abstractmethod
from typing import Any

from alphago.env.go import GoEnv
from alphago.env.go_rules import Rules
from alphago.mcts.evaluator import Evaluator, as_forecast_evaluator


class Networks(ABC):
    """The networks of an analysis engine, by board; several threads may call it at once."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What `query_models` calls them."""

    @abstractmethod
    def game(self, size: int, rules: Rules) -> GoEnv:
        """Return the game of a query, with the planes that its network sees; ValueError for a board that none plays."""

    @abstractmethod
    def evaluator(self, env: GoEnv) -> Evaluator:
        """Return the evaluator for a game that `game` returned."""


def analysed_game(env: GoEnv, size: int, rules: Rules) -> GoEnv:
    """Return a game on another board, by other rules, that is long enough for any game that is analysed."""
    given = env if size == env.N else env.resized(size)
    limit = max(given.max_moves, 3 * size * size)
    return given.replace(max_moves=limit, turns=None, first_pass=0, **rules._asdict())


class OneNetwork(Networks):
    """One network for the board that it was trained on or, if it is size-free, for all.

    env: the game that it is for. network: as `MCTSPlayer` takes it. device: where it is computed.
    """

    def __init__(self, env: GoEnv, network: Any, device: str = "auto") -> None:
        self.env, self.network, self.device = env, network, device
        self._evaluators: dict[GoEnv, Evaluator] = {}
        self._making = threading.Lock()

    @property
    def name(self) -> str:
        return str(self.network)[:200]

    def game(self, size: int, rules: Rules) -> GoEnv:
        if size != self.env.N and not getattr(self.network, "size_free", False):
            raise ValueError(f"the network plays on {self.env.N}x{self.env.N}, got {size}x{size}")
        return analysed_game(self.env, size, rules)

    def evaluator(self, env: GoEnv) -> Evaluator:
        with self._making:
            if env not in self._evaluators:
                self._evaluators[env] = as_forecast_evaluator(self.network, env, self.device)
            return self._evaluators[env]
