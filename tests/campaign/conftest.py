"""The campaign's table at its end, and its surroundings: an ordinary user in an empty folder."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.campaign.tally import COUNTS, SCALE

OUTPUT = "campaign"  # the counts of a process among what it tells the one that prints


@pytest.fixture(autouse=True)
def an_ordinary_user_in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert os.geteuid() != 0, "make campaign runs this as an ordinary user: root's fuzz may destroy its own machine"
    monkeypatch.chdir(tmp_path)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput[OUTPUT] = COUNTS


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    for name, (tried, lost) in getattr(node, "workeroutput", {}).get(OUTPUT, {}).items():
        before = COUNTS.setdefault(name, [0, 0])
        COUNTS[name] = [before[0] + tried, before[1] + lost]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if COUNTS:
        terminalreporter.write_line(f"campaign at scale {SCALE:g}")
        terminalreporter.write_line("| what | tried | survived | lost |")
        terminalreporter.write_line("| --- | ---: | ---: | ---: |")
        for name, (tried, lost) in COUNTS.items():
            terminalreporter.write_line(f"| {name} | {tried} | {tried - lost} | {lost} |")
