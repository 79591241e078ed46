"""README.md names what exists; tests/test_docs.py runs its Python blocks and reads its commands."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"


def test_links_lead_somewhere():
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", README.read_text("utf-8"))
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_make_targets_exist():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = set(re.findall(r"\bmake ([a-z]+)`|^make ([a-z]+)", README.read_text("utf-8"), re.MULTILINE))
    assert {"demo", "test"} <= {a or b for a, b in named} <= targets
