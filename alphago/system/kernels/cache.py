"""A cache of compiled kernels in files, from which later processes load them.

Kernels whose file cannot be read or is damaged are compiled again, and if the disk cannot be written, a warning is
given.  numba's own cache raises an exception in these cases, or writes to another folder.
"""

import contextlib
import functools
import hashlib
import os
import pickle
import secrets
import sys
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import numba
from numba.core.base import BaseContext
from numba.core.codegen import Codegen
from numba.core.compiler import CompileResult
from numba.core.event import Event, Listener, register, trigger_event
from numba.core.serialize import dumps
from numba.core.typing.templates import Signature

from alphago.system.kernels.private_folder import make_private

if sys.platform != "win32":
    import fcntl

DIGEST_BYTES = 32  # of SHA-256
LONGEST_WAIT = 20.0  # seconds that a process waits for another process's compiler, which may be suspended
SECONDS_BETWEEN_TRIES = 0.02  # to lock the file


class CompilingTime(Listener):
    """The time in which this process has compiled kernels, or has waited for another process to compile them.

    numba compiles in one thread at a time, and calls `on_start` and `on_end` there.  Any thread may read `spent`.
    """

    def __init__(self) -> None:
        self._depth = 0  # how many compilations go on: while a kernel is compiled, those that it calls are too
        # Seconds and processor time of compilations that are over, and when the present one began: one tuple, since
        # threads read it.
        self._state: tuple[float, float, float | None] = 0.0, 0.0, None

    @property
    def spent(self) -> tuple[float, float]:
        """The seconds that compilations have taken so far, and the compiling threads' seconds on the processor.

        Until a compilation ends, all its seconds count in both: only its own thread can read its processor time.
        """
        seconds, processor, began = self._state
        since = 0.0 if began is None else time.monotonic() - began
        return seconds + since, processor + since

    def on_start(self, event: Event | None = None) -> None:
        """Note that a compilation begins; numba passes the event, which is not needed."""
        if not self._depth:
            seconds, processor = self.spent
            self._state = seconds, processor, time.monotonic()
            self._processor_began = time.thread_time()
        self._depth += 1

    def on_end(self, event: Event | None = None) -> None:
        """Note that a compilation ends; numba passes the event, which is not needed."""
        self._depth -= 1
        if not self._depth:
            # Until now `spent` has counted all seconds of this compilation as processor time.  Now the true processor
            # time is known, and is added to that of the earlier compilations.
            seconds, _ = self.spent
            _, processor_before, _ = self._state
            self._state = seconds, processor_before + time.thread_time() - self._processor_began, None


compiling_time = CompilingTime()
register("numba:compile", compiling_time)


def lock_beside(path: Path) -> BinaryIO | None:
    """Wait until no other process compiles a function into the file `path`; return a lock file, to be closed.

    The lock only saves work: a process that does not get it compiles too.  After LONGEST_WAIT the file is returned
    without its lock.  On Windows, and if no file can be made, None is returned.  The system releases the lock of a
    killed process.
    """
    if sys.platform == "win32":
        return None
    deadline = time.monotonic() + LONGEST_WAIT
    with contextlib.suppress(OSError):
        make_private(path.parent)
        lock = open(f"{path}.lock", "wb")
        while time.monotonic() < deadline:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            time.sleep(SECONDS_BETWEEN_TRIES)
        return lock
    return None


class KernelCache:
    """The cached code of one function, with one file per signature; numba asks for the code before it compiles.

    A file is a pickle of the signature and of numba's compile result, preceded by the pickle's SHA-256 digest.
    The file's name has a digest of everything on which the code depends: versions, processor, signature,
    and the text of the source file.

    Args:
        function: the Python function.
        folder: the folder of all cached kernels, which has to be private, see `make_private`: a pickle can run any
            code.
    """

    def __init__(self, function: Callable[..., object], folder: str) -> None:
        source = Path(function.__code__.co_filename)
        place_digest = hashlib.sha256(str(source.parent.absolute()).encode()).hexdigest()[:16]
        self.folder = folder
        self.cache_path = os.path.join(folder, f"{source.parent.name}_{place_digest}")  # one for each installed copy
        self.function = function
        self.held = threading.local()  # `lock`: of this thread, while it compiles the function
        self.stem = f"{source.stem}.{function.__qualname__}".replace("<", "").replace(">", "")  # <locals>, <lambda>
        status = source.stat()
        self.source_digest = file_digest(source, status.st_mtime_ns, status.st_size)

    def path(self, signature: Signature, codegen: Codegen) -> Path:
        """Return the path of the file for a signature; codegen: numba's object that identifies the processor."""
        code = self.function.__code__
        cells = [cell.cell_contents for cell in self.function.__closure__ or ()]  # values that the code has frozen
        source = (self.source_digest, code.co_firstlineno, code.co_code, dumps(cells))
        depends_on = (numba.__version__, sys.version, *source, str(signature), codegen.magic_tuple())
        return Path(self.cache_path, f"{self.stem}-{hashlib.sha256(repr(depends_on).encode()).hexdigest()[:32]}.kernel")

    def load_overload(self, signature: Signature, target_context: BaseContext) -> CompileResult | None:
        """Return the compiled function from its file; None if this process has to compile the function.

        If there is no file, this process takes the lock, and waits if another process has the lock to compile the
        function.  After that the file may be there, and is read.  In both cases the lock is held until the end of the
        function that `with_unlock` has returned.

        Args:
            target_context: numba's object for code of this processor, which makes the file's code callable.
        """
        target_context.refresh()  # makes functions known that were imported since, which the file's code may call
        path = self.path(signature, target_context.codegen())
        compiled = self.read(path, signature, target_context)
        # A file that exists is damaged here.  It is replaced without the lock, since the lock only saves work.
        if compiled is None and not path.exists():
            with trigger_event("numba:compile"):  # waiting counts as compiling
                self.held.lock = lock_beside(path)
            compiled = self.read(path, signature, target_context)
        return compiled

    def with_unlock(self, compile_signature: Callable[[Signature], object]) -> Callable[[Signature], object]:
        """Return a function that calls numba's `compile`, and then releases the lock that `load_overload` has taken."""

        def compile_and_unlock(signature: Signature) -> object:
            """Compile as numba does, and release the lock, also after an error or an interruption."""
            try:
                return compile_signature(signature)
            finally:
                # Each thread closes its own: another one may compile for other types as soon as this one has.
                if (lock := self.held.__dict__.pop("lock", None)) is not None:
                    with contextlib.suppress(OSError):
                        os.unlink(lock.name)
                    lock.close()

        return compile_and_unlock

    def make_folders(self) -> None:
        """Make the folders of the function's files; raise OSError if they cannot be made, or are not private."""
        for folder in (self.folder, self.cache_path):
            make_private(Path(folder))

    def read(self, path: Path, signature: Signature, target_context: BaseContext) -> CompileResult | None:
        """Return the compiled function in a file; None if the file is missing or damaged, or its folder not private."""
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
        """Write a compiled function atomically, unless its code has dynamic globals (pointers of this process)."""
        path = self.path(signature, result.codegen)
        if not result.library.has_dynamic_globals:
            # numba makes the annotation from source lines.  For a function that `specialise` has made it would look
            # for them in the wrong file, since `specialise` names another file as that function's source.
            without_annotation = result._replace(type_annotation="")
            self.write(path, dumps((signature, without_annotation._reduce())))

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


@functools.cache
def file_digest(path: Path, modified: int, size: int) -> bytes:
    """Return a hash of a file's text, cached until the file changes.

    Args:
        modified, size: the file's time of change in nanoseconds, and its size in bytes.  They only are a part of the
            cache's key: after a change of the file the key is new, and the file is read again.
    """
    return hashlib.sha256(path.read_bytes()).digest()


@functools.cache
def warn_once(text: str) -> None:
    """Warn once of something that does not stop the program; where warnings are errors, print it instead."""
    try:
        warnings.warn(text, RuntimeWarning, stacklevel=3)
    except RuntimeWarning:
        print(text, file=sys.stderr)
