"""What runs the kernels: a CUDA device, or the CPU with the host build of the same source."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike

DEVICES = ("cpu", "cuda", "auto", "host")


class BackendMissing(OSError):
    """The kernels cannot run here; the text says in one sentence what is missing."""


class Backend(Protocol):
    """Arrays where the kernels reach them, and the kernels by name.

    An array is a NumPy array on the CPU and a CuPy array on a device.
    """

    name: str

    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
        """A new array of zeros; MemoryError with a sentence where there is no room for it."""

    def upload(self, values: Any, dtype: DTypeLike) -> Any:
        """The values as a C-contiguous array of that type; the same array where it is one already."""

    def download(self, array: Any) -> np.ndarray:
        """The array in NumPy; the same one where it is."""

    def reachable(self, out: Any) -> Any | None:
        """The same memory as an array for kernels, whatever its steps; None if kernels cannot reach it."""

    def new_stream(self) -> Any:
        """A queue of work of its own: inside `with stream:` what this thread asks for goes there.

        On a device CuPy's stream, which other streams do not wait for, with its address as `ptr`.
        """

    def keep_stream(self, stream: Any) -> None:
        """Takes a stream back that nobody uses any more, for the next one who wants a new one."""

    def launch(self, kernel: str, items: int, *arguments: Any) -> None:
        """Runs a kernel over so many items. An argument is an array, a whole number (64 bits) or a float (double)."""


def check_device(device: str) -> str:
    """The name of a place for boards; ValueError for another one."""
    if device not in DEVICES:
        raise ValueError(f"device is {', '.join(map(repr, DEVICES))}, got {device!r}")
    return device


def find_backend(device: str) -> Backend:
    """The back end called "cuda" or "host"; BackendMissing where there is none, ValueError for another name."""
    if device == "cuda":
        from alphago.cuda.device import Device

        return Device()
    if device == "host":
        from alphago.cuda.host import Host

        return Host()
    raise ValueError(f"kernels run on 'cuda' or 'host', got {device!r}")
