"""Ogatak 2.1.9 drives the engine through its own modules, which need nothing but Node.js."""

import json
from pathlib import Path

import pytest

from tests.ui.clients.installed import HERE, client, driven, node, our_command

pytestmark = pytest.mark.slow


def test_its_engine_and_its_tree(tmp_path: Path) -> None:
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
