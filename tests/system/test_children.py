"""Child processes end with their parent, and import what this process would."""

import signal
import subprocess
from pathlib import Path

import pytest

from alphago.system.children import child_environment, python_command

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "alphago"


@pytest.mark.slow
def test_workers_end_with_a_parent_that_was_killed(tmp_path: Path) -> None:
    """A worker would hold its output open, and wait for its next task for ever."""
    script = tmp_path / "killed.py"
    script.write_text(
        "import multiprocessing, os, signal\n"
        "from concurrent.futures import ProcessPoolExecutor\n"
        "from alphago.training.sweeps.processes import end_with_parent\n"
        "if __name__ == '__main__':\n"
        "    pool = ProcessPoolExecutor(1, multiprocessing.get_context('spawn'), end_with_parent)\n"
        "    print(pool.submit(abs, -7).result(), flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    command = python_command(str(script))
    done = subprocess.run(command, env=child_environment(), capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, "7\n")


def test_a_module_in_the_current_folder_is_not_imported(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('planted')")
    (tmp_path / "alphago.py").write_text("raise SystemExit('planted')")
    command = python_command("-c", "import json, alphago; print(alphago.__file__)")
    done = subprocess.run(command, env=child_environment(), cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert (done.stderr, done.stdout.strip()) == ("", str(PACKAGE / "__init__.py"))


def test_every_child_is_started_so() -> None:
    starts = [path.name for path in PACKAGE.rglob("*.py") if "sys.executable" in path.read_text()]
    assert starts == ["children.py"]
