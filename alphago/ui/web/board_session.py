"""`Session`, a board with its own thread: commands come in as messages, and changes go out as messages.

A session does not know how its messages travel: `alphago.ui.web.server` connects it to a WebSocket, a notebook connects
it to its widget.  One thread obeys the commands and thinks, in turn, so that both never happen at once: it thinks for a
few hundredths of a second, then reads the commands, and so on.
"""

import queue
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from alphago.env.game import GameEnv
from alphago.env.position import IllegalMove
from alphago.system.validation import near_misses, shown
from alphago.ui.web.desk import Desk
from alphago.ui.web.engines import Engines
from alphago.ui.web.limits import MOST_WAITING
from alphago.ui.web.page_commands import COMMANDS
from alphago.ui.web.wire import Message, check_message

LONGEST_ERROR = 400  # letters of an error that is sent whole
ERROR_BEGIN, ERROR_END = 300, 90  # letters of a longer error that are sent: its first ones and its last ones
GETTING_READY = "Getting the rules ready; the first time they are compiled, which takes some seconds …"


class Session:
    """A board with its own thread.

    engines: the networks to choose from, shared by all sessions.
    bases: games by name, with the options that new games have unless others are chosen.
    send: the session's thread calls it with each message for the page; `attach` replaces it.
    runs: the runs whose games can be opened, an `alphago.ui.web.runs.Runs`; None for none.
    """

    def __init__(
        self,
        engines: Engines,
        bases: Mapping[str, GameEnv],
        send: Callable[[Message], None],
        runs: object = None,
    ) -> None:
        self.new_desk = partial(Desk, engines, bases, send, runs)  # called by the thread, as it may compile the rules
        self.send = send
        self.calls: queue.Queue[Callable[[Desk], None] | None] = queue.Queue()  # None ends the thread
        self.has_spoken = False  # whether the page has sent a message
        self.detached_at: float | None = None  # when the page went, in seconds of `time.monotonic`; None if it is here
        self.thread = threading.Thread(target=self._work, name="alphago-board", daemon=True)
        self.thread.start()

    def post(self, message: object) -> bool:
        """Queue a message of the page, or return False if too many wait. Any thread may call this method."""
        if self.calls.qsize() >= MOST_WAITING:
            return False
        self.has_spoken = True
        self.calls.put(lambda desk: obey(desk, message))
        return True

    def attach(self, send: Callable[[Message], None]) -> None:
        """Connect the session to a page: send all messages by `send`, first those with everything that it shows."""
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
        """Run the session's thread: do the queued calls, and think in between, until the session is closed."""
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
            except queue.Empty:  # raised only if the desk has a job
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


def refusal(error: IllegalMove) -> str:
    """Return why a move is not legal in a player's words: the board shows the position, and the game has its title."""
    env = error.position.env
    return error.sentence.replace(str(env), env.title_and_size).replace(": expected ", "; moves are ")


def error_sentence(error: Exception) -> str:
    """Return an error as a sentence for people; it names the error's class if the program or a network is at fault."""
    text = refusal(error) if isinstance(error, IllegalMove) else str(error).strip() or type(error).__name__
    is_of_program = not isinstance(error, (ValueError, OSError, ImportError, MemoryError))
    if is_of_program:
        text = f"the engine has failed: {type(error).__name__}: {text}"
    if len(text) > LONGEST_ERROR:
        text = f"{text[:ERROR_BEGIN]} … {text[-ERROR_END:]}"
    end = "" if text.endswith((".", "!", "?")) else "."
    return text[0].upper() + text[1:] + end
