"""kernels.wasm is what its source says."""

import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from alphago.ui.onefile.page import OWN_STATIC


def test_the_compiled_kernels_are_of_their_source(tmp_path: Path) -> None:
    """Built again by the command in the source, where the compiler of the same version is installed."""
    source = (OWN_STATIC / "kernels.c").read_text()
    (version,) = re.findall(r"clang and lld ([0-9.]+)", source)
    compiler, linker = shutil.which("clang"), shutil.which("wasm-ld")
    if compiler is None or linker is None:
        pytest.skip("clang and lld are not installed: apt-get install --no-install-recommends clang lld")
    for program in (compiler, linker):
        told = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
        if version not in told:
            pytest.skip(f"other versions write other code: {version} is wanted, got {told.splitlines()[0]}")
    words = " ".join(re.findall(r"^//\s{3}(.*)$", source, re.MULTILINE)).split()
    shutil.copy(OWN_STATIC / "kernels.c", tmp_path)
    subprocess.run([compiler, *words[1:]], cwd=tmp_path, check=True)
    digests = [hashlib.sha256((folder / "kernels.wasm").read_bytes()).hexdigest() for folder in (tmp_path, OWN_STATIC)]
    assert digests[0] == digests[1]
