"""Processes that start together compile each kernel once; a turn that ends lets the next one go on."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from alphago.system.kernels.turns import Turn

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")

PROGRAM = """
import sys
import numpy as np
sys.path.insert(0, sys.argv[1])
from own_kernels import outer
out = np.zeros(1, np.int64)
print("ready", flush=True)
sys.stdin.readline()
outer(np.array([20]), out)
assert out[0] == 42
print(sum(outer.stats.cache_misses.values()))
"""
KERNELS = """
from alphago.system.kernels.jit import kernel, load, part, store

@part
def inner(x):
    return x + 1

@kernel
def outer(row, out):
    store(out, 0, 2 * inner(load(row, 0)))
"""


def test_two_processes_compile_it_once(tmp_path: Path) -> None:
    (tmp_path / "own_kernels.py").write_text(KERNELS)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command, pipes = [sys.executable, "-c", PROGRAM, str(tmp_path)], dict.fromkeys(("stdin", "stdout"), subprocess.PIPE)
    processes = [subprocess.Popen(command, env=environment, text=True, **pipes) for _ in range(2)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    outputs = [process.communicate(timeout=300)[0] for process in processes]
    assert sorted(outputs) == ["0\n", "1\n"]
    assert {path.suffix for path in (tmp_path / "cache").rglob("*") if path.is_file()} == {".kernel"}


@pytest.mark.parametrize("compiles", [True, False])
def test_the_second_waits_for_the_first(tmp_path: Path, compiles: bool) -> None:
    path = tmp_path / "new" / "a.kernel"
    first, second, took = Turn(path), Turn(path), list[bool]()
    assert first.take()
    waits = threading.Thread(target=lambda: took.append(second.take()))
    waits.start()
    waits.join(0.2)
    assert not took
    if compiles:
        path.write_bytes(b"code")
    first.end()
    waits.join(60)
    assert took == [not compiles]
    second.end()
    assert [one.name for one in path.parent.iterdir()] == (["a.kernel"] if compiles else [])


def test_where_no_lock_can_be_made_everybody_compiles(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    turn = Turn(tmp_path / "file" / "a.kernel")
    assert turn.take()
    turn.end()
