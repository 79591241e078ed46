"""A newcomer's first visit to the page of `alphago web`: the clicks and seconds to each first thing.

    python docs/newcomer.py

A program of level 2 thinks for the newcomer, whose clicks are those of a mouse in Chromium; the seconds are those that
the page needs, without the newcomer's thoughts.  At the end a friend opens the file that the page gave.  It needs
Chromium and playwright.
"""

import re
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from draw_page import PATIENCE, launched, served
from playwright.sync_api import Page, expect

from alphago.env.go import GoEnv
from alphago.mcts.player import MCTSPlayer
from alphago.ui.web.new_game import open_link

LEVEL = 3  # of the engine
NEWCOMER = 2  # who loses by points rather than by the engine's resignation
MOST_MOVES = 150  # of the newcomer in a game
BASES = {"go": GoEnv(9).match_variant()}


class Visitor:
    """Counts a person's clicks on a page, and the seconds that the page takes to obey."""

    def __init__(self, page: Page, address: str) -> None:
        self.page, self.clicks, self.seconds = page, 0, 0.0
        page.set_default_timeout(1000 * PATIENCE)
        begun = time.monotonic()
        page.goto(address)
        self.waits("to play")
        self.seconds += time.monotonic() - begun

    def waits(self, text: str) -> None:
        expect(self.page.locator(".ag-status")).to_contain_text(re.compile(text))

    def click(self, selector: str, text: str = "") -> None:
        """Click, and wait until the line below the players has a text."""
        begun = time.monotonic()
        self.page.locator(f"{selector}:visible").first.click()
        self.clicks += 1
        if text:
            self.waits(text)
        self.seconds += time.monotonic() - begun

    def tell(self, what: str) -> None:
        print(f"| {what} | {self.clicks} | {self.seconds:.1f} s |", flush=True)


def play_to_the_end(visitor: Visitor) -> None:
    """Play against the engine until two passes or a resignation end the game."""
    player = MCTSPlayer(BASES["go"], "9x9", 32, level=NEWCOMER, seed=1)
    for _ in range(MOST_MOVES):
        if "your move" not in (visitor.page.locator(".ag-status").text_content() or ""):
            return
        position = open_link(visitor.page.url.partition("#")[2], BASES)
        for action in position.moves[len(player.position.moves) :]:
            player.play_move(action)
        name = position.env.to_text(player.suggest_move())
        where = "[data-name=pass]" if name == "pass" else f'[data-point="{name}"]'
        visitor.click(where, rf"Move {len(position.moves) + 3}: Black to play.*your move|wins")


def main() -> None:
    expect.set_options(timeout=1000 * PATIENCE)
    server, port = served([], LEVEL)
    print("| a newcomer's first | clicks | seconds of the page |\n| --- | --- | --- |")
    with launched() as browser, TemporaryDirectory() as folder:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        visitor = Visitor(page, f"http://127.0.0.1:{port}/")
        visitor.tell("board to play on")
        visitor.click('[data-point="E5"]', "Move 3: Black to play.*your move")
        visitor.tell("move, and its answer")
        play_to_the_end(visitor)
        begun = time.monotonic()
        page.locator("[data-name=moments] button").first.wait_for()
        visitor.seconds += time.monotonic() - begun
        told = [page.locator(place).first.text_content() for place in (".ag-status span", "[data-name=count]")]
        visitor.tell(f"game to its end: {' '.join(filter(None, told))}")
        visitor.click("[data-name=moments] button", "Move")
        visitor.click("[data-name=study]")
        page.locator(".ag-best").wait_for()
        visitor.tell("mistake, with what was better on the board")
        visitor.click("[data-name=menu]")
        with page.expect_download() as download:
            visitor.click("[data-name=take]")
        path = Path(folder) / "network.html"
        download.value.save_as(path)
        visitor.tell("file to share")
        context = browser.new_context(viewport={"width": 390, "height": 844}, offline=True)
        friend = Visitor(context.new_page(), path.as_uri())
        friend.tell("board of a friend who opens it")
        friend.click('[data-point="E5"]', "Move 3: Black to play")
        friend.tell("move of the friend, and its answer")
    server.should_exit = True


if __name__ == "__main__":
    main()
