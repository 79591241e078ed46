"""KaTrain (PyPI `katrain` 1.20.0) drives the engine through its own code, over a WebSocket and over pipes."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from alphago import GoEnv, load_model
from alphago.records.sgf import SgfGame
from alphago.ui.review import review_game
from alphago.ui.web.engines import Choice, Engines
from tests.ui.clients.installed import HERE, client, driven, our_command
from tests.ui.web.served import serving

pytestmark = pytest.mark.slow
QUIET = {"KIVY_NO_ARGS": "1", "KIVY_NO_FILELOG": "1", "KIVY_NO_CONSOLELOG": "1"}


def drive(backend: str, address: str, folder: Path) -> dict[str, Any]:
    python = client("KaTrain", "katrain", "bin", "python")
    printed = driven([python, HERE / "drive_katrain.py", backend, address], folder, **QUIET)
    seen: dict[str, Any] = json.loads(printed.splitlines()[-1])
    return seen


def check(seen: dict[str, Any]) -> None:
    """What a player of KaTrain would see: numbers for every move, moves of every style, and no error."""
    assert seen["version"].startswith("1.")
    assert seen["rules"] == "japanese"
    for node in seen["nodes"]:
        assert node["visits"] == 30
        assert 0 <= node["winrate"] <= 1
        assert abs(node["score"]) < 50
        assert node["pv"][0] == node["best"]
        assert (node["policy"], node["ownership"]) == (50, 49)
    assert len(seen["styles"]) >= 10
    assert seen["pondered"] > 100
    assert seen["other board"] == 30
    assert (seen["errors"], seen["popups"]) == ([], [])


def test_over_a_websocket(tmp_path: Path) -> None:
    """Its `remote` backend, without any command: the page's server answers, also after the connection has broken."""
    client("KaTrain", "katrain", "bin", "python")
    offered = Engines([Choice(name, name, "go") for name in ("7x7", "9x9")], "cpu")
    with serving(offered=offered) as served:
        seen = drive("remote", f"ws://127.0.0.1:{served.port}/analysis", tmp_path)
    assert seen["backend"] == "RemoteKataGoEngine"
    assert seen["resent"] >= 3000
    assert any("area" in text for text in seen["shown"])  # Japanese rules are answered with a warning
    seen["popups"] = [popup for popup in seen["popups"] if "econnect" not in str(popup)]
    check(seen)


def test_over_pipes(tmp_path: Path) -> None:
    """Its `custom` backend: a shell's command. KaTrain ends it by ending the shell, so the engine takes its place."""
    client("KaTrain", "katrain", "bin", "python")
    command = our_command(tmp_path, "analysis", "7x7")
    check(drive("custom", f"exec {shlex.quote(str(command))}", tmp_path))


def test_a_reviewed_game(tmp_path: Path) -> None:
    """KaTrain's loader takes `alphago review`'s file: no position needs an engine, and the mistakes are mistakes."""
    python = client("KaTrain", "katrain", "bin", "python")
    env = GoEnv(7)
    game = SgfGame.in_game(env, tuple(map(env.from_text, ("D4", "C5", "A1", "E5", "pass"))))
    review = review_game(game, load_model("7x7"), 60, device="cpu", threads=1)
    (tmp_path / "game.sgf").write_bytes(review.sgf())
    seen = json.loads(driven([python, HERE / "load_in_katrain.py", tmp_path / "game.sgf"], tmp_path, **QUIET))
    black = review.analysis.as_black()
    assert len(seen["nodes"]) == 6
    for ply, node in enumerate(seen["nodes"]):
        assert node["loaded"]
        assert node["complete"]
        assert node["visits"] == black.root_visits[ply]
        assert node["score"] == pytest.approx(black.root_score[ply], abs=1e-4)
        assert node["winrate"] == pytest.approx(black.root_win_rate[ply], abs=1e-4)
        assert node["ownership"] == pytest.approx(black.ownership[ply].ravel(), abs=1e-3)
        policy = dict(node["policy"])
        assert len(policy) == 50
        for action in range(50):
            expected = black.prior[ply, action] or -1
            assert policy[env.to_text(action)] == pytest.approx(expected, abs=1e-3)
        for order, (theirs, ours) in enumerate(zip(node["candidates"], black.moves(ply), strict=False)):
            assert (theirs["move"], theirs["order"], theirs["visits"]) == (env.to_text(ours.action), order, ours.visits)
            lost = black.to_play[ply] * (black.root_score[ply] - ours.score)
            assert theirs["pointsLost"] == pytest.approx(lost, abs=1e-4)
    corner = seen["nodes"][3]
    assert corner["lost"] > 3
    assert next(move for move in seen["nodes"][2]["candidates"] if move["move"] == "A1")["pointsLost"] > 3
    assert "A1" in corner["comment"]
