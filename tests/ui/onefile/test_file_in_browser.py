"""A file in Chromium, opened from the disk without a network: games to their end by clicks."""

from pathlib import Path
from typing import Any

import pytest

from alphago import export_page
from alphago.env.game import GameEnv
from alphago.env.go import GoEnv
from alphago.env.oware import OwareEnv
from alphago.nn.net import NeuralNet
from tests.ui.web.browser import PATIENCE

pytestmark = pytest.mark.browser


class Reader:
    """A file in a browser that is offline, and what its console said."""

    def __init__(self, browser: Any, path: Path) -> None:
        self.context = browser.new_context(viewport={"width": 1000, "height": 700}, offline=True)
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.console: list[str] = []
        self.page.on("console", lambda message: self.console.append(message.text))
        self.page.on("pageerror", lambda error: self.console.append(str(error)))
        self.page.goto(path.as_uri())

    def __enter__(self) -> "Reader":
        self.says("to play")
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.context.close()
        if kind is None:
            assert self.console == []

    def says(self, text: str) -> None:
        self.page.locator("#play", has_text=text).wait_for()

    def press(self, name: str) -> None:
        self.page.locator(f"[data-name={name}]:visible").first.click()

    def play(self, point: str) -> None:
        self.page.locator(f"[data-point='{point}']").click()


def small(env: GameEnv) -> NeuralNet:
    return NeuralNet(env, tower_height=1, channels=8, size_free=isinstance(env, GoEnv))


def test_go_to_its_end(chromium: Any, tmp_path: Path) -> None:
    path = export_page(small(GoEnv(5)), tmp_path / "go.html").path
    with Reader(chromium, path) as reader:
        page = reader.page
        page.locator("[data-name=black]").select_option("human")
        page.locator("[data-name=white]").select_option("human")
        for point in ("C3", "C2"):
            reader.play(point)
        page.locator("[data-name=black]").select_option("engine")
        reader.says("Move 4: White")
        page.locator("[data-name=black]").select_option("human")
        reader.press("study")
        page.locator("[data-move]").first.wait_for(state="attached")
        reader.press("play")
        reader.press("pass")
        reader.press("pass")
        reader.says("wins by")
        reader.press("about-network")
        reader.says("not measured")
        page.keyboard.press("Escape")
        page.locator("dialog[open]").wait_for(state="detached")
        with page.expect_download() as download:
            page.keyboard.press("s")
        text = Path(download.value.path()).read_text()
        assert text.startswith("(;FF[4]")
        assert ";B[cc];W[cd];B[" in text


def test_the_engine_answers_in_another_game(chromium: Any, tmp_path: Path) -> None:
    with Reader(chromium, export_page(small(OwareEnv()), tmp_path / "oware.html").path) as reader:
        reader.page.locator("[data-name=white]").select_option("engine")
        reader.play("C")
        reader.says("Move 3: Black")
