"""Curves for TensorBoard, read back as TensorBoard reads them."""

import builtins
from pathlib import Path

import pytest

from alphago.cli import main
from alphago.training.watch.report import TensorBoardReport


def read(folder: Path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder / "tensorboard"))
    events.Reload()
    return events


def test_curves_and_notes(tmp_path: Path) -> None:
    report = TensorBoardReport()
    report.start(tmp_path, {"readouts": 16, "search": None})
    report.iteration({"games": 4, "policy_loss": None, "game_length": 7.5, "board_size": 5, "name": "x"})
    report.iteration({"games": 9, "policy_loss": 1.25, "game_length": 8.5, "board_size": 5, "name": "x"})
    report.note("half way")
    report.finish({"games": 9}, tmp_path, False)
    events = read(tmp_path)
    assert set(events.Tags()["scalars"]) == {"games", "policy_loss", "game_length", "board_size"}
    assert [(event.step, event.value) for event in events.Scalars("game_length")] == [(4, 7.5), (9, 8.5)]
    assert [(event.step, event.value) for event in events.Scalars("policy_loss")] == [(9, 1.25)]
    settings = events.Tensors("settings/text_summary")[0].tensor_proto.string_val[0].decode()
    assert "| readouts | 16 |" in settings
    (note,) = events.Tensors("notes/text_summary")
    assert (note.step, note.tensor_proto.string_val[0].decode()) == (9, "half way")


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = "--board-size 3 --games 3 --readouts 2 --tower-height 0 --channels 4 --c-scale 0.5"
    assert main(["train", *small.split(), "--tensorboard", "--folder", str(tmp_path / "run")]) == 0
    assert "finished after 3 games" in capsys.readouterr().err  # the bar is there too
    assert read(tmp_path / "run").Scalars("games")[-1].value == 3


def test_without_tensorboard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    original = builtins.__import__

    def refuse(name: str, *rest):
        if "tensorboard" in name:
            raise ImportError(name)
        return original(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    assert main(["train", "--games", "1", "--tensorboard", "--folder", str(tmp_path / "run")]) == 2
    error = capsys.readouterr().err
    assert error == "alphago train: curves for TensorBoard need tensorboard: pip install 'alphago[tensorboard]'\n"
    assert not (tmp_path / "run").exists()
