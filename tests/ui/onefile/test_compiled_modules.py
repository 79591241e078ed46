"""The modules of WebAssembly in a file: each is of the text that stands beside it."""

import runpy
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from alphago.env.games import GAMES
from alphago.ui.onefile.page import OWN_STATIC

SCRIPT = runpy.run_path(str(Path(__file__).parents[3] / ".ci" / "compile_wasm.py"))
MODULES: dict[str, Any] = SCRIPT["modules"]()


def test_every_game_has_its_module() -> None:
    assert {path.stem for path in OWN_STATIC.glob("*.wasm")} == MODULES.keys() >= GAMES.keys()


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_of_its_source(name: str) -> None:
    """The digest at its end is that of the source, on every machine."""
    kept = (OWN_STATIC / f"{name}.wasm").read_bytes()
    assert kept.endswith(MODULES[name].section), "run python .ci/compile_wasm.py"


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_compiled_alike_again(name: str) -> None:
    for program in ("clang", "wasm-ld"):
        if shutil.which(program) is None:
            pytest.skip("clang and lld are not installed: apt-get install --no-install-recommends clang lld")
        told = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
        if SCRIPT["VERSION"] not in told:
            pytest.skip(f"other versions write other code: {SCRIPT['VERSION']} is wanted, got {told.splitlines()[0]}")
    assert MODULES[name].compile() == (OWN_STATIC / f"{name}.wasm").read_bytes()
