"""The page while it draws what a search on 19x19 reports: frames a second, and the main thread's work for a report.

    python benchmarks/frames.py [--seconds 8]

The engine thinks, and what it has reported is then sent again ten times a second.  A frame of a screen with 60 a second
has 16.7 ms.  Needs Chromium and playwright.
"""

import argparse
import re
import shutil
from collections.abc import Callable
from typing import Any

import numpy as np
from playwright.sync_api import expect, sync_playwright
from web import serving

from alphago.env.go import GoEnv
from alphago.ui.web.engines import Choice, Engines
from alphago.ui.web.new_game import link_of

A_SECOND = 10  # reports, as many as the server sends
REPORTS = 3  # that are waited for
PATIENCE = 300_000  # milliseconds
FRAMES = """seconds => new Promise(done => {
    const begun = performance.now();
    let [frames, longest, last] = [0, 0, begun];
    const next = now => {
        frames += 1;
        longest = Math.max(longest, now - last);
        last = now;
        if (now - begun < 1000 * seconds) requestAnimationFrame(next);
        else done([1000 * frames / (now - begun), longest]);
    };
    requestAnimationFrame(next);
})"""
PARTS = {
    "ScriptDuration": "script",
    "RecalcStyleDuration": "styles",
    "LayoutDuration": "layout",
    "TaskDuration": "in all",
}


def full_board(env: GoEnv, plies: int) -> str:
    """Return the link of a game of random moves."""
    position, generator = env.position(), np.random.default_rng(1)
    for _ in range(plies):
        position = position.play(int(generator.choice(np.flatnonzero(position.legal_mask[:-1]))))
    return link_of(position)


class Line:
    """The page's connection to its server; what the search reports is kept, to be sent again at an even pace."""

    def __init__(self, page: Any) -> None:
        self.page, self.kept = page, list[str]()
        page.route_web_socket(re.compile("/board"), self.connect)

    def connect(self, line: Any) -> None:
        self.to_page = line
        line.connect_to_server().on_message(self.pass_on)

    def pass_on(self, text: str) -> None:
        if '"isDuringSearch":true' in text[:200]:
            self.kept.append(text)
        self.to_page.send(text)

    def send(self, reports: int) -> None:
        for number in range(reports):
            self.to_page.send(self.kept[number % len(self.kept)])
            self.page.wait_for_timeout(1000 / A_SECOND)


def measure(page: Any, line: Line, seconds: float) -> None:
    """Print what the page does with so many seconds of reports, beyond what it does without."""
    wire = page.context.new_cdp_session(page)
    wire.send("Performance.enable", {"timeDomain": "threadTicks"})  # of the processor: other programs change nothing
    reports = int(A_SECOND * seconds) + 1

    def spent(work: Callable[[], object]) -> dict[str, float]:
        before = wire.send("Performance.getMetrics")["metrics"]
        work()
        after = {one["name"]: one["value"] for one in wire.send("Performance.getMetrics")["metrics"]}
        return {PARTS[one["name"]]: after[one["name"]] - one["value"] for one in before if one["name"] in PARTS}

    idle = spent(lambda: page.wait_for_timeout(1000 * reports / A_SECOND))
    busy = spent(lambda: line.send(reports))
    page.evaluate(f"window.frames = ({FRAMES})({seconds})")
    line.send(reports)
    frames, longest = page.evaluate("window.frames")
    print(f"{frames:.1f} frames a second, the longest {longest:.0f} ms; of the processor for each report:", end=" ")
    print(", ".join(f"{word} {1000 * (busy[word] - idle[word]) / reports:.1f} ms" for word in PARTS.values()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=8.0, metavar="S", help="of the measurement (8)")
    parser.add_argument("--net", default="13x13", metavar="MODEL", help="the network that thinks (13x13)")
    parser.add_argument("--size", type=int, default=19, metavar="N", help="points along a side (19)")
    parser.add_argument("--plies", type=int, default=120, metavar="N", help="moves on the board (120)")
    options = parser.parse_args()
    env = GoEnv(options.size).match_variant()
    engines = Engines([Choice("net", options.net, "go")], "cpu")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with serving(engines, env) as port, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(PATIENCE)
        line = Line(page)
        page.goto(f"http://127.0.0.1:{port}/#{full_board(env, options.plies)}")
        expect(page.locator(".ag-status")).to_contain_text("to play", timeout=PATIENCE)
        page.keyboard.press("a")
        expect(page.locator(".ag-best")).to_have_count(1, timeout=PATIENCE)
        while len(line.kept) < REPORTS:
            page.wait_for_timeout(50)
        page.keyboard.press("Escape")
        expect(page.locator("[data-name=stop]")).to_be_hidden(timeout=PATIENCE)
        measure(page, line, options.seconds)
        browser.close()


if __name__ == "__main__":
    main()
