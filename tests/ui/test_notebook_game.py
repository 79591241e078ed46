"""A game in a notebook: the widget's Python side with a browser that the test plays, and its board in a real one."""

import builtins
import json
import queue
import sys
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed")

from IPython.lib.pretty import pretty

from alphago import ConnectFourEnv, GoEnv, Position, play
from alphago.mcts.evaluator import UniformEvaluator
from alphago.mcts.questions import Limit
from alphago.ui.notebook_game import NETWORK_NAME, NotebookGame
from alphago.ui.web.new_game import link_head
from alphago.ui.web.page_files import STATIC
from tests.ui.web.browser import Visitor
from tests.ui.web.desks import PATIENCE, about
from tests.ui.web.served import threads, wait_until

GO, EVEN = GoEnv(5, komi=0.5), UniformEvaluator()


@pytest.fixture
def displayed(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """A notebook; what is displayed in it."""
    ipython = pytest.importorskip("IPython", reason="IPython is not installed")
    shell, shown = SimpleNamespace(kernel=object(), execution_count=7), []  # what IPython's shell in a notebook has
    monkeypatch.setattr(ipython, "get_ipython", lambda: shell)
    monkeypatch.setattr("IPython.display.display", lambda *things, **_: shown.extend(things))
    return shown


@pytest.fixture
def games() -> Iterator[list[NotebookGame]]:
    """Games that are closed in the end, and whose engines end then."""
    made, before = list[NotebookGame](), threads("alphago-engine")
    yield made
    for game in made:
        game.close()
    wait_until(lambda: threads("alphago-engine") <= before)


def from_browser(game: NotebookGame, /, **message: Any) -> None:
    """What the page's module sends: it arrives at the widget as a custom message."""
    game.widget._handle_custom_msg(message, [])


def told(game: NotebookGame, /, **query: Any) -> dict[str, Any]:
    """The answer to a query of the page."""
    answers: queue.Queue[dict[str, Any]] = queue.Queue()
    game.widget.send = answers.put
    from_browser(game, id=1, **query)
    while (answer := answers.get(timeout=PATIENCE)).get("id") != 1 or answer.get("isDuringSearch"):
        pass
    return answer


def play_there(game: NotebookGame, moves: str, result: str = "") -> None:
    """Moves on the board in the browser, which tells them."""
    here = f"{link_head(game.position)}&moves={'.'.join(moves.split())}"
    from_browser(game, id=9, action="keep", kept={"here": here, "result": result})


def test_the_cell_returns_at_once_and_the_engine_answers(displayed: list[Any], games: list[NotebookGame]) -> None:
    games.append(game := play(GO, EVEN, num_readouts=4))
    assert displayed == [game.widget]
    assert str(game.widget._css).startswith((STATIC / "board.css").read_text("utf-8"))
    assert (len(game.position.moves), game.result) == (0, "")
    first = told(game, action="hello")["first"]
    assert first["players"] == ["human", "engine"]
    assert (first["strength"]["readouts"], first["strength"]["tree"]) == (4, True)
    query = {**about(GO.position().play("C3")), "network": NETWORK_NAME}
    assert told(game, maxVisits=5, play=True, **query)["searched"] == 4
    play_there(game, "C3 C4")
    assert (game.position.moves_text(), game.position.env) == ("B C3, W C4", GO)


def test_the_board_begins_as_it_was_asked_for(displayed: list[Any], games: list[NotebookGame]) -> None:
    games.append(white := play(ConnectFourEnv(), EVEN, num_readouts=0, mode=1, teach=3.5))
    first = told(white, action="hello")["first"]
    assert (first["players"], first["strength"]["tree"], first["teach"]) == (["engine", "human"], False, 3.5)
    games.append(game := play(GoEnv(9), EVEN, num_readouts=4, handicap=2, komi=5.5))
    assert game.position.komi == 5.5
    assert (game.position.board == 1).sum() == 2
    first = told(game, action="hello")["first"]["game"]
    assert (first["config"]["komi"], first["setup"]) == (5.5, {"black": "G7 C3", "to_play": "white"})
    play_there(game, "C3", "White wins by resignation")
    assert repr(game) == f"<a game of {GoEnv(9)} in a notebook, White wins by resignation>"
    assert told(game, action="hello")["kept"]["result"] == "White wins by resignation"  # for a cell shown again


def test_why(displayed: list[Any], games: list[NotebookGame]) -> None:
    games.append(game := NotebookGame(GO.position(), EVEN, 0, Limit(2)))
    with pytest.raises(ValueError, match="there is no move to explain"):
        game.why()
    assert "C3" in str(game.why("C3"))
    assert pretty(game.why("C3")) == str(game.why("C3"))  # as the value of a cell
    play_there(game, "C3 C4")
    assert game.why().action == game.position.moves[-1]


def test_it_is_shown_once_in_its_cell_and_again_in_others(displayed: list[Any], games: list[NotebookGame]) -> None:
    games.append(game := play(GO, EVEN, num_readouts=4))
    game._ipython_display_()  # the value of the cell
    assert len(displayed) == 1
    sys.modules["IPython"].get_ipython().execution_count += 1
    game._ipython_display_()
    assert displayed == [game.widget, game.widget]


def test_without_anywidget_it_is_played_in_text(displayed: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.setattr(builtins, "input", lambda prompt: "quit")
    printed: list[str] = []
    monkeypatch.setattr(builtins, "print", lambda *words, **_: printed.append(" ".join(map(str, words))))
    assert isinstance(play(GO, EVEN, num_readouts=4), Position)
    assert "a board in the notebook needs anywidget: pip install 'alphago[notebook]'" in printed[0]


def test_a_terminal_stays_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """IPython without a kernel, and text that is asked for."""
    ipython = pytest.importorskip("IPython", reason="IPython is not installed")
    for shell in (None, SimpleNamespace(), SimpleNamespace(kernel=object())):
        monkeypatch.setattr(ipython, "get_ipython", lambda shell=shell: shell)
        assert isinstance(play(GO, EVEN, num_readouts=4, read=lambda prompt: "quit", write=lambda text: None), Position)


# --- the board in a real browser: the widget's module in a page of its own, its Python side behind it ----

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

    def __init__(self, browser: Any) -> None:
        super().__init__(browser, "about:blank", lines=True)  # a tab that no other visitor has
        self.outgoing: queue.Queue[dict[str, Any]] = queue.Queue()
        self.game = NotebookGame(GO.position(), EVEN, 0, Limit(4))
        self.game.widget.send = self.outgoing.put  # where a kernel would hand it to the front end
        self.page.expose_function("toPython", lambda message: self.game.widget._handle_custom_msg(message, []))
        css, esm = str(self.game.widget._css), str(self.game.widget._esm)
        self.page.set_content(HOST % {"css": css, "esm": json.dumps(esm).replace("</", "<\\/")})
        self.page.wait_for_function("window.unrender !== undefined")

    def until(self, condition: Callable[[], bool]) -> None:
        """Carry messages until something is so."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, "nothing happens"
            while not self.outgoing.empty():
                message = json.loads(json.dumps(self.outgoing.get()))  # as the wire would
                self.page.evaluate("(message) => window.fromPython(message)", message)
            self.page.wait_for_timeout(10)


@pytest.fixture
def shown(chromium: Any) -> Iterator[Cell]:
    """A cell with a board of 5x5."""
    cell = Cell(chromium)
    cell.until(lambda: cell.page.locator('[data-point="C3"]').count() == 1)
    yield cell
    cell.game.close()
    cell.__exit__(None)


@pytest.mark.browser
def test_a_click_is_answered(shown: Cell) -> None:
    shown.click("C3")
    shown.until(lambda: shown.stones() == (1, 1) and len(shown.game.position.moves) == 2)
    assert shown.game.position.moves[0] == GoEnv(5).from_text("C3")
    assert shown.game.position.to_play == 1
    shown.menu()
    assert shown.page.locator('option[value="your network"]').count() == 1  # among the networks to choose from


@pytest.mark.slow
@pytest.mark.browser
def test_a_cell_that_is_cleared_and_shown_again(shown: Cell) -> None:
    """The game is the board's; what it has told last is on a board that is shown later."""
    shown.click("C3")
    shown.until(lambda: len(shown.game.position.moves) == 2)
    shown.page.evaluate("window.unrender()")
    assert shown.page.locator("#cell").inner_html() == ""
    shown.page.evaluate("window.render()")
    shown.until(lambda: shown.stones() == (1, 1))
