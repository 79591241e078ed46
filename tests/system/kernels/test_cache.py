"""Compiled code on disk is never trusted when it is damaged, and never needed.

Processes that start together compile each kernel once; a turn that ends lets the next one go on.
"""

import hashlib
import inspect
import os
import pickle
import runpy
import subprocess
import sys
import threading
import tokenize
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.compiler_lock import global_compiler_lock

from alphago.system.kernels import jit
from alphago.system.kernels.cache import compiling_time, lock_beside, warn_once

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")

SOURCE = """
from alphago.system.kernels.jit import kernel, load, part, store

@part
def times(x):
    return {factor} * x

@kernel
def double(row):
    store(row, 0, times(load(row, 0)))
"""


@pytest.fixture
def double(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Run a kernel as a new process would: return the kernel and what it makes of 21."""

    def run(factor: int = 2, folder: str = "cache") -> tuple[Any, int]:
        monkeypatch.setattr(jit, "CACHE_FOLDER", str(tmp_path / folder))
        (tmp_path / "game.py").write_text(SOURCE.format(factor=factor))
        function = runpy.run_path(str(tmp_path / "game.py"))["double"]
        row = np.array([21], np.int32)
        function(row)
        return function, int(row[0])

    return run


def loaded(function: Any) -> bool:
    """Return whether the kernel came from the cache."""
    hits, misses = (sum(count.values()) for count in (function.stats.cache_hits, function.stats.cache_misses))
    assert hits + misses == 1
    return bool(hits)


def test_a_second_process_loads(double: Callable[..., Any], tmp_path: Path) -> None:
    """An unchanged text, that is."""
    assert [loaded(double()[0]) for _ in range(3)] == [False, True, True]
    function, result = double(3)
    assert (loaded(function), result) == (False, 63)
    assert {path.suffix for path in (tmp_path / "cache").rglob("*") if path.is_file()} == {".kernel"}


def test_the_time_of_compiling_is_known(double: Callable[..., Any]) -> None:
    """Loading is none of it, and it is over when the kernel is called."""
    before = compiling_time.spent
    double()
    after = compiling_time.spent
    assert after > before
    assert loaded(double()[0])
    assert compiling_time.spent == after


@pytest.mark.parametrize("place", ["halved", "emptied", 0, 40, -1])
def test_a_damaged_file_is_compiled_anew(double: Callable[..., Any], tmp_path: Path, place: str | int) -> None:
    double()
    (path,) = (tmp_path / "cache").rglob("game.double-*.kernel")
    data = bytearray(path.read_bytes())
    if isinstance(place, int):
        data[place] ^= 16
    path.write_bytes({"halved": data[: len(data) // 2], "emptied": b""}.get(str(place), data))
    function, result = double()
    assert (loaded(function), result) == (False, 42)
    assert loaded(double()[0]), "it was not repaired"


def test_the_source_is_not_read_again(double: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """That of a specialised kernel is in another file, where Python 3.13 may find an open string at its line."""

    def wrong(*_: object) -> None:
        raise tokenize.TokenError

    monkeypatch.setattr(inspect, "getsourcelines", wrong)
    assert [loaded(double()[0]) for _ in range(2)] == [False, True]


def test_where_nothing_can_be_written(double: Callable[..., Any], tmp_path: Path) -> None:
    """One warning names the folder, and nothing is written elsewhere, such as beside the source."""
    (tmp_path / "file").write_text("in the way")
    before = sorted(tmp_path.iterdir())
    with pytest.warns(RuntimeWarning, match=r"compiled kernels cannot be kept in .*file"):
        assert double(folder="file")[1] == 42
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert double(folder="file")[1] == 42
    assert sorted(tmp_path.iterdir()) == sorted([*before, tmp_path / "game.py"])


def test_a_kernel_without_a_file() -> None:
    """Typed in a notebook: it is compiled, and not kept."""
    names: dict[str, Any] = {}
    exec(SOURCE.format(factor=2), names)
    row = np.array([21], np.int32)
    names["double"](row)
    assert (row[0], names["double"].stats.cache_path) == (42, None)


class Evil:
    """A pickle of it makes a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.folder),)


@pytest.mark.skipif(sys.platform == "win32", reason="modes are of POSIX")
@pytest.mark.parametrize("place", ["cache", "cache/*", ""])
def test_what_others_may_have_written_is_not_loaded(double: Callable[..., Any], tmp_path: Path, place: str) -> None:
    """The first run shows that a planted pickle would run: whoever may write to the folder could be its author."""
    double()
    (path,) = (tmp_path / "cache").rglob("game.double-*.kernel")
    (folder,) = tmp_path.glob(place) if place else [tmp_path]

    def plant(name: str) -> Path:
        pickled = pickle.dumps(Evil(tmp_path / name))
        path.write_bytes(hashlib.sha256(pickled).digest() + pickled)
        return tmp_path / name

    ran = plant("ran")
    double()
    assert ran.exists()
    ran = plant("ran again")
    folder.chmod(0o777)
    warn_once.cache_clear()
    with pytest.warns(RuntimeWarning, match=f"{folder} may be written by other users, who could put code there"):
        assert double()[1] == 42
    assert not ran.exists()
    assert not list(path.parent.glob("*.lock"))


needs_locks = pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")
PROGRAM = """
import sys
import numpy as np
sys.path.insert(0, sys.argv[1])
from game import double
row = np.array([21], np.int32)
print("ready", flush=True)
sys.stdin.readline()
double(row)
assert row[0] == 42
print(sum(double.stats.cache_misses.values()))
"""


@pytest.mark.slow
@needs_locks
def test_two_processes_compile_it_once(tmp_path: Path) -> None:
    (tmp_path / "game.py").write_text(SOURCE.format(factor=2))
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command, pipes = [sys.executable, "-c", PROGRAM, str(tmp_path)], dict.fromkeys(("stdin", "stdout"), subprocess.PIPE)
    processes: list[Any] = [subprocess.Popen(command, env=environment, text=True, **pipes) for _ in range(2)]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    outputs = [process.communicate(timeout=300)[0] for process in processes]
    assert sorted(outputs) == ["0\n", "1\n"]
    assert {path.suffix for path in (tmp_path / "cache").rglob("*") if path.is_file()} == {".kernel"}


@needs_locks
def test_the_second_waits_for_the_first(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.kernel"
    took = list[Any]()
    first = lock_beside(path)
    waits = threading.Thread(target=lambda: took.append(lock_beside(path)))
    waits.start()
    waits.join(0.2)
    assert first is not None
    assert not took
    first.close()
    waits.join(60)
    (second,) = took
    second.close()


@needs_locks
def test_each_thread_closes_its_own_lock(double: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads compile one kernel for different types; neither drops the other's lock file while it is open."""
    function, _ = double()
    locks, both_have_one = list[Any](), threading.Barrier(2)
    monkeypatch.setattr(
        "alphago.system.kernels.cache.lock_beside", lambda path: locks.append(lock_beside(path)) or locks[-1]
    )

    def load(signature: Any) -> None:
        with global_compiler_lock:  # numba holds it when it asks
            function._cache.load_overload(signature, function.targetdescr.target_context)
        both_have_one.wait(60)

    signatures = [numba.void(dtype[::1]) for dtype in (numba.int8, numba.int16)]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(function._cache.with_unlock(load), signatures))
    assert [lock.closed for lock in locks] == [True, True]


@needs_locks
@pytest.mark.parametrize(
    ("where", "error"),
    [
        ("alphago.system.kernels.cache.lock_beside", KeyboardInterrupt),
        ("numba.core.dispatcher._FunctionCompiler.compile", KeyboardInterrupt),
        ("numba.core.dispatcher._FunctionCompiler.compile", ValueError),
    ],
)
def test_what_is_not_compiled_to_its_end_keeps_nobody_waiting(
    double: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, error: type[BaseException]
) -> None:
    """Nor does the time go on."""

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(where, fail)
    with pytest.raises(error):
        double()
    assert not list((tmp_path / "cache").rglob("*.lock"))
    assert compiling_time.spent == compiling_time.spent


@needs_locks
def test_where_no_lock_can_be_made_everybody_compiles(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert lock_beside(tmp_path / "file" / "a.kernel") is None
