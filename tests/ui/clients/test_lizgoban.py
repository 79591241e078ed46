"""LizGoban 0.9.1-pre1 drives the engine through its own module, which needs nothing but Node.js."""

import json
from pathlib import Path

import pytest

from tests.ui.clients.installed import HERE, client, driven, node, our_command

pytestmark = pytest.mark.slow


def test_its_engine(tmp_path: Path) -> None:
    """From its probes, of which those for what is not here must fail, to a region, a move and a look ahead."""
    sources = client("LizGoban's source", "lizgoban", "src")
    words = [node(), HERE / "drive_lizgoban.cjs", sources, our_command(tmp_path), "gtp", "9x9", "--readouts", "30"]
    seen = json.loads(driven(words, tmp_path).splitlines()[-1])
    assert seen["katago"]
    assert seen["supported"] == [
        "kata-analyze",
        "kata-raw-nn",
        "minmoves",
        "pvVisits",
        "pvEdgeVisits",
        "ownershipStdev",
        "movesOwnership",
        "rootInfo",
        "allow",
        "clear_cache",
    ]
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
