"""`AnalysisEngine`: answer many queries of KataGo's analysis protocol at once, searching their positions together."""

import hashlib
import json
import threading
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import numpy as np

from alphago import __version__
from alphago.env.games import require_go
from alphago.env.go import GoEnv
from alphago.env.go_position import GoPosition
from alphago.env.go_rules import Rules
from alphago.mcts.analysis_result import Analysis
from alphago.mcts.analyst import Analyst, Evaluators
from alphago.mcts.evaluator import Evaluator
from alphago.mcts.questions import Answer, Question
from alphago.system.validation import MOST_READOUTS, check_choice, check_int, shown
from alphago.ui.analysis_query import Defaults, Limits, Query, QueryError, QueryTurn, read_object, read_query, require
from alphago.ui.gtp.gtp_game import analysed_game
from alphago.ui.katago import SIDES, board_fields, move_infos, raw_fields, root_fields, seen_by

THREAD = "alphago-analysis"  # the name of the threads that search
MOST_WARNINGS = 10_000  # most warnings that are remembered, so as to send each only once


class Networks:
    """The networks of an analysis engine.

    This class has one network: for its own board size or, if it is size-free, for all sizes.

    Several threads may call the methods at once.

    Args:
        env: the network's game.
        network: the network, in any form that MCTSPlayer accepts.
        device: the network's device: "cpu", "cuda" or "auto".
    """

    def __init__(self, env: GoEnv, network: object, device: str = "auto") -> None:
        self.env, self.network = env, network
        self._evaluators = Evaluators(network, device)

    @property
    def name(self) -> str:
        """The name in the reply to `query_models`; exams and labels made with the engine store it as their author's."""
        taught_by = getattr(self.network, "taught_by", "")  # a network of KataGo's has this attribute as well
        name = (f"a network taught by {taught_by}" if taught_by else str(self.network))[:300]  # some networks are long
        if not hasattr(self.network, "state_dict"):
            return name
        from alphago.nn.model_files import fingerprint  # imported late, since other networks do not need torch

        return f"{name} {fingerprint(self.network.state_dict())[:12]}"  # tells networks of the same shape apart

    def game(self, size: int, rules: Rules) -> GoEnv:
        """Return the game of a query on a board of `size` x `size` points, with the input planes of its network.

        Raises:
            ValueError: if no network plays on this board.
        """
        if size != self.env.N and not getattr(self.network, "size_free", False):
            raise ValueError(f"the network plays on {self.env.N}x{self.env.N}, got {size}x{size}")
        return analysed_game(self.env, size, rules)

    def evaluator(self, env: GoEnv) -> Evaluator:
        """Return the evaluator for a game that `game` returned."""
        return self._evaluators(env)


class AnalysisEngine:
    """An engine for KataGo's analysis protocol; replies come in any order.

    Args:
        write: called with each reply as one line of JSON without a newline, by any thread, but never by two at once.
        visits: the number of visits for a query without `maxVisits`.
        side: "BLACK", "WHITE" or "SIDETOMOVE", from whose view results are reported for a query that chooses no side.
        threads: how many threads search; None for one per core.
        version: the version in the replies to `query_version` and `query_models`.
        limits: what clients may ask for.
        notes: if True, a query's first reply contains its warnings. If False, each warning is a reply of its own.
            KaTrain on a WebSocket needs True: it mistakes a reply that is only a warning for a result (1.20.0,
            core/remote_engine.py).
    """

    def __init__(
        self,
        networks: Networks,
        write: Callable[[str], None],
        *,
        visits: int = 500,
        side: str = "BLACK",
        threads: int | None = None,
        version: str = __version__,
        limits: Limits = Limits(),  # noqa: B008 (it cannot be changed)
        notes: bool = False,
    ) -> None:
        self.networks, self.version, self.limits, self.notes = networks, version, limits, notes
        visits = min(check_int("visits", visits, 1, MOST_READOUTS), limits.visits)
        # `cache`: queries by the same rules share a game object.
        self.defaults = Defaults(cache(networks.game), visits, check_choice("side", side, SIDES), limits)
        self._write, self._write_lock = write, threading.Lock()
        self._warned: set[tuple[str, str]] = set()  # warnings that were sent: (field, message)
        self._open_lock = threading.RLock()  # guards `_open`
        self._open: dict[int, tuple[Query, QueryTurn, Question]] = {}  # by id(turn), turns to be replied to
        self._is_silent = False  # whether no more replies are sent
        self.analyst = Analyst(
            evaluators=lambda board: self.networks.evaluator(require_go(board, "the analysis protocol")),
            threads=threads,
            slots=limits.slots,
            kinds=limits.kinds,
            tree_bytes=limits.tree_bytes,
            name=THREAD,
        )

    def receive(self, line: str) -> None:
        """Handle one line of input, a query or an action.

        An invalid line is answered with an error, a blank one not at all.
        """
        fields: dict[str, Any] = {}
        try:
            if line.strip():
                fields = read_object(line, self.limits.characters)
                handle = self.act if "action" in fields else self.ask
                handle(fields)
        except ValueError as problem:  # a QueryError has the name of a field
            self.send(error(str(problem), getattr(problem, "field", None), fields.get("id")))

    def ask(self, fields: Mapping[str, Any]) -> None:
        """Ask the analyst about the positions of a query.

        Raises:
            QueryError: for an invalid query, and if too many positions would wait.
        """
        query = read_query(fields, self.defaults)
        self.warn(query)
        with self._open_lock:
            waiting, more, most = len(self._open), len(query.turns), self.limits.positions
            if waiting + more > most:
                raise QueryError("analyzeTurns", f"at most {most} positions may wait, got {more} more than {waiting}")
            for turn in query.turns:
                self._open_turn(query, turn)

    def _open_turn(self, query: Query, turn: QueryTurn) -> None:
        """Ask the analyst about a turn.

        If the query forbids all moves there, an error is sent, and the reply that the turn has no results.

        The caller holds `_open_lock`, so that `_tell`, which other threads call, cannot drop the turn before it is in
        `_open`.
        """
        try:
            tell = partial(self._tell, query, turn)
            question = self.analyst.ask(turn.position, priority=turn.priority, tell=tell, **query.search)
        except ValueError as problem:
            self.send(error(str(problem), "avoidMoves", query.id))
            self.report(query, no_results(query, turn))
        else:
            self._open[id(turn)] = query, turn, question

    def _tell(self, query: Query, turn: QueryTurn, answer: Answer) -> None:
        """Send an answer of the analyst, on one of its threads, as a reply; after the last answer, forget the turn."""
        if answer.is_last:
            with self._open_lock:
                self._open.pop(id(turn))
        try:
            if answer.error is not None:
                self.send(error(f"{type(answer.error).__name__}: {answer.error}", None, query.id))
            if answer.analysis is None:  # the search has failed, or was stopped before it began
                self.report(query, no_results(query, turn))
            else:
                analysis = seen_by(answer.analysis, query.side)
                self.report(query, make_reply(query, turn, analysis, during=not answer.is_last))
        except BrokenPipeError:  # the client has gone, so the other searches are of no use
            self._is_silent = True
            self.terminate({"action": "terminate_all"})

    def warn(self, query: Query) -> None:
        """Send the new warnings of a query: those that no earlier query had.

        With `notes`, the new warnings become the query's `note`, which its next reply contains.  Without `notes`, each
        new warning is a reply of its own; and a warning about rules counts as new in each query, since
        the scores in the replies to this query are by other rules than the query's.
        """
        always = () if self.notes else ("rules",)  # fields whose warnings count as new in each query
        new = [(field, text) for field, text in query.warnings if field in always or (field, text) not in self._warned]
        if len(self._warned) < MOST_WARNINGS:
            self._warned.update(new)
        if self.notes:
            query.note = "; ".join(text for _, text in new)
            return
        for field, text in new:
            self.send(error(text, field, query.id, kind="warning"))

    def act(self, fields: dict[str, Any]) -> None:
        """Execute an action and send its fields back, as the protocol asks; raise QueryError for an invalid action."""
        action = fields["action"]
        require(isinstance(fields.get("id"), str), "id", "a string", fields.get("id"))
        if action == "query_version":
            self.send({**fields, "version": self.version, "git_hash": "<omitted>"})  # KataGo's word for none
        elif action == "query_models":
            self.send({**fields, "models": [{"name": self.networks.name, "version": self.version}]})
        elif action == "clear_cache":
            self.analyst.forget()
            self.send(fields)
        elif action in ("terminate", "terminate_all"):
            self.terminate(fields)
        else:
            raise QueryError("action", f"unknown action {shown(action)}")

    def terminate(self, fields: dict[str, Any]) -> None:
        """Send the action "terminate" or "terminate_all" back, and stop queries.

        `terminateId` names the query to stop; without it all queries stop. `turnNumbers` lists the turns to stop;
        without it all turns stop.
        """
        turns, query_id = fields.get("turnNumbers"), fields.get("terminateId")
        # "terminate" must name a query; "terminate_all" stops all queries if it names none.
        is_valid_id = fields["action"] == "terminate_all" or isinstance(query_id, str)
        require(is_valid_id, "terminateId", "a string", query_id)
        require(turns is None or isinstance(turns, list), "turnNumbers", "a list", turns)
        self.send(fields)
        with self._open_lock:
            waiting = [*self._open.values()]
        for query, turn, question in waiting:
            if query_id in (None, query.id) and (turns is None or turn.number in turns):
                question.stop()

    def close(self, wait: bool = False) -> None:
        """Stop the engine and wait for its threads.

        Args:
            wait: whether to finish all queries first; if not, or if the client has gone, no more replies are sent.
        """
        self._is_silent |= not wait
        self.analyst.close(not self._is_silent)

    def report(self, query: Query, reply: dict[str, Any]) -> None:
        """Send a reply to a query; the first reply to each query also has its new warnings, the `note` from `warn`."""
        if note := query.note:
            query.note = ""
            reply = {**reply, "warning": note}
        self.send(reply)

    def send(self, reply: Mapping[str, Any]) -> None:
        """Write a reply as one line, unless the engine is silent."""
        text = json.dumps(reply, separators=(",", ":"), allow_nan=False)
        with self._write_lock:
            if not self._is_silent:
                self._write(text)


# --- replies ---------------------------------------------------------------------------------------


def make_reply(query: Query, turn: QueryTurn, analysis: Analysis, during: bool) -> dict[str, Any]:
    """Return the reply to a turn of a query.

    Args:
        analysis: of the turn's position, from the view of the query's `side`.
        during: whether the search continues.
    """
    reply: dict[str, Any] = {
        "id": query.id,
        "isDuringSearch": during,
        "turnNumber": turn.number,
        "moveInfos": [query_info(info) for info in move_infos(analysis, query.flags, least_moves=1)],
        "rootInfo": {
            **root_fields(analysis),
            "symHash": symmetric_hash(turn.position),
            "currentPlayer": "B" if turn.position.to_play == 1 else "W",
            **raw_fields(analysis),
        },
        **board_fields(analysis, query.flags),
    }
    if "policy" in query.flags:
        # prior[0]: of the turn's position, the only one of the analysis.  Illegal actions have -1, as in KataGo.
        reply["policy"] = np.where(turn.position.legal_mask, analysis.prior[0].astype(np.float64), -1).round(8).tolist()
    return reply


def query_info(info: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a move from `move_infos` under their names in replies, with two more fields."""
    renamed = {"movesOwnership": "ownership", "movesOwnershipStdev": "ownershipStdev"}
    weights = {"edgeWeight": info["weight"], "playSelectionValue": info["weight"]}
    return {renamed.get(name, name): value for name, value in info.items()} | weights


def symmetric_hash(position: GoPosition) -> str:
    """Return a hash of the board, the side to move and the ko; turned and mirrored boards have the same hash.

    Replies have no `thisHash`, because Ogatak compares `thisHash` with hashes that KataGo computes in its own way.
    """
    cells = position.board.ravel().copy()  # 1 Black, -1 White, 2 a point that ko forbids
    if position.ko_points:
        cells[list(position.ko_points)] = 2
    images = cells[position.env.symmetries.points]  # [symmetries, points]: the board turned and mirrored
    board = min(image.tobytes() for image in images)  # the same one for all boards that differ by a symmetry
    side = bytes([1 if position.to_play == 1 else 3])  # any two different bytes
    return hashlib.blake2b(side + board, digest_size=16).hexdigest().upper()


def no_results(query: Query, turn: QueryTurn) -> dict[str, Any]:
    """Return the reply to a turn that has failed, or was stopped before its search began."""
    return {"id": query.id, "isDuringSearch": False, "turnNumber": turn.number, "noResults": True}


def error(message: str, field: str | None = None, query_id: object = None, kind: str = "error") -> dict[str, Any]:
    """Return a reply with an error or a warning (the `kind`), and the query's field and id if they are known."""
    reply = {kind: message, "field": field, "id": query_id if isinstance(query_id, str) else None}
    return {name: value for name, value in reply.items() if value is not None}
