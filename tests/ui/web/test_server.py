"""The server beside the rest of its process."""

import logging

import pytest
from starlette.applications import Starlette

from alphago.ui.web.server import new_server
from tests.ui.web.desks import GO5
from tests.ui.web.served import serving


def test_how_the_process_logs_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing others' handlers closes their streams: absl's would close what pytest captures."""
    handler, closed, before = logging.Handler(), [], list(logging.getLogger().handlers)
    monkeypatch.setattr(handler, "close", lambda: closed.append(handler))
    new_server(Starlette())
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
