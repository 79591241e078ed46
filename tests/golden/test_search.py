"""Fixed searches visit what they visited when search.json and signature.json were written."""

import json

import pytest

from tests.golden.make import PATH, SEARCHES, SIGNATURE, checksums, search

GOLDEN = json.loads(PATH.read_text(encoding="utf-8"))
CHANGED = (
    "the search or a game plays differently than before.  If that is meant: write the files anew with "
    "`python -m tests.golden.make`, and say in the commit message what changes, and why"
)


@pytest.mark.parametrize("name", SEARCHES)
def test_visits(name: str) -> None:
    assert search(*SEARCHES[name]) == GOLDEN.get(name), CHANGED


def test_nothing_else_is_in_the_file() -> None:
    assert GOLDEN.keys() == SEARCHES.keys()


def test_checksums_in_every_game_by_every_rule() -> None:
    """Those of signature.json, to which a new rule or game is added when the file is written anew."""
    known, found = json.loads(SIGNATURE.read_text()), checksums()
    assert {name: found.get(name) for name in known} == known, CHANGED
