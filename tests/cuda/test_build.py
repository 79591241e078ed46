"""The source as one text, and what makes programs of it."""

import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from alphago.cuda import host, source
from alphago.cuda.backend import BackendMissing
from alphago.env.go import GoEnv
from alphago.env.kernels import go, go_features
from alphago.env.kernels.jit import CACHE_FOLDER
from tests.cuda.boards import Twins

needs_compiler = pytest.mark.skipif(host.find_compiler() is None, reason="there is no C++ compiler")
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no nvcc")


def test_constants_are_numbas() -> None:
    text = source.program()
    for module, name in ((go, "AT_HASHES"), (go, "SIDE_FACTOR"), (go_features, "PLIES_LEFT"), (go, "GOLDEN")):
        lines = [line for line in text.splitlines() if f" {name} = " in line]
        assert len(lines) == 1
        assert lines[0].endswith(f"= {getattr(module, name)};")


def test_a_name_with_two_values_is_refused() -> None:
    one, other = SimpleNamespace(__name__="one", KO=1), SimpleNamespace(__name__="other", KO=2)
    assert source.constants(one, one) == {"KO": 1}
    with pytest.raises(ValueError, match="KO is 1 in one kernel module and 2 in other"):
        source.constants(one, other)


def test_each_file_is_there_once() -> None:
    text = source.program()
    assert "#include" not in text
    for path in source.FOLDER.glob("*.cu*"):
        assert text.count(f'#line 1 "{path.name}"') == 1


@needs_compiler
def test_the_library_is_kept_with_the_other_kernels() -> None:
    library = host.load_library()
    assert library._name.startswith(CACHE_FOLDER)
    assert host.load_library() is library


@needs_compiler
def test_a_text_that_does_not_compile_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(BackendMissing, match=r"cannot compile the kernels: .*error"):
        host.compile_library("int play(", tmp_path / "cache" / "x.so")
    assert list((tmp_path / "cache").iterdir()) == []


def test_no_compiler_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(BackendMissing, match=r"needs a C\+\+ compiler, none was found \(no-such-compiler\)"):
        host.compile_library("", tmp_path / "x.so")


@needs_compiler
@pytest.mark.parametrize(("blocks", "threads"), [(1, 1), (2, 3), (5, 4)])
def test_the_grid_does_not_matter(blocks: int, threads: int) -> None:
    """Fewer threads than boards, and more."""
    twins = Twins(GoEnv(5, planes="alive"), 7, host.Host(blocks, threads))
    twins.play_on(np.random.default_rng(0), 20, every=5)


@needs_compiler
@pytest.mark.slow
def test_the_source_compiles_without_warnings_and_its_indices_stay_inside(tmp_path: Path) -> None:
    """With the checks of the compiler's sanitizers in a program of their own; a warning or a fault ends it."""
    flags = ("-Wall", "-Wextra", "-Werror", "-fsanitize=undefined", "-fno-sanitize-recover=all")
    host.compile_library(source.host_program(), tmp_path / "checked.so", flags)
    assert (tmp_path / "checked.so").is_file()


@needs_nvcc
@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["sm_75", "sm_80", "sm_90"])
def test_nvcc_compiles_without_warnings_or_spills(architecture: str, tmp_path: Path) -> None:
    path = tmp_path / "kernels.cu"
    path.write_text(source.program())
    options = ["-std=c++17", "--fmad=false", "-Werror", "all-warnings", "-Xptxas", "-v", f"-arch={architecture}"]
    run = subprocess.run(
        ["nvcc", *options, "--cubin", str(path), "-o", str(tmp_path / "x")], capture_output=True, text=True
    )
    told = run.stdout + run.stderr
    assert run.returncode == 0, told
    spills = [line for line in told.splitlines() if "spill" in line and " 0 bytes spill stores" not in line]
    assert "spill" in told
    assert spills == []
