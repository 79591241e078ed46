"""The signature of the search: checksums of fixed searches in every game by every rule."""

import json

import numpy as np

from alphago import GoEnv, Puct
from tests.golden.make import SIGNATURE, checksums, search_positions


def test_signature() -> None:
    """It is that of tests/golden/signature.json, to which a new rule or game is added when the file is written anew."""
    known, found = json.loads(SIGNATURE.read_text()), checksums()
    assert {name: found.get(name) for name in known} == known, (
        "the search or a game plays differently than before.  If that is intended: write the file anew with "
        "`python -m tests.golden.make`, and say in the commit message what changes, and why"
    )


def test_it_sees_a_change_of_the_search() -> None:
    checksums = [search_positions(GoEnv(5), settings, 16)[0] for settings in (Puct(), Puct(c_puct=1.0), Puct())]
    assert checksums[0] == checksums[2] != checksums[1]


def test_games_that_end_in_the_opening() -> None:
    _, simulations = search_positions(GoEnv(2, max_moves=3), Puct(), 8)
    assert simulations == sum(4 * (plies < 3) + 4 * (plies < 2) for plies in np.arange(32) % 8)
