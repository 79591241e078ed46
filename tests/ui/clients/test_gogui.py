"""GoGui 1.6.0 drives the engine by its own classes: those of its window, and its program for matches."""

from pathlib import Path
from typing import Any

import pytest

from alphago.records.sgf import read_sgf
from tests.ui.clients.installed import HERE, client, compiled, driven, our_command

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def java(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """The beginning of a command that runs one of GoGui's classes, or ours beside them."""
    sources, ours = client("GoGui", "gogui", "src"), HERE / "gogui"
    twogtp = sources / "net" / "sf" / "gogui" / "tools" / "twogtp" / "Main.java"
    return compiled(tmp_path_factory.mktemp("classes"), ours / "DriveGoGui.java", twogtp, roots=(sources, ours))


def test_the_window(java: list[Any], tmp_path: Path) -> None:
    """Attach, play, take back, jump to another board, and every entry of the window *Analyze*."""
    lines = driven([*java, "DriveGoGui", f"{our_command(tmp_path)} gtp 7x7 --readouts 30"], tmp_path).splitlines()
    seen = dict(line.split(": ", 1) for line in lines)
    assert seen["name"].startswith("alphago ")
    assert (seen["protocol"], seen["genmove"], seen["cpu time"]) == ("2", "true", "true")
    assert (seen["after genmove"], seen["after undo"], seen["handicap"]) == ("same", "same", "same")
    assert seen["alphago-ownership"] == seen["alphago-policy"] == "DBOARD, 0 labels"
    kind, labels = seen["alphago-search"].split(", ")
    assert (kind, int(labels.split()[0]) > 0) == ("GFX", True)
    assert seen["score"][0] in "BW0"


def test_a_match(java: list[Any], tmp_path: Path) -> None:
    """Two games, with colours that alternate and a clock: no errors, and both sides agree on the results."""
    alphago = our_command(tmp_path)
    players = ("-black", f"{alphago} gtp 7x7 --readouts 4", "-white", f"{alphago} gtp --board-size 7 --policy random")
    options = ("-size", 7, "-komi", 7, "-games", 2, "-alternate", "-auto", "-time", "1m", "-sgffile", "match")
    driven([*java, "net.sf.gogui.tools.twogtp.Main", *players, *options], tmp_path)
    rows = [line.split("\t") for line in (tmp_path / "match.dat").read_text().splitlines() if line[0] != "#"]
    assert len(rows) == 2
    for number, (_, black, white, _, alternated, *rest) in enumerate(rows):
        assert black == white
        assert (alternated, rest[-2]) == (str(number), "0")  # errors
        game = read_sgf(tmp_path / f"match-{number}.sgf")
        assert len(game.moves) == int(rest[1])
