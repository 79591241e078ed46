"""Fixed searches visit what they visited when search.json was written."""

import json

import pytest

from tests.golden.make import PATH, SEARCHES, search

GOLDEN = json.loads(PATH.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", SEARCHES)
def test_visits(name: str) -> None:
    assert search(*SEARCHES[name]) == GOLDEN.get(name), (
        "the search chooses differently than before.  If that is meant: write the file anew with "
        "`python -m tests.golden.make`, and say in the commit message that search results change, and why"
    )


def test_nothing_else_is_in_the_file() -> None:
    assert GOLDEN.keys() == SEARCHES.keys()
