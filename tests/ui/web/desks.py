"""A session without any transport, driven by messages as a page sends them."""

import queue
from collections.abc import Callable, Mapping
from typing import Any

from alphago.env.game import GameEnv
from alphago.env.go import GoEnv
from alphago.mcts.evaluator import HashEvaluator
from alphago.ui.web.board_session import Session
from alphago.ui.web.engines import PLAYOUTS, Choice, Engines

PATIENCE = 120.0  # seconds after which what has not come will not come
GO5 = GoEnv(5, komi=0.5).match_variant()
Message = dict[str, Any]


def engines(network: Any = None) -> Engines:
    """A network for Go, by default one that draws its answers from a hash, and playouts for other games."""
    return Engines([Choice("hash", network or HashEvaluator(), "go"), Choice(PLAYOUTS, PLAYOUTS, "")], "cpu")


class Guest:
    """A page that is none: what it was told, in order."""

    def __init__(self, env: GameEnv = GO5, network: Any = None, runs: Any = None, **bases: GameEnv) -> None:
        self.told: queue.Queue[Message] = queue.Queue()
        self.session = Session(engines(network), {env.name: env, **bases}, self.told.put, runs)

    def __enter__(self) -> "Guest":
        self.ask("hello")
        self.ask("players", black="human", white="human")
        return self

    def __exit__(self, *_: object) -> None:
        self.session.close()
        self.session.thread.join(PATIENCE)
        assert not self.session.thread.is_alive()

    def post(self, kind: str, **fields: Any) -> None:
        assert self.session.post({"type": kind, **fields})

    def until(self, kind: str, fits: Callable[[Message], bool] = lambda message: True) -> Message:
        """The next message of a kind that fits; the others before it are lost."""
        while True:
            message = self.told.get(timeout=PATIENCE)
            if message["type"] == kind and fits(message):
                return message

    def ask(self, kind: str, **fields: Any) -> Message:
        """The state after a command, once the engine has nothing more to do."""
        self.post(kind, **fields)
        return self.until("state", lambda state: not state["busy"])

    def refused(self, kind: str, **fields: Any) -> str:
        """The sentence that answers a command."""
        self.post(kind, **fields)
        text = str(self.until("notice")["text"])
        self.until("state", lambda state: not state["busy"])
        return text

    def play(self, moves: str) -> Message:
        state: Message = {}
        for move in moves.split():
            state = self.ask("play", move=move)
        return state


def stones(state: Mapping[str, Any], width: int = 5) -> str:
    """The board of a state, row by row."""
    text = state["view"]["stones"]
    return " ".join(text[i : i + width] for i in range(0, len(text), width))
