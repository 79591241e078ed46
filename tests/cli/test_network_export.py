"""`alphago export`: a file for other programs, and its errors."""

from pathlib import Path

import pytest

from alphago.cli import main
from alphago.env.oware import OwareEnv
from alphago.nn.net import NeuralNet


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


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("mine.safetensors --out mine.pt", "--format must be onnx, w32 or w16, or the end of the file's name"),
        ("mine.safetensors --positions 0", "--positions must be an integer >= 1, got 0"),
        ("mine.safetensors --game reversi", "mine.safetensors must hold a network for reversi, got one for OwareEnv"),
        ("none.safetensors", "there is no file none.safetensors"),
        ("mine.safetensors --out none/x.w32", "none/x.w32 cannot be used: No such file"),
    ],
)
def test_errors(words: str, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", *words.split()]) == 2
    assert f"alphago export: {sentence}" in capsys.readouterr().err
