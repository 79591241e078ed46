"""Sabaki's controller (npm `@sabaki/gtp` 3.0.0), and the transcripts that Sabaki 0.60.2 tests its parser with.

The transcripts' positions are set up and analysed on our engine by Sabaki's own recording program, and its own parser
reads both: what it shows of ours has the form of what it shows of KataGo's.
"""

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.ui.clients.installed import HERE, client, driven, node, our_command

pytestmark = pytest.mark.slow
RECORDINGS = ("test", "resources", "engine-transcripts")
CONFIG = """
export const engines = [{
  id: 'alphago', kind: 'katago', version: 'ours', bin: BIN, config: 'any.cfg', net: {url: '', file: 'any.bin.gz'},
  analyzeCommands: ['kata-analyze', 'lz-analyze'],
}]
export const sgfs = ['empty-19.sgf', 'opening-19.sgf', 'corner-9.sgf', 'endgame-9.sgf']
export const capture = {interval: 20, settleMs: 1500, maxMs: 1200000}
"""


def test_its_controller(tmp_path: Path) -> None:
    folder = client("@sabaki/gtp", "node_modules", "@sabaki", "gtp").parents[2]
    engine = [sys.executable, "-m", "alphago", "gtp", "7x7", "--readouts", "20"]
    words = [node(), HERE / "drive_sabaki.mjs", folder, *engine]
    seen: dict[str, Any] = json.loads(driven(words, tmp_path).splitlines()[-1])
    assert seen["name"]["content"].lower().startswith("alphago")
    assert seen["protocol_version"]["content"] == "2"
    assert seen["analysis"] == "kata-analyze"  # `analyze` alone would mean integers to Sabaki
    assert seen["board"]["content"].count("X") >= 2
    for name, least in (("kata", 3), ("lz", 2)):
        assert len(seen[name]["lines"]) >= least
        assert all(re.match(r"info move [A-HJ-T]\d+ ", line) for line in seen[name]["lines"])
        assert seen[name]["interrupted"] == {"error": False, "content": "2"}
    assert seen["variation"] == ["B D4", "W D5"]
    assert re.fullmatch(r"[A-HJ]\d|pass", seen["genmove"], re.IGNORECASE)
    assert seen["genmove_analyze"][-1].startswith("play ") or "play " in "".join(seen["genmove_analyze"])
    assert "X" in seen["handicap"]["content"]
    assert seen["rectangle"] == "Board size is not supported by engine"
    assert seen["unknown"]["error"]
    assert seen["stopped"]


def fields_of(path: Path) -> list[str]:
    """The names in the first move of the last line, in their order."""
    line = [line for line in path.read_text().splitlines() if line.startswith("info ")][-1]
    first = line.split("info ")[1]
    return [word for word in first.split(" pv ")[0].split() if re.fullmatch("[a-z][A-Za-z]*", word) and word != "pass"]


def test_its_transcripts(tmp_path: Path) -> None:
    client("@sabaki/sgf", "node_modules", "@sabaki", "sgf")
    folder = client("@sabaki/go-board", "node_modules", "@sabaki", "go-board").parents[2]
    source = client("Sabaki's source", "Sabaki", *RECORDINGS).parents[2]
    script = tmp_path / "scripts" / "engine-transcripts"
    script.mkdir(parents=True)
    shutil.copy(source / "scripts" / "engine-transcripts" / "capture.mjs", script)
    command = our_command(tmp_path, "gtp", "13x13", drop_arguments=True)
    (script / "engines.config.mjs").write_text(CONFIG.replace("BIN", json.dumps(str(command))))
    shutil.copytree(source.joinpath(*RECORDINGS, "sgf"), tmp_path.joinpath(*RECORDINGS, "sgf"))
    (tmp_path / "node_modules").symlink_to(folder / "node_modules")
    (tmp_path / ".engine-cache" / "nets").mkdir(parents=True)
    (tmp_path / ".engine-cache" / "nets" / "any.bin.gz").write_bytes(b"")  # else it would be downloaded
    driven([node(), script / "capture.mjs"], tmp_path)

    shutil.copy(source / "src" / "modules" / "analysis.js", tmp_path / "analysis.mjs")
    manifests = [root.joinpath(*RECORDINGS) for root in (source, tmp_path)]
    cells = [
        {(cell["sgf"], cell["command"]): cell for cell in json.loads((path / "manifest.json").read_text())["cells"]}
        for path in manifests
    ]
    assert cells[0].keys() == cells[1].keys()
    assert len(cells[1]) == 8
    shown = []
    for path, own in zip(manifests, cells, strict=True):
        words = [f"{cell['boardSize']}:{path / cell['file']}" for cell in own.values()]
        printed = driven([node(), HERE / "parse_transcripts.mjs", folder, tmp_path / "analysis.mjs", *words], tmp_path)
        shown.append(dict(zip(own, json.loads(printed), strict=True)))
    for key, ours in shown[1].items():
        theirs = shown[0][key]
        assert fields_of(manifests[1] / cells[1][key]["file"]) == fields_of(manifests[0] / cells[0][key]["file"])
        assert cells[0][key]["color"] == cells[1][key]["color"]
        assert ours
        for move in ours:
            assert move.keys() == theirs[0].keys()
            assert 0 <= move["winrate"] <= 100
            assert isinstance(move["visits"], int)
            assert len(move["vertex"]) == 2
            assert move["moves"]
            assert (move["scoreLead"] is None) == (key[1] == "lz-analyze")
