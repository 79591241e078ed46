import os
import threading
from collections.abc import Iterator

import pytest

from alphago.arena.engine import EngineProcess


@pytest.fixture
def no_engine_is_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No process and no thread is left behind by the test."""
    started: list[EngineProcess] = []
    original = EngineProcess.__init__

    def remember(self, *arguments, **options) -> None:
        original(self, *arguments, **options)
        started.append(self)

    monkeypatch.setattr(EngineProcess, "__init__", remember)
    threads = threading.active_count()
    yield
    for engine in started:
        assert engine.process.returncode is not None, f"{engine.name} still runs"
        with pytest.raises(ProcessLookupError):
            os.kill(engine.process.pid, 0)
    assert threading.active_count() == threads
