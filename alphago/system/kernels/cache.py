"""A cache of compiled kernels in files, from which later processes load them.

Kernels whose file cannot be read or is damaged are compiled again, and if the disk cannot be written, a warning is
given.  numba's own cache raises an exception in these cases, or writes to another folder.
"""

import functools
import hashlib
import os
import pickle
import secrets
import sys
import threading
import time
import warnings
from operator import attrgetter
from pathlib import Path
from types import FunctionType

import numba
from numba.core.base import BaseContext
from numba.core.codegen import Codegen
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.core.typing.templates import Signature

from alphago.system.kernels.private_folder import make_private
from alphago.system.kernels.turns import Turn

DIGEST_BYTES = 32  # of SHA-256

# Whether compiled code has addresses of this process in it, which mean nothing to another one.
uses_addresses = attrgetter("library.has_dynamic_globals")


class CompilingTime:
    """The seconds in which this process has compiled kernels, or has waited for another process to compile them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._in_progress: set[Path] = set()  # kernels are compiled within others, and several threads may wait
        self._before = 0.0  # seconds until `_in_progress` was last empty
        self._began = 0.0  # the time at which it was no longer

    @property
    def seconds(self) -> float:
        with self._lock:
            return self._before + (time.monotonic() - self._began if self._in_progress else 0.0)

    def begin(self, path: Path) -> None:
        """Begin with a kernel; path: its file."""
        with self._lock:
            if not self._in_progress:
                self._began = time.monotonic()
            self._in_progress.add(path)

    def end(self, path: Path) -> None:
        """End with a kernel, if it was begun."""
        with self._lock:
            was_in_progress = bool(self._in_progress)
            self._in_progress.discard(path)
            if was_in_progress and not self._in_progress:
                self._before += time.monotonic() - self._began


compiling_time = CompilingTime()


class KernelCache:
    """The cached code of one function, with one file per signature; numba asks for the code before it compiles.

    A file is a pickle of the signature and of numba's compile result, preceded by the pickle's SHA-256 digest.
    The file's name has a digest of everything on which the code depends: versions, processor, signature,
    and the text of the source file.

    function: the Python function.  folder: the folder of all cached kernels, which has to be private, see
        `make_private`: a pickle can run any code.
    """

    def __init__(self, function: FunctionType, folder: str) -> None:
        source = Path(function.__code__.co_filename)
        place = hashlib.sha256(str(source.parent.absolute()).encode()).hexdigest()[:16]
        self.folder = folder
        self.cache_path = os.path.join(folder, f"{source.parent.name}_{place}")  # one for each installed copy
        self.function = function
        self.stem = f"{source.stem}.{function.__qualname__}".replace("<", "").replace(">", "")  # <locals>, <lambda>
        state = source.stat()
        self.stamp = file_digest(source, state.st_mtime_ns, state.st_size)
        self.turns: dict[Path, Turn] = {}  # by file, of what this process compiles now while others wait for the file

    def path(self, signature: Signature, codegen: Codegen) -> Path:
        """Return the path of the file for a signature; codegen: numba's object that identifies the processor."""
        code = self.function.__code__
        cells = [cell.cell_contents for cell in self.function.__closure__ or ()]  # values that the code has frozen
        source = (self.stamp, code.co_firstlineno, code.co_code, dumps(cells))
        depends = (numba.__version__, sys.version, *source, str(signature), codegen.magic_tuple())
        return Path(self.cache_path, f"{self.stem}-{hashlib.sha256(repr(depends).encode()).hexdigest()[:32]}.kernel")

    def load_overload(self, signature: Signature, target_context: BaseContext) -> CompileResult | None:
        """Return the compiled function from its file; None if this process has to compile the function.

        If there is no file, and another process is compiling the function, wait for that process and read its file.
        """
        target_context.refresh()
        path = self.path(signature, target_context.codegen())
        found = self.read(path, signature, target_context)
        if found is not None:
            return found
        compiling_time.begin(path)
        if not path.exists() and path not in self.turns:
            turn = Turn(path)  # a damaged file is compiled again without a turn
            if turn.take():  # waits for another process that has the turn
                self.turns[path] = turn
            else:
                found = self.read(path, signature, target_context)
                if found is not None:
                    compiling_time.end(path)
        return found

    def make_folders(self) -> None:
        """Make the folders of the function's files; raise OSError if they cannot be made, or are not private."""
        for folder in (self.folder, self.cache_path):
            make_private(Path(folder))

    def read(self, path: Path, signature: Signature, target_context: BaseContext) -> CompileResult | None:
        """Return the compiled function in a file; None if it is not there, damaged, or not private."""
        try:
            self.make_folders()
            data = path.read_bytes()
            digest, pickled = data[:DIGEST_BYTES], data[DIGEST_BYTES:]
            if hashlib.sha256(pickled).digest() != digest:
                return None
            saved_signature, reduced = pickle.loads(pickled)  # from `save_overload`
            if saved_signature != signature:
                return None
            return CompileResult._rebuild(target_context, *reduced)
        except Exception:  # the file cannot be read, or this version of numba cannot load it
            return None

    def save_overload(self, signature: Signature, result: CompileResult) -> None:
        """Write a compiled function atomically, unless its code holds addresses of this process.

        Ends the turn that `load_overload` took, if it took one.
        """
        path = self.path(signature, result.codegen)
        try:
            if not uses_addresses(result):
                # numba makes the annotation from source lines.  It would look for those of a specialised function in
                # the wrong file, since `specialise` names the kernel's file as that function's source.
                without_annotation = result._replace(type_annotation="")
                self.write(path, dumps((signature, without_annotation._reduce())))
        finally:
            compiling_time.end(path)
            turn = self.turns.pop(path, None)
            if turn is not None:
                turn.end()

    def write(self, path: Path, data: bytes) -> None:
        """Write a file with its digest; warn once if it cannot be written."""
        part = path.with_name(f"{path.name}.{secrets.token_hex(8)}.part")
        try:
            self.make_folders()
            try:
                part.write_bytes(hashlib.sha256(data).digest() + data)
                os.replace(part, path)
            finally:
                part.unlink(missing_ok=True)
        except OSError as error:
            warn_once(
                f"compiled kernels cannot be kept in {self.folder} ({error.strerror}): each process will compile them "
                "anew, unless NUMBA_CACHE_DIR names a folder of your own"
            )

    def flush(self) -> None:
        """Remove all files of the function."""
        for path in Path(self.cache_path).glob(f"{self.stem}-*.kernel"):
            path.unlink(missing_ok=True)


@functools.cache
def file_digest(path: Path, modified: int, size: int) -> bytes:
    """Return a hash of a file's text, cached until the file changes.

    modified, size: the file's time of change and size, by which a change is noticed.
    """
    return hashlib.sha256(path.read_bytes()).digest()


@functools.cache
def warn_once(text: str) -> None:
    """Warn of something that does not stop the program, once; also where the caller turns warnings into errors."""
    try:
        warnings.warn(text, RuntimeWarning, stacklevel=3)
    except RuntimeWarning:
        print(text, file=sys.stderr)
