"""The notebook's board in a real browser: the widget's module in a page of its own, its Python side behind it."""

import json
import queue
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed")

from alphago import GameEnv, GoEnv
from alphago.mcts.evaluator import UniformEvaluator
from alphago.mcts.questions import Limit
from alphago.ui.notebook_game import NotebookGame
from tests.ui.web.browser import PATIENCE, Visitor

pytestmark = pytest.mark.browser

# What a notebook's front end does: it imports the module, renders it into a cell, and carries messages.
HOST = """
<!doctype html><link rel="icon" href="data:,"><style>%(css)s</style><div id="cell"></div>
<script type="module">
  const module = await import(URL.createObjectURL(new Blob([%(esm)s], { type: "text/javascript" })));
  const callbacks = new Set();
  const model = {
    send: (message) => window.toPython(message),
    on: (name, callback) => name === "msg:custom" && callbacks.add(callback),
    off: (name, callback) => callbacks.delete(callback),
    get: () => undefined,
  };
  window.fromPython = (message) => callbacks.forEach((callback) => callback(message));
  window.render = async () => {
    window.unrender = await module.default.render({ model, el: document.getElementById("cell") });
  };
  await window.render();
</script>
"""


class Cell(Visitor):
    """A notebook's cell in a page: messages go to and fro while `until` waits."""

    def __init__(self, browser: Any, env: GameEnv) -> None:
        super().__init__(browser, "about:blank", lines=True)  # a tab that no other visitor has
        self.outgoing: queue.Queue[dict[str, Any]] = queue.Queue()
        self.game = NotebookGame(env.position(), UniformEvaluator(), 0, Limit(4))
        self.game.widget.send = self.outgoing.put  # where a kernel would hand it to the front end
        self.page.expose_function("toPython", lambda message: self.game.widget._handle_custom_msg(message, []))
        css, esm = str(self.game.widget._css), str(self.game.widget._esm)
        self.page.set_content(HOST % {"css": css, "esm": json.dumps(esm).replace("</", "<\\/")})
        self.page.wait_for_function("window.unrender !== undefined")

    def until(self, condition: Callable[[], bool]) -> None:
        """Carry messages until something is so."""
        end = time.monotonic() + PATIENCE / 1000
        while not condition():
            assert time.monotonic() < end, "nothing happens"
            while not self.outgoing.empty():
                message = json.loads(json.dumps(self.outgoing.get()))  # as the wire would
                self.page.evaluate("(message) => window.fromPython(message)", message)
            self.page.wait_for_timeout(10)


@pytest.fixture
def shown(chromium: Any) -> Iterator[Cell]:
    """A cell with a board of 5x5."""
    cell = Cell(chromium, GoEnv(5, komi=0.5))
    cell.until(lambda: cell.page.locator('[data-point="C3"]').count() == 1)
    yield cell
    cell.game.close()
    cell.__exit__(None)


def test_a_click_is_answered(shown: Cell) -> None:
    shown.click("C3")
    shown.until(lambda: shown.stones() == (1, 1) and len(shown.game.position.moves) == 2)
    assert shown.game.position.moves[0] == GoEnv(5).from_text("C3")
    assert shown.game.position.to_play == 1
    shown.menu()
    assert shown.page.locator('option[value="your network"]').count() == 1  # among the networks to choose from


@pytest.mark.slow
def test_a_cell_that_is_cleared_and_shown_again(shown: Cell) -> None:
    """The game is the board's; what it has told last is on a board that is shown later."""
    shown.click("C3")
    shown.until(lambda: len(shown.game.position.moves) == 2)
    shown.page.evaluate("window.unrender()")
    assert shown.page.locator("#cell").inner_html() == ""
    shown.page.evaluate("window.render()")
    shown.until(lambda: shown.stones() == (1, 1))
