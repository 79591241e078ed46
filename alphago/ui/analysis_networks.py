"""`Networks`, the interface that chooses an analysis engine's network for each board, and `GivenNetwork`."""

import threading
from abc import ABC, abstractmethod

from alphago.env.go import GoEnv
from alphago.env.go_rules import Rules
from alphago.mcts.evaluator import Evaluator, as_forecast_evaluator


class Networks(ABC):
    """The interface by which an analysis engine gets the network for a board; several threads may call it at once."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the networks in the reply to `query_models`, by which exams and labels know who made them."""

    @abstractmethod
    def game(self, size: int, rules: Rules) -> GoEnv:
        """Return the game of a query, with the input planes of the network that analyses it.

        size: the board's size.  rules: the query's rules.
        Raises ValueError if no network plays on this board.
        """

    @abstractmethod
    def evaluator(self, env: GoEnv) -> Evaluator:
        """Return the evaluator for a game that `game` returned."""


def analysed_game(env: GoEnv, size: int, rules: Rules) -> GoEnv:
    """Return the game `env` with another board size and rules, and without the options that only help self-play.

    In the returned game `turns` is None, `first_pass` is 0, and `max_moves` is at least 3 size².
    """
    resized = env if size == env.N else env.resized(size)
    max_moves = max(resized.max_moves, 3 * size * size)
    return resized.replace(max_moves=max_moves, turns=None, first_pass=0, **rules._asdict())


class GivenNetwork(Networks):
    """One network, which plays on the board on which it was trained or, if it is size-free, on all boards.

    env: the network's game.
    network: the network, in any form that MCTSPlayer accepts.
    device: the network's device: "cpu", "cuda" or "auto".
    """

    def __init__(self, env: GoEnv, network: object, device: str = "auto") -> None:
        self.env, self.network, self.device = env, network, device
        self._evaluators: dict[GoEnv, Evaluator] = {}
        self._making = threading.Lock()

    @property
    def name(self) -> str:
        name = str(self.network)[:200]
        if not hasattr(self.network, "state_dict"):
            return name
        from alphago.nn.model_files import fingerprint  # imported late, since other networks do not need torch

        return f"{name} {fingerprint(self.network.state_dict())[:12]}"  # another network may have the same sizes

    def game(self, size: int, rules: Rules) -> GoEnv:
        if size != self.env.N and not getattr(self.network, "size_free", False):
            raise ValueError(f"the network plays on {self.env.N}x{self.env.N}, got {size}x{size}")
        return analysed_game(self.env, size, rules)

    def evaluator(self, env: GoEnv) -> Evaluator:
        with self._making:
            if env not in self._evaluators:
                self._evaluators[env] = as_forecast_evaluator(self.network, env, self.device)
            return self._evaluators[env]
