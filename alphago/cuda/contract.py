"""What a device offers: arrays, streams, and kernels by name."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike

from alphago.cuda.source import Program


class BackendMissing(OSError):
    """The error of kernels that cannot run here; its message says in one sentence what is missing."""


class Kernels(Protocol):
    """The compiled kernels of a program."""

    def launch(self, kernel: str, items: int, *arguments: Any) -> None:
        """Run a kernel over `items` items.

        arguments: arrays of the backend; integers, which arrive as 64 bits; floats, which arrive as double.
        """


class Backend(Protocol):
    """A CUDA device, whose arrays are CuPy's, or the CPU with the same source compiled, on NumPy's arrays."""

    name: str  # "cuda" or "host"

    def load(self, program: Program) -> Kernels:
        """Compile a program, or load it from a cache.

        Raises BackendMissing if it cannot be compiled or loaded, MemoryError if the device has no room for it.
        """

    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
        """Return a new array of zeros; raise MemoryError if the device has no room for it."""

    def upload(self, values: Any, dtype: DTypeLike) -> Any:
        """Return `values` as a C-contiguous array of `dtype` on the device; no copy if they are such an array."""

    def download(self, array: Any) -> np.ndarray:
        """Return `array` as a NumPy array; no copy if it is one already."""

    def reachable(self, out: Any) -> Any | None:
        """Return an array of any strides over the memory of `out`, for kernels; None if they cannot reach it."""

    def new_stream(self) -> Any:
        """Return a stream; inside `with stream:` this thread's calls go to it.

        On a device it is a non-blocking CuPy stream with its address as `ptr`.
        """

    def keep_stream(self, stream: Any) -> None:
        """Return a stream to the backend, to be used again by a later `new_stream`."""
