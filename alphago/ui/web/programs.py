"""The analysis protocol over a WebSocket, for programs such as KaTrain: each line of text is one query or reply."""

import asyncio
import contextlib
import threading

from starlette.websockets import WebSocket, WebSocketDisconnect

from alphago.env.games import require_go
from alphago.env.go import GoEnv
from alphago.env.go_rules import Rules
from alphago.mcts.evaluator import Evaluator
from alphago.system.cores import available_cores
from alphago.ui.analysis_engine import AnalysisEngine
from alphago.ui.analysis_networks import Networks, analysed_game
from alphago.ui.analysis_reply import error
from alphago.ui.web.engines import Engines, SharedEngine, with_planes
from alphago.ui.web.limits import (
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


class Programs:
    """The programs connected to a web server for analysis; each has its own analysis engine while it is connected."""

    def __init__(self, engines: Engines, env: GoEnv) -> None:
        self.engines, self.env = engines, env
        self.connections = 0

    async def serve(self, socket: WebSocket) -> None:
        """Answer a program's queries until it disconnects, which ends its unfinished queries."""
        await socket.accept()
        if self.connections >= MOST_PROGRAMS:
            await refuse(socket, TRY_AGAIN, f"this server serves {MOST_PROGRAMS} programs already: close one first")
            return
        self.connections += 1
        try:
            networks = OfferedNetworks(self.engines, self.env, chosen=socket.query_params.get("network"))
            await converse(socket, networks, self.env)
        except ValueError as problem:  # an unknown network
            await refuse(socket, REFUSED, str(problem))
        finally:
            self.connections -= 1


async def refuse(socket: WebSocket, code: int, text: str) -> None:
    """Send a program the error `text`, and close its connection with the WebSocket's closing code `code`."""
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        await socket.send_json(error(text))
        await socket.close(code, closing_reason(text))


async def converse(socket: WebSocket, networks: Networks, env: GoEnv) -> None:
    """Pass queries from a WebSocket to an engine, and replies back, until the program disconnects.

    No queue grows without bound: the engine waits while too many replies are unread, and a query is read only when the
    engine has taken the query before it.
    """
    replies = Replies(asyncio.get_running_loop())
    threads = min(available_cores(), MOST_THREADS)
    engine = AnalysisEngine(env, networks, replies.put, threads=threads, limits=PROGRAM, notes=True)
    sender = asyncio.create_task(deliver(socket, replies))
    try:
        while True:
            for line in (await socket.receive_text()).splitlines():
                await asyncio.to_thread(engine.receive, line)  # it may have to load a network
    except (WebSocketDisconnect, RuntimeError, KeyError):  # closed by the program; by `deliver`; bytes instead of text
        pass
    finally:
        replies.close()
        sender.cancel()
        try:
            await asyncio.gather(sender, return_exceptions=True)
        finally:
            await asyncio.shield(asyncio.to_thread(engine.close, wait=False))


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
