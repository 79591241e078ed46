"""`alphago gtp` and `alphago play`: their networks and devices."""

import io
import re
from functools import partial
from pathlib import Path

import pytest

from alphago import GoEnv, NeuralNet
from alphago.cli import main
from alphago.cli.gtp import packaged_on
from alphago.ui.gtp.game_commands import GoEngine
from tests.ui.gtp.engine import ask


@pytest.mark.parametrize("verb", ["play", "gtp"])
def test_where_there_is_no_gpu(verb: str, capfd: pytest.CaptureFixture[str]) -> None:
    """One line, also where stdout belongs to the protocol."""
    assert main([verb, "7x7", "--device", "cuda"]) == 2
    out, error = capfd.readouterr()
    assert out == ""
    assert re.fullmatch(f"alphago {verb}: no CUDA device can be used: .*\n", error)


@pytest.mark.parametrize(
    ("words", "network", "readouts"),
    [
        ([], "NeuralNet", 800),
        (["--policy", "mcts", "--readouts", "5"], "NeuralNet", 5),
        (["--policy", "net"], "NeuralNet", 0),
        (["--policy", "random"], "str", 0),
    ],
)
def test_policies(words: list[str], network: str, readouts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    monkeypatch.setattr("alphago.ui.gtp.game_commands.serve", lambda *given, **_: calls.append(given))
    assert main(["gtp", "--board-size", "7", *words]) == 0
    ((env, player, number),) = calls
    assert (env.N, type(player).__name__, number) == (7, network, readouts)


def test_the_packaged_network_fits_the_board() -> None:
    """Where none was named: its game's komi, and the network's own board."""
    assert [packaged_on(size, None)[1].measured_in.N for size in (7, 8, 9, 13, 21)] == [7, 9, 9, 13, 13]
    assert (packaged_on(21, 0.5)[0].N, packaged_on(21, 0.5)[0].komi) == (21, 0.5)
    gtp = GoEngine(*packaged_on(9, None), 0, networks=partial(packaged_on, komi=None), device="cpu")
    networks = [gtp.network]
    for size in (9, 13, 9):
        assert ask(gtp, f"boardsize {size}", "genmove b")[1] not in ("pass", "resign")
        networks.append(gtp.network)
    assert [one.measured_in.N for one in networks] == [9, 9, 13, 9]


def test_the_board_of_a_model(tmp_path: Path, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "net.safetensors")
    env = GoEnv(4, komi=3.5, planes=5)
    NeuralNet(env, tower_height=1, channels=4, size_free=False).save(path)

    def session(*arguments: str, lines: str = "boardsize 5\nboardsize 4\nfinal_score\ngenmove b\n") -> str:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines.encode())))
        assert main(["gtp", path, "--readouts", "4", *arguments]) == 0
        return capsys.readouterr().out

    assert session().startswith("? unacceptable size\n\n= \n\n= W+3.5\n\n= ")
    assert session("--komi", "1", "--board-size", "4").startswith("? unacceptable size\n\n= \n\n= W+1\n\n= ")
    assert main(["gtp", path, "--board-size", "5"]) == 2
    assert "holds a network for GoEnv(4" in capsys.readouterr().err
    NeuralNet(env, tower_height=1, channels=4).save(path)  # for any board
    assert session().startswith("= \n\n= \n\n= W+3.5\n\n= ")
    assert session("--board-size", "5").startswith("= \n\n= \n\n= W+7.5\n\n= ")  # the usual komi of others
    larger = "boardsize 7\nfinal_score\n"  # usually 9
    assert session("--komi", "7.5", lines=larger) == "= \n\n= W+7.5\n\n"
    assert session(lines=larger) == "= \n\n= W+9\n\n"
