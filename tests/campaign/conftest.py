"""The campaign's table at its end, and its surroundings: an ordinary user in an empty folder."""

import os
from pathlib import Path

import pytest

from tests.campaign.tally import COUNTS, SCALE


@pytest.fixture(autouse=True)
def an_ordinary_user_in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert os.geteuid() != 0, "make campaign runs this as an ordinary user: root's fuzz may destroy its own machine"
    monkeypatch.chdir(tmp_path)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if COUNTS:
        terminalreporter.write_line(f"campaign at scale {SCALE:g}")
        terminalreporter.write_line("| what | tried | survived | lost |")
        terminalreporter.write_line("| --- | ---: | ---: | ---: |")
        for name, (tried, lost) in COUNTS.items():
            terminalreporter.write_line(f"| {name} | {tried} | {tried - lost} | {lost} |")
