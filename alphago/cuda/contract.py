"""The interface of a backend: arrays, streams, and kernels by name."""

from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike

from alphago.cuda.kernel_source import Program


class BackendMissing(OSError):
    """The error raised if kernels cannot run on this machine; the message says what is missing."""


class Array(Protocol):
    """An array of numbers anywhere: NumPy's, CuPy's, or a torch tensor."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""

    @property
    def dtype(self) -> Any:
        """The type of the numbers, NumPy's or torch's."""

    def __len__(self) -> int:
        """Return the length of the first axis."""


class KernelArray(Array, Protocol):
    """An array in memory that kernels reach."""

    @property
    def itemsize(self) -> int:
        """The bytes of a number."""

    @property
    def strides(self) -> tuple[int, ...]:
        """The bytes from one entry to the next along each axis."""

    @property
    def flags(self) -> Any:
        """The layout in memory, as NumPy's `flags`."""

    def __getitem__(self, key: Any, /) -> Any:
        """Return a number or a part of the array."""


class Kernels(Protocol):
    """The compiled kernels of a program."""

    def launch(self, kernel: str, items: int, *arguments: object) -> None:
        """Launch a kernel.

        Args:
            kernel: its name in the program.
            items: number of items that the kernel's threads divide among themselves.
            arguments: the kernel's arguments: arrays of the backend, integers (passed as 64-bit integers) and floats
                (passed as double).
        """


class Backend(Protocol):
    """A CUDA device with CuPy arrays, or the CPU with NumPy arrays, which run the same kernels."""

    name: str  # "cuda" or "host"

    def load(self, program: Program) -> Kernels:
        """Return the kernels of a program, compiled now or loaded from a cache.

        Raises:
            BackendMissing: if the program cannot be compiled or loaded.
            MemoryError: if the device's memory is too small.
        """

    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> KernelArray:
        """Return a new array of zeros on the device; raise MemoryError if the device's memory is too small."""

    def upload(self, values: object, dtype: DTypeLike) -> KernelArray:
        """Return `values` as a C-contiguous array of `dtype` on the device; such an array is returned, not copied."""

    def download(self, array: KernelArray, /) -> np.ndarray:
        """Return an array of the backend as a NumPy array; not copied if it is a NumPy array already."""

    def reachable(self, out: Array) -> KernelArray | None:
        """Return an array of the backend that shares the memory of `out`; None if kernels cannot access this memory.

        The array has the strides of `out`.
        """

    def wait(self) -> None:
        """Wait until what this thread has queued is done."""

    def new_stream(self) -> AbstractContextManager[object]:
        """Return a stream; inside `with stream:` this thread's calls are queued on it.

        With the backend "cuda" it is a non-blocking CuPy stream.
        """

    def keep_stream(self, stream: AbstractContextManager[object]) -> None:
        """Take back a stream that is no longer used; `new_stream` may return it again."""
