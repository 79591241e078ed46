"""Pictures of the page of `alphago web`, as Chromium shows it: docs/web.png, docs/web_phone.png and docs/web_watch.png.

`python docs/draw_page.py [RUN]` serves the packaged 9x9 network, plays a few moves, analyses, and takes the pictures;
with the folder of a run it also takes one of that run as it is watched.  It needs Chromium, playwright and Pillow.
"""

import shutil
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from alphago.cli.web import export_page_text
from alphago.ui.web.engines import Engines
from alphago.ui.web.guard import Guard
from alphago.ui.web.runs import Runs
from alphago.ui.web.server import listen, make_app, new_server
from alphago.ui.web.server_options import make_offer

DOCS = Path(__file__).parent
LINK = "game=go&board_size=9&komi=7.5&rules=Chinese&moves=E5.E3.C4.D6.E6.D5.D4.E7.F7.E8.F8.C5.C3.G3.G4.H4.F3.F2.F4"
VISITS = 1500  # of the analysis that is shown
PATIENCE = 600  # seconds


def served(words: Sequence[str], level: int | None = None) -> tuple[Any, int]:
    """A server in a thread that offers what `alphago web` with these words does, and its port."""
    offer = make_offer(words)
    runs = Runs(offer.runs) if offer.runs else None
    app = make_app(Engines(offer.choices, level=level), offer.usual_games, Guard("127.0.0.1"), runs, export_page_text)
    listener, server = listen("127.0.0.1", 0), new_server(app)
    threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True).start()
    while not server.started:
        time.sleep(0.05)
    return server, listener.getsockname()[1]


@contextmanager
def launched() -> Iterator[Browser]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


def study(page: Page) -> None:
    """Review the game that the link gives, and analyse its last position."""
    stop = page.locator('[data-name="stop"]')
    page.keyboard.press("Space")
    page.locator('[data-name="review"]').click()
    expect(stop).to_be_enabled(timeout=1000 * PATIENCE)
    expect(stop).to_be_disabled(timeout=1000 * PATIENCE)
    page.keyboard.press("a")
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and visits(page) < VISITS:
        time.sleep(0.2)
    page.keyboard.press("Escape")
    expect(stop).to_be_disabled(timeout=1000 * PATIENCE)


def visits(page: Page) -> float:
    """The visits of the position, as the text below the graph says."""
    words = (page.locator('[data-name="known"]').text_content() or "").rpartition(" visits")[0].split()
    return float(words[-1].replace("k", "")) * (1000 if words[-1].endswith("k") else 1) if words else 0.0


def shoot(page: Page, name: str) -> None:
    """Take a picture of few colours, which is a third of the size."""
    path = DOCS / name
    page.screenshot(path=path)
    Image.open(path).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)


def main() -> None:
    runs = sys.argv[1:2]
    server, port = served(["9x9", *runs])
    with launched() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(1000 * PATIENCE)
        page.goto(f"http://127.0.0.1:{port}/#{LINK}")
        expect(page.locator(".ag-status")).to_contain_text("to play", timeout=1000 * PATIENCE)
        study(page)
        page.mouse.move(1, 1)
        shoot(page, "web.png")
        page.set_viewport_size({"width": 390, "height": 844})
        shoot(page, "web_phone.png")
        if runs:
            page.set_viewport_size({"width": 1280, "height": 800})
            page.locator('[data-name="watch"]').click()
            page.locator("figure").first.wait_for()
            shoot(page, "web_watch.png")
    server.should_exit = True


if __name__ == "__main__":
    main()
