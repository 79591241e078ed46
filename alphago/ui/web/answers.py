"""`PageAnswers`: the answers to one page's queries, as lines of JSON.  Each query names its game, which the page keeps.

A query without an `action` asks for an analysis, in the fields of KataGo's analysis protocol (see
`alphago.ui.web.page_search`).  The actions are those of `alphago.ui.web.page_actions`.
"""

import json
import threading
from collections.abc import Callable, Mapping
from typing import Any

from alphago.env.position import IllegalMove
from alphago.system.kernels.cache import compiling_time
from alphago.system.validation import check_choice, shortened
from alphago.ui.analysis_query import read_object
from alphago.ui.web.guard import MOST_MESSAGE
from alphago.ui.web.page_actions import ACTIONS, QueryReader
from alphago.ui.web.page_search import PageSearch

LONGEST_ERROR = 400  # letters of an error
LONG = 0.7  # seconds between two looks at whether kernels are being compiled
COMPILING = "Compiling the engine for this machine: once, for some ten seconds …"


class PageAnswers:
    """The answers to one page.  Searches are those of the engines' analysts, which all pages share.

    Args:
        reader: reads the games, positions and networks that the page's queries name.
        write: called with each answer as one line, by the thread that calls `receive` and by the thread of a search.
    """

    def __init__(self, reader: QueryReader, write: Callable[[str], None]) -> None:
        self._write, self.reader = write, reader
        reader.tell = lambda text: self.send(status=text)
        self._search: PageSearch | None = None  # the present search
        self._reply_lock = threading.Lock()  # guards `_search`, so that no reply follows once a search was dropped

    def receive(self, line: str) -> None:
        """Answer a query, with an error if that fails; a search only begins here, and answers later."""
        query_id, done = None, self._tell_of_compiling()
        try:
            query = read_object(line, MOST_MESSAGE)
            query_id, action = query.get("id"), query.get("action")
            if action is None:
                self._drop()  # a page looks at one board, and has one search at most
                self._search = PageSearch(self.reader, query)
                threading.Thread(target=self._report, args=[self._search], name="alphago-page", daemon=True).start()
            elif action != "terminate":
                self.send(id=query_id, **ACTIONS[check_choice("action", action, ACTIONS)](self.reader, query))
            elif self._search is not None and self._search.id == query.get("terminateId"):
                self._drop()
        except Exception as error:
            self.send(id=query_id, error=error_sentence(error))
        finally:
            done.set()

    def close(self) -> None:
        """Send nothing more, and end the search."""
        self._write = lambda line: None
        self._drop()

    def send(self, **answer: Any) -> None:
        """Send an answer."""
        self._write(json.dumps(answer, separators=(",", ":"), allow_nan=False))

    def _report(self, search: PageSearch) -> None:
        """Send the replies of a search, until it has ended or was dropped."""
        done = self._tell_of_compiling()
        try:
            for answer in search.question:
                done.set()
                self._reply(search, search.reply(answer))
        except Exception as error:
            self._reply(search, {"id": search.id, "isDuringSearch": False, "error": error_sentence(error)})
        finally:
            done.set()

    def _reply(self, search: PageSearch, reply: Mapping[str, Any]) -> None:
        """Send a reply of a search, unless it was dropped."""
        with self._reply_lock:
            if search is self._search:
                self.send(**reply)

    def _tell_of_compiling(self) -> threading.Event:
        """Return an event; until it is set, the page is told if kernels are being compiled and that takes long."""
        done, before = threading.Event(), compiling_time.seconds

        def watch() -> None:
            """Send the status once kernels take longer to compile, and clear it in the end."""
            while not done.wait(LONG):
                if compiling_time.seconds > before:
                    self.send(status=COMPILING)
                    done.wait()
                    self.send(status="")

        threading.Thread(target=watch, name="alphago-patience", daemon=True).start()
        return done

    def _drop(self) -> None:
        """End the search, if there is one; nothing more of it is sent."""
        with self._reply_lock:
            search, self._search = self._search, None
        if search is not None:
            search.question.stop()


def error_sentence(error: Exception) -> str:
    """Return an error as a sentence for people; it names the error's class if the program or a network has failed."""
    text = str(error).strip() or type(error).__name__
    if isinstance(error, IllegalMove):  # in a player's words: the board shows the position, and the game has its title
        env = error.position.env
        text = error.sentence.replace(str(env), env.title_and_size).replace(": expected ", "; moves are ")
    if not isinstance(error, (ValueError, OSError, ImportError, MemoryError)):  # the program is at fault
        text = f"the engine has failed: {type(error).__name__}: {text}"
    text = shortened(text, LONGEST_ERROR)
    end = "" if text.endswith((".", "!", "?")) else "."
    return text[0].upper() + text[1:] + end
