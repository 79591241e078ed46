"""The files of the page without a browser: their size, what they load, and colours that the colour-blind tell apart."""

import json
import re

import numpy as np
import pytest

from alphago.env.games import GAMES
from alphago.ui.web.server import STATIC

# Vienot, Brettel and Mollon 1999: linear RGB as people without long-wave, or without middle-wave cones see it.
BLINDNESS = {
    "protanopia": [[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]],
    "deuteranopia": [[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]],
}


@pytest.mark.parametrize("blindness", [None, *BLINDNESS])
def test_the_colours_of_moves_stay_apart_for_the_colour_blind(blindness: str | None) -> None:
    """By the CIE's distance in Lab, of which 2 to 3 are just noticed; beside them every number says the same."""
    (listed,) = re.findall(r"const LOSSES = (\[.*\]);", (STATIC / "board.js").read_text())
    colours = np.array([[int(text[i : i + 2], 16) / 255 for i in (1, 3, 5)] for text in json.loads(listed)])
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    if blindness:
        linear = np.clip(linear @ np.array(BLINDNESS[blindness]).T, 0, 1)
    xyz = linear @ np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]).T
    root = np.cbrt(xyz / [0.9505, 1, 1.089])
    lab = np.stack([116 * root[:, 1] - 16, 500 * (root[:, 0] - root[:, 1]), 200 * (root[:, 1] - root[:, 2])], axis=1)
    distances = np.linalg.norm(lab[:, None] - lab[None], axis=2)
    assert distances[~np.eye(len(lab), dtype=bool)].min() > 12


def test_the_files_of_the_page_are_small_and_load_nothing_from_elsewhere() -> None:
    files = {path.name: path.read_text() for path in STATIC.iterdir()}
    assert sum(len(text.encode()) for text in files.values()) < 150_000
    for name, text in files.items():
        assert not re.search(r"https?://(?!www\.w3\.org/)", text), name
    assert "import " not in re.sub(r"^\s*//.*$", "", files["board.js"], flags=re.MULTILINE)  # a widget takes one module


def test_the_page_knows_no_game() -> None:
    """What it draws, and what it asks for a new game, comes from `GameEnv.board_view` and `GameEnv.options`."""
    for path in STATIC.glob("*.js"):
        text = path.read_text()
        for name, game in GAMES.items():
            assert not re.search(rf"[=!]==?\s*[\"']{name}[\"']", text), (path.name, name)
            assert name == "go" or (name not in text and str(game.title) not in text), (path.name, name)
        assert not re.search("komi|handicap|Chinese", text, re.IGNORECASE), path.name
