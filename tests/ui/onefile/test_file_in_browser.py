"""A file in Chromium, opened from the disk without a network: games to their end by clicks."""

from pathlib import Path
from typing import Any

import pytest

from alphago import GameEnv, GoEnv, NeuralNet, OwareEnv, export_page
from tests.ui.web.browser import Visitor
from tests.ui.web.test_page import play_again_with_a_handicap

pytestmark = pytest.mark.browser


def reading(browser: Any, path: Path) -> Visitor:
    """A visitor of a file, without a network."""
    return Visitor(browser, path.as_uri(), 1000, 700, offline=True)


def small(env: GameEnv) -> NeuralNet:
    return NeuralNet(env, tower_height=1, channels=8, size_free=isinstance(env, GoEnv))


def test_go_to_its_end(chromium: Any, tmp_path: Path) -> None:
    path = export_page(small(GoEnv(5)), tmp_path / "go.html", name="a]b").path
    with reading(chromium, path) as reader:
        page = reader.page
        page.locator("[data-name=black]").select_option("human")
        page.locator("[data-name=white]").select_option("human")
        for point in ("C3", "C2"):
            reader.click(point)
        page.locator("[data-name=black]").select_option("engine")
        reader.says("Move 4: White")
        page.locator("[data-name=black]").select_option("human")
        reader.part("study").click()
        page.locator("[data-move]").first.wait_for(state="attached")
        reader.part("play").click()
        reader.part("pass").click()
        reader.part("pass").click()
        reader.says("wins by")
        reader.part("about-network").click()
        page.locator(".file-about", has_text="not measured").wait_for()
        page.keyboard.press("Escape")
        page.locator("dialog[open]").wait_for(state="detached")
        reader.part("white").select_option("engine")
        with page.expect_download() as download:
            page.keyboard.press("s")
        text = Path(download.value.path()).read_text()
        assert text.startswith("(;FF[4]")
        assert "PW[alphago a\\]b]" in text
        assert ";B[cc];W[cd];B[" in text


@pytest.mark.slow
def test_the_engine_answers_in_another_game(chromium: Any, tmp_path: Path) -> None:
    with reading(chromium, export_page(small(OwareEnv()), tmp_path / "oware.html").path) as reader:
        reader.page.locator("[data-name=white]").select_option("engine")
        reader.part("even").check()
        reader.click("C")
        reader.says("Move 3: Black")
        reader.page.get_by_text("You have made 1 of 5 moves").wait_for()


@pytest.mark.slow
def test_a_reload_has_the_game_and_its_variations(chromium: Any, tmp_path: Path) -> None:
    with reading(chromium, export_page(small(GoEnv(5)), tmp_path / "go.html").path) as reader:
        reader.page.locator("[data-name=white]").select_option("human")
        reader.click("C3", "C4")
        reader.says("Move 3")
        reader.press("u")
        reader.says("Move 2")
        assert reader.page.url.endswith("moves=C3")
        reader.page.reload()
        reader.says("Move 2")
        reader.press("y")
        reader.says("Move 3")
        play_again_with_a_handicap(reader)


def under_policy(path: Path, policy: str) -> Path:
    """The file as a site would send it that has a policy."""
    meta = f'<head><meta http-equiv="Content-Security-Policy" content="{policy}">'
    path.write_text(path.read_text().replace("<head>", meta))
    return path


@pytest.mark.slow
def test_a_site_that_forbids_webassembly_is_told(chromium: Any, tmp_path: Path) -> None:
    path = under_policy(export_page(small(OwareEnv()), tmp_path / "oware.html").path, "script-src 'unsafe-inline'")
    reader = reading(chromium, path)
    reader.page.get_by_text("it has no WebAssembly with SIMD, or the site of this file forbids it").wait_for()
    reader.context.close()


@pytest.mark.slow
def test_a_site_that_forbids_workers_is_told(chromium: Any, tmp_path: Path) -> None:
    """Two persons may play there all the same."""
    path = export_page(small(GoEnv(5)), tmp_path / "go.html").path
    reader = reading(chromium, under_policy(path, "script-src 'unsafe-inline' 'wasm-unsafe-eval'; worker-src 'none'"))
    reader.says("to play")
    reader.click("C3")
    reader.complains("The engine does not run here")
    reader.page.locator("[data-name=white]").select_option("human")
    reader.click("C4")
    reader.says("Move 3")
    reader.context.close()
