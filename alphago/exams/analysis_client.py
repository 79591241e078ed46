"""A program that speaks KataGo's analysis protocol, as a client sees it: queries and replies, one JSON object a line.

Source: KataGo's docs/Analysis_Engine.md, version 1.17.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from itertools import takewhile
from typing import Any

from alphago.arena.line_process import LineProcess, split_command
from alphago.env.go_position import GoPosition
from alphago.exams.drawn_positions import DrawnPosition
from alphago.exams.positions import RULES
from alphago.system.validation import shortened, shown

LONGEST_REPLY = 10_000_000  # bytes
TIMEOUT = 600.0  # seconds without any reply
# How the names of programs begin that start another program, such as python3.11.
LAUNCHERS = ("python", "nice", "taskset", "sh", "bash", "env")


# Called with a position, the move in the query's id ("" for the position itself), and the reply.
TakeReply = Callable[[DrawnPosition, str, dict[str, Any]], None]


class AnalysisClient(LineProcess):
    """A running analysis engine; call `close` at the end, or use it in a `with` statement.

    If the engine crashes, hangs, refuses a query or breaks the protocol, all methods raise EngineError and end it.

    Args:
        command: program and arguments in one text, split as a shell does.
    """

    def __init__(self, command: str) -> None:
        message = f"engine must be a command such as 'katago analysis -model …', got {command!r}"
        words = split_command(command, message)
        super().__init__(words, name=program_name(words), longest=LONGEST_REPLY)

    def send(self, query: Mapping[str, Any]) -> None:
        """Send a query, a JSON object of the protocol, without waiting for its reply."""
        self.write_line(json.dumps(query))

    def ask(self, name: str, position: GoPosition, visits: int, **more: object) -> None:
        """Send a query for a position, whose reply will be in Black's view.

        Args:
            name: the query's id.
            position: a position of a game that began with the empty board.
            visits: of the search.
            more: further fields of the query.
        """
        env = position.env
        self.send(
            {
                "id": name,
                "moves": [["BW"[ply % 2], env.to_text(action)] for ply, action in enumerate(position.moves)],
                "rules": RULES,
                "komi": position.komi,
                "boardXSize": env.N,
                "boardYSize": env.N,
                "maxVisits": visits,
                "overrideSettings": {"reportAnalysisWinratesAs": "BLACK"},
                **more,
            }
        )

    def receive(self) -> dict[str, Any]:
        """Wait for the next reply that is neither a warning nor an intermediate result, and return it."""
        while True:
            text = self.read_line(TIMEOUT).strip()
            try:
                reply = json.loads(text) if text else {}
            except (ValueError, RecursionError):
                raise self.abort(f"the reply {shortened(text)!r} is not JSON") from None
            if not isinstance(reply, dict):
                raise self.abort(f"the reply {shown(reply)} is not a JSON object")
            if "error" in reply:
                raise self.abort(f"it was refused: {shown(reply['error'])}")
            only_warns = "warning" in reply and "rootInfo" not in reply
            is_intermediate = reply.get("isDuringSearch")
            if reply and not only_warns and not is_intermediate:
                return reply

    def judge(
        self, positions: Iterator[DrawnPosition], at_once: int, visits: int, take: TakeReply, **more: object
    ) -> Iterator[DrawnPosition]:
        """Ask the engine about drawn positions, and yield each when all its questions are answered, in the order drawn.

        The query about a position has the position's number as its id.  `take` may add further queries (`ask`), about
        the position after a move, with the id "NUMBER MOVE".  `DrawnPosition.unanswered` has the moves of the queries
        that the engine has not answered yet, and "" for the query about the position itself.  `take` adds the move of
        each further query to this set; `judge` removes what is answered.

        Args:
            positions: the drawn positions.
            at_once: about how many positions the engine is asked at the same time.
            visits, more: as in `ask`, for the query about a position.
            take: called with each reply.
        """
        window: dict[str, DrawnPosition] = {}  # by number, in the order of drawing
        while True:
            while len(window) < at_once and (drawn := next(positions, None)) is not None:
                window[str(drawn.number)] = drawn
                self.ask(str(drawn.number), drawn.position, visits, **more)
            if not window:
                return
            reply = self.receive()
            number, _, move = str(reply.get("id")).partition(" ")  # `move` is "" for the position itself
            if number in window and move in window[number].unanswered:  # else it answers none of these queries
                window[number].unanswered.discard(move)
                take(window[number], move, reply)
            # In the order drawn: an answered position waits for those drawn before it.
            for number in list(takewhile(lambda number: not window[number].unanswered, window)):
                yield window.pop(number)

    def root(self, reply: Mapping[str, Any]) -> tuple[float, float]:
        """Return the win rate, 0 .. 1, and the lead in points of a reply, in the view that the query asked for."""
        info = reply.get("rootInfo")
        if isinstance(info, dict):
            win, lead = info.get("winrate"), info.get("scoreLead")
            if isinstance(win, (int, float)) and isinstance(lead, (int, float)):
                return float(win), float(lead)
        raise self.abort(f"the reply has no winrate and scoreLead: {shown(reply)}")

    def describe(self) -> dict[str, Any]:
        """Return the program with its version, and the names of its networks, for an exam's provenance."""
        self.send({"id": "version", "action": "query_version"})
        version = self.receive().get("version", "")
        self.send({"id": "models", "action": "query_models"})
        models = self.receive().get("models", [])
        # A network without a name of its own is called by its file's.
        try:
            names = [str(model.get("internalName") or os.path.basename(str(model.get("name", "")))) for model in models]
        except (AttributeError, TypeError):
            raise self.abort(f"the reply has no list of models: {shown(models)}") from None
        return {"program": f"{self.name} {version}".strip(), "networks": names}


def program_name(words: list[str]) -> str:
    """Return the name of the program in a command, such as "katago" for "nice -n 19 ./katago analysis".

    Options, numbers and launchers are passed over; if nothing else is there, it is the first launcher.
    """
    names = [os.path.basename(word) for word in words if not word.startswith("-") and not word.isdigit()]
    return next((name for name in names if not name.startswith(LAUNCHERS)), names[0])
