"""docs/add_a_game.md: what it quotes stands in the sources, what it shows to run runs, its links lead somewhere."""

import re
from pathlib import Path
from textwrap import indent

import pytest

from tests.test_readme import Block, find_blocks, run_block

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "add_a_game.md"
QUOTED = ["examples/connect_four.py", "alphago/env/connect_four.py", "alphago/env/kernels/connect_four.py"]
TEXT = PAGE.read_text("utf-8")


def without_blank_lines(text: str) -> str:
    """The formatter puts other ones between methods than between functions."""
    return re.sub(r"\n\n+", "\n", text)


@pytest.mark.parametrize("block", find_blocks(TEXT), ids=lambda block: f"line{block.line}")
def test_block(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A block with imports is a program; any other is quoted."""
    if block.code.startswith(("from ", "import ")):
        monkeypatch.chdir(tmp_path)
        run_block(block, monkeypatch)
    else:
        sources = [without_blank_lines((ROOT / path).read_text("utf-8")) for path in QUOTED]
        code = without_blank_lines(block.code)
        assert any(quoted in source for source in sources for quoted in (code, indent(code, "    ")))


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", TEXT)
    assert links
    assert [link for link in links if not (PAGE.parent / link).exists()] == []


def test_the_plain_game_is_as_short_as_told() -> None:
    lines = len((ROOT / "examples" / "connect_four.py").read_text("utf-8").splitlines())
    assert f", {lines} lines, " in " ".join(TEXT.split())
    assert lines <= 80
