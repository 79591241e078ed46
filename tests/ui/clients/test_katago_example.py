"""KataGo's example client (python/query_analysis_engine_example.py of version 1.17.2), as it stands."""

import ast
import sys
from pathlib import Path

import pytest

from tests.ui.clients.installed import client, driven, our_command

pytestmark = pytest.mark.slow


def test_the_example_asks_and_gets_its_answer(tmp_path: Path) -> None:
    """It begins the engine as it would KataGo, asks about a 4-4 point of 19x19, and prints what comes."""
    script = client("KataGo's source", "KataGo", "python", "query_analysis_engine_example.py")
    katago = our_command(tmp_path)
    words = ["-katago-path", katago, "-config-path", "any.cfg", "-model-path", "13x13"]
    printed = driven([sys.executable, script, *words], tmp_path)
    (line,) = (line for line in printed.splitlines() if line.startswith("{'id'"))  # stderr's lines stand between
    answer = ast.literal_eval(line)
    assert (answer["id"], answer["isDuringSearch"], answer["turnNumber"]) == ("0", False, 1)
    assert answer["rootInfo"]["currentPlayer"] == "W"
    assert answer["rootInfo"]["visits"] == 500
    assert len(answer["policy"]) == 362
