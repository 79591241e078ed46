"""A game on the page is its only copy: reloads, lines that are cut, servers that end, browsers that keep nothing."""

import random
from contextlib import ExitStack
from typing import Any

import pytest

from tests.campaign.tally import Area, rounds
from tests.ui.web.browser import Visitor, chromium
from tests.ui.web.served import serving

__all__ = ["chromium"]  # a fixture
pytestmark = [pytest.mark.campaign, pytest.mark.browser]

POINTS = [f"{column}{row}" for column in "ACE" for row in (1, 3, 5)]  # stones there touch none


def test_a_game_on_the_page(chromium: Any) -> None:
    """Whatever happens between two moves of a person who plays both sides, the page has all moves."""
    with Area("moves on the page between accidents") as area:
        for number in rounds(20):
            chance = random.Random(number)
            with ExitStack() as server:
                served = server.enter_context(serving())
                visitor = Visitor(chromium, served.address, lines=True, forgets=number % 2 == 1)
                visitor.says("to play")
                visitor.part("white").select_option("human")
                for move, point in enumerate(chance.sample(POINTS, 6), 1):
                    accident = chance.choice(["reload", "cut", "undo", "another server"])
                    with area.attempt(f"seed {number}, move {move}, {accident}"):
                        visitor.click(point)
                        visitor.says(f"Move {move + 1}")
                        if accident == "reload":
                            visitor.page.reload()
                        elif accident == "cut":
                            visitor.cut()
                        elif accident == "undo":
                            visitor.press("u")
                            visitor.says(f"Move {move}:")
                            visitor.press("y")
                        else:
                            server.close()
                            visitor.says("The connection is lost")
                            server.enter_context(serving(port=served.port))
                        visitor.says(f"Move {move + 1}")
                        assert sum(visitor.stones()) == move
                visitor.context.close()
