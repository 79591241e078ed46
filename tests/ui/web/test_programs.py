"""The analysis protocol over a WebSocket: what programs are answered, what they may ask for, and who may not ask."""

import contextlib
import json
import socket
import threading
import time
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from alphago.ui.analysis_engine import THREAD
from alphago.ui.web.guard import MOST_READOUTS, closing_reason
from tests.ui.web.served import PATIENCE, ask, reply, serving, threads, wait_until

QUERY: dict[str, Any] = {"id": "QUERY:1", "rules": "tromp-taylor", "komi": 6.5, "boardXSize": 5, "boardYSize": 5}
QUERY |= {"maxVisits": 20, "moves": [["B", "C3"], ["W", "D3"]]}


def test_a_query_is_answered() -> None:
    with serving() as served, served.page("/analysis") as program:
        assert ask(program, action="query_version")["version"]
        message = ask(program, **QUERY)
        assert (message["rootInfo"]["visits"], message["moveInfos"][0]["order"]) == (20, 0)
        for size in (3, 7):  # boards other than the server's first
            board = {"id": str(size), "boardXSize": size, "boardYSize": size, "moves": []}
            assert ask(program, **{**QUERY, **board})["rootInfo"]["visits"] == 20


def test_the_network_may_be_named() -> None:
    with serving() as served:
        with served.page("/analysis?network=hash") as program:
            assert ask(program, action="query_models")["models"][0]["name"] == "hash"
        with served.page("/analysis?network=other") as program:
            assert reply(program) == {"error": "network must be one of hash, playouts, got 'other'"}
            with pytest.raises(ConnectionClosed):
                program.recv(timeout=PATIENCE)


def test_a_long_reason_is_cut_to_the_bytes_that_a_closing_may_have() -> None:
    assert closing_reason("a" + "碁" * 60) == "a" + "碁" * 40  # at most 123 bytes, and no part of a letter


@pytest.mark.slow
def test_the_queries_of_a_program_that_leaves_are_ended() -> None:
    with serving() as served:
        for _ in range(3):
            with served.page("/analysis") as program:
                program.send(json.dumps({**QUERY, "maxVisits": MOST_READOUTS, "reportDuringSearchEvery": 0.01}))
                assert reply(program)["isDuringSearch"]
        wait_until(lambda: served.app.state.programs.count + threads(THREAD) == 0)
        assert served.get()[0] == 200


@pytest.mark.slow
def test_an_engine_waits_for_a_program_that_reads_no_reply() -> None:
    """What is not read is not kept; when the program has gone, nothing of it stays."""
    sent = list[float]()

    def flood() -> None:
        with contextlib.suppress(ConnectionClosed):
            while True:
                program.send(json.dumps({"id": "x" * 100_000, "action": "query_version"}))
                sent.append(time.monotonic())

    with serving() as served, served.page("/analysis") as program:
        writer = threading.Thread(target=flood, daemon=True)
        writer.start()
        wait_until(lambda: bool(sent) and time.monotonic() - sent[-1] > 0.5)
        assert len(sent) < 300
        program.socket.shutdown(socket.SHUT_RDWR)
        writer.join(PATIENCE)
        wait_until(lambda: served.app.state.programs.count == 0)
        assert served.get()[0] == 200
