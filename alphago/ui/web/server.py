"""The server of `alphago web`: the page, WebSockets for queries, and reports on runs.  It keeps no game."""

import asyncio
import contextlib
import logging
import re
import socket
import threading
import webbrowser
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from alphago.env.game import GameEnv
from alphago.env.games import GAMES, require_go, with_planes
from alphago.env.go import GoEnv
from alphago.ui.web.answers import error_sentence
from alphago.ui.web.engines import PLAYOUTS, Engines
from alphago.ui.web.guard import COOKIE, HEADERS, MOST_MESSAGE, Guard, closing_reason
from alphago.ui.web.new_game import open_link, usual_game
from alphago.ui.web.page_files import FILES, KINDS, STATIC, bundle, without_comments
from alphago.ui.web.views import offer_view

try:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
    from starlette.routing import BaseRoute, Route, WebSocketRoute
    from uvicorn.protocols.http.h11_impl import H11Protocol

    from alphago.ui.web.programs import REFUSED, pages, programs
except Exception as error:  # a broken library may fail in any way
    raise ImportError(
        f"the board in the browser needs starlette, uvicorn and websockets: pip install 'alphago[web]' brings them "
        f"({error})"
    ) from None

if TYPE_CHECKING:
    from alphago.ui.web.runs import Runs

HEADER_SECONDS = 20.0  # within which a request must arrive, and an answer be read
WAITING_CONNECTIONS = 128  # most connections that wait until the server accepts them
PING_SECONDS = 120.0  # for a page's answer to a ping: nothing that the page sends is read while its commands wait


PageOf = Callable[[Any, GameEnv], str]  # makes the text of a file from a network and a game, see `alphago.ui.onefile`


def make_app(
    engines: Engines,
    usual_games: Mapping[str, GameEnv],
    guard: Guard,
    runs: "Runs | None" = None,
    page_of: PageOf | None = None,
) -> Starlette:
    """Return the web application.

    Args:
        engines: the networks on offer.
        usual_games: games by name, with the options that new games have unless others are chosen.  The page offers them
            before the package's other games.
        guard: decides which requests are answered.
        runs: the runs to watch; None for none.
        page_of: makes files that play without the server; None if there are to be none.
    """
    analysis = programs(engines, require_go(usual_game(GoEnv.name, usual_games), "the analysis protocol"))
    board = pages(engines, dict(usual_games), greeting(engines, usual_games, runs), runs)
    routes: list[BaseRoute] = [Route(path, partial(static_file, guard.token)) for path in FILES]
    routes += [Route("/watch", partial(run_response, runs))]
    routes += [Route("/file", partial(file_response, engines, usual_games, page_of))]
    routes += [WebSocketRoute("/board", board.serve), WebSocketRoute("/analysis", analysis.serve)]
    app = Starlette(routes=routes)
    app.add_middleware(GuardMiddleware, guard=guard)
    app.state.pages, app.state.programs = board, analysis  # for tests
    return app


def static_file(token: str | None, request: Request) -> Response:
    """Return one of the page's files; if the address has a token, a redirection that sets it as a cookie.

    Args:
        token: the server's token; None if it has none.
    """
    path = STATIC / FILES[request.url.path]
    # The guard has let the request in, so that the browser knows the token: its cookie replaces the one in the address.
    if request.query_params.get("token") and token is not None:
        answer: Response = RedirectResponse("/", status_code=303, headers=HEADERS)
        answer.set_cookie(COOKIE, quote(token, safe=""), httponly=True, samesite="strict")
        return answer
    # The page's script is sent with all modules that it imports: one request instead of thirty.
    content = without_comments(bundle("page")).encode() if path.name == "page.js" else path.read_bytes()
    return Response(content, media_type=KINDS[path.suffix], headers=HEADERS)


def run_response(runs: "Runs | None", request: Request) -> Response:
    """Return `Runs.overview` as JSON, or status 304 if nothing has changed since the page asked last.

    Args:
        runs: the watched runs; None if there are none.
    """
    if runs is None:
        return JSONResponse({"runs": []}, headers=HEADERS)
    axis = request.query_params.get("x", "minutes")
    tag = f'"{axis}-{runs.stamp()}"'
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={**HEADERS, "ETag": tag})
    try:
        return JSONResponse(runs.overview(axis), headers={**HEADERS, "ETag": tag})
    except (ValueError, OSError) as error:
        return JSONResponse({"error": str(error)}, status_code=400, headers=HEADERS)


def file_response(
    engines: Engines, usual_games: Mapping[str, GameEnv], page_of: PageOf | None, request: Request
) -> Response:
    """Return a file to be saved that plays without the server, with the network and the game that the request names.

    Args:
        page_of: makes the file; None if there are to be no files.
    """
    try:
        env = open_link(request.query_params.get("link"), usual_games).env
        name = engines.check(request.query_params.get("network", ""), env)
        source = engines.choices[name].source
        if page_of is None or source == PLAYOUTS:  # playouts need the server
            raise ValueError("a file needs a network, which plays without this server")
        network_env = engines.engine(name, env).env  # the game with the input planes that the network reads
        text = page_of(source, with_planes(env, of=network_env))
    except (ValueError, OSError) as error:
        return PlainTextResponse(error_sentence(error), status_code=400, headers=HEADERS)
    file_name = re.sub("[^A-Za-z0-9._-]+", "-", name) + ".html"
    headers = {**HEADERS, "Content-Disposition": f'attachment; filename="{file_name}"'}
    return Response(text, media_type="text/html", headers=headers)


class GuardMiddleware:
    """Middleware that asks the guard about every request and every WebSocket before anything else."""

    def __init__(self, app: Any, guard: Guard) -> None:
        self.app, self.guard = app, guard

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a request on if the guard allows it, else refuse it.

        Args:
            scope, receive, send: the request, and the functions for its messages, see the ASGI specification.
        """
        refusal = None
        if scope["type"] in ("http", "websocket"):  # else the server begins or ends
            headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
            refusal = self.guard.refusal(headers, scope["query_string"].decode("latin-1"))
        if refusal is None:
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await PlainTextResponse(refusal, status_code=403, headers=HEADERS)(scope, receive, send)
        else:
            await receive()  # the request to connect
            await send({"type": "websocket.close", "code": REFUSED, "reason": closing_reason(refusal)})


def greeting(engines: Engines, usual_games: Mapping[str, GameEnv], runs: "Runs | None") -> dict[str, Any]:
    """Return what every page is told at its beginning: the games to choose from, the runs to watch, and "first".

    Under "first" are the settings with which the page begins: here only the engine's strength.
    """
    games = []
    for name in dict.fromkeys([*usual_games, *GAMES]):
        with contextlib.suppress(ValueError):  # a game of the user's own may have options without defaults
            games.append(offer_view(usual_game(name, usual_games)))
    return {"games": games, "runs": [] if runs is None else runs.names, "first": {"strength": {"level": engines.level}}}


# --- serving ---------------------------------------------------------------------------------------


def serve(app: Starlette, guard: Guard, host: str, port: int, *, browser: bool = True) -> None:
    """Serve until Ctrl-C; print the address, and open it in a browser if `browser`.

    Args:
        guard: has the token, which becomes part of the address.
        port: 0 for any free port.

    Raises:
        OSError: with a sentence, if the port cannot be used.
    """
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # it would warn of each message to a page that has gone
    listener = listen(host, port)
    address = make_address(host, listener.getsockname()[1], guard.token)
    print(f"{address}  (Ctrl-C ends it)", flush=True)  # at once, also into a pipe
    if browser:
        threading.Thread(target=open_browser, args=[address], daemon=True).start()
    with contextlib.suppress(KeyboardInterrupt):
        new_server(app).run(sockets=[listener])


class TimedHttp(H11Protocol):
    """HTTP that closes a connection on which no request arrives, or no answer is read, for HEADER_SECONDS."""

    # At the last check: the `cycle` (a request and its answer), and the number of bytes that wait to be sent.
    last_state: object = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to check the connection."""
        super().connection_made(transport)
        self.loop.call_later(HEADER_SECONDS, self.close_if_stalled)

    def close_if_stalled(self) -> None:
        """Close the connection if nothing has moved since the last check, unless an answer is still being computed.

        Something has moved if a request has come or bytes of an answer were sent.  A connection that stays open is
        checked again later, unless it has become a WebSocket.
        """
        became_websocket = self.transport.get_protocol() is not self
        if self.transport.is_closing() or became_websocket:
            return
        unsent = self.transport.get_write_buffer_size()
        has_moved = self.last_state != (self.cycle, unsent)
        is_computing = self.cycle is not None and not self.cycle.response_complete and unsent == 0
        if not has_moved and not is_computing:
            self.transport.abort()  # `close` would wait until everything is sent
            return
        self.last_state = (self.cycle, unsent)
        self.loop.call_later(HEADER_SECONDS, self.close_if_stalled)


def new_server(app: Starlette) -> uvicorn.Server:
    """Return a server for the application; it writes no log, and does not change the logging of the process."""
    config = uvicorn.Config(
        app,
        log_config=None,
        log_level="error",
        http=TimedHttp,
        ws="websockets-sansio",
        ws_max_size=MOST_MESSAGE + 1000,  # a message that is a little too long is still answered
        ws_per_message_deflate=False,
        ws_ping_interval=20.0,
        ws_ping_timeout=PING_SECONDS,
        timeout_graceful_shutdown=2,
        server_header=False,
        date_header=False,
        access_log=False,
    )
    return uvicorn.Server(config)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; raise OSError with a sentence if the address cannot be used."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Without IPPROTO_TCP, asyncio does not set TCP_NODELAY.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or error
        raise OSError(f"port {port} of {host} cannot be used: {reason}; --port N takes another") from None
    listener.listen(WAITING_CONNECTIONS)
    return listener


def make_address(host: str, port: int, token: str | None) -> str:
    """Return the address to open in a browser."""
    in_url = f"[{host}]" if ":" in host else host  # an IPv6 address is written in brackets
    # A server that listens on all addresses is opened at this machine's own one.
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, in_url)
    return f"http://{name}:{port}/" + (f"?token={quote(token, safe='')}" if token else "")


def open_browser(address: str) -> None:
    """Open the page in a browser; if that is not possible, print that."""
    with contextlib.suppress(webbrowser.Error, OSError):
        if webbrowser.open(address):
            return
    print("No browser could be opened: open the address yourself.", flush=True)
