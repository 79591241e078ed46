"""Queries and replies over a WebSocket, a line of JSON each: of pages, and of programs such as KaTrain."""

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from alphago.env.game import GameEnv
from alphago.env.games import require_go, with_planes
from alphago.env.go import GoEnv
from alphago.env.go_rules import Rules
from alphago.mcts.evaluator import Evaluator
from alphago.system.cores import available_cores
from alphago.ui.analysis_engine import AnalysisEngine, Networks, error
from alphago.ui.analysis_query import Limits
from alphago.ui.gtp.gtp_game import analysed_game
from alphago.ui.web.answers import PageAnswers
from alphago.ui.web.engines import Engines, SharedEngine
from alphago.ui.web.guard import MOST_READOUTS, TREE_BYTES, closing_reason
from alphago.ui.web.page_actions import QueryReader

TRY_AGAIN, REFUSED = 1013, 1008  # codes that close a WebSocket
MOST_PAGES = 32
FIRST_SECONDS = 20.0  # seconds within which a page must have asked its first question
MOST_PROGRAMS = 4  # connections to /analysis, each with an engine of its own
MOST_THREADS = 4  # threads of a connection's engine
UNREAD_SECONDS = 60.0  # seconds after which a program that reads no reply is disconnected
# What a program may ask of its connection's engine.
LIMITS = Limits(characters=200_000, positions=2000, visits=MOST_READOUTS, slots=16, kinds=2, tree_bytes=TREE_BYTES)


class OfferedNetworks(Networks):
    """The networks of a web server, for one connected program.

    Args:
        env: the usual game of Go.
        network_name: the network that the program asks for; None for the server's usual network for each board.

    Raises:
        ValueError: if the server has no network of this name.
    """

    # Without `super().__init__`: there is no single network, and all methods are replaced.
    def __init__(self, engines: Engines, env: GoEnv, network_name: str | None) -> None:
        self.engines, self.env = engines, env
        self.network_name = None if network_name is None else engines.check(network_name, env)

    @property
    def name(self) -> str:
        """The name that the program asked for; if it asked for none, that of the network for the usual board."""
        return self.network_name or self.engines.usual_network(self.env)

    def game(self, size: int, rules: Rules) -> GoEnv:
        """Return the game of a query, with its network's planes; raise ValueError if no network plays on this board."""
        env = analysed_game(self.env, size, rules)
        return require_go(with_planes(env, of=self._engine(env).env), self.name)

    def evaluator(self, env: GoEnv) -> Evaluator:
        """Return the evaluator for a game that `game` returned; all programs and pages share it."""
        return self._engine(env).evaluator

    def _engine(self, env: GoEnv) -> SharedEngine:
        """Return the engine for a game, whatever input planes `env` has."""
        env = require_go(with_planes(env, of=self.env), self.name)  # `env` may have a network's planes instead
        return self.engines.engine(self.network_name or self.engines.usual_network(env), env)


@dataclass
class Connections:
    """The connections of one kind to a server.

    Attributes:
        most: most connections at a time.
        refusal: the sentence that one more connection is told.
        make: given a connection's WebSocket and a function that sends a reply, returns the object that answers its
            queries; raises ValueError to refuse the connection.
        first_seconds: seconds within which the first query must come; None for no limit.
        count: how many there are now.
    """

    most: int
    refusal: str
    make: Callable[[WebSocket, Callable[[str], None]], PageAnswers | AnalysisEngine]
    first_seconds: float | None = None
    count: int = 0

    async def serve(self, socket: WebSocket) -> None:
        """Answer the queries of a connection until it ends; its unfinished queries end then too."""
        await socket.accept()
        if self.count >= self.most:
            await refuse(socket, TRY_AGAIN, self.refusal)
            return
        self.count += 1
        try:
            await self.converse(socket)
        except ValueError as problem:  # an unknown network
            await refuse(socket, REFUSED, str(problem))
        finally:
            self.count -= 1

    async def converse(self, socket: WebSocket) -> None:
        """Pass queries on, and replies back, until the other side disconnects.

        No queue grows without bound.  `put` returns once its reply is sent, which takes long only if the other side
        leaves too many replies unread.  A query is read only after `receive` has returned for the query before it.
        """
        loop = asyncio.get_running_loop()

        def put(line: str) -> None:
            """Send a reply, from any thread; drop it if the other side has left, or reads none for UNREAD_SECONDS."""
            try:
                asyncio.run_coroutine_threadsafe(socket.send_text(line), loop).result(UNREAD_SECONDS)
            except TimeoutError:
                asyncio.run_coroutine_threadsafe(socket.close(TRY_AGAIN, "no reply was taken"), loop)
            except (WebSocketDisconnect, RuntimeError, CancelledError):
                pass

        answerer = self.make(socket, put)
        executor = ThreadPoolExecutor(1, "alphago-page")  # in a thread, since an answer that loads a network takes long
        try:
            async with asyncio.timeout(self.first_seconds) as silence:
                while True:
                    text = await socket.receive_text()
                    silence.reschedule(None)  # a query has come: from now on there may be any pause
                    for line in filter(None, text.split("\n")):
                        await loop.run_in_executor(executor, answerer.receive, line)
        except (WebSocketDisconnect, RuntimeError, KeyError, TimeoutError):
            # WebSocketDisconnect: the other side has left.  RuntimeError: `put` has closed the connection.
            # KeyError: bytes came instead of text.  TimeoutError: no query came within `first_seconds`.
            pass
        finally:
            executor.shutdown(wait=False)
            await asyncio.shield(asyncio.to_thread(answerer.close))


def programs(engines: Engines, env: GoEnv) -> Connections:
    """Return the connections of programs for analysis; each has its own analysis engine.

    Args:
        env: the usual game of Go.
    """

    def make(socket: WebSocket, put: Callable[[str], None]) -> AnalysisEngine:
        networks = OfferedNetworks(engines, env, socket.query_params.get("network"))
        # `notes`: a query's warnings come within its first reply, since KaTrain takes a warning alone for a result.
        return AnalysisEngine(networks, put, threads=min(available_cores(), MOST_THREADS), limits=LIMITS, notes=True)

    return Connections(MOST_PROGRAMS, f"this server serves {MOST_PROGRAMS} programs already: close one first", make)


def pages(engines: Engines, usual_games: dict[str, GameEnv], greeting: Mapping[str, Any], runs: Any) -> Connections:
    """Return the connections of pages.

    Args:
        engines, usual_games, greeting, runs: the attributes of each page's `QueryReader`, which explains them.
    """

    def make(socket: WebSocket, put: Callable[[str], None]) -> PageAnswers:
        return PageAnswers(QueryReader(engines, usual_games, greeting, runs), put)

    refusal = f"This server has {MOST_PAGES} pages open already: close one first."
    return Connections(MOST_PAGES, refusal, make, FIRST_SECONDS)


async def refuse(socket: WebSocket, code: int, text: str) -> None:
    """Send the error `text`, and close the connection with the WebSocket's closing code `code`."""
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        await socket.send_json(error(text))
        await socket.close(code, closing_reason(text))
