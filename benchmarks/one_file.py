"""The file of a network in Chromium, from the disk: time until it can be played, to its first answer, and of a search.

    python benchmarks/one_file.py [9x9] [--workers 1]

The file is opened without a network connection.  Its engine answers a first move at the level that it begins with, and
another at full strength with a given number of simulations; both are on the first free point.  Needs Chromium and
playwright.
"""

import argparse
import shutil
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import expect, sync_playwright

from alphago import export_page

PATIENCE = 300_000  # milliseconds
ANSWER = """text => new Promise(done => {
    const status = document.querySelector(".ag-status");
    const begun = performance.now();
    const watch = new MutationObserver(() => {
        if (!status.textContent.includes(text)) return;
        watch.disconnect();
        done(performance.now() - begun);
    });
    watch.observe(status, { childList: true, characterData: true, subtree: true });
    const box = document.querySelector(".ag-target.ag-open");
    for (const type of ["pointerdown", "pointerup"]) {
        const { x, y, width, height } = box.getBoundingClientRect();
        const where = { clientX: x + width / 2, clientY: y + height / 2, bubbles: true, pointerType: "mouse" };
        (document.elementFromPoint(where.clientX, where.clientY) || box).dispatchEvent(new PointerEvent(type, where));
    }
})"""


def measured(browser: Any, path: Path, options: argparse.Namespace) -> tuple[float, float, float]:
    """Return the milliseconds to a board, to the first answer, and the simulations a second."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, offline=True)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.on("console", lambda message: print("the console:", message.text))
    cores = options.workers + 1  # a worker for each but one
    page.add_init_script(f"Object.defineProperty(navigator, 'hardwareConcurrency', {{ value: {cores} }})")
    begun = time.perf_counter()
    page.goto(path.as_uri())
    expect(page.locator(".ag-status")).to_contain_text("to play", timeout=PATIENCE)
    ready = 1000 * (time.perf_counter() - begun)
    answer = page.evaluate(ANSWER, "Move 3")
    level = page.locator("[data-name=level]")
    level.fill(level.get_attribute("max"))
    page.locator("[data-name=menu]").click()
    page.locator("[data-name=readouts]").fill(str(options.readouts))
    page.locator("[data-name=readouts]").press("Tab")
    page.locator("[data-name=menu]").click()
    expect(page.locator("[data-name=level]")).to_be_visible()
    search = page.evaluate(ANSWER, "Move 5")
    context.close()
    return ready, answer, 1000 * options.readouts / search


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("net", nargs="?", default="9x9", metavar="NET", help="the network (9x9)")
    parser.add_argument("--readouts", type=int, default=1600, metavar="N", help="of the search (1600)")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="that evaluate (1)")
    parser.add_argument("--turns", type=int, default=5, metavar="N", help="of which the median is told (5)")
    options = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        exported = export_page(options.net, Path(folder) / "net.html")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        turns = [measured(browser, exported.path, options) for _ in range(options.turns)]
        browser.close()
    ready, answer, rate = (median(one) for one in zip(*turns, strict=True))
    print(f"{exported.bytes:,} bytes; a board after {ready:.0f} ms, the first answer {answer:.0f} ms after a click;")
    print(f"{rate:.0f} simulations a second with {options.workers} worker(s), {options.readouts} in a search")


if __name__ == "__main__":
    main()
