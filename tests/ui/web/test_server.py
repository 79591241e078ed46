"""The server beside the rest of its process."""

import logging

from starlette.applications import Starlette

from alphago.ui.web.server import new_server


def test_how_the_process_logs_stays_as_it_is() -> None:
    """Closing others' handlers closes their streams: absl's would close what pytest captures."""
    closed = []

    class Handler(logging.Handler):
        def close(self) -> None:
            closed.append(self)
            super().close()

    handler = Handler()
    before = list(logging.getLogger().handlers)
    new_server(Starlette())
    assert closed == []
    assert logging.getLogger().handlers == before
    handler.close()
