"""`PageAnswers`: the answers to one page's queries, as lines of JSON.  Each query names its game, which the page keeps.

The actions of queries are those of `alphago.ui.web.page_actions`.  A query without an `action` asks for an analysis, in
the fields of KataGo's analysis protocol.  Win rates and leads are Black's.  Beyond KataGo's fields a query has `game`,
`network`, `level` and `play`, which says whether a move is to be chosen.  A reply has `searched`, the simulations of
this query.  The last reply has `play`, the chosen move or "resign", and `opponent`, a sentence on how strong the other
side seems to the level "even".
"""

import json
import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from alphago.env.game import PLAYER_NAMES
from alphago.env.position import IllegalMove
from alphago.mcts.analysis_result import Analysis
from alphago.mcts.levels import FULL_STRENGTH, check_level
from alphago.mcts.questions import Answer, Limit
from alphago.system.kernels.cache import compiling_time
from alphago.system.validation import check_bool, check_choice, check_int, check_positive, shortened
from alphago.ui.analysis_query import read_object
from alphago.ui.katago import move_infos, root_fields
from alphago.ui.web.guard import MOST_MESSAGE, MOST_SECONDS, most_readouts
from alphago.ui.web.page_actions import ACTIONS, Query, QueryReader

LONGEST_ERROR = 400  # letters of an error
LINE_PLIES = 12  # most plies of an expected line
LOOK_SECONDS = 0.7  # between two looks at whether kernels are being compiled
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
        # While `is_answered` is not set, the page gets a notice if kernels are being compiled.
        query_id, is_answered = None, self._start_compiling_notice()
        try:
            query = read_object(line, MOST_MESSAGE)
            query_id, action = query.get("id"), query.get("action")
            if action is None:  # a query without an action asks for a search
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
            is_answered.set()

    def close(self) -> None:
        """Send nothing more, and end the search."""
        self._write = lambda line: None
        self._drop()

    def send(self, **answer: Any) -> None:
        """Send an answer."""
        self._write(json.dumps(answer, separators=(",", ":"), allow_nan=False))

    def _report(self, search: "PageSearch") -> None:
        """Send the replies of a search, until it has ended or was dropped."""
        is_answered = self._start_compiling_notice()
        try:
            for answer in search.question:
                is_answered.set()
                self._reply(search, search.reply(answer))
        except Exception as error:
            self._reply(search, {"id": search.id, "isDuringSearch": False, "error": error_sentence(error)})
        finally:
            is_answered.set()

    def _reply(self, search: "PageSearch", reply: Mapping[str, Any]) -> None:
        """Send a reply of a search, unless it was dropped."""
        with self._reply_lock:
            if search is self._search:
                self.send(**reply)

    def _start_compiling_notice(self) -> threading.Event:
        """Tell the page from now on, in the background, if it waits because kernels are being compiled.

        Returns:
            an event that the caller sets when it has its answer: the page then waits no longer.
        """
        is_answered, before = threading.Event(), compiling_time.spent

        def watch() -> None:
            """Look every LOOK_SECONDS whether kernels are compiled; if so, send the status, and clear it in the end."""
            while not is_answered.wait(LOOK_SECONDS):
                if compiling_time.spent > before:  # `spent` grows already while a kernel is being compiled
                    self.send(status=COMPILING)
                    is_answered.wait()
                    self.send(status="")

        threading.Thread(target=watch, name="alphago-patience", daemon=True).start()
        return is_answered

    def _drop(self) -> None:
        """End the search, if there is one; nothing more of it is sent."""
        with self._reply_lock:
            search, self._search = self._search, None
        if search is not None:
            search.question.stop()


def error_sentence(error: Exception) -> str:
    """Return an error as a sentence for people; it names the error's class if the program or a network has failed."""
    text = player_words(error) if isinstance(error, IllegalMove) else str(error).strip() or type(error).__name__
    if not isinstance(error, (ValueError, OSError, ImportError, MemoryError)):  # the program is at fault
        text = f"the engine has failed: {type(error).__name__}: {text}"
    text = shortened(text, LONGEST_ERROR)
    end = "" if text.endswith((".", "!", "?")) else "."
    return text[0].upper() + text[1:] + end


def player_words(error: IllegalMove) -> str:
    """Return an illegal move's error without the position, which the board shows, and with the title of the game.

    "'Z9' is not a point of GoEnv(5): expected A1 to E5" becomes "'Z9' is not a point of Go 5x5; moves are A1 to E5".
    """
    env = error.position.env
    return error.sentence.replace(str(env), env.title_and_size).replace(": expected ", "; moves are ")


# --- searches --------------------------------------------------------------------------------------


class PageSearch:
    """The search for a query; it begins at once.

    Args:
        page: reads the game, position and network of the page's queries.

    Raises:
        ValueError: for an impossible query.
    """

    def __init__(self, page: QueryReader, query: Query) -> None:
        self.id = query.get("id")
        self.position = page.position(query)
        if self.position.is_over:
            raise ValueError("the game is over")
        most = most_readouts(self.position.env)
        visits, seconds, level = query.get("maxVisits"), query.get("maxTime"), query.get("level")
        # Without the first visit, which is the evaluation of the position itself.
        readouts = most if visits is None else check_int("maxVisits", visits, 1, most + 1) - 1
        seconds = None if seconds is None else check_positive("maxTime", seconds, MOST_SECONDS)
        level = FULL_STRENGTH if level is None else check_level(level)
        self.plays = check_bool("play", query.get("play", False))
        self.is_raw_move = self.plays and readouts == 0  # a move without a search: the network's own choice
        self.lost_turns = page.lost_turns  # they tell whether the engine should resign
        self.engine = page.engine(query, self.position.env)
        self.question = self.engine.analyst.ask(
            self.position.again_in(self.engine.env),  # which may have other planes, or another komi
            # A move gets all its readouts now; those of an analysis include the ones in a kept tree.
            limit=Limit(readouts, seconds, added=self.plays),
            level=level if self.plays else None,  # an analysis chooses no move
            every=query.get("reportDuringSearchEvery"),
            plies=LINE_PLIES,
            reuse=not self.is_raw_move,  # a kept tree would choose by an earlier search
        )

    def reply(self, answer: Answer) -> dict[str, Any]:
        """Return the reply for an answer of the analyst."""
        reply = {"id": self.id, "isDuringSearch": not answer.is_last, "searched": answer.readouts}
        reply |= analysis_fields(answer.found)
        if answer.is_last and self.plays:
            assert answer.action is not None
            # A network without a search does not resign.
            resigns = not self.is_raw_move and self.lost_turns.resigns(answer, self.engine.network)
            reply["play"] = "resign" if resigns else self.position.env.to_text(answer.action)
            reply["opponent"] = "" if answer.opponent is None else str(answer.opponent)
        return reply


def analysis_fields(analysis: Analysis) -> dict[str, Any]:
    """Return the analysis of one position in KataGo's fields, whose values are in Black's view.

    Unknown scores and ownership are left out.  The policy of illegal moves is -1.

    Args:
        analysis: in the view of the player to move.
    """
    mover, legal = int(analysis.to_play[0]), analysis.prior[0] > 0
    black = analysis.as_black()
    fields = {
        "moveInfos": [page_fields(info, black) for info in move_infos(black, flags=())],
        "rootInfo": {**page_fields(root_fields(black), black), "currentPlayer": PLAYER_NAMES[mover][0]},
        "policy": np.where(legal, analysis.prior[0].astype(np.float64), -1).round(6).tolist(),
    }
    if black.ownership is not None:
        fields["ownership"] = black.ownership[0].ravel().astype(np.float64).round(3).tolist()
    return fields


def page_fields(fields: Mapping[str, Any], analysis: Analysis) -> dict[str, Any]:
    """Return those of KataGo's fields that a page needs, rounded; an unknown lead is left out.

    Args:
        fields: of a move or of the position.
        analysis: from which the fields were made.
    """
    needed = {name: fields[name] for name in ("move", "visits", "pv") if name in fields}
    has_lead = not np.isnan(analysis.root_score[0])  # if the position's lead is known, the leads of its moves are too
    digits = {"winrate": 4, "prior": 4} | ({"scoreLead": 2} if has_lead else {})
    # Adding 0.0 makes -0.0 a 0.0.
    return needed | {name: round(fields[name], digits[name]) + 0.0 for name in digits if name in fields}
