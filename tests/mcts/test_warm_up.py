"""The tree's kernels, compiled by another process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from alphago.system.cores import available_cores
from tests.arena.test_engine import is_running

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(available_cores() < 2, reason="with one core there is no process beside"),
]
BEGIN = """
import os, sys
from alphago.mcts.warm_up import is_compiled, warm_up
from alphago.mcts.kernels import gumbel, puct
python = sys.executable
if hasattr(os, "sched_setaffinity"):
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    assert warm_up() is None, "it takes the only core"
    os.sched_setaffinity(0, cores)
    warm_up.cache_clear()
sys.executable = "/nowhere/python"
assert warm_up() is None, "a process could not be started"
sys.executable = python
warm_up.cache_clear()
begun = warm_up("connect-four")
assert begun is warm_up("connect-four"), "it is begun twice"
"""
AWAIT = """
assert begun.wait() == 0
assert is_compiled(gumbel.select) and is_compiled(puct.select)
"""
# The verbs of self-play and of players, by both rules.
SEARCH = """
from alphago import ConnectFourEnv, MCTSPlayer, selfplay
from alphago.mcts.evaluator import UniformEvaluator
from alphago.env.kernels import connect_four
from alphago.mcts.kernels import gumbel, nodes, puct, subtrees, tree_reading, waves
from alphago.mcts.warm_up import warm_up
kernels = (
    puct.select, puct.mix_noise, gumbel.select, gumbel.add_candidates, gumbel.improved_policy, nodes.read_children,
    waves.expand, subtrees.clear_all, subtrees.restart_all, subtrees.advance, tree_reading.add_up,
    tree_reading.write_lines, connect_four.planes_batch,
)
for rule in ("gumbel", "puct"):
    selfplay(ConnectFourEnv(), UniformEvaluator(), 8, 2, search=rule, seed=0)
    player = MCTSPlayer(ConnectFourEnv(), UniformEvaluator(), 8, settings=rule)
    player.suggest_move()
    player.analysis()
player.position.planes()
assert warm_up() is None, "it is compiled, and begun all the same"
"""
NONE_ANEW = """
for kernel in kernels:
    stats = kernel.stats
    assert (len(stats.cache_hits), len(stats.cache_misses)) == (1, 0), f"{kernel} is compiled again"
"""


def run(program: str, cache: Path) -> subprocess.CompletedProcess[str]:
    """Run a program with a cache of kernels of its own."""
    env = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-W", "always", "-c", program]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done


def test_searches_find_what_was_compiled(tmp_path: Path) -> None:
    """By another process: this one compiles the game's own kernels alone."""
    run(BEGIN + AWAIT, tmp_path)
    run(SEARCH + NONE_ANEW, tmp_path)


def test_it_ends_with_the_process(tmp_path: Path) -> None:
    """Nothing is left behind or printed, whether it is finished or not.

    None is begun with one core, where no process is to be had, or twice.
    """
    done = run(f"{BEGIN}print(begun.pid)", tmp_path)
    assert "subprocess" not in done.stderr, done.stderr
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)


def test_it_ends_if_the_process_is_killed(tmp_path: Path) -> None:
    code = "import time; from alphago.mcts.warm_up import warm_up; print(warm_up().pid, flush=True); time.sleep(600)"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment, text=True) as parent:
        compiler = int(parent.stdout.readline())
        parent.kill()
    assert not is_running(compiler)
