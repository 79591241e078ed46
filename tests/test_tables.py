"""Tables of README.md and docs/results.md are what docs/make_tables.py makes of docs/results/*.json."""

import runpy
import shlex
from pathlib import Path
from types import SimpleNamespace

import pytest

from alphago.cli import make_parser

ROOT = Path(__file__).parents[1]
make_tables = SimpleNamespace(**runpy.run_path(str(ROOT / "docs" / "make_tables.py")))


@pytest.mark.parametrize("page", make_tables.PAGES, ids=lambda page: page.name)
def test_tables_are_those_of_the_rows(page: Path) -> None:
    text = page.read_text("utf-8")
    assert "<!-- table: " in text
    assert make_tables.with_tables(text) == text


def test_rows_of_strength() -> None:
    rows = make_tables.rows_of(make_tables.STRENGTH)
    assert len({row["id"] for row in rows}) == len(rows)
    for row in rows:
        assert row["status"] in ("measured", "stale", "missing"), row["id"]
        for command in filter(None, (row["train"], row["match"])):
            words = shlex.split(command)
            if words[0] == "python":
                assert (ROOT / words[1]).is_file(), row["id"]
            else:
                verb, *arguments = words[words.index("alphago") + 1 :]
                assert make_parser(verb).parse_args(arguments)
        if row["status"] == "measured":
            assert row["wins"] + row["draws"] + row["losses"] == row["games"] > 0, row["id"]
            assert row["machine"], row["id"]
            assert row["commit"], row["id"]
