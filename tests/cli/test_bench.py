"""`alphago bench`: the signature of the search."""

import json

import numpy as np
import pytest

from alphago import GoEnv, Puct
from alphago.cli import main
from alphago.cli.bench import search_positions
from alphago.env.games import GAMES
from alphago.mcts.search_forms import SEARCHES
from tests.golden.make import SIGNATURE


def test_signature(capsys: pytest.CaptureFixture[str]) -> None:
    """It is that of tests/golden/signature.json, to which a new rule or game is added when the file is written anew."""
    assert main(["bench"]) == 0
    lines = capsys.readouterr().out.splitlines()
    golden = json.loads(SIGNATURE.read_text())
    rows = {" ".join(line.split()[:2]): int(line.split()[2]) for line in lines[1:-3]}
    known = golden["searches"]
    assert {name: rows.get(name) for name in known} == known, (
        "the search or a game plays differently than before.  If that is intended: write the file anew with "
        "`python -m tests.golden.make`, and say in the commit message what changes, and why"
    )
    assert rows != known or lines[-1].split() == ["signature", str(golden["signature"])]
    assert len(rows) == len(GAMES) * len(SEARCHES)


def test_it_sees_a_change_of_the_search() -> None:
    checksums = [search_positions(GoEnv(5), settings, 16)[0] for settings in (Puct(), Puct(c_puct=1.0), Puct())]
    assert checksums[0] == checksums[2] != checksums[1]


def test_games_that_end_in_the_opening() -> None:
    _, simulations = search_positions(GoEnv(2, max_moves=3), Puct(), 8)
    assert simulations == sum(4 * (plies < 3) + 4 * (plies < 2) for plies in np.arange(32) % 8)
