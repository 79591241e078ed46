"""`alphago play` and `alphago gtp`: where their networks are computed."""

from typing import Any

import pytest

from alphago.cli import main
from alphago.env.go import GoEnv
from alphago.nn.net import NeuralNet


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("nets") / "tiny.safetensors"
    NeuralNet(GoEnv(3), tower_height=1, channels=8).save(path)
    return str(path)


def keywords_of(monkeypatch: pytest.MonkeyPatch, function: str) -> list[dict[str, Any]]:
    """The keywords of each call of the function from now on, in whose place nothing happens."""
    calls: list[dict[str, Any]] = []
    monkeypatch.setattr(function, lambda *words, **keywords: calls.append(keywords))
    return calls


@pytest.mark.parametrize(
    ("verb", "function"), [("play", "alphago.ui.terminal.terminal_game.play"), ("gtp", "alphago.ui.gtp.commands.serve")]
)
def test_a_device(verb: str, function: str, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = keywords_of(monkeypatch, function)
    for words in ([], ["--device", "cpu"], ["--device", "cuda"]):
        assert main([verb, model, *words]) == 0
    assert [keywords["device"] for keywords in calls] == ["auto", "cpu", "cuda"]


@pytest.mark.parametrize("verb", ["play", "gtp"])
def test_where_there_is_no_gpu(verb: str, model: str, capfd: pytest.CaptureFixture[str]) -> None:
    """One sentence, also where stdout belongs to the protocol."""
    assert main([verb, model, "--device", "cuda"]) == 2
    said = f"alphago {verb}: no CUDA device can be used: torch finds none, or was built without CUDA\n"
    assert capfd.readouterr() == ("", said)


@pytest.mark.parametrize("verb", ["play", "gtp"])
def test_a_device_that_there_is_not(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([verb, "--device", "gpu"])
    assert capsys.readouterr().err.startswith(f"alphago {verb}: argument --device: invalid choice: 'gpu'")
