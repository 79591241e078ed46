"""The host build: a C++ compiler makes a library of the CUDA source, so that it runs, and is tested, without a GPU.

Kernels find in `kernels/host.h` what CUDA would give them. Each launch calls a kernel once per thread of a small grid,
one after the other.
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

from alphago.cuda.backend import BackendMissing
from alphago.cuda.source import host_program
from alphago.system.kernels.jit import CACHE_FOLDER

COMPILERS = ("c++", "g++", "clang++")
# A product and a sum stay two roundings, as in numba's kernels.
FLAGS = ("-std=c++17", "-O2", "-fPIC", "-shared", "-ffp-contract=off")


def find_compiler() -> str | None:
    """The C++ compiler: the one that CXX names, or the first of COMPILERS there is."""
    named = os.environ.get("CXX")
    return next((path for path in map(shutil.which, [named] if named else COMPILERS) if path), None)


def compile_library(text: str, path: Path, flags: Sequence[str] = ()) -> None:
    """Makes a shared library of a C++ text; `path` is complete or not there.

    BackendMissing without a compiler, or with the first line that it complains about.
    """
    compiler = find_compiler()
    if compiler is None:
        wanted = os.environ.get("CXX") or ", ".join(COMPILERS)
        raise BackendMissing(f"the host build of the kernels needs a C++ compiler, none was found ({wanted})")
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        made = Path(folder) / "library.so"
        command = [compiler, *FLAGS, *flags, "-x", "c++", "-", "-o", str(made)]
        run = subprocess.run(command, input=text, capture_output=True, text=True)
        if run.returncode != 0:
            complaint = next((line for line in run.stderr.splitlines() if "error" in line), run.stderr.strip())
            raise BackendMissing(f"{compiler} cannot compile the kernels: {complaint}")
        os.replace(made, path)


@cache
def load_library() -> ctypes.CDLL:
    """The kernels' library from the kernel cache, compiled if need be; its name is a digest of text and flags."""
    text = host_program()
    digest = hashlib.sha256("\n".join([*FLAGS, text]).encode()).hexdigest()
    path = Path(CACHE_FOLDER) / f"cuda-{digest[:16]}.so"
    if not path.is_file():
        compile_library(text, path)
    return ctypes.CDLL(str(path))


class Host:
    """The back end on the CPU. Arrays are NumPy's. Different threads may launch kernels at the same time.

    blocks, threads: the grid of every launch; results do not depend on it.
    """

    name = "host"

    def __init__(self, blocks: int = 1, threads: int = 1) -> None:
        self._library = load_library()
        self._blocks, self._threads = blocks, threads

    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray:
        return np.zeros(shape, dtype)

    def upload(self, values: Any, dtype: DTypeLike) -> np.ndarray:
        return np.ascontiguousarray(values, dtype)

    def download(self, array: np.ndarray) -> np.ndarray:
        return array

    def reachable(self, out: Any) -> np.ndarray | None:
        return out if isinstance(out, np.ndarray) else None

    def new_stream(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    def keep_stream(self, stream: contextlib.AbstractContextManager[None]) -> None:
        """Nothing is left of it."""

    def launch(self, kernel: str, items: int, *arguments: Any) -> None:
        function = self._library[kernel]
        function.restype = None
        prepared = [as_argument(value) for value in arguments]
        for block in range(self._blocks):
            for thread in range(self._threads):
                self._library.stand_at(self._blocks, self._threads, block, thread)
                function(*prepared)


def as_argument(value: Any) -> Any:
    """An array's address, or a number as C's long long or double."""
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    return ctypes.c_double(value) if isinstance(value, float) else ctypes.c_longlong(int(value))
