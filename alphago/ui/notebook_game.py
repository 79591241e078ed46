"""A board in a notebook's cell: an anywidget widget with the web page's board, played in the notebook's own process.

While a cell runs, messages from the browser wait (ipywidgets #1349).  So the cell that shows the board returns at once,
and the engine thinks in a thread of its own.
"""

import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from alphago.env.game import GameEnv
from alphago.env.position import Position
from alphago.mcts.levels import Level
from alphago.mcts.questions import Limit
from alphago.system.optional import notebook_shell, optional_import
from alphago.ui.web.answers import PageAnswers
from alphago.ui.web.engines import Choice, Engines
from alphago.ui.web.new_game import describe_start, open_link
from alphago.ui.web.page_actions import QueryReader
from alphago.ui.web.page_files import STATIC, WIDGET, bundle
from alphago.ui.web.views import offer_view
from alphago.ui.why.explain import Explanation, explain

MISSING = "a board in the notebook needs anywidget: pip install 'alphago[notebook]'"
NETWORK_NAME = "your network"  # on the board


class NotebookGame:
    """A game in a notebook's cell; it goes on while other cells run, as long as its cell is shown.

    `position` is the present position, and `result` the result, "" while the game goes on. `close()` ends the engine.
    The game is in the browser, whose board reports each change.  A cell that is shown again gets the last report back.
    """

    def __init__(
        self,
        start: Position,
        nn: object,
        mode: int,
        limit: Limit,
        *,
        level: Level | None = None,
        teach: float | None = None,
        device: str = "auto",
    ) -> None:
        """Make the board without showing it; raise ImportError, with a sentence, if anywidget is missing.

        Args:
            start: the first position.
            nn: the engine's network, in any form that `MCTSPlayer` accepts.
            mode: 0 if the person plays first, 1 if the engine does.
            limit: of each search.
            level, teach: as in `first_settings`.
            device: the network's device: "cpu", "cuda" or "auto".
        """
        self.widget = make_widget(self._receive)
        env: GameEnv = start.env
        self.env, self.network, self.device, self._start = env, nn, device, start
        self.shown_in: int | None = None  # the number of the notebook's cell that shows the board
        self._games = {env.name: env}  # by name, the games that can be played here: one
        # What the board last reported of its game: "here", a link to the position on it, the "result" and more.  {}
        # before the first report.
        self._last_report: Mapping[str, Any] = {}
        first = first_settings(start, mode, limit, level, teach)
        # The reply to the first query of a board.  "runs": no runs of training can be watched here.  "kept": the last
        # report, with which a board that is shown again begins; None before the first report.
        self._greeting = {"games": [offer_view(env)], "runs": [], "first": first, "kept": None}
        self._executor = ThreadPoolExecutor(1, "alphago-page")  # one thread, in which queries are answered
        self._engines = Engines([Choice(NETWORK_NAME, nn, env.name)], device)
        reader = QueryReader(self._engines, self._games, self._greeting)
        self._answers = PageAnswers(reader, lambda line: self.widget.send(json.loads(line)))

    def _receive(self, query: Any) -> None:
        """Answer a query of the board, or store its report of the game (the action "keep")."""
        if isinstance(query, Mapping) and query.get("action") == "keep":
            self._last_report = self._greeting["kept"] = query["kept"]  # a board that is shown again is greeted with it
        else:
            with suppress(RuntimeError):  # the executor was shut down by `close`
                self._executor.submit(self._answers.receive, json.dumps(query))

    @property
    def position(self) -> Position:
        """The position on the board."""
        # "here" is a link to the position.  Before the board's first report, the game has not begun.
        return open_link(self._last_report["here"], self._games) if self._last_report else self._start

    @property
    def result(self) -> str:
        """The result in a few words, such as "Black wins by 2.5"; "" while the game goes on."""
        return str(self._last_report.get("result", ""))

    def why(self, move: int | str | None = None) -> Explanation:
        """Say why a move in the present position is good or bad; None for the last move that was played."""
        return explain(self.position, move, self.network, device=self.device)

    def close(self) -> None:
        """End the engine; the board stays in its cell, but its queries are not answered any more."""
        self._executor.shutdown(cancel_futures=True)  # first, so that no query can begin a search afterwards
        self._answers.close()
        self._engines.engines.clear()  # they end, since nothing uses them now

    def show(self) -> None:
        """Show the board below the cell that runs."""
        from IPython.display import display

        self.shown_in = getattr(notebook_shell(), "execution_count", None)
        display(self.widget)

    def _ipython_display_(self) -> None:
        """Show the board if this game is the value of a cell that has not shown it already."""
        shell = notebook_shell()
        if shell is None or shell.execution_count != self.shown_in:
            self.show()

    def __repr__(self) -> str:
        over = f", {self.result}" if self.result else ""
        return f"<a game of {self.env} in a notebook{over}>"


def first_settings(
    start: Position, mode: int, limit: Limit, level: Level | None = None, teach: float | None = None
) -> dict[str, Any]:
    """Return the players, their settings and the start with which a board begins, as the page knows them.

    Args:
        start, mode, limit: as in `NotebookGame`.
        level: the engine's strength, from 1 to 10 or "even"; None for full strength.
        teach: points; a move of the person's that loses more is explained.  None for no explanations.
    """
    searches = limit.readouts != 0  # without a search, the network's most probable move is played
    strength = {"tree": searches, "seconds": limit.seconds, "level": level}
    if searches:
        strength["readouts"] = limit.readouts
    players = ["human", "engine"] if mode == 0 else ["engine", "human"]  # mode 0: the person moves first
    return {"players": players, "strength": strength, "teach": teach, "game": describe_start(start)}


STYLES = (STATIC / "board.css", STATIC / "column.css", WIDGET / "widget.css")


def make_widget(receive: Callable[[Any], None]) -> Any:
    """Return a widget that calls `receive` with each message of the browser.

    Raises:
        ImportError: with a sentence, if anywidget is missing.
    """
    base: Any = optional_import("anywidget", MISSING).AnyWidget

    class BoardWidget(base):
        _esm = bundle("widget", (WIDGET, STATIC))
        _css = "".join(path.read_text("utf-8") for path in STYLES)

    widget = BoardWidget()
    widget.on_msg(lambda widget, content, buffers: receive(content))  # here no message has buffers
    return widget
