"""`Session`, a board with its own thread: commands come in as messages, and changes go out as messages.

A session knows no transport: `alphago.ui.web.server` connects it to a WebSocket, a notebook to its widget.  One thread
does all of its work, so that commands and thinking never meet: it thinks in slices of a few hundredths of a second and
reads the commands between them.
"""

import queue
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from alphago.env.game import GameEnv
from alphago.system.validation import near_misses, shown
from alphago.ui.web.desk import Desk
from alphago.ui.web.engines import Engines
from alphago.ui.web.limits import MOST_WAITING
from alphago.ui.web.page_commands import COMMANDS
from alphago.ui.web.wire import Message, check_message

GETTING_READY = "Getting the rules ready; the first time they are compiled, which takes some seconds …"


class Session:
    """A board with its own thread.

    engines: the networks to choose from, shared by all sessions.
    bases: games by name, with the options that new games have unless others are chosen.
    send: called with each message for the page, from the session's thread; `attach` replaces it.
    runs: the runs whose games can be opened, an `alphago.ui.web.runs.Runs`; None for none.
    """

    def __init__(
        self,
        engines: Engines,
        bases: Mapping[str, GameEnv],
        send: Callable[[Message], None],
        runs: object = None,
    ) -> None:
        self.new_desk = partial(Desk, engines, bases, send, runs)  # for the thread: it may have to compile the rules
        self.send = send
        self.calls: queue.Queue[Callable[[Desk], None] | None] = queue.Queue()  # None ends the thread
        self.detached_at: float | None = None  # when the page went, in seconds of `time.monotonic`; None if one is here
        self.thread = threading.Thread(target=self._work, name="alphago-board", daemon=True)
        self.thread.start()

    def post(self, message: object) -> bool:
        """Queue a message of the page, or return False if too many wait. Any thread may call this method."""
        if self.calls.qsize() >= MOST_WAITING:
            return False
        self.calls.put(lambda desk: obey(desk, message))
        return True

    def attach(self, send: Callable[[Message], None]) -> None:
        """Connect the session to a page: call `send` from now on, first with everything that the page has to show."""
        self.detached_at = None
        self.calls.put(lambda desk: desk.connect(send))

    def detach(self) -> None:
        """Stop thinking, since the page has gone; the board stays as it is."""
        self.detached_at = time.monotonic()
        self.calls.put(Desk.disconnect)

    def close(self) -> None:
        """Stop thinking and end the session's thread."""
        self.calls.put(None)

    def _work(self) -> None:
        """Do the calls that wait, and think in between, until the session is closed."""
        self.send({"type": "status", "text": GETTING_READY})
        try:
            desk = self.new_desk()
        except Exception as error:  # of a game of the user's own
            self.send({"type": "status", "text": error_sentence(error)})
            return
        self.send({"type": "status", "text": ""})
        while True:
            try:
                call = self.calls.get(block=desk.job is None)
            except queue.Empty:  # and the desk has a job
                call = Desk.go_on
            if call is None:
                desk.drop()
                return
            call_guarded(desk, call)


def call_guarded(desk: Desk, call: Callable[[Desk], None]) -> None:
    """Call `call` with the desk; if it fails, stop the engine, and tell the page why in a sentence."""
    try:
        call(desk)
    except Exception as error:
        desk.stop()
        desk.say(error_sentence(error))


def obey(desk: Desk, message: Any) -> None:
    """Do what a message of the page asks for; raise ValueError if it is not a valid message."""
    name = check_message(message)["type"]
    if name not in COMMANDS:
        raise ValueError(f"there is no command {shown(name)}: {near_misses(name, list(COMMANDS))}")
    COMMANDS[name](desk, message)


def error_sentence(error: Exception) -> str:
    """Return an error as a sentence for people, with the error's class if the program or a network is at fault."""
    text = str(error).strip() or type(error).__name__
    if not isinstance(error, (ValueError, OSError, ImportError, MemoryError)):
        text = f"the engine has failed: {type(error).__name__}: {text}"
    text = text if len(text) <= 400 else f"{text[:300]} … {text[-90:]}"
    return text[0].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
