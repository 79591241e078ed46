"""What a device offers: arrays, streams, and kernels by name."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike

from alphago.cuda.source import Program


class BackendMissing(OSError):
    """The kernels cannot run here; the text says in one sentence what is missing."""


class Kernels(Protocol):
    """The compiled kernels of a program."""

    def launch(self, kernel: str, items: int, *arguments: Any) -> None:
        """Run a kernel over `items` items.

        arguments: arrays of the backend; integers, which arrive as 64 bits; floats, which arrive as double.
        """


class Backend(Protocol):
    """A CUDA device, or the CPU with the host build of the same source.

    An array is a NumPy array on the CPU and a CuPy array on a device.
    """

    name: str  # "cuda" or "host"

    def load(self, program: Program) -> Kernels:
        """Compile a program, or take it from a cache.

        Raises BackendMissing if it cannot be compiled or loaded, MemoryError if it does not fit.
        """

    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
        """Return a new array of zeros; raise MemoryError if it does not fit."""

    def upload(self, values: Any, dtype: DTypeLike) -> Any:
        """Return `values` as a C-contiguous array of `dtype`, without a copy if they are one already."""

    def download(self, array: Any) -> np.ndarray:
        """Return `array` in NumPy, without a copy if it is there already."""

    def reachable(self, out: Any) -> Any | None:
        """Return the memory of `out` as an array for kernels, of any strides; None if kernels cannot reach it."""

    def new_stream(self) -> Any:
        """Return a stream; inside `with stream:` this thread's calls go to it.

        On a device it is a non-blocking CuPy stream with its address as `ptr`.
        """

    def keep_stream(self, stream: Any) -> None:
        """Take back a stream that is no longer used, for a later `new_stream`."""
