"""GoGui, Lizzie, LizGoban, Ogatak and KataGo's example client drive the engine through their own code."""

import ast
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from alphago.records.sgf import read_sgf
from tests.ui.clients.installed import HERE, client, compiled, driven, node, our_command

pytestmark = pytest.mark.slow


# --- GoGui 1.6.0, by its own classes: those of its window, and its program for matches


@pytest.fixture(scope="module")
def java(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """The beginning of a command that runs one of GoGui's classes, or ours beside them."""
    sources, ours = client("GoGui", "gogui", "src"), HERE / "gogui"
    twogtp = sources / "net" / "sf" / "gogui" / "tools" / "twogtp" / "Main.java"
    return compiled(tmp_path_factory.mktemp("classes"), ours / "DriveGoGui.java", twogtp, roots=(sources, ours))


def test_the_window_of_gogui(java: list[Any], tmp_path: Path) -> None:
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


def test_a_match_by_gogui(java: list[Any], tmp_path: Path) -> None:
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


# --- Lizzie 0.7.4: its Leelaz.java and MoveData.java, with other classes in place of its windows

REAL = ("analysis/Leelaz.java", "analysis/MoveData.java", "analysis/LeelazListener.java", "rules/Stone.java")
SHOWN = ("start", "after D4", "after undo", "other komi", "after a pass", "allowed", "handicap")


def drive_lizzie(folder: Path, options: str) -> list[str]:
    """What Lizzie prints while it drives `alphago gtp 7x7` with these options."""
    sources = client("Lizzie", "lizzie", "src", "main", "java", "featurecat", "lizzie")
    (folder / "classes").mkdir()
    java = compiled(folder / "classes", *(HERE / "lizzie").rglob("*.java"), *(sources / name for name in REAL))
    command = f"{our_command(folder)} gtp 7x7 --readouts 30 {options}"
    return driven([*java, "featurecat.lizzie.analysis.Drive", command], folder).splitlines()


def lizzies_candidates(lines: list[str], title: str) -> list[list[str]]:
    """The candidates that Lizzie has read under a title: move, visits, win rate, policy, score, line."""
    return [line.removeprefix(f"{title}: ").split(" ", 5) for line in lines if line.startswith(f"{title}: ")]


def check(lines: list[str], title: str) -> None:
    moves = lizzies_candidates(lines, title)
    assert moves, title
    for move, visits, rate, policy, score, line in moves:
        assert line.split()[0] == move
        assert int(visits) >= 1
        assert 0 <= float(rate) <= 100
        assert 0 <= float(policy) <= 100
        assert abs(float(score)) < 82
    assert int(moves[0][1]) == max(int(move[1]) for move in moves)


@pytest.mark.parametrize("options", ["--name KataGo", "--name Leela_Zero --version 0.17"])
def test_lizzie(tmp_path: Path, options: str) -> None:
    """It takes the engine for KataGo by its name, and then asks `kata-analyze` for win rates, scores and ownership.

    Any other name must come with a version from 0.15 on; Lizzie then uses `lz-analyze`.
    """
    lines, is_katago = drive_lizzie(tmp_path, options), "KataGo" in options
    assert f"katago: {str(is_katago).lower()}" in lines
    assert "refused: 0" in lines
    for title in SHOWN:
        if title != "allowed" or not is_katago:  # `lz-analyze`, whose numbers Lizzie reads as KataGo's
            check(lines, title)
    assert {move[0] for move in lizzies_candidates(lines, "allowed")} <= {"A1", "B1", "C1"}
    assert ("> 5 kata-analyze 10 ownership true" if is_katago else "> 5 lz-analyze 10") in lines
    if is_katago:
        assert "ownership: 49" in lines
        played = next(line for line in lines if line.startswith("played: ")).split()[1:]
        assert len(played) == 2


# --- LizGoban 0.9.1-pre1 and Ogatak 2.1.9, by their own modules, which need nothing but Node.js

SUPPORTED = """
kata-analyze kata-raw-nn minmoves pvVisits pvEdgeVisits ownershipStdev movesOwnership rootInfo allow clear_cache"""


def test_the_engine_of_lizgoban(tmp_path: Path) -> None:
    """From its probes, of which those for what is not here must fail, to a region, a move and a look ahead."""
    sources = client("LizGoban's source", "lizgoban", "src")
    words = [node(), HERE / "drive_lizgoban.cjs", sources, our_command(tmp_path), "gtp", "9x9", "--readouts", "30"]
    seen = json.loads(driven(words, tmp_path).splitlines()[-1])
    assert seen["katago"]
    assert seen["supported"] == SUPPORTED.split()
    for one in (seen["first"], seen["variation"]):
        assert one["visits"] > 0
        assert 0 <= one["winrate"] <= 100
        assert one["pv"][0] == one["move"]
        assert len(one["pvVisits"]) == len(one["pv"])
        assert one["ownership"] == 81
        assert 0 <= one["b_winrate"] <= 100
    assert set(seen["region"]) <= {f"{column}{row}" for column in "ABC" for row in (7, 8, 9)}
    assert seen["genmove"]["ok"]
    assert 0 <= seen["peek"] <= 1
    assert (seen["failures"], seen["illegal"]) == ([], [])


def test_the_engine_and_the_tree_of_ogatak(tmp_path: Path) -> None:
    """From its first board, which must fail, to moving on while it analyses; it shows no alert, not even of a hash."""
    modules = client("Ogatak's source", "ogatak", "src", "modules")
    config = tmp_path / "any.cfg"
    config.write_text("")
    weights = HERE.parents[2] / "alphago" / "nets" / "9x9.safetensors"  # it begins nothing without both files
    words = [node(), HERE / "drive_ogatak.cjs", modules, our_command(tmp_path), config, weights]
    seen = json.loads(driven(words, tmp_path).splitlines()[-1])
    assert len(seen["nodes"]) == 3
    for one in seen["nodes"]:
        assert 0 <= one["winrate"] <= 1
        assert abs(one["score"]) < 100
        assert one["moves"] >= 1
        assert one["policy"]
        assert one["ownership"] == 81
    assert seen["short"] == 5
    assert seen["errors"] == []
    assert seen["alerts"] == []


# --- KataGo's example client (python/query_analysis_engine_example.py of version 1.17.2), as it stands


def test_katagos_example_asks_and_gets_its_answer(tmp_path: Path) -> None:
    """It begins the engine as it would KataGo, asks about a 4-4 point of 19x19, and prints what comes."""
    script = client("KataGo's source", "KataGo", "python", "query_analysis_engine_example.py")
    katago = our_command(tmp_path)
    words = ["-katago-path", katago, "-config-path", "any.cfg", "-model-path", "13x13"]
    printed = driven([sys.executable, script, *words], tmp_path)
    (line,) = (line for line in printed.splitlines() if line.startswith("{'id'"))  # stderr's lines stand between
    answer = ast.literal_eval(line)
    assert (answer["id"], answer["isDuringSearch"], answer["turnNumber"]) == ("0", False, 1)
    assert answer["rootInfo"]["currentPlayer"] == "W"
    assert answer["rootInfo"]["visits"] == 500
    assert len(answer["policy"]) == 362
