"""Child processes import what this process would: nothing that lies in the current folder by chance."""

import subprocess
from pathlib import Path

from alphago.system.children import child_environment, python_command

PACKAGE = Path(__file__).parents[2] / "alphago"


def test_a_module_in_the_current_folder_is_not_imported(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('planted')")
    (tmp_path / "alphago.py").write_text("raise SystemExit('planted')")
    command = python_command("-c", "import json, alphago; print(alphago.__file__)")
    done = subprocess.run(command, env=child_environment(), cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert (done.stderr, done.stdout.strip()) == ("", str(PACKAGE / "__init__.py"))


def test_every_child_is_started_so() -> None:
    starts = [path.name for path in PACKAGE.rglob("*.py") if "sys.executable" in path.read_text()]
    assert starts == ["children.py"]
