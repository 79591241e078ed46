"""`alphago tune`: values, a range, that it resumes, and its errors."""

import contextlib
from pathlib import Path

import pytest

from alphago.cli import main
from alphago.env.connect_four import ConnectFourEnv
from alphago.env.go import GoEnv
from alphago.nn.net import NeuralNet


@pytest.fixture(autouse=True)
def net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tiny network for 3x3, in an empty folder in which commands are run."""
    monkeypatch.chdir(tmp_path)
    NeuralNet(GoEnv(3, komi=0.5), tower_height=0, channels=8).save(tmp_path / "net.safetensors")
    NeuralNet(ConnectFourEnv(), tower_height=0, channels=8).save(tmp_path / "connect.safetensors")
    return tmp_path


def tune(command: str) -> int:
    return main(["tune", *command.split(), "--games", "4", "--readouts", "4", "--device", "cpu"])


def test_values(capsys: pytest.CaptureFixture[str]) -> None:
    command = "c-puct net.safetensors --values 0.5,0.96 --folder out"
    assert tune(command) == 0
    text, bar = capsys.readouterr()
    assert text.startswith("c_puct ")
    assert text.endswith("c_puct 0.96 won; not told apart from it: 0.5\n")
    assert "c_puct 0.5 - c_puct 0.96" in bar
    assert tune(command) == 0
    assert capsys.readouterr().out == text


def test_a_range_of_another_search(capsys: pytest.CaptureFixture[str]) -> None:
    assert tune("considered net.safetensors --range 2 4 --steps 2 --refine 0 --search gumbel --folder out") == 0
    assert "considered 2 won" in capsys.readouterr().out
    assert tune("decisive-moves connect.safetensors --game connect-four --values true,false") == 0
    assert "decisive_moves True won" in capsys.readouterr().out
    assert len(list(Path("runs").glob("tune-decisive_moves-*"))) == 1


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("cpuct net.safetensors --values 1,2", "no search setting 'cpuct': did you mean c_puct"),
        ("c_puct net.safetensors --values 1,two", "--values of c_puct must be a number, got 'two'"),
        ("decisive_moves net.safetensors --values 1,2", "--values of decisive_moves must be true or false, got '1'"),
        ("c_puct net.safetensors --values 1", "--values must be at least two, got 1"),
        ("c_puct net.safetensors", "one of the arguments --values --range is required"),
        ("c_scale net.safetensors --values 1,2", "--c-scale is a setting of Gumbel, but this search is Puct: add"),
        ("leaves net.safetensors --values 1,2 --c-visit 9", "--c-visit is a setting of Gumbel, but this"),
        ("c_puct nowhere --values 1,2", "there is no file nowhere"),
    ],
)
def test_errors_are_one_sentence(command: str, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    with contextlib.suppress(SystemExit):  # of the parser
        assert tune(command) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith(f"alphago tune: {sentence}")
    assert "Traceback" not in printed.err
