"""The drawings of the tutorial: the script draws what the page shows, and every file is whole."""

import re
import runpy
from pathlib import Path

import pytest

from tests.drawing.reading import texts, title

DOCS = Path(__file__).parents[1] / "docs"
NAMES = {path.name for path in (DOCS / "tutorial").glob("*.svg")}


def test_the_page_shows_every_drawing() -> None:
    assert set(re.findall(r"\(tutorial/(\w+\.svg)\)", (DOCS / "tutorial.md").read_text("utf-8"))) == NAMES
    for name in NAMES:
        assert title((DOCS / "tutorial" / name).read_text("utf-8"))


@pytest.mark.docs
def test_the_script_draws_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = runpy.run_path(str(DOCS / "draw_tutorial.py"))
    script["main"].__globals__["FOLDER"] = tmp_path
    script["main"]()
    assert set(capsys.readouterr().out.split()) == NAMES == {path.name for path in tmp_path.iterdir()}
    assert {"1. choose", "2. expand", "3. evaluate", "4. back up"} <= set(
        texts((tmp_path / "simulation.svg").read_text())
    )
