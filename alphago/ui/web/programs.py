"""Queries and replies over a WebSocket, a line of JSON each: of pages, and of programs such as KaTrain."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from alphago.env.game import GameEnv
from alphago.env.games import require_go
from alphago.env.go import GoEnv
from alphago.env.go_rules import Rules
from alphago.mcts.evaluator import Evaluator
from alphago.system.cores import available_cores
from alphago.ui.analysis_engine import AnalysisEngine, Networks, error
from alphago.ui.gtp.gtp_game import analysed_game
from alphago.ui.web.answers import PageAnswers
from alphago.ui.web.engines import Engines, SharedEngine, with_planes
from alphago.ui.web.guard import (
    FIRST_SECONDS,
    MOST_PAGES,
    MOST_PROGRAMS,
    MOST_THREADS,
    MOST_UNREAD,
    PROGRAM,
    UNREAD_SECONDS,
    closing_reason,
)

TRY_AGAIN, REFUSED = 1013, 1008  # codes that close a WebSocket


class OfferedNetworks(Networks):
    """The networks of a web server, for one connected program.

    chosen: the name of the network that the program asks for; None for the server's usual network for each board.
    Raises ValueError if the server has no network of this name.
    """

    def __init__(self, engines: Engines, env: GoEnv, chosen: str | None) -> None:
        self.engines, self.env = engines, env
        self.chosen = None if chosen is None else engines.check(chosen, env)

    @property
    def name(self) -> str:
        return self.chosen or self.engines.usual(self.env)

    def game(self, size: int, rules: Rules) -> GoEnv:
        env = analysed_game(self.env, size, rules)
        return require_go(with_planes(env, of=self._engine(env).env), self.name)

    def evaluator(self, env: GoEnv) -> Evaluator:
        return self._engine(env).evaluator

    def _engine(self, env: GoEnv) -> SharedEngine:
        env = require_go(with_planes(env, of=self.env), self.name)  # `env` may have a network's planes instead
        return self.engines.engine(self.chosen or self.engines.usual(env), env)


class Connections:
    """The connections of one kind to a server.

    most: how many there may be. many: what another one is told. make: makes what answers a connection's queries, given
        its WebSocket and a function that sends a reply; raises ValueError to refuse it.
    first: seconds within which the first query must come; None for any time.
    """

    def __init__(
        self,
        most: int,
        many: str,
        make: Callable[[WebSocket, Callable[[str], None]], PageAnswers | AnalysisEngine],
        first: float | None = None,
    ) -> None:
        self.most, self.many, self.make, self.first = most, many, make, first
        self.count = 0

    async def serve(self, socket: WebSocket) -> None:
        """Answer the queries of a connection until it ends, which ends its unfinished queries."""
        await socket.accept()
        if self.count >= self.most:
            await refuse(socket, TRY_AGAIN, self.many)
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

        No queue grows without bound: who answers waits while too many replies are unread, and a query is read only when
        the query before it was taken.
        """
        replies = Replies(asyncio.get_running_loop())
        answering = self.make(socket, replies.put)
        sender = asyncio.create_task(deliver(socket, replies))
        thread = ThreadPoolExecutor(1, "alphago-page")  # an answer may take long, such as where a network is loaded
        try:
            async with asyncio.timeout(self.first) as silence:
                while True:
                    text = await socket.receive_text()
                    silence.reschedule(None)
                    for line in filter(None, text.split("\n")):
                        await asyncio.get_running_loop().run_in_executor(thread, answering.receive, line)
        except (WebSocketDisconnect, RuntimeError, KeyError, TimeoutError):
            pass  # closed by the other side; by `deliver`; bytes instead of text; nothing was asked
        finally:
            replies.close()
            sender.cancel()
            thread.shutdown(wait=False)
            try:
                await asyncio.gather(sender, return_exceptions=True)
            finally:
                await asyncio.shield(asyncio.to_thread(answering.close, wait=False))


def programs(engines: Engines, env: GoEnv) -> Connections:
    """Return the connections of programs for analysis; each has its own analysis engine."""

    def make(socket: WebSocket, put: Callable[[str], None]) -> AnalysisEngine:
        networks = OfferedNetworks(engines, env, chosen=socket.query_params.get("network"))
        threads = min(available_cores(), MOST_THREADS)
        return AnalysisEngine(env, networks, put, threads=threads, limits=PROGRAM, notes=True)

    return Connections(MOST_PROGRAMS, f"this server serves {MOST_PROGRAMS} programs already: close one first", make)


def pages(engines: Engines, bases: dict[str, GameEnv], greeting: Mapping[str, Any], runs: Any) -> Connections:
    """Return the connections of pages; the arguments are those of `PageAnswers`."""

    def make(socket: WebSocket, put: Callable[[str], None]) -> PageAnswers:
        return PageAnswers(engines, bases, greeting, put, runs)

    many = f"This server has {MOST_PAGES} pages open already: close one first."
    return Connections(MOST_PAGES, many, make, FIRST_SECONDS)


async def refuse(socket: WebSocket, code: int, text: str) -> None:
    """Send the error `text`, and close the connection with the WebSocket's closing code `code`."""
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        await socket.send_json(error(text))
        await socket.close(code, closing_reason(text))


async def deliver(socket: WebSocket, replies: "Replies") -> None:
    """Send replies as they come; disconnect a program that has read no reply for UNREAD_SECONDS."""
    try:
        while True:
            for line in await replies.take():
                async with asyncio.timeout(UNREAD_SECONDS):  # Python 3.11's `wait_for` may swallow `sender.cancel()`
                    await socket.send_text(line)
    except TimeoutError:
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            await socket.close(TRY_AGAIN, "no reply was taken")
    finally:
        replies.close()


class Replies:
    """A bounded queue of replies, which an engine's threads fill and the event loop empties."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.changed = threading.Condition()  # guards the queue; threads wait on it for room
        self.lines: list[str] = []
        self.size = 0  # characters in `lines`
        self.closed = False
        self.ready = asyncio.Event()  # the loop waits on it for lines

    def put(self, line: str) -> None:
        """Queue a reply as soon as there is room; drop it if the queue is closed."""
        with self.changed:
            while self.size > MOST_UNREAD and not self.closed:
                self.changed.wait()
            if self.closed:
                return
            self.lines.append(line)
            self.size += len(line)
        with contextlib.suppress(RuntimeError):  # the loop is closed: the server ends
            self.loop.call_soon_threadsafe(self.ready.set)

    async def take(self) -> list[str]:
        """Wait for replies and return them."""
        await self.ready.wait()
        self.ready.clear()
        with self.changed:
            lines, self.lines, self.size = self.lines, [], 0
            self.changed.notify_all()
        return lines

    def close(self) -> None:
        """Close the queue: threads that wait for room continue, and their replies are dropped."""
        with self.changed:
            self.closed = True
            self.changed.notify_all()
