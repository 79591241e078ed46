"""One torch thread per test: small networks are slower on several, and much slower on a busy machine."""

import sys
from collections.abc import Iterator

import pytest
import torch

from alphago.nn.inference import openvino


@pytest.fixture(autouse=True)
def one_torch_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def float32_is_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not TF32, a GPU's convolutions of 10 bits, which would decide between moves that are nearly as good."""
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)


@pytest.fixture(autouse=True, scope="module")
def float32_on_every_processor() -> None:
    """These tests are of what a processor has; each says in what it computes."""


@pytest.fixture
def without_openvino(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As where it is not installed."""
    openvino.package.cache_clear()
    monkeypatch.setitem(sys.modules, "openvino", None)  # importing it raises ImportError
    yield
    openvino.package.cache_clear()
