"""Lizzie 0.7.4 drives the engine: its Leelaz.java and MoveData.java, with other classes in place of its windows."""

from pathlib import Path

import pytest

from tests.ui.clients.installed import HERE, client, compiled, driven, our_command

pytestmark = pytest.mark.slow
REAL = ("analysis/Leelaz.java", "analysis/MoveData.java", "analysis/LeelazListener.java", "rules/Stone.java")
SHOWN = ("start", "after D4", "after undo", "other komi", "after a pass", "allowed", "handicap")


def drive(folder: Path, *options: str) -> list[str]:
    """What Lizzie prints while it drives `alphago gtp 7x7` with these options."""
    sources = client("Lizzie", "lizzie", "src", "main", "java", "featurecat", "lizzie")
    (folder / "classes").mkdir()
    java = compiled(folder / "classes", *(HERE / "lizzie").rglob("*.java"), *(sources / name for name in REAL))
    command = f"{our_command(folder)} gtp 7x7 --readouts 30 {' '.join(options)}"
    return driven([*java, "featurecat.lizzie.analysis.Drive", command], folder).splitlines()


def candidates(lines: list[str], title: str) -> list[list[str]]:
    """The candidates that Lizzie has read under a title: move, visits, win rate, policy, score, line."""
    return [line.removeprefix(f"{title}: ").split(" ", 5) for line in lines if line.startswith(f"{title}: ")]


def check(lines: list[str], title: str) -> None:
    moves = candidates(lines, title)
    assert moves, title
    for move, visits, rate, policy, score, line in moves:
        assert line.split()[0] == move
        assert int(visits) >= 1
        assert 0 <= float(rate) <= 100
        assert 0 <= float(policy) <= 100
        assert abs(float(score)) < 82
    assert int(moves[0][1]) == max(int(move[1]) for move in moves)


def test_as_katago(tmp_path: Path) -> None:
    """It takes the engine for KataGo by its name: `kata-analyze` with ownership, win rates and scores."""
    lines = drive(tmp_path, "--name", "KataGo")
    assert "katago: true" in lines
    assert "ownership: 49" in lines
    assert "refused: 0" in lines
    for title in SHOWN:
        if title != "allowed":  # `lz-analyze`, whose numbers Lizzie reads as KataGo's
            check(lines, title)
    assert {move[0] for move in candidates(lines, "allowed")} <= {"A1", "B1", "C1"}
    played = next(line for line in lines if line.startswith("played: ")).split()[1:]
    assert len(played) == 2
    assert "> 5 kata-analyze 10 ownership true" in lines


def test_as_leela_zero(tmp_path: Path) -> None:
    """Any other name must come with a version from 0.15 on; Lizzie then uses `lz-analyze`."""
    lines = drive(tmp_path, "--name", "Leela_Zero", "--version", "0.17")
    assert "katago: false" in lines
    assert "refused: 0" in lines
    for title in SHOWN:
        check(lines, title)
    assert {move[0] for move in candidates(lines, "allowed")} <= {"A1", "B1", "C1"}
    assert "> 5 lz-analyze 10" in lines
