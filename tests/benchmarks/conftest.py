"""How tests run the scripts of benchmarks/."""

import runpy
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


class Bench:
    """Runs a benchmark as its script would, in this process."""

    def __init__(self, patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.patch, self.capsys = patch, capsys
        patch.syspath_prepend(str(BENCHMARKS))

    def run(self, script: str, *arguments: str) -> str:
        """What the script prints to its standard output."""
        self.patch.setattr(sys, "argv", [script, *arguments])
        runpy.run_path(str(BENCHMARKS / script), run_name="__main__")
        return self.capsys.readouterr().out


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Bench:
    return Bench(monkeypatch, capsys)
