"""Tools for the Model Context Protocol: called as they are, and by the SDK's own client where it is installed."""

import asyncio
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from alphago.cli import main
from alphago.ui.model_context import GoTools, check_arguments
from tests.ui.test_review import corner_hater

ROOT = Path(__file__).parents[2]
SGF = "(;GM[1]SZ[5]KM[0.5];B[cc];W[cd];B[aa];W[dc];B[ee])"
TOOLS = GoTools(lambda size: corner_hater, readouts=30)


def test_a_position_is_analysed() -> None:
    told = TOOLS.analyze_position("C3 D4", size=5)
    assert (told["to_play"], told["score"], told["game_over"]) == ("Black", None, False)
    assert told["moves"][0]["move"] == told["moves"][0]["line"][0]
    assert TOOLS.analyze_position(SGF, at=1)["to_play"] == "White"


def test_mistakes_are_found_and_explained() -> None:
    told = TOOLS.find_mistakes(SGF)
    named = [(one["move_number"], one["player"], one["move"]) for one in told["mistakes"]]
    assert named == [(3, "Black", "A5"), (5, "Black", "E1")]
    assert all(one["win_rate_lost"] > 0.1 and one["better_line"] for one in told["mistakes"])
    why = TOOLS.explain_move(SGF, at=3)
    assert (why["move"], why["player"]) == ("A5", "Black")
    assert why["facts"][0]["fact"] == "Loss"
    assert why["facts"][0]["rate"] > 0.1
    assert TOOLS.explain_move("C3", move="A1", size=5)["move"] == "A1"


def test_a_board_is_shown() -> None:
    shown = TOOLS.show_board("C3 D4", size=5)
    assert "(O)" in shown["text"]
    assert shown["svg"].startswith("<svg")


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (partial(TOOLS.show_board, "C3 C3", size=5), "Black has a stone there"),
        (partial(TOOLS.show_board, "C3", size=5, at=2), "at must be an integer from 0 to 1, got 2"),
        (partial(TOOLS.show_board, "(;GM[2])"), "GM"),
        (partial(TOOLS.analyze_position, "(;GM[1]SZ[5]KM[abc];B[cc])"), "komi"),
        (partial(TOOLS.analyze_position, "(;SZ[5];B[cc])(;SZ[5];B[cc])"), "it must hold one game, got 2: split it"),
        (partial(TOOLS.explain_move, "", size=5), "there is no move to explain"),
        (partial(check_arguments, TOOLS.show_board, {"size": 5}), "show_board must be given its argument game"),
        (partial(check_arguments, TOOLS.show_board, {"game": 5}), "game must be a text, got 5"),
        (partial(check_arguments, TOOLS.show_board, {"game": "", "size": "big"}), "size must be an integer, got 'big'"),
        (partial(check_arguments, TOOLS.show_board, {"komi": 7}), "one of 'game', 'size', 'at', got 'komi'"),
    ],
)
def test_a_wrong_call_is_a_sentence(call: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        call()


def test_without_the_sdk_it_is_a_sentence(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    assert main(["mcp", "7x7"]) != 0
    error = capsys.readouterr().err
    assert "pip install 'alphago[mcp]'" in error
    assert error.count("\n") == 1


async def drive(server: Any) -> None:
    """List and call the tools with the SDK's client."""
    from mcp import Client

    async with Client(server) as client:
        listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed] == ["analyze_position", "find_mistakes", "explain_move", "show_board"]
        assert all(tool.description and tool.input_schema["properties"]["game"] for tool in listed)
        found = await client.call_tool("find_mistakes", {"game": SGF})
        assert not found.is_error
        assert "blunders" in found.structured_content["summary"]
        told = await client.call_tool("explain_move", {"game": "C3 D3", "move": "C4", "size": 5})
        assert told.structured_content["facts"][0]["fact"] == "Loss"
        wrong = await client.call_tool("show_board", {"game": "Z9"})
        assert wrong.is_error
        assert "is not a point" in wrong.content[0].text
        assert not (await client.call_tool("show_board", {"game": "", "size": "5", "at": None})).is_error
        unknown = await client.call_tool("show_board", {"game": "C3", "board": 5})
        assert unknown.is_error
        assert "an argument of show_board must be one of 'game', 'size', 'at', got 'board'" in unknown.content[0].text


def test_by_the_sdks_client() -> None:
    pytest.importorskip("mcp", reason="the SDK of the Model Context Protocol is not installed")
    asyncio.run(drive(TOOLS.server()))


@pytest.mark.slow
def test_the_command_by_the_sdks_client() -> None:
    mcp = pytest.importorskip("mcp", reason="the SDK of the Model Context Protocol is not installed")
    command = {"command": sys.executable, "args": ["-m", "alphago", "mcp", "7x7", "--readouts", "4"]}
    asyncio.run(drive(mcp.StdioServerParameters(**command, env={"PYTHONPATH": str(ROOT)}, cwd=ROOT)))
