"""A board in a notebook's cell: an anywidget widget with the web page's board, played in the notebook's own process.

While a cell runs, messages from the browser wait (ipywidgets #1349).  So the cell that shows the board returns at once,
and the engine thinks in a thread of its own.
"""

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from alphago.env.game import GameEnv
from alphago.env.position import Position
from alphago.mcts.levels import Level
from alphago.system.notebook import notebook_shell
from alphago.system.optional import optional_import
from alphago.ui.web.board_session import Session
from alphago.ui.web.engines import Choice, Engines
from alphago.ui.web.new_game import open_link
from alphago.ui.web.page_files import STATIC, WIDGET, bundle
from alphago.ui.web.views import offer_view
from alphago.ui.web.wire import Message
from alphago.ui.why.explain import Explanation, explain, last_move

MISSING = "a board in the notebook needs anywidget: pip install 'alphago[notebook]'"
NETWORK_NAME = "your network"  # on the board


class NotebookGame:
    """A game in a notebook's cell; it goes on while other cells run.

    `position` is the present position, and `result` the result, "" while the game goes on. `close()` ends the engine.
    """

    def __init__(self, env: GameEnv, nn: object, first: Sequence[dict[str, Any]] = (), device: str = "auto") -> None:
        """Make the board without showing it; raise ImportError, with a sentence, if anywidget is missing.

        nn: the engine's network, as `MCTSPlayer` takes it. device: where it is computed.
        first: messages for `alphago.ui.web.page_commands` that begin the game.
        """
        make_widget = widget_maker()
        self.env, self.network, self.device = env, nn, device
        self.shown_in: int | None = None  # the number of the cell that has shown the board
        self._state: Mapping[str, Any] = {}  # the session's latest "state" message
        self._has_state = threading.Event()
        engines = Engines([Choice(NETWORK_NAME, nn, env.name)], device)
        self.welcome = {"type": "welcome", "games": [offer_view(env)], "runs": []}
        self.bases = {env.name: env}
        self.widget = make_widget(self._receive)
        self.session = Session(engines, self.bases, self._send)
        for command in first:
            self.session.post(command)

    def _receive(self, message: object) -> None:
        """Post a message of the browser to the session; answer a "hello" first with the games on offer."""
        if isinstance(message, Mapping) and message.get("type") == "hello":
            self.widget.send(self.welcome)
        if not self.session.post(message):
            self.widget.send({"type": "notice", "kind": "error", "text": "Too many commands wait: it is still busy."})

    def _send(self, message: Message) -> None:
        """Send a message of the session to the browser, and keep the latest state."""
        if message["type"] == "state":
            self._state = message
            self._has_state.set()
        self.widget.send(message)

    @property
    def position(self) -> Position:
        """The position on the board; raises TimeoutError if the board does not answer for a minute."""
        if not self._has_state.wait(timeout=60):
            raise TimeoutError("the board has not answered for a minute: its cell shows what it is doing")
        return open_link(self._state["link"], self.bases).position

    @property
    def result(self) -> str:
        """The result in a few words, such as "Black wins by 2.5"; "" while the game goes on."""
        result = self._state.get("result")
        return "" if result is None else str(result["text"])

    def why(self, move: int | str | None = None) -> Explanation:
        """Say why a move in the present position is good or bad; by default the last move that was played."""
        before, action = last_move(self.position) if move is None else (self.position, self.position.check_action(move))
        return explain(before, action, self.network, device=self.device)

    def close(self) -> None:
        """End the engine's thread; the board stays in its cell but answers no more."""
        self.session.close()

    def show(self) -> None:
        """Show the board below the cell that runs."""
        from IPython.display import display

        shell = notebook_shell()
        self.shown_in = None if shell is None else shell.execution_count
        display(self.widget)

    def _ipython_display_(self) -> None:
        """Show the board if this game is the value of a cell that has not shown it already."""
        shell = notebook_shell()
        if shell is None or shell.execution_count != self.shown_in:
            self.show()

    def __repr__(self) -> str:
        over = f", {self.result}" if self.result else ""
        return f"<a game of {self.env} in a notebook{over}>"


STYLES = (STATIC / "board.css", STATIC / "column.css", WIDGET / "widget.css")


def widget_maker() -> Any:
    """Return a function that makes a widget from a callback, which receives each message of the browser.

    Raises ImportError, with a sentence, if anywidget is missing.
    """
    base: Any = optional_import("anywidget", MISSING).AnyWidget

    class BoardWidget(base):
        _esm = bundle("widget", (WIDGET, STATIC))
        _css = "".join(path.read_text("utf-8") for path in STYLES)

    def make(receive: Any) -> Any:
        widget = BoardWidget()
        widget.on_msg(lambda _, content, buffers: receive(content))
        return widget

    return make


def play_in_notebook(
    env: GameEnv,
    nn: object,
    mode: int,
    readouts: int | None,
    *,
    seconds: float | None = None,
    handicap: int = 0,
    level: Level | None = None,
    device: str = "auto",
) -> NotebookGame:
    """Show a board to play on, and return at once; arguments as in `play`, where `readouts` is `num_readouts`."""
    colours = {"black": "human", "white": "engine"} if mode == 0 else {"black": "engine", "white": "human"}
    searches = readouts != 0  # without a search, the network's most probable move is played
    strength: dict[str, Any] = {"type": "strength", "tree": searches, "seconds": seconds, "level": level}
    if searches:
        strength["readouts"] = readouts
    # The session has begun a game without handicap; a handicap needs a new game.
    begin = {"type": "new", **colours, "setup": {"handicap": handicap}} if handicap else {"type": "players", **colours}
    game = NotebookGame(env, nn, [strength, begin], device)
    game.show()
    return game
