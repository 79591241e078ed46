"""Real conversations, changed at random: one reply a command, no other exception, memory that stays flat."""

import json
import random
from typing import Any

import pytest

from alphago.mcts.evaluator import HashEvaluator
from tests.campaign.tally import Area, memory, slope
from tests.ui.gtp.engine import COMMANDS, ask, engine
from tests.ui.test_analysis_engine import QUERY, answers

pytestmark = pytest.mark.campaign
FLAT = 40.0  # megabytes over half of all messages: thousands that each left something would take more
WORDS = [
    *["b", "w", "pass", "resign", "C3", "A1", "T19", "5", "0", "-1", "1e9", "nan", "Z9", "é", "#", "\x07"],
    "9" * 60,
    "",
]
JUNK: list[Any] = [None, True, -1, 10**30, 1e308, float("nan"), "", "B", [], {}, [[1]], "é\0" * 9, [["B", "C3"]] * 40]
OUT = ("quit", "loadsgf", "printsgf")  # which end the engine, or read and write files


def test_gtp() -> None:
    chance, game = random.Random(1), engine(readouts=2)
    names = [name for name in COMMANDS.split() if name not in OUT]

    def talk() -> None:
        for _ in range(20):
            name = chance.choice([*names, "play", "genmove", "x" * chance.randrange(9)])
            line = " ".join([name, *chance.choices(WORDS, k=chance.randrange(4))]).replace("#", "")
            if line.strip(" \x07"):  # control characters are left out, and empty lines have no reply
                with area.attempt(line):
                    assert len(ask(game, line)) == 1

    with Area("GTP commands") as area:
        area.check("memory of GTP", slope(memory, talk, 5000) < FLAT)


def changed(value: Any, chance: random.Random) -> Any:
    """A query with one of its values replaced, somewhere."""
    if isinstance(value, dict) and value and chance.random() < 0.9:
        key = chance.choice(list(value))
        return {**value, chance.choice([key, key, "x"]): changed(value[key], chance)}
    if isinstance(value, list) and value and chance.random() < 0.7:
        at = chance.randrange(len(value))
        return [*value[:at], changed(value[at], chance), *value[at + 1 :]]
    return chance.choice(JUNK)


def test_analysis_queries() -> None:
    chance, number = random.Random(2), 0

    def talk() -> None:
        nonlocal number
        queries = []
        for _ in range(50):
            number += 1
            query = changed({**QUERY, "maxVisits": 3}, chance)
            if isinstance(query, dict) and isinstance(query.get("maxVisits", 0), int):
                query = {**query, "maxVisits": min(query.get("maxVisits", 3), 5)}
            queries.append(json.dumps(query))
        with area.attempt(f"{number}: {queries[-1][:200]}"):
            replies = answers(HashEvaluator(), *queries)
            assert len(replies) >= len(queries)
            assert not any("internal" in str(reply.get("error", "")).lower() for reply in replies)
        area.counts[0] += len(queries) - 1

    with Area("JSON queries") as area:
        area.check("memory of queries", slope(memory, talk, 2000) < FLAT)
