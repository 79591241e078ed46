"""Compiled kernels can never be stale, and have a checked twin in plain Python."""

import os
import pathlib
import shutil
import subprocess
import sys

import numba
import numpy as np
import pytest
from numba.core import types

import alphago.system.kernels.jit as jit
from alphago import ConnectFourEnv, GoEnv, GomokuEnv, MCTSPlayer, ReversiEnv
from alphago.env.kernels import connect_four, go, go_row, go_score, gomoku, playouts, reversi
from alphago.mcts.evaluator import HashEvaluator

PACKAGE = pathlib.Path(jit.__file__).parents[2]

WITHOUT_JIT = """
import numba
import numpy as np
from alphago.env.check import check_game
from alphago.env.go import GoEnv
from alphago.system.kernels import jit
from tests.env.test_kernel_cache import answers
from tests.naive.go import naive_go

assert numba.config.DISABLE_JIT
for planes in (None, 17):
    env = GoEnv(5, max_moves=15, planes=planes)
    check_game(env, naive_go(5, max_moves=15, planes=planes), games=2)
print(*answers())

words = np.zeros(3, np.int32)
jit.store(words, 2, 2**31)
assert words[2] == -(2**31)
for wrong in (lambda: jit.load(words, 3), lambda: jit.load(words, -1), lambda: jit.store(words, -1, 0)):
    try:
        wrong()
    except IndexError:
        continue
    raise SystemExit("an index outside the array was not noticed")
"""


def test_the_cache_is_named_after_the_kernels(tmp_path: pathlib.Path) -> None:
    """A changed or a new kernel has another one; no other new file has."""
    package = shutil.copytree(PACKAGE, tmp_path / "alphago", ignore=shutil.ignore_patterns("__pycache__"))
    assert jit.cache_folder(package) == jit.CACHE_FOLDER
    kernels = ["env/kernels/go_row.py", "system/kernels/jit.py", "mcts/kernels/waves.py", "arena/kernels/alphabeta.py"]
    for name in (*kernels, "env/kernels/chess.py", "search/kernels.py", "env/chess.py"):
        file = package / name
        before = file.read_bytes() if file.exists() else None
        file.parent.mkdir(exist_ok=True)
        with file.open("a") as source:
            source.write("# changed\n")
        assert (jit.cache_folder(package) == jit.CACHE_FOLDER) == (name == "env/chess.py")
        file.unlink() if before is None else file.write_bytes(before)


def test_the_loops_of_each_game_are_kept_apart() -> None:
    """They have one text (`loops_over`), and the cache keeps each with its game's file."""
    for game, env in ((gomoku, GomokuEnv(5)), (reversi, ReversiEnv())):
        assert env.position().legal_mask.any()
        if hasattr(game.legal_mask_batch, "stats"):  # compiled
            kept = pathlib.Path(game.legal_mask_batch.stats.cache_path)
            assert list(kept.glob(f"{game.__name__.rpartition('.')[2]}.legal_mask_batch-*.kernel"))


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_a_constant_is_not_compiled_apart() -> None:
    row = numba.typeof(np.zeros(3, np.int32))
    for index in (types.literal(27), types.int64, types.literal(10)):
        go_row.load_long.get_call_template((row, index), {})
    assert go_row.load_long.signatures == [(row, types.int64)]


def test_a_part_of_kernels_is_refused_to_python() -> None:
    """Before and after other kernels had it compiled; numba by itself would jump to an entry that is not there."""
    assert ConnectFourEnv().position().play(3).legal_mask.all()
    row, out = ConnectFourEnv().new_batch(1).rows[0], np.empty(7, np.bool_)
    for name in ("legal_mask", "play"):
        with pytest.raises(TypeError, match=f"{name} is a part of kernels, which Python cannot call"):
            getattr(connect_four, name)(row, out)


def answers() -> list[object]:
    """The hash of a position, the length and score of a random game, and the results of a search."""
    row = GoEnv(5).position(black="C3").batch.rows[0]
    rules = [go.position_hash(row), playouts.playout(row, np.array([5]), False), go_score.score(row)]
    player = MCTSPlayer(GoEnv(3), HashEvaluator(), leaves=1)
    player.tree_search(40)
    return [*rules, *player.visits(), player.root_value]


def test_without_jit_the_rules_are_the_same_and_indices_are_checked() -> None:
    root = PACKAGE.parent
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(root)}
    command = [sys.executable, "-c", WITHOUT_JIT]
    run = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == [str(value) for value in answers()]
