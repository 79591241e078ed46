"""`alphago exam`: networks graded, exams made, and what is said of a wrong command."""

import json
from pathlib import Path

import pytest

from alphago import GoEnv, NeuralNet
from alphago.cli import main
from alphago.system.interrupts import INTERRUPTED
from tests.exams.small_exams import engine, row, save_games, write


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, in which commands are run, with an exam and a network."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "exam", *(row(f"B2 {move}", {"C3": [0.0, 0.0], "A3": [12.0, 0.5]}) for move in ("A1", "B1", "C1")))
    NeuralNet(GoEnv(3, komi=0.5), tower_height=1, channels=8).save(tmp_path / "net.safetensors")
    return tmp_path


def test_table_halves_sheet_and_rows(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = "net.safetensors@0 --file exam --halves --readouts 4 net.safetensors --sheet w.svg --json rows.jsonl"
    assert main(["exam", *words.split()]) == 0
    text = capsys.readouterr().out
    assert text.startswith("3x3: 3 positions; per move, losses cut at 20 points;")
    for part in ("net.safetensors@4 - net.safetensors@0 ", "phase ", "kind ", "Random halves of the exam differ"):
        assert f"\n{part}" in text
    assert text.endswith("the worst moves of net.safetensors@0 are in w.svg\n")
    assert (folder / "w.svg").read_text().startswith("<svg")
    rows = [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]
    assert {one["player"] for one in rows} == {"net.safetensors@0", "net.safetensors@4"}


def test_made_and_gone_on_with(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_games(folder, 4, 6)
    words = ["exam", "--make", "made", "--engine", engine(folder), "--games", "games.npz", "--board-size", "3"]
    words += ["--first-ply", "1", "--positions"]
    assert main([*words, "2"]) == 0
    out, bar = capsys.readouterr()
    assert out == "2 of 2 positions are in made\n"
    assert "2/2" in bar
    assert main([*words, "200"]) == 0
    out, told = capsys.readouterr()
    made = len((folder / "made").read_text().splitlines()) - 1
    assert 2 < made <= 6
    assert out == f"{made} of 200 positions are in made\n"
    assert "the games have no more undecided positions" in told
    assert main(["exam", "net.safetensors", "--file", "made", "--readouts", "0"]) == 0
    assert f"{made} positions, judged by oracle.py 0.7 with oracle.bin.gz" in capsys.readouterr().out


def test_making_is_stopped(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*given: object, **named: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("alphago.exams.exam_maker.make_exam", stop)
    assert main(["exam", "--make", "made", "--engine", "y", "--games", "z"]) == INTERRUPTED
    assert capsys.readouterr().err.endswith("stopped; the same command goes on\n")
