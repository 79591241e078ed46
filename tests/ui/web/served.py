"""A server on a free port of this machine, in a thread, and clients of it that are no browsers."""

import contextlib
import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from websockets.sync.client import ClientConnection, connect

from alphago.env.game import GameEnv
from alphago.ui.web.engines import Engines
from alphago.ui.web.guard import Guard
from alphago.ui.web.runs import Runs
from alphago.ui.web.server import listen, make_app, new_server
from tests.ui.web.desks import GO5, PATIENCE, engines


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "nothing happens"
        time.sleep(0.01)


def threads(name: str) -> int:
    """How many threads of this name there are."""
    return sum(thread.name == name for thread in threading.enumerate())


class Served(NamedTuple):
    """A server that runs: where, and its boards."""

    port: int
    app: Any

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def get(self, path: str = "/", **headers: str) -> tuple[int, str]:
        """The status and text of a request."""
        request = urllib.request.Request(self.address + path, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def page(self, path: str = "/board", **headers: str) -> ClientConnection:
        """A WebSocket like a page's."""
        # The server answers pings when it has read what came before them.
        patience: Any = dict.fromkeys(("open_timeout", "close_timeout", "ping_timeout"), PATIENCE)
        address = f"ws://127.0.0.1:{self.port}{path}"
        return connect(address, additional_headers=headers, max_size=None, proxy=None, **patience)


@contextlib.contextmanager
def serving(
    usual_games: Mapping[str, GameEnv] | None = None,
    *,
    offered: Engines | None = None,
    runs: list[Path] | None = None,
    token: str | None = None,
    page_of: Callable[[Any, GameEnv], str] | None = None,
    port: int = 0,
) -> Iterator[Served]:
    """Serve a board of 5x5 with an engine that draws its answers from a hash, or what is given; 0 is any free port."""
    guard = Guard("127.0.0.1", token)
    app = make_app(offered or engines(), usual_games or {"go": GO5}, guard, Runs(runs) if runs else None, page_of)
    listener = listen("127.0.0.1", port)
    server = new_server(app)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    wait_until(lambda: server.started)
    try:
        yield Served(listener.getsockname()[1], app)
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        listener.close()
        assert not thread.is_alive()


def reply(page: ClientConnection) -> dict[str, Any]:
    """The next answer."""
    return dict(json.loads(page.recv(timeout=PATIENCE)))


def ask(page: ClientConnection, **query: Any) -> dict[str, Any]:
    """The last answer to a query of a page or program; what is answered before it is lost."""
    asked = {"id": "1", **query}
    page.send(json.dumps(asked) + "\n\n")  # a message may have several lines
    while (answer := reply(page)).get("id") != asked["id"] or answer.get("isDuringSearch"):
        pass
    return answer
