"""Reports: what they are called with, curves as TensorBoard reads them, and the console's bar."""

import contextlib
import re
import sys
from pathlib import Path

import pytest

from alphago.cli import main
from alphago.training.watch.gpu_meter import GpuMeter
from alphago.training.watch.report import ConsoleReport, Progress, Reporter, TensorBoardReport
from tests.training.small_runs import Listener
from tests.training.watch.test_diagnosis import iteration


def read(folder: Path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder / "tensorboard"))
    events.Reload()
    return events


def test_curves_and_notes(tmp_path: Path) -> None:
    report = TensorBoardReport()
    report.start(tmp_path, {"readouts": 16, "search": None}, nowhere)
    report.iteration({"games": 4, "policy_loss": None, "game_length": 7.5, "board_size": 5, "name": "x"})
    report.iteration({"games": 9, "policy_loss": 1.25, "game_length": 8.5, "board_size": 5, "name": "x"})
    row = {"seconds": 60.0, "games": 9, "judge": "watch", "opponent": "gnugo:10", "readouts": 64}
    report.match(row | {"win_rate": 0.25, "score": -3.5, "elo_high": float("inf"), "moves": []})
    report.note("half way")
    report.finish({"games": 9}, tmp_path, False)
    events = read(tmp_path)
    curves = {"games", "policy_loss", "game_length", "board_size", "win_rate/gnugo-10@64", "score/gnugo-10@64"}
    assert set(events.Tags()["scalars"]) == curves
    assert [(event.step, event.value) for event in events.Scalars("win_rate/gnugo-10@64")] == [(9, 0.25)]
    assert [(event.step, event.value) for event in events.Scalars("game_length")] == [(4, 7.5), (9, 8.5)]
    assert [(event.step, event.value) for event in events.Scalars("policy_loss")] == [(9, 1.25)]
    settings = events.Tensors("settings/text_summary")[0].tensor_proto.string_val[0].decode()
    assert "| readouts | 16 |" in settings
    (note,) = events.Tensors("notes/text_summary")
    assert (note.step, note.tensor_proto.string_val[0].decode()) == (9, "half way")


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Beside the bar, and with a line for each game."""
    small = "--board-size 3 --games 3 --readouts 2 --tower-height 0 --channels 4 --c-scale 0.5"
    assert main(["train", *small.split(), "--tensorboard", "--verbose", "--folder", str(tmp_path / "run")]) == 0
    shown = capsys.readouterr().err
    assert "finished after 3 games" in shown
    assert sorted(re.findall(r"game (\d) on 3x3: ", shown)) == ["0", "1", "2"]
    assert read(tmp_path / "run").Scalars("games")[-1].value == 3


def test_without_tensorboard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    assert main(["train", "--games", "1", "--tensorboard", "--folder", str(tmp_path / "run")]) == 2
    assert "pip install 'alphago[tensorboard]'" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def nowhere() -> Progress:
    return Progress(0.0, None, "", 0.0)


METRICS = {"iteration": 1, "seconds": 60.0, "games": 6, "steps": 0, "moves_per_second": 9.0, "policy_loss": None}


@pytest.mark.parametrize(("games", "count"), [(8, "6/8 games"), (None, "6 games")])
def test_bar(games: int | None, count: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report, progress = ConsoleReport(), Progress(0.25, 225.0, "playing a match", 12.3)
    report.start(tmp_path, {"max_minutes": None, "num_games": games}, lambda: progress)
    losses = {"policy_loss": 1.5, "value_loss": 0.25}
    report.iteration({**METRICS, **losses, "workers": 3, "tree_share": 0.7, "gpu_busy": 0.874})
    report.finish(METRICS, tmp_path, False)
    errors = capsys.readouterr().err
    rates = "moves/s=9, policy=1.50, value=0.25, workers=3, gpu=87%, bound=tree 70%"
    parts = [count, " 25%", "03:45 left", "playing a match for 12 s", rates]
    for part in [f"training in {tmp_path}", "finished after 6 games", *parts]:
        assert part in errors


def test_an_error_begins_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Behind the bar, which is not drawn again below it."""
    with contextlib.suppress(ValueError), ConsoleReport() as report:
        report.start(tmp_path, {"max_minutes": None, "num_games": 6}, nowhere)
        report.iteration(METRICS)
        raise ValueError("broken")
    assert capsys.readouterr().err.endswith("\n")
    del report
    assert capsys.readouterr().err == ""


def test_what_is_newly_wrong() -> None:
    """Also where the run went on: what went before is remembered."""
    rows = [iteration(number, capped=1.0) for number in range(1, 61)]
    heard = []
    for before in (0, 40):
        listener = Listener()
        reporter = Reporter([listener], {"num_games": 100_000, "batch_size": 128}, rows[:before], GpuMeter())
        for row in rows[before:]:
            reporter.iteration(row)
        heard.append([note.partition(":")[0] for note in listener.notes])
    assert heard == [["all games capped"], []]
