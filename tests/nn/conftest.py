"""One torch thread per test: small networks are slower on several, and much slower on a busy machine."""

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(autouse=True)
def one_torch_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def float32_is_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not TF32, a GPU's convolutions of 10 bits, which would decide between moves that are nearly as good."""
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)
