"""Whoever may not use the server is told so in a sentence, and whatever is sent, it goes on and keeps its boards."""

import contextlib
import gc
import json
import logging
import random
import socket
import sys
import threading
from urllib.request import HTTPCookieProcessor, build_opener

import pytest
from starlette.applications import Starlette
from websockets.exceptions import ConnectionClosed, InvalidStatus

from alphago.cli import main
from alphago.ui.web import programs
from alphago.ui.web import server as server_module
from alphago.ui.web.guard import MOST_MESSAGE, Guard
from alphago.ui.web.page_actions import ACTIONS
from alphago.ui.web.page_files import FILES
from tests.campaign.tally import memory
from tests.ui.web.desks import GO5
from tests.ui.web.served import PATIENCE, Served, ask, reply, serving, threads, wait_until

TOKEN = "a long secret"
FLAT = 60.0  # megabytes by which memory may grow: thousands of messages that each left a trace would take more


@pytest.mark.slow
def test_a_connection_without_a_request_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Silent or in the middle of its headers; a page that is connected stays."""
    monkeypatch.setattr(server_module, "HEADER_SECONDS", 0.2)
    with serving() as served, served.page() as page:
        for begin in (b"", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"):
            with socket.create_connection(("127.0.0.1", served.port), timeout=60) as connection:
                connection.sendall(begin)
                assert connection.recv(10) == b""
        assert served.get()[0] == 200
        assert ask(page, action="hello")["games"]


@pytest.mark.slow
def test_a_connection_that_reads_no_answer_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It asks for much, and takes nothing; who takes a little again and again gets everything."""
    monkeypatch.setattr(server_module, "HEADER_SECONDS", 0.5)
    request = b"GET /page.css HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with serving() as served, socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(60)
        connection.connect(("127.0.0.1", served.port))
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            connection.sendall(request * 1_000_000)  # more than any buffer holds
        assert served.get()[0] == 200


def test_the_page_and_its_headers() -> None:
    with serving() as served:
        status, text = served.get()
        assert status == 200
        assert '<script type="module" src="/page.js">' in text
        for path in FILES:
            assert served.get(path)[0] == 200, path
        assert served.get("/watch") == (200, '{"runs":[]}')
        for path in ("/etc/passwd", "/../server.py", "/..%2f..%2fserver.py", "/static/board.js", "/board.js/../x"):
            assert served.get(path)[0] == 404, path


def test_another_host_is_refused() -> None:
    """A page elsewhere may point its own name at this machine (DNS rebinding): it cannot change what Host says."""
    with serving() as served:
        for host in ("evil.example", "evil.example:80", "127.0.0.1.evil.example", "0x7f.1", "[", ""):
            status, text = served.get(Host=host)
            assert status in (400, 403), host
            assert status == 400 or text.startswith("This server does not answer to the name ")


def test_another_origin_is_refused() -> None:
    with serving() as served:
        for origin in ("http://evil.example", "null", "https://127.0.0.1:1", "http://localhost", "file://"):
            assert served.get("/watch", Origin=origin) == (403, f"Pages of {origin!r} may not use this server.")
            with pytest.raises(InvalidStatus):
                served.page(Origin=origin)
        with served.page(Origin=served.address) as page:
            assert ask(page, action="hello")["games"]


@pytest.mark.parametrize("token", [TOKEN, "100%41; a+b&c#d", "пароль12"])
def test_with_a_token_only_those_who_have_it(token: str) -> None:
    with serving(token=token) as served:
        for path in ("/", "/board.js", "/watch", "/?token=wrong%20secret"):
            status, text = served.get(path)
            assert status == 403, path
            assert text.startswith("This server asks for its token")
        with pytest.raises(InvalidStatus):
            served.page()
        assert served.get("/watch", Cookie="alphago_token=x; [;=")[0] == 403
        address = server_module.make_address("127.0.0.1", served.port, token)
        with build_opener(HTTPCookieProcessor()).open(address, timeout=PATIENCE) as answer:
            assert (answer.status, answer.url) == (200, f"{served.address}/")  # which has only the cookie
        with served.page(address.replace(served.address, "").replace("/", "/board")) as page:
            ask(page, action="hello")


def test_who_may_listen() -> None:
    for host in ("127.0.0.1", "localhost", "::1", "127.1.2.3"):
        assert Guard(host).token is None
    everywhere = Guard("0.0.0.0", TOKEN)
    assert everywhere.refusal({"host": "10.0.0.7:8270", "authorization": f"Bearer {TOKEN}"}, "") is None
    assert everywhere.refusal({"host": "10.0.0.7:8270"}, "") is not None


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--host 0.0.0.0", "alphago web: --host must be of this machine without a token, got '0.0.0.0'"),
        ("--token abc", "alphago web: --token must have at least 8 letters, got 3"),
        ("--port 70000", "alphago web: --port must be an integer from 0 to 65535, got 70000"),
        ("nowhere", "alphago web: there is no file nowhere"),
        ("--game chess", "alphago web: argument --game: must be one of go"),
    ],
)
def test_wrong_options_are_a_sentence(words: str, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    with contextlib.suppress(SystemExit):  # of the parser
        assert main(["web", "--no-browser", *words.split()]) == 2
    assert capsys.readouterr().err.startswith(sentence)


def test_a_port_that_is_taken_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with serving() as served:
        assert main(["web", "--no-browser", "--port", str(served.port)]) == 2
        assert capsys.readouterr().err.startswith(f"alphago web: port {served.port} of 127.0.0.1 cannot be used: ")


def junk(chance: random.Random) -> str:
    """A message that no page would send, or nearly one."""
    values = [None, True, -1, 10**40, 1e308, "", "C3", "pass", "go", [], {}, [1] * 50, {"board_size": 3}, "é\u0000" * 9]
    values += [[["B", "C3"]], [["B", 3]], {"name": "go"}, {"name": "go", "config": {"board_size": 5}}, {"config": 3}]
    names = ["moves", "game", "options", "maxVisits", "link", "text", "network", "dead", "point", "nodes", "level"]
    names += ["id"]
    fields = {chance.choice(names): chance.choice(values) for _ in range(4)}
    action = chance.choice([*ACTIONS, "x", None, *values[:6]])
    message = json.dumps({"action": action, **fields})
    return chance.choice([message, message, message[: chance.randrange(len(message) + 1)], "[" * 2000, "null"])


@pytest.mark.slow
def test_ten_thousand_random_messages() -> None:
    """Each is answered; threads and memory stay as few as they were, and a page beside it is answered as before."""
    chance = random.Random(1)
    with serving() as served, served.page() as other:
        begun = ask(other, action="new")["game"]  # a page that asks nothing is closed after FIRST_SECONDS
        held = list[float]()
        with served.page() as page:
            heard = list[int]()
            reader = threading.Thread(target=lambda: heard.extend(len(message) for message in page), daemon=True)
            reader.start()
            for part in range(1, 5):
                for _ in range(2500):
                    page.send(junk(chance))
                wait_until(lambda: len(heard) >= 1500 * part)  # noqa: B023 (it is called at once)
                gc.collect()
                held.append(memory())
        reader.join(PATIENCE)
        assert held[-1] - held[0] < FLAT, held
        assert ask(other, action="view", game=begun, moves=[["B", "D4"]])["view"]["moves"] == 1
        await_quiet(served, 1)
        assert threads("alphago-page") <= 2  # one may be ending
        assert served.get()[0] == 200


@pytest.mark.slow
def test_too_large_a_file_ends_the_connection_and_nothing_else() -> None:
    with serving() as served, served.page() as page:
        answer = ask(page, action="open", text="(;SZ[9]" + ";B[aa]" * 200_000 + ")")
        assert answer["error"].startswith("The SGF file")
        with pytest.raises(ConnectionClosed):
            ask(page, action="open", text="(;" + "x" * (2 * MOST_MESSAGE))
        with served.page() as again:
            assert ask(again, action="new")["view"]["title"] == "Go 5x5"


@pytest.mark.slow
def test_two_hundred_connections() -> None:
    """As many as there may be are served; the others get a sentence; when they go, there is room again."""
    pages = []
    with serving() as served, contextlib.ExitStack() as stack:
        for _ in range(200):
            page = stack.enter_context(served.page())
            with contextlib.suppress(ConnectionClosed):
                ask(page, action="hello")
                pages.append(page)
        assert len(pages) == programs.MOST_PAGES
        with served.page() as late:
            assert reply(late)["error"].startswith("This server has ")
        for page in pages:
            page.close()
        await_quiet(served)
        for _ in range(200):
            with served.page() as page:
                assert ask(page, action="hello")["games"]
            await_quiet(served)
        assert threads("alphago-page") <= 1


def await_quiet(served: Served, pages: int = 0) -> None:
    """Wait until the server has seen that all other pages are gone."""
    wait_until(lambda: served.app.state.pages.count <= pages)


@pytest.mark.slow
def test_a_page_that_says_nothing_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Silent connections cannot hold all places; one that has asked stays as long as it likes."""
    monkeypatch.setattr(programs, "FIRST_SECONDS", 0.3)
    with serving() as served, served.page() as page:
        assert ask(page, action="hello")["games"]
        with served.page() as silent, pytest.raises(ConnectionClosed):
            silent.recv(timeout=PATIENCE)
        assert ask(page, action="hello")["games"]


@pytest.mark.slow
def test_a_page_that_leaves_stops_thinking() -> None:
    with serving() as served:
        with served.page() as page:
            begun = ask(page, action="new")["game"]
            page.send(json.dumps({"id": 2, "game": begun, "network": "hash", "reportDuringSearchEvery": 0.01}))
            while not reply(page).get("isDuringSearch"):
                pass
        await_quiet(served)
        wait_until(lambda: threads("alphago-page") == 0)


def test_without_the_extra_it_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "alphago.ui.web.server")
    monkeypatch.delattr(sys.modules["alphago.ui.web"], "server")
    assert main(["web", "--no-browser"]) == 2
    assert "pip install 'alphago[web]'" in capsys.readouterr().err


def test_how_the_process_logs_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing others' handlers closes their streams: absl's would close what pytest captures."""
    handler, closed, before = logging.Handler(), [], list(logging.getLogger().handlers)
    monkeypatch.setattr(handler, "close", lambda: closed.append(handler))
    server_module.new_server(Starlette())
    assert (closed, logging.getLogger().handlers) == ([], before)


def test_a_network_as_a_file_to_take_along() -> None:
    with serving(page_of=lambda network, env: f"{type(network).__name__} on {env}") as served:
        assert served.get("/file?network=hash&link=game%3Dgo%26board_size%3D5") == (200, f"HashEvaluator on {GO5}")
        other = served.get("/file?network=hash&link=game%3Dgo%26board_size%3D5%26komi%3D3.5")
        assert other == (200, f"HashEvaluator on {GO5.replace(komi=3.5)}")  # though both share an evaluator
        for wrong, sentence in (
            ("network=playouts&link=game%3Doware", "A file needs a network"),
            ("network=hash&link=game%3Doware", "Hash is a network for go"),
            ("network=none&link=game%3Dgo", "Network must be one of hash, playouts"),
            ("network=hash", "A link must be a text"),
        ):
            status, text = served.get(f"/file?{wrong}")
            assert (status, text[: len(sentence)]) == (400, sentence)
