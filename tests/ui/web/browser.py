"""Debian's Chromium, driven by playwright, on pages of a server in this process."""

import re
import shutil
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

from alphago.env.games import GAMES

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
QUIET += ["--disable-sync", "--no-first-run"]
PATIENCE = 120_000  # milliseconds
MIDDLE = """point => {
    const box = document.querySelector(`[data-point="${point}"]`).getBoundingClientRect();
    return {x: box.x + box.width / 2, y: box.y + box.height / 2};
}"""
FORGETS = """for (const storage of ["sessionStorage", "localStorage"]) {
    Object.defineProperty(window, storage, { get() { throw new DOMException("denied", "SecurityError"); } });
}"""


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """The browser; tests are skipped, with a sentence, where there is none."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser
        Visitor.free.clear()
        browser.close()


class Visitor:
    """A page, what its console said, and the verbs that tests need.

    A tab is used again by the next visitor: the server of each test has a port of its own, and so the page a storage of
    its own.  A new one takes twice as long.
    """

    free: ClassVar[list[Any]] = []  # tabs of visitors that have gone

    def __init__(
        self,
        browser: Any,
        address: str,
        width: int = 1280,
        height: int = 860,
        *,
        lines: bool = False,
        touch: bool = False,
        offline: bool = False,
        still: bool = False,
        forgets: bool = False,
    ) -> None:
        """Open a page.

        lines: whether the page's connection goes through here, so that it can be cut. touch: fingers, no mouse.
        still: whether nothing moves, which in long games is half of the work.
        forgets: whether the browser refuses to keep anything, and says so as Chromium does.
        """
        from playwright.sync_api import expect

        expect.set_options(timeout=PATIENCE)
        self.expect = expect
        self.plain = not (lines or touch or offline or forgets)
        if self.plain and self.free:
            self.page = self.free.pop()
        else:
            fingers = {"has_touch": touch, "is_mobile": touch}
            self.page = browser.new_context(accept_downloads=True, offline=offline, **fingers).new_page()
        self.context = self.page.context
        self.context.set_default_timeout(PATIENCE)
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.emulate_media(reduced_motion="reduce" if still else "no-preference")
        self.console: list[str] = []
        self.page.on("console", self.hear)
        self.page.on("pageerror", self.hear)
        self.lines: list[tuple[Any, Any]] = []
        if lines:
            self.page.route_web_socket(re.compile("/board"), self.connect)
        if forgets:
            self.page.add_init_script(FORGETS)
        self.page.goto(address)

    def __enter__(self) -> "Visitor":
        self.says("to play")
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None and self.plain:
            self.page.remove_listener("console", self.hear)
            self.page.remove_listener("pageerror", self.hear)
            self.page.goto("about:blank")
            self.free.append(self.page)
        else:
            self.context.close()
        if kind is None:
            assert self.console == []

    def hear(self, said: Any) -> None:
        self.console.append(str(getattr(said, "text", said)))

    def connect(self, line: Any) -> None:
        self.lines.append((line, line.connect_to_server()))

    def cut(self) -> None:
        """Cut the connection, and wait until the page has another."""
        count = len(self.lines)
        for end in self.lines[-1]:
            end.close()
        self.says("is lost")
        self.says("Move")
        assert len(self.lines) == count + 1

    def part(self, name: str) -> Any:
        return self.page.locator(f'[data-name="{name}"]')

    def says(self, text: str) -> None:
        """Wait until the status line has the text."""
        self.expect(self.page.locator(".ag-status")).to_contain_text(text)

    def complains(self, text: str) -> None:
        self.expect(self.page.locator(".ag-notice").first).to_contain_text(text)

    def click(self, *points: str) -> None:
        for point in points:
            self.page.locator(f'[data-point="{point}"]').click()

    def middle(self, point: str) -> dict[str, float]:
        """The middle of a point of the board on the screen, in one call: between two the board may be drawn anew."""
        self.page.locator(".ag-svg").scroll_into_view_if_needed()
        return dict(self.page.evaluate(MIDDLE, point))

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def menu(self) -> None:
        """Open the menu, or close it."""
        self.part("menu").click()

    def readouts(self, count: int) -> None:
        """Set the engine's readouts for a move."""
        self.menu()
        self.part("readouts").fill(str(count))
        self.part("readouts").press("Tab")
        self.menu()

    def begin(self, game: str, colour: str, **options: str) -> None:
        """Begin a game by the dialogue."""
        self.menu()
        self.part("new").click()
        self.part("new-game").select_option(game)
        for option, value in options.items():
            self.page.locator(f'dialog [data-option="{option}"]').fill(value)
        self.part("new-colour").select_option(colour)
        self.part("begin").click()
        self.expect(self.part("dialog")).to_be_hidden()
        # Until then the game before is on the board, and a press that the new one comes between is none.
        self.expect(self.page.locator(".ag-game").first).to_contain_text(str(GAMES[game].title))

    def stones(self) -> tuple[int, int]:
        """The numbers of black and white stones on the board."""
        return self.page.locator(".ag-piece.ag-black").count(), self.page.locator(".ag-piece.ag-white").count()
