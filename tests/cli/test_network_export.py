"""`alphago export`: a file for other programs, and its errors."""

import re
from pathlib import Path

import pytest

from alphago import GoEnv, NeuralNet, OwareEnv
from alphago.cli import main, network_export
from alphago.ui.onefile import page
from alphago.ui.onefile.page import about


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a network of Oware, in which commands are run."""
    monkeypatch.chdir(tmp_path)
    NeuralNet(OwareEnv(), tower_height=1, channels=4).save("mine.safetensors")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "files"),
    [
        ("", ["mine.onnx"]),
        ("--format w16", ["mine.w16", "mine.w16.json"]),
        ("--out weights.w32", ["weights.w32", "weights.w32.json"]),
        ("--out weights.bin --format w32", ["weights.bin", "weights.bin.json"]),
    ],
)
def test_files(words: str, files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(f"export mine.safetensors --positions 20 {words}".split()) == 0
    text = capsys.readouterr().out
    assert text.startswith(" and ".join(files) + ": ")
    assert "largest difference from torch on 20 positions: " in text
    assert all(Path(name).is_file() for name in files)


def test_a_page_says_what_an_exam_measured(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    NeuralNet(GoEnv(7), tower_height=1, channels=4).save("go.safetensors")
    monkeypatch.setattr(network_export, "READOUTS", 0)
    said = []
    monkeypatch.setattr(page, "about", lambda *given, **told: said.append(told["strength"]) or about(*given, **told))
    assert main(["export", "go.safetensors", "--out", "go.html", "--exam"]) == 0
    sentence = r"loses \d+\.\d\d ± \d\.\d\d points a move with 0 readouts, in the exam of \d+ .* on 7x7"
    assert re.fullmatch(sentence, said[0])
    assert main(["export", "go.safetensors", "--out", "go.html", "--exam", "--strength", "much"]) != 0
    assert "--exam writes the strength in itself, got --strength too" in capsys.readouterr().err
    assert main(["export", "mine.safetensors", "--format", "page", "--exam"]) != 0
    assert capsys.readouterr().err.count("\n") == 1
