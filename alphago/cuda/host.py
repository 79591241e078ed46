"""The backend "host": the CUDA source, compiled for the CPU by a C++ compiler, to test kernels without a GPU.

`kernels/host.h` defines CUDA's keywords and built-in variables for a C++ compiler.  A launch calls the kernel
sequentially for each thread of a small grid.
"""

import contextlib
import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from alphago.cuda.contract import Array, BackendMissing, KernelArray
from alphago.cuda.kernel_source import Program
from alphago.system.kernels.jit import CACHE_FOLDER
from alphago.system.kernels.private_folder import make_private

COMPILERS = ("c++", "g++", "clang++")
# Without fused multiply-add: a product and a sum are rounded separately, as in numba's kernels.
FLAGS = ("-std=c++17", "-O2", "-fPIC", "-shared", "-ffp-contract=off")


def find_compiler() -> str | None:
    """Return the path of the C++ compiler; None if it is not installed.

    It is the compiler that the environment variable CXX names, or else the first of COMPILERS that is installed.
    """
    named = os.environ.get("CXX")
    paths = map(shutil.which, [named] if named else COMPILERS)  # None for each that is not installed
    return next(filter(None, paths), None)


def compile_library(text: str, path: Path, flags: Sequence[str] = ()) -> None:
    """Compile C++ source to a shared library.

    Args:
        text: the source.
        path: the file of the library, written atomically.
        flags: further flags of the compiler.

    Raises:
        BackendMissing: if there is no compiler or it fails; the message then has the compiler's first error.
    """
    compiler = find_compiler()
    if compiler is None:
        looked_for = os.environ.get("CXX") or ", ".join(COMPILERS)
        raise BackendMissing(f"the host build of the kernels needs a C++ compiler, none was found ({looked_for})")
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        library = Path(folder) / "library.so"
        command = [compiler, *FLAGS, *flags, "-x", "c++", "-", "-o", str(library)]
        run = subprocess.run(command, input=text, capture_output=True, text=True)
        if run.returncode != 0:
            complaint = next((line for line in run.stderr.splitlines() if "error" in line), run.stderr.strip())
            raise BackendMissing(f"{compiler} cannot compile the kernels: {complaint}")
        os.replace(library, path)


@cache
def load_library(program: Program) -> ctypes.CDLL:
    """Return the shared library of a program, compiled on first use and cached on disk.

    The file's name contains a hash of source text and compiler flags.

    Raises:
        BackendMissing: if it cannot be compiled, or if the folder cannot be made or is not private: from such a folder,
            a library that another user wrote would be run.
    """
    text = program.host_text
    digest = hashlib.sha256("\n".join([*FLAGS, text]).encode()).hexdigest()
    path = Path(CACHE_FOLDER) / f"cuda-{digest[:16]}.so"
    try:
        make_private(path.parent)
    except OSError as error:
        raise BackendMissing(
            f"the host build of the kernels cannot be kept in {CACHE_FOLDER} ({error.strerror}): set NUMBA_CACHE_DIR "
            "to a folder of your own"
        ) from error
    if not path.is_file():
        compile_library(text, path)
    return ctypes.CDLL(str(path))


class HostKernels:
    """The kernels of a program, run on the CPU; several threads may launch them at the same time.

    Args:
        library: the compiled program.
        blocks: the number of blocks of a launch.
        threads: the number of threads per block.
    """

    def __init__(self, library: ctypes.CDLL, blocks: int, threads: int) -> None:
        self._library = library
        self._blocks, self._threads = blocks, threads

    def launch(self, kernel: str, items: int, *arguments: object) -> None:
        """Run a kernel for each thread of the grid, one after another.

        Args:
            items: not used, since the grid has a fixed size, and kernels get the number of items with their arguments.
        """
        function = self._library[kernel]
        function.restype = None
        prepared = [as_argument(value) for value in arguments]
        for block in range(self._blocks):
            for thread in range(self._threads):
                # Sets gridDim, blockDim, blockIdx and threadIdx, from which the kernel finds its items.
                self._library.set_thread(self._blocks, self._threads, block, thread)
                function(*prepared)


class Host:
    """The backend for the CPU; methods without a docstring do what those of `Backend` do.

    Args:
        blocks: the number of blocks of a launch.
        threads: the number of threads per block.  Results depend on neither.
    """

    name = "host"

    def __init__(self, blocks: int = 1, threads: int = 1) -> None:
        self._blocks, self._threads = blocks, threads

    def load(self, program: Program) -> HostKernels:
        return HostKernels(load_library(program), self._blocks, self._threads)

    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray:
        return np.zeros(shape, dtype)

    def upload(self, values: object, dtype: DTypeLike) -> np.ndarray:
        return np.ascontiguousarray(values, dtype)

    def download(self, array: KernelArray) -> np.ndarray:
        return np.asarray(array)

    def reachable(self, out: Array) -> np.ndarray | None:
        """Return `out` itself if it is a NumPy array, which kernels here can access; else None."""
        return out if isinstance(out, np.ndarray) else None

    def wait(self) -> None:
        """Do nothing, since kernels run when they are called."""

    def new_stream(self) -> contextlib.AbstractContextManager[None]:
        """Return a stand-in for a stream, which does nothing in a `with` statement."""
        return contextlib.nullcontext()

    def keep_stream(self, stream: contextlib.AbstractContextManager[object]) -> None:
        """Do nothing, since the CPU has no streams."""


def as_argument(value: Any) -> object:
    """Convert a kernel argument to ctypes: an array to its address, a number to a long long or a double."""
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    return ctypes.c_double(value) if isinstance(value, float) else ctypes.c_longlong(int(value))
