"""LizGoban 0.9.1-pre1 and Ogatak 2.1.9 drive the engine through their own modules, which need nothing but Node.js."""

import json
from pathlib import Path

import pytest

from tests.ui.clients.installed import HERE, client, driven, node, our_command

pytestmark = pytest.mark.slow
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
