"""The backend "cuda": kernels compiled by NVRTC through CuPy, which is imported when the first `Device` is made."""

import os
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike

from alphago.cuda.contract import Array, BackendMissing
from alphago.cuda.kernel_source import LANES, Program
from alphago.system import stopwatch
from alphago.system.kernels.jit import CACHE_FOLDER
from alphago.system.kernels.private_folder import make_private
from alphago.system.optional import optional_import

if TYPE_CHECKING:
    from cupy import RawModule, ndarray
    from cupy.cuda import Stream

# Without fused multiply-add: a product and a sum are rounded separately, as in numba's kernels.
OPTIONS = ("-std=c++17", "--fmad=false")
BLOCKS = 65_535  # the most blocks of a launch; if there are more items, each thread processes several
INTEGERS = (int, np.integer, np.bool_)  # types of arguments that kernels get as 64-bit integers
# Streams that `new_stream` returns again.  A stream is never destroyed: torch remembers which streams copied from a
# block of pinned memory, and asks them whether the block is free again, perhaps long after a stream was last used here.
FREE_STREAMS: list["Stream"] = []


def import_cupy() -> ModuleType:
    """Import and return the module cupy; raise BackendMissing if it is not installed or finds no GPU.

    CuPy then caches the kernels that it compiles in this package's folder of kernels; if that folder is not private, in
    memory only.  Its own default would be ~/.cupy or, for a user without home folder, a folder below the current one,
    from which it would load what others put there.
    """
    try:
        cupy = optional_import("cupy", "a CUDA device is used through CuPy: install alphago[cuda12] or alphago[cuda13]")
    except ImportError as error:
        raise BackendMissing(str(error)) from error
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise BackendMissing(f"no CUDA device can be used: {error}") from error
    if count == 0:
        raise BackendMissing("no CUDA device can be used: there is none")
    try:
        make_private(Path(CACHE_FOLDER, "cupy"))
        os.environ.setdefault("CUPY_CACHE_DIR", str(Path(CACHE_FOLDER, "cupy")))
    except OSError:  # the folder is not private
        os.environ["CUPY_CACHE_IN_MEMORY"] = "1"
    return cupy


@cache
def load_module(program: Program) -> "RawModule":
    """Return the compiled program as a `cupy.RawModule`; raise the errors that `Backend.load` documents."""
    cupy = import_cupy()
    module = cupy.RawModule(code=program.text, options=OPTIONS, backend="nvrtc")
    try:
        module.compile()
    except (cupy.cuda.runtime.CUDARuntimeError, cupy.cuda.driver.CUDADriverError) as error:
        if "out of memory" in str(error):
            raise MemoryError(f"the kernels do not fit into the memory that is left on the GPU: {error}") from error
        raise BackendMissing(f"no CUDA device can be used: {error}") from error
    except cupy.cuda.compiler.CompileException as error:
        # The first line with an error, or all of the text.
        complaint = next((line for line in str(error).splitlines() if "error" in line), str(error))
        raise BackendMissing(f"NVRTC cannot compile the kernels: {complaint}") from error
    except (RuntimeError, OSError, ImportError) as error:  # CuPy searches for NVRTC at its first compilation
        reason = str(error).strip().partition("\n")[0]
        raise BackendMissing(f"NVRTC, which compiles the kernels, cannot be used: {reason}") from error
    return module


class DeviceKernels:
    """The kernels of a program, launched on CuPy's current device and stream.

    Args:
        module: the compiled program.
        threads: number of threads per block.
    """

    def __init__(self, module: "RawModule", threads: int) -> None:
        self._function = cache(module.get_function)  # by a kernel's name; CuPy makes a new object at each call
        self._threads = threads

    def launch(self, kernel: str, items: int, *arguments: object) -> None:
        """Launch a kernel as `Kernels.launch` does, with a thread for each item if the grid can be so large."""
        if items == 0:
            return  # CUDA refuses an empty grid
        blocks_needed = -(-items // self._threads)  # rounded up
        prepared = tuple(as_argument(value) for value in arguments)
        grid, block = (min(blocks_needed, BLOCKS),), (self._threads,)
        self._function(kernel)(grid, block, prepared)


class Device:
    """The backend for CuPy's current device and stream; methods without a docstring do what those of `Backend` do.

    Args:
        threads: number of threads per block; results do not depend on it.
    """

    name = "cuda"

    def __init__(self, threads: int = LANES) -> None:
        self._cupy = import_cupy()
        self._threads = threads

    def load(self, program: Program) -> DeviceKernels:
        return DeviceKernels(load_module(program), self._threads)

    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> "ndarray":
        """Return a new array of zeros on the GPU; raise MemoryError if its memory is too small."""
        errors = (self._cupy.cuda.memory.OutOfMemoryError, self._cupy.cuda.runtime.CUDARuntimeError)
        try:
            return self._cupy.zeros(shape, dtype)
        except errors as error:
            if "out of memory" not in str(error).lower():  # a CUDARuntimeError has many reasons
                raise
            size = int(np.prod(shape)) * np.dtype(dtype).itemsize
            raise MemoryError(f"{size / 2**20:.0f} MiB do not fit into the memory that is left on the GPU") from error

    def upload(self, values: object, dtype: DTypeLike) -> "ndarray":
        """Return `values` as a C-contiguous CuPy array of `dtype`: `values` itself if it is one already."""
        is_ready = isinstance(values, self._cupy.ndarray) and values.dtype == dtype and values.flags.c_contiguous
        if is_ready:  # the usual case in a search: a call of CuPy would take longer than a kernel's launch
            return values
        with stopwatch.TRANSFER:  # a stopwatch counts this time as that of transfers
            return self._cupy.ascontiguousarray(self._cupy.asarray(values, dtype))

    @stopwatch.TRANSFER
    def download(self, array: "ndarray") -> np.ndarray:
        return self._cupy.asnumpy(array)

    def reachable(self, out: Array) -> "ndarray | None":
        """Return a CuPy array that shares the memory of `out`, such as a torch tensor on the GPU.

        Returns:
            None if `out` lacks CUDA's array interface.
        """
        if isinstance(out, self._cupy.ndarray):
            return out
        return self._cupy.asarray(out) if hasattr(out, "__cuda_array_interface__") else None

    def wait(self) -> None:
        self._cupy.cuda.get_current_stream().synchronize()

    def new_stream(self) -> "Stream":
        """Return a stream that `keep_stream` has taken back, or else a new one.

        A stream is never destroyed, since torch may still ask it about memory that it copied from (see FREE_STREAMS).
        """
        try:
            return FREE_STREAMS.pop()
        except IndexError:  # not checked in advance, since another thread may take the last stream
            return self._cupy.cuda.Stream(non_blocking=True)

    def keep_stream(self, stream: "Stream") -> None:
        """Keep a stream, which is never destroyed, for `new_stream`; see there for the reason."""
        FREE_STREAMS.append(stream)


def as_argument(value: object) -> object:
    """Convert a kernel argument: numbers become NumPy's 64-bit scalars; arrays are unchanged."""
    if isinstance(value, float):
        return np.float64(value)
    return np.int64(value) if isinstance(value, INTEGERS) else value
