"""A machine's GPU is for the tests that are marked so: on it sums are others from run to run."""

import sys

import pytest


@pytest.fixture(autouse=True)
def gpu_for_marked_tests(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.node.get_closest_marker("gpu") is None and "torch" in sys.modules:
        monkeypatch.setattr("torch.cuda.is_available", lambda: False)
