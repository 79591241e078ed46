"""KaTrain (PyPI `katrain` 1.20.0) drives the engine through its own code, over a WebSocket and over pipes."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

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
