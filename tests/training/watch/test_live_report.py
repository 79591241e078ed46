"""A run in a notebook: what its picture shows, how often it changes, and that its thread ends."""

import threading
from pathlib import Path
from unittest.mock import ANY, Mock

import pytest

from alphago.training.call.train_call import train
from alphago.training.watch.live_report import LiveReport, usual_report
from alphago.training.watch.report import ConsoleReport, Progress
from tests.drawing.reading import texts
from tests.training.small_runs import GO, TINY


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "live curves"]


def progress() -> Progress:
    return Progress(0.25, 65.0, "learning", 2.0)


def test_a_run_is_watched(tmp_path: Path) -> None:
    shown: list[dict[str, str]] = []
    report = LiveReport(shown.append)
    train(GO, 10, folder=tmp_path / "run", reports=[report], **TINY)
    assert threads() == []
    told = " ".join(texts(shown[-1]["image/svg+xml"]))
    assert "10 of 10 games" in shown[-1]["text/plain"]
    assert all(name in told for name in ("Policy loss", "Value error", "Game length", "Results of self-play", "Speed"))
    assert "Newest game," in told


def test_what_it_says_while_it_runs(tmp_path: Path) -> None:
    report = LiveReport(lambda bundle: None)
    with report:
        report.start(tmp_path, {"num_games": 100}, progress)
        report.iteration({"games": 20, "policy_loss": 3.0, "seconds": 1.0})
        report.match({"opponent": "random", "readouts": 4, "win_rate": 0.5, "games": 20})
        report.match({"opponent": "exam", "readouts": 0, "exam_points": 1.5, "games": 20})
        report.note("something happened")
        assert report.texts() == [f"{tmp_path}: 25%, 20 of 100 games, 01:05 left, learning", "something happened"]
        panels = {
            panel.title: [(one.x, one.y, one.name, one.label) for one in panel.curves] for panel in report.panels()
        }
        assert panels["Win rate (dashed: the policy alone)"] == [([20.0], [0.5], "random@4", "")]
        assert panels["Points lost a move in the exam"] == [([20.0], [1.5], "exam@0", "")]
        assert panels["Policy loss"] == [([20.0], [3.0], "", "trained on")]
    assert threads() == []


def test_a_run_that_goes_on_shows_what_was_before(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text('{"seconds": 1, "games": 5, "policy_loss": 2.5}\n')
    (tmp_path / "evaluations.jsonl").write_text('{"opponent": "random", "games": 5}\n')
    report = LiveReport(lambda bundle: None)
    for _ in range(2):  # the same report may watch another call
        with report:
            report.start(tmp_path, {"num_games": None}, progress)
            assert threads() == ["live curves"]
        assert [panel.curves[0].y for panel in report.panels()] == [[2.5]]
        assert len(report.matches) == 1


def test_a_terminal_has_its_bar_and_a_notebook_its_curves(monkeypatch: pytest.MonkeyPatch) -> None:
    ipython = pytest.importorskip("IPython", reason="IPython is not installed")
    assert isinstance(usual_report(), ConsoleReport)
    monkeypatch.setattr(ipython, "get_ipython", Mock)  # a shell that has a kernel
    assert isinstance(usual_report(), LiveReport)


def test_a_notebook_display_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("IPython", reason="IPython is not installed")
    handle = Mock()
    monkeypatch.setattr("IPython.display.display", lambda *things, **options: handle)
    with LiveReport() as report:
        report.start(tmp_path, {"num_games": 1}, progress)
    handle.update.assert_called_with({"image/svg+xml": ANY, "text/plain": ANY}, raw=True)
