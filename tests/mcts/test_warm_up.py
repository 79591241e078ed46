"""The tree's kernels, compiled by another process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from alphago.mcts import compile
from alphago.mcts import warm_up as ahead
from alphago.mcts.kernels import gumbel, subtrees, waves
from alphago.system import cores as system_cores
from alphago.system.cores import available_cores

AHEAD = """
from alphago.mcts.warm_up import compile_ahead, is_compiled
from alphago.mcts.kernels import waves
begun = compile_ahead()
assert begun is compile_ahead(), "it is begun twice"
assert begun.wait() == 0
assert is_compiled(waves.select)
"""

SEARCH = """
import numpy as np
from alphago import ConnectFourEnv, SearchSettings
from alphago.mcts.warm_up import compile_ahead
from alphago.mcts.evaluator import UniformEvaluator
from alphago.mcts.kernels import gumbel, subtrees, waves
from alphago.mcts.search import Search
assert compile_ahead() is None, "it is compiled, and begun all the same"
search = Search(ConnectFourEnv(), UniformEvaluator(), 2, SearchSettings(gumbel=True))
games = np.arange(2)
search.run(np.full(2, 8, np.int32))
search.improved(games)
search.restart(games)
search.advance(games, np.zeros(2, np.int32))
kernels = waves.select, waves.expand, gumbel.improved_policy, subtrees.restart_all, subtrees.advance
for kernel in kernels:
    stats = kernel.stats
    assert (len(stats.cache_hits), len(stats.cache_misses)) == (1, 0), f"{kernel} is compiled again"
"""


def run(program: str, cache: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "NUMBA_CACHE_DIR": str(cache)}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert told.returncode == 0, told.stderr


@pytest.mark.skipif(available_cores() < 2, reason="with one core nothing is compiled ahead")
def test_a_game_finds_what_was_compiled_ahead(tmp_path: Path) -> None:
    """The very versions that a game's search asks for, in a process that compiles the game's own kernels alone."""
    run(AHEAD, tmp_path)
    run(SEARCH, tmp_path)


@pytest.mark.skipif(available_cores() < 2, reason="with one core nothing is compiled ahead")
def test_it_ends_with_the_process(tmp_path: Path) -> None:
    """Nothing is left behind or told, whether it is finished or not."""
    program = "from alphago.mcts.warm_up import compile_ahead; print(compile_ahead().pid)"
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", program], env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "subprocess" not in done.stderr, done.stderr
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)


def test_what_is_compiled_is_used() -> None:
    """The same in this process, whose coverage can be seen."""
    compile.compile_tree()
    assert all(kernel.signatures for kernel in (waves.select, gumbel.improved_policy, subtrees.advance))


def test_not_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", lambda *a, **k: pytest.fail("it was begun"))
    for cores, compiled in ((1, False), (2, True), (1, True)):
        monkeypatch.setattr(system_cores, "available_cores", lambda cores=cores: cores)
        monkeypatch.setattr(ahead, "is_compiled", lambda kernel, compiled=compiled: compiled)
        assert ahead.compile_ahead.__wrapped__() is None


def test_no_process_to_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise BlockingIOError("too many processes")

    monkeypatch.setattr(system_cores, "available_cores", lambda: 2)
    monkeypatch.setattr(ahead, "is_compiled", lambda kernel: False)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    assert ahead.compile_ahead.__wrapped__() is None
