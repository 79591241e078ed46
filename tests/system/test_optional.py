"""Optional libraries: absent or broken, they are a sentence, and what does not need them goes on."""

import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from alphago.system.kernels.cache import warn_once
from alphago.system.optional import optional_import

NEED = "pictures need frames: pip install frames"


class TestImport:
    @pytest.fixture(autouse=True)
    def folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "frames", raising=False)
        return tmp_path

    def test_absent(self) -> None:
        with pytest.raises(ImportError, match=f"^{NEED}$"):
            optional_import("frames.inner", NEED)

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("raise RuntimeError('no home folder')", "RuntimeError: no home folder"),
            ("import nothing_of_this_name", "ModuleNotFoundError: No module named 'nothing_of_this_name'"),
            ("from os import nothing", "ImportError: cannot import name 'nothing' from 'os'"),
            ("1 / 0", "ZeroDivisionError: division by zero"),
            ("(", "SyntaxError: "),
            ("raise OSError(2, 'libfoo.so')", "FileNotFoundError: [Errno 2] libfoo.so"),
        ],
    )
    def test_broken(self, folder: Path, text: str, reason: str) -> None:
        (folder / "frames.py").write_text(text)
        with pytest.raises(ImportError) as caught:
            optional_import("frames", NEED)
        assert str(caught.value).startswith(f"{NEED} (frames is installed, but broken: {reason}")

    def test_sound(self, folder: Path) -> None:
        (folder / "frames.py").write_text("size = 5")
        assert optional_import("frames", NEED).size == 5


def test_where_warnings_are_errors(capsys: pytest.CaptureFixture[str]) -> None:
    """It is told once."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            warn_once("a sentence of this test")
    assert capsys.readouterr().err == "a sentence of this test\n"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows finds the home folder in another way")
def test_no_home_folder_and_an_unknown_user(tmp_path: Path) -> None:
    """As in containers: a broken OpenVINO is told once, and the command works."""
    code = (
        "import os, sys\n"
        "os.environ.pop('HOME', None)\n"
        "import pwd\n"
        "def unknown(_): raise KeyError('getpwuid(): uid not found: 54321')\n"
        "pwd.getpwuid = unknown\n"
        f"sys.path[:0] = [{str(tmp_path)!r}, {str(Path(__file__).parents[2])!r}]\n"
        "from alphago.cli import main\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    (tmp_path / "openvino.py").write_text("from pathlib import Path\nPath.home()\n")
    command = [sys.executable, "-c", code, "selfplay", "7x7", "--games", "1", "--readouts", "2", "--records"]
    done = subprocess.run(
        [*command, "--folder", str(tmp_path / "games")], cwd=tmp_path, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "~").exists()  # caches of a user without a home folder
