"""The page while the engine thinks on 19x19: frames a second, and the main thread's work for each report of the search.

    python benchmarks/frames.py [--seconds 8]

A frame of a screen with 60 a second has 16.7 ms; a machine that is busy shows fewer frames, while the work for a report
is counted in processor time.  Needs Chromium and playwright.
"""

import argparse
import shutil
from typing import Any

import numpy as np
from playwright.sync_api import expect, sync_playwright
from web import serving

from alphago.env.go import GoEnv
from alphago.ui.web.engines import Choice, Engines
from alphago.ui.web.game_tree import GameTree
from alphago.ui.web.new_game import link_of

PLIES = 120
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


def full_board(env: GoEnv) -> str:
    """Return the link of a game of random moves."""
    tree, generator = GameTree(env, env.position()), np.random.default_rng(1)
    for _ in range(PLIES):
        tree.play(int(generator.choice(np.flatnonzero(tree.position.legal_mask[:-1]))))
    return link_of(tree)


def measure(page: Any, seconds: float) -> None:
    """Print what a page that analyses does in so many seconds."""
    wire = page.context.new_cdp_session(page)
    wire.send("Performance.enable")
    wire.send("Network.enable")
    reports: list[str] = []
    wire.on("Network.webSocketFrameReceived", lambda event: reports.append(event["response"]["payloadData"]))

    def spent() -> dict[str, float]:
        found = wire.send("Performance.getMetrics")["metrics"]
        return {one["name"]: one["value"] for one in found}

    before = spent()
    frames, longest = page.evaluate(FRAMES, seconds)
    after = spent()
    print(f"{frames:.1f} frames a second, the longest {longest:.0f} ms; {len(reports)} reports, for each:", end=" ")
    print(
        ", ".join(
            f"{word} {1000 * (after[name] - before[name]) / max(len(reports), 1):.1f} ms"
            for name, word in PARTS.items()
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=8.0, metavar="S", help="of the measurement (8)")
    parser.add_argument("--net", default="13x13", metavar="MODEL", help="the network that thinks (13x13)")
    options = parser.parse_args()
    env = GoEnv(19).match_variant()
    engines = Engines([Choice("net", options.net, "go")], "cpu")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with serving(engines, env) as port, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(PATIENCE)
        page.goto(f"http://127.0.0.1:{port}/#{full_board(env)}")
        expect(page.locator(".ag-status")).to_contain_text("to play", timeout=PATIENCE)
        page.keyboard.press("a")
        expect(page.locator(".ag-best")).to_have_count(1, timeout=PATIENCE)
        measure(page, options.seconds)
        browser.close()


if __name__ == "__main__":
    main()
