"""The answers to a page without any transport, and the page's desk without a page."""

import json
import queue
import subprocess
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from alphago import GameEnv, GoEnv, Position
from alphago.env.game import PLAYER_NAMES
from alphago.mcts.evaluator import HashEvaluator
from alphago.ui.web.answers import PageAnswers
from alphago.ui.web.engines import PLAYOUTS, Choice, Engines
from alphago.ui.web.new_game import describe_start
from alphago.ui.web.page_actions import QueryReader
from alphago.ui.web.page_files import bundle
from alphago.ui.web.server import greeting
from tests.ui.clients.installed import node

PATIENCE = 120.0  # seconds after which what has not come will not come
GO5 = GoEnv(5, komi=0.5).match_variant()
Answer = dict[str, Any]


def engines(network: Any = None) -> Engines:
    """A network for Go, by default one that draws its answers from a hash, and playouts for other games."""
    return Engines([Choice("hash", network or HashEvaluator(), "go"), Choice(PLAYOUTS, PLAYOUTS, "")], "cpu")


def page_answers(write: Callable[[str], None], env: GameEnv, network: Any = None, runs: Any = None) -> PageAnswers:
    """The answers to a page whose first game is `env`."""
    games, offered = {env.name: env}, engines(network)
    return PageAnswers(QueryReader(offered, games, greeting(offered, games, runs), runs), write)


class Asker:
    """What a page asks, and what it is told."""

    def __init__(self, env: GameEnv = GO5) -> None:
        self.told: queue.Queue[Answer] = queue.Queue()
        self.start = env.position()
        self.network = "hash" if env.name == "go" else PLAYOUTS
        self.page = page_answers(lambda line: self.told.put(json.loads(line)), env)
        self.number = 0

    def __enter__(self) -> "Asker":
        return self

    def __exit__(self, *_: object) -> None:
        self.page.close()

    def post(self, **query: Any) -> int:
        self.number += 1
        self.page.receive(json.dumps({"id": self.number, **query}))
        return self.number

    def next(self) -> Answer:
        """The next answer, whatever it is about."""
        while "status" in (answer := self.told.get(timeout=PATIENCE)):
            pass
        return answer

    def ask(self, action: str | None = None, moves: str = "", **query: Any) -> Answer:
        """The last answer to a query about the game after these moves."""
        asked = {**about(self.start.after(moves.split())), "network": self.network, "action": action, **query}
        number = self.post(**asked)
        while (answer := self.next())["id"] != number or answer.get("isDuringSearch"):
            pass
        return answer


class Guest:
    """A desk in Node.js that asks a server's answers: what the page sends it, and what it tells the page, in order."""

    def __init__(self, env: GameEnv = GO5, network: Any = None, runs: Any = None) -> None:
        self.told: queue.Queue[Answer] = queue.Queue()
        self.queries: list[Answer] = []
        self.folder = TemporaryDirectory()
        module = Path(self.folder.name, "desk.mjs")
        module.write_text(bundle("desk"))
        command = [node(), Path(__file__).with_name("desk.mjs"), module]
        self.node = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.page = page_answers(self.answer, env, network, runs)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def answer(self, line: str) -> None:
        self.write(f'{{"answer":{line}}}')

    def write(self, line: str) -> None:
        assert self.node.stdin is not None
        self.node.stdin.write(f"{line}\n")
        self.node.stdin.flush()

    def read(self) -> None:
        assert self.node.stdout is not None
        for line in self.node.stdout:
            said = json.loads(line)
            if "query" in said:
                self.queries.append(said["query"])
                self.page.receive(json.dumps(said["query"]))
            else:
                self.told.put(said["message"])

    def __enter__(self) -> "Guest":
        self.ask("hello")
        self.ask("players", black="human", white="human")
        return self

    def __exit__(self, *_: object) -> None:
        self.page.close()
        self.node.communicate(timeout=PATIENCE)
        self.reader.join(PATIENCE)
        self.folder.cleanup()

    def post(self, kind: str, **fields: Any) -> None:
        self.write(json.dumps({"command": {"type": kind, **fields}}))

    def until(self, kind: str, fits: Callable[[Answer], bool] = lambda message: True) -> Answer:
        """The next message of a kind that fits; the others before it are lost."""
        while True:
            message = self.told.get(timeout=PATIENCE)
            if message["type"] == kind and fits(message):
                return message

    def ask(self, kind: str, **fields: Any) -> Answer:
        """The state after a command, once the engine has nothing more to do."""
        self.post(kind, **fields)
        return self.until("state", lambda state: not state["busy"])

    def refused(self, kind: str, **fields: Any) -> str:
        """The sentence that answers a command."""
        self.post(kind, **fields)
        text = str(self.until("notice")["text"])
        self.until("state", lambda state: not state["busy"])
        return text

    def saved(self) -> str:
        """The text of the game's file, without its line breaks."""
        self.post("save")
        return str(self.until("file")["text"]).replace("\n", "")

    def play(self, moves: str) -> Answer:
        state: Answer = {}
        for move in moves.split():
            state = self.ask("play", move=move)
        return state


def about(position: Position) -> dict[str, Any]:
    """The fields that name a position in a query."""
    start, *_ = position.replay()
    names = map(position.env.to_text, position.moves)
    sides = (PLAYER_NAMES[mover][0] for mover in position.movers)
    return {"game": describe_start(start), "moves": [list(move) for move in zip(sides, names, strict=True)]}


def stones(answer: Mapping[str, Any], width: int = 5) -> str:
    """The board of a view, row by row."""
    text = answer["view"]["stones"]
    return " ".join(text[i : i + width] for i in range(0, len(text), width))
