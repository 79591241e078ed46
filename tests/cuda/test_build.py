"""The source as one text, and what makes programs of it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from alphago import ConnectFourEnv, GoEnv, GomokuEnv, OwareEnv, ReversiEnv
from alphago.cuda import device, host, kernel_source
from alphago.cuda.contract import BackendMissing
from alphago.env import go_cuda
from alphago.env.go_cuda import KATAGO_PROGRAM, PROGRAM
from alphago.mcts.device_tree import PROGRAM as TREES
from tests.cuda.boards import PROGRAMS, Twins
from tests.devices import needs_compiler

ROOT = Path(__file__).parents[2]
ALL = {**PROGRAMS, "katago": KATAGO_PROGRAM, "trees": TREES}


def test_a_name_with_two_values_is_refused() -> None:
    one, other = SimpleNamespace(__name__="one", KO=1), SimpleNamespace(__name__="other", KO=2)
    assert kernel_source.constants(one, one) == {"KO": 1}
    with pytest.raises(ValueError, match="KO is 1 in one kernel module and 2 in other"):
        kernel_source.constants(one, other)


def test_code_that_others_may_have_written_is_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a library nor what CuPy has compiled."""
    runtime = SimpleNamespace(getDeviceCount=lambda: 1, CUDARuntimeError=OSError)
    monkeypatch.setattr(device, "optional_import", lambda *_: SimpleNamespace(cuda=SimpleNamespace(runtime=runtime)))
    for module in (host, device):
        monkeypatch.setattr(module, "CACHE_FOLDER", str(tmp_path / "kernels"))
    for name in ("CUPY_CACHE_DIR", "CUPY_CACHE_IN_MEMORY"):
        monkeypatch.setenv(name, "")  # to be restored
        monkeypatch.delenv(name)
    device.import_cupy()
    assert os.environ["CUPY_CACHE_DIR"] == str(tmp_path / "kernels" / "cupy")
    assert "CUPY_CACHE_IN_MEMORY" not in os.environ
    (tmp_path / "kernels").chmod(0o777)
    device.import_cupy()
    assert os.environ["CUPY_CACHE_IN_MEMORY"] == "1"
    with pytest.raises(
        BackendMissing, match=r"cannot be kept in .* may be written by other users, .*: set NUMBA_CACHE_DIR"
    ):
        host.load_library.__wrapped__(PROGRAM)


@needs_compiler
def test_a_text_that_does_not_compile_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(BackendMissing, match=r"cannot compile the kernels: .*error"):
        host.compile_library("int play(", tmp_path / "cache" / "x.so")
    assert list((tmp_path / "cache").iterdir()) == []


def test_no_compiler_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(BackendMissing, match=r"needs a C\+\+ compiler, none was found \(no-such-compiler\)"):
        host.compile_library("", tmp_path / "x.so")


REFUSED = {"if x > 0:\n        y = 1\n    return y": "line 4: y is no variable of this block or of one around it"}
REFUSED |= dict.fromkeys(
    ("return x / 2", "return 0 < x < 2", "return +x", "y, z = x, 1", "other(x)", "for y in range(x): y += 1"),
    "line 2: C.. cannot be made of",
)


@pytest.mark.parametrize("text", REFUSED)
def test_python_that_cpp_reads_otherwise_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "rules.py").write_text(f"def rule(x):\n    {text}\n")
    for name, told in (("rule", f", {REFUSED[text]}"), ("ruler", " has no function ruler")):
        (tmp_path / "a.cu").write_text(f'#include "rules.py:{name}"\n')
        with pytest.raises(ValueError, match=f"^rules.py{told}"):
            kernel_source.expand(tmp_path / "a.cu", set())


@needs_compiler
@pytest.mark.parametrize(("blocks", "threads"), [(1, 1), (2, 3), (5, 4)])
def test_the_grid_does_not_matter(blocks: int, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer threads than boards, and more; with KataGo's planes also more than there is memory for."""
    monkeypatch.setattr(go_cuda, "LADDER_BYTES", 2**18)
    katago = GoEnv(5, "katago")
    for env in (katago, GoEnv(5, planes="turns"), GomokuEnv(5, 4, 5), ReversiEnv(6), ConnectFourEnv(), OwareEnv()):
        Twins(env, 7, host.Host(blocks, threads)).play_on(np.random.default_rng(0), 20, every=5)


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("game", ALL)
def test_the_source_compiles_without_warnings(game: str, tmp_path: Path) -> None:
    host.compile_library(ALL[game].host_text, tmp_path / "strict.so", ("-Wall", "-Wextra", "-Werror"))
    assert (tmp_path / "strict.so").is_file()


@needs_compiler
def test_a_plane_that_only_python_has_does_not_compile(tmp_path: Path) -> None:
    """It would stay as it was in memory."""
    text = kernel_source.Program(PROGRAM.path, {**PROGRAM.numbers, "PLANES": PROGRAM.numbers["PLANES"] + 1}).host_text
    with pytest.raises(BackendMissing, match=r"a new plane of go_planes\.py has to be written here too"):
        host.compile_library(text, tmp_path / "x.so", ("-fsyntax-only",))


CHECKED = """
import numpy as np
from alphago.cuda import host
from alphago.env.connect_four import ConnectFourEnv
from alphago.env.go import GoEnv
from alphago.env.gomoku import GomokuEnv
from alphago.env.oware import OwareEnv
from alphago.env.reversi import ReversiEnv
from tests.mcts.test_device_tree import test_self_play

host.FLAGS += ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
for size in (2, 3, 9, 25):
    for ko, planes in (("simple", "turns"), ("situational", "turns"), ("simple", "katago"), ("situational", "katago")):
        env = GoEnv(size, ko=ko, suicide=True, planes=planes, max_moves=min(400, 3 * size * size))
        batch, slots = env.new_batch(3, device="host"), np.arange(3)
        for _ in range(3):
            batch.playout(slots, slots.copy(), fill_eyes=True)
            batch.legal_mask(slots, np.empty((3, env.action_space), np.bool_))
            batch.planes(slots, np.empty((3, env.planes, size, size), np.uint16))
            batch.pass_alive(slots, np.empty((3, size * size), np.int8))
            batch.ownership(slots, np.empty((3, size * size), np.int8))
            batch.reset(slots, to_play="white")
SMALL = [ReversiEnv(4), ReversiEnv(8), ReversiEnv(12), GomokuEnv(3, 3, 3), GomokuEnv(25), GomokuEnv(5, 4, 33)]
for env in (*SMALL, ConnectFourEnv(), OwareEnv(), OwareEnv(rules="cgzero", planes="one-hot")):
    batch, slots = env.new_batch(3, device="host"), np.arange(3)
    for turn in range(30):
        mask = batch.legal_mask(slots, np.empty((3, env.action_space), np.bool_))
        batch.planes(slots, np.empty((3, env.planes, *env.plane_shape), np.uint16))
        batch.ownership(slots, np.empty((3, env.plane_shape[0] * env.plane_shape[1]), np.int8))
        batch.outcome(slots, np.empty(3, np.float32))
        batch.hash(slots, np.empty(3, np.int64))
        going = np.flatnonzero(mask.any(axis=1))
        batch.play(going, mask[going].argmax(axis=1).astype(np.int32))
    batch.playout(slots, slots.copy())
for rule in ("puct-8", "rounds"):
    test_self_play(ConnectFourEnv(), rule, "host")
print("clean")
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++, whose sanitizers look on")
def test_indices_stay_inside_and_numbers_do_not_overflow(tmp_path: Path) -> None:
    """Games under the sanitizers, in a Python of their own: they end it at the first fault."""
    library = subprocess.run(["g++", "-print-file-name=libasan.so"], capture_output=True, text=True).stdout.strip()
    settings = {"CXX": "g++", "LD_PRELOAD": library, "ASAN_OPTIONS": "detect_leaks=0"}
    environment = {**os.environ, **settings, "PYTHONPATH": str(ROOT)}
    run = subprocess.run([sys.executable, "-c", CHECKED], env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert run.stdout == "clean\n", run.stderr


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no nvcc")
@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["sm_75", "sm_80", "sm_90"])
@pytest.mark.parametrize("game", ALL)
def test_nvcc_compiles_without_warnings_or_spills(architecture: str, game: str, tmp_path: Path) -> None:
    path = tmp_path / "kernels.cu"
    path.write_text(ALL[game].text)
    options = ["-std=c++17", "--fmad=false", "-Werror", "all-warnings", "-Xptxas", "-v", f"-arch={architecture}"]
    run = subprocess.run(
        ["nvcc", *options, "--cubin", str(path), "-o", str(tmp_path / "x")], capture_output=True, text=True
    )
    told = run.stdout + run.stderr
    assert run.returncode == 0, told
    spills = [line for line in told.splitlines() if "spill" in line and " 0 bytes spill stores" not in line]
    assert "spill" in told
    assert spills == []
