"""What the tests of benchmarks share."""

import pytest

from tests.benchmarks.bench import Bench


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Bench:
    return Bench(monkeypatch, capsys)
