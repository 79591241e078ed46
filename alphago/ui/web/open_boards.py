"""`OpenBoards`: a server's boards, which pages find again by a key. `Outbox`: the messages that wait for a page."""

import asyncio
import contextlib
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from alphago.env.game import GameEnv
from alphago.ui.web.board_session import Session
from alphago.ui.web.engines import Engines
from alphago.ui.web.limits import KEPT_SECONDS, MOST_SESSIONS
from alphago.ui.web.wire import Message

if TYPE_CHECKING:
    from alphago.ui.web.runs import Runs

BACKLOG = 100  # so many messages wait for a page that the server reads no more of the page's own messages
CLOSING_SECONDS = 5.0  # how long a server that ends waits for its boards
MOST_BACKLOG = 1000  # messages that may wait for a page; with more it is disconnected
COALESCED = "thinking"  # the type of messages of which a slow page gets only the newest


class OpenBoards:
    """The boards of a server, one `Session` each, by key.

    A page keeps the key of its board, and sends it when it connects again, to get the same board back.
    """

    def __init__(self, engines: Engines, bases: Mapping[str, GameEnv], runs: "Runs | None") -> None:
        self.engines, self.bases, self.runs = engines, bases, runs
        self.sessions: dict[str, Session] = {}
        self.connections = 0

    def find(self, key: str, send: Callable[[Message], None]) -> tuple[str, Session, bool]:
        """Return a page's board: its key, its session, and whether it is the board of `key`.

        If there is no board of `key`, or if another page has it, the board is new.
        send: takes the messages for the page. Raises ValueError if the server has too many boards.
        """
        self.sweep()
        session = self.sessions.get(key)
        if session is not None and session.detached_at is not None:  # its page has gone
            session.attach(send)
            return key, session, True
        if len(self.sessions) >= MOST_SESSIONS:
            self.drop_oldest()
        key = secrets.token_urlsafe(16)
        session = self.sessions[key] = Session(self.engines, self.bases, send, self.runs)
        return key, session, False

    def drop_oldest(self) -> None:
        """End a board whose page has said nothing yet, or else the one whose page has been gone longest.

        Raises ValueError if there is none.
        """
        unused = {
            key: session.detached_at or 0.0
            for key, session in self.sessions.items()
            if session.detached_at is not None or not session.has_spoken
        }
        if not unused:
            raise ValueError(f"this server has {MOST_SESSIONS} boards already: close another page first")
        self.sessions.pop(min(unused, key=unused.__getitem__)).close()

    def sweep(self) -> None:
        """End the boards whose pages have been gone for more than KEPT_SECONDS."""
        latest = time.monotonic() - KEPT_SECONDS
        for key, session in list(self.sessions.items()):
            if session.detached_at is not None and session.detached_at < latest:
                self.sessions.pop(key).close()

    def close(self) -> None:
        """End all boards, and wait at most CLOSING_SECONDS for their threads."""
        for session in self.sessions.values():
            session.close()
        until = time.monotonic() + CLOSING_SECONDS
        for session in self.sessions.values():
            session.thread.join(max(until - time.monotonic(), 0))
        self.sessions.clear()


class Outbox:
    """Messages on their way to one page, from the session's thread to the event loop.

    Of consecutive "thinking" messages about the same node, only the newest is kept.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.lock = threading.Lock()
        self.messages: list[Message] = []
        self.ready = asyncio.Event()
        self.overflown = False

    def put(self, message: Message) -> None:
        """Queue a message, or set `overflown` if too many wait; any thread may call this method."""
        with self.lock:
            last = self.messages[-1] if self.messages else {}
            both_thinking = message["type"] == last.get("type") == COALESCED
            if both_thinking and message["node"] == last["node"]:
                self.messages.pop()
            if len(self.messages) < MOST_BACKLOG:
                self.messages.append(message)
            else:
                self.overflown = True
        with contextlib.suppress(RuntimeError):  # the loop is closed: the server ends
            self.loop.call_soon_threadsafe(self.ready.set)

    @property
    def is_full(self) -> bool:
        """Whether so many messages wait that the page's own messages should not be read for now."""
        return len(self.messages) >= BACKLOG

    async def take(self) -> list[Message]:
        """Wait for messages and return them."""
        await self.ready.wait()
        self.ready.clear()
        with self.lock:
            messages, self.messages = self.messages, []
        return messages
