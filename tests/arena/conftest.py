import threading
from collections.abc import Iterator

import pytest


@pytest.fixture
def no_engine_is_left() -> Iterator[None]:
    """No thread is left behind by the test, and so no process: each engine has threads that read to its end.

    A process that was not waited for is a ResourceWarning, which fails the test.
    """
    threads = threading.active_count()
    yield
    assert threading.active_count() == threads
