"""`AnalysisEngine`: answer many queries of KataGo's analysis protocol at once, searching their positions together."""

import heapq
import itertools
import json
import math
import threading
from collections.abc import Callable, Mapping
from typing import Any

from alphago import __version__
from alphago.env.go import GoEnv
from alphago.env.go_rules import Rules
from alphago.mcts.evaluator import Evaluator
from alphago.system.cores import available_cores
from alphago.system.validation import check_int, shown
from alphago.ui.analysis_jobs import OWN_USER, Job, Limits, no_results
from alphago.ui.analysis_networks import GivenNetwork, Networks
from alphago.ui.analysis_query import MOST_VISITS, Defaults, Query, QueryError, read_query
from alphago.ui.analysis_reply import error
from alphago.ui.analysis_worker import Worker
from alphago.ui.katago import SIDES

GTP_WORDS = ("name", "version", "protocol_version", "list_commands", "boardsize", "clear_board", "genmove")
THREAD = "alphago-analysis"  # the name of the threads that search
MOST_WARNINGS = 10_000  # most warnings that are remembered, so as to send each only once


class AnalysisEngine:
    """An engine for KataGo's analysis protocol; replies come in any order.

    env: the game of the network; a size-free network analyses other boards too.
    network: a network, as `MCTSPlayer` takes it; or a `Networks`, with which `env` and `device` are not used.
    write: called with each reply as one line of JSON without a newline, by any thread, but never by two at once.
    visits: the number of visits for a query without `maxVisits`.
    side: "BLACK", "WHITE" or "SIDETOMOVE", from whose view results are reported for a query that chooses no side.
    threads: how many threads search; None for one per core. device: where the network is computed.
    version: what `query_version` answers.
    limits: what clients may ask for.
    notes: if True, a query's first reply contains its warnings. If False, each warning is a reply of its own. KaTrain
        on a WebSocket needs True: it mistakes a reply with a warning for a result (1.20.0, core/remote_engine.py).
    """

    def __init__(
        self,
        env: GoEnv,
        network: object,
        write: Callable[[str], None],
        *,
        visits: int = 500,
        side: str = "BLACK",
        threads: int | None = None,
        device: str = "auto",
        version: str = __version__,
        limits: Limits = OWN_USER,
        notes: bool = False,
    ) -> None:
        if side not in SIDES:
            raise ValueError(f"side must be one of {', '.join(SIDES)}, got {shown(side)}")
        self.networks: Networks = network if isinstance(network, Networks) else GivenNetwork(env, network, device)
        self.version = version
        self.limits = limits
        self.notes = notes
        visits = min(check_int("visits", visits, 1, MOST_VISITS), limits.visits)
        self.defaults = Defaults(self.board, visits, side, most_visits=limits.visits, most_turns=limits.positions)
        self._write, self._writing = write, threading.Lock()
        self._boards: dict[tuple[int, Rules], GoEnv] = {}
        self._warned: set[tuple[str, str]] = set()
        self.changed = threading.Condition()  # guards the attributes below
        self._queue: list[Job] = []
        self._jobs: dict[int, Job] = {}  # unfinished jobs by number
        self._numbers = itertools.count()
        self._closing = self._ending = False
        count = available_cores() if threads is None else check_int("threads", threads, 1)
        self._workers = [threading.Thread(target=Worker(self).run, name=THREAD, daemon=True) for _ in range(count)]
        for worker in self._workers:
            worker.start()

    # -- input ---------------------------------------------------------------------------------------

    def receive(self, line: str) -> None:
        """Handle one line of input: a query or an action."""
        if not line.strip():
            return
        if len(line) > self.limits.characters:
            self.send(error(f"a query must have at most {self.limits.characters} characters, got {len(line)}"))
            return
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError) as problem:
            is_gtp = line.split()[0] in GTP_WORDS
            text = "this is the JSON analysis protocol; `alphago gtp` speaks GTP" if is_gtp else f"no JSON: {problem}"
            self.send(error(text))
            return
        if not isinstance(fields, dict):
            self.send(error(f"a query must be a JSON object, got {shown(fields)}"))
        elif "action" in fields:
            self.act(fields)
        else:
            self.ask(fields)

    def ask(self, fields: Mapping[str, Any]) -> None:
        """Queue the positions of a query; reply with an error if they are too many, or if the query is invalid."""
        try:
            query = read_query(fields, self.defaults)
        except QueryError as problem:
            self.send(error(str(problem), problem.field, fields.get("id")))
            return
        self.warn(query)
        with self.changed:
            waiting = len(self._jobs)
            fits = waiting + len(query.turns) <= self.limits.positions
            if fits:
                for turn in query.turns:
                    number = next(self._numbers)
                    job = Job((-turn.priority, number), query, turn)
                    heapq.heappush(self._queue, job)
                    self._jobs[number] = job
                self.changed.notify_all()
        if not fits:
            text = f"at most {self.limits.positions} positions may wait, got {len(query.turns)} more than {waiting}"
            self.send(error(text, "analyzeTurns", query.id))

    def warn(self, query: Query) -> None:
        """Send the new warnings of a query: those that no earlier query had.

        With `notes`, the new warnings become the query's `note`, which its next reply contains.  Without `notes`, each
        is sent as a reply of its own, and warnings about rules are sent again for each query.
        """
        new = []
        for field, text in query.warnings:
            is_repeated = field == "rules" and not self.notes
            if is_repeated or (field, text) not in self._warned:
                new.append((field, text))
        if len(self._warned) < MOST_WARNINGS:
            self._warned.update(new)
        if self.notes:
            query.note = "; ".join(text for _, text in new)
            return
        for field, text in new:
            self.send(error(text, field, query.id, kind="warning"))

    def act(self, fields: dict[str, Any]) -> None:
        """Execute an action and echo it."""
        action, query_id = fields["action"], fields.get("id")
        if not isinstance(query_id, str):
            self.send(error(f"id must be a string, got {shown(query_id)}", "id"))
        elif action == "query_version":
            self.send({**fields, "version": self.version, "git_hash": "<omitted>"})
        elif action == "query_models":
            self.send({**fields, "models": [{"name": self.networks.name, "version": self.version}]})
        elif action == "clear_cache":  # there is no cache
            self.send(fields)
        elif action in ("terminate", "terminate_all"):
            self.terminate(fields)
        else:
            self.send(error(f"unknown action {shown(action)}", "action", query_id))

    def terminate(self, fields: dict[str, Any]) -> None:
        """Echo the action "terminate" or "terminate_all", and stop queries.

        `terminateId` names the query to stop; without it all queries stop. `turnNumbers` lists the turns to stop;
        without it all turns stop.
        """
        turns, query_id = fields.get("turnNumbers"), fields.get("terminateId")
        if fields["action"] == "terminate" and not isinstance(query_id, str):
            self.send(error(f"terminateId must be a string, got {shown(query_id)}", "terminateId", fields["id"]))
            return
        if turns is not None and not isinstance(turns, list):
            self.send(error(f"turnNumbers must be a list, got {shown(turns)}", "turnNumbers", fields["id"]))
            return
        self.send(fields)
        with self.changed:
            for job in self._jobs.values():
                query_is_meant = query_id in (None, job.query.id)
                turn_is_meant = turns is None or job.turn.number in turns
                if query_is_meant and turn_is_meant:
                    job.stopped = True
            never_begun = [job for job in self._queue if job.stopped]
            self._queue = [job for job in self._queue if not job.stopped]
            heapq.heapify(self._queue)
        for job in never_begun:
            self.finish(job, no_results(job))

    def close(self, wait: bool = True) -> None:
        """Stop the engine and wait for its threads.

        wait: whether to finish all queued queries first; if not, no more replies are sent.
        """
        with self.changed:
            self._closing = True
            self._ending = not wait
            self.changed.notify_all()
        for worker in self._workers:
            worker.join()

    # -- for the workers -----------------------------------------------------------------------------

    def take(self, most: int, idle: bool) -> list[Job] | None:
        """Return at most `most` jobs for a worker, [] if there are none; return None if the worker must end.

        idle: whether the worker has no other job; the call then waits until there is one.
        """
        with self.changed:
            while idle and not self._queue and not self._closing:
                self.changed.wait()
            if self._ending or (idle and self._closing and not self._queue):
                return None
            fair_share = math.ceil(len(self._queue) / len(self._workers))
            return [heapq.heappop(self._queue) for _ in range(min(most, fair_share))]

    @property
    def ending(self) -> bool:
        """Whether workers must stop at once."""
        return self._ending

    def report(self, job: Job, reply: dict[str, Any]) -> None:
        """Send a reply of a job; the query's first reply contains the warnings in its `note`."""
        if note := job.query.note:
            job.query.note = ""
            reply = {**reply, "warning": note}
        self.send(reply)

    def finish(self, job: Job, reply: dict[str, Any]) -> None:
        """Send a job's last reply, and forget the job."""
        with self.changed:
            self._jobs.pop(job.number, None)
        if not self._ending:
            self.report(job, reply)

    def send(self, reply: Mapping[str, Any]) -> None:
        """Write a reply as one line."""
        text = json.dumps(reply, separators=(",", ":"), allow_nan=False)
        with self._writing:
            self._write(text)

    def evaluator(self, env: GoEnv) -> Evaluator:
        """Return the network's evaluator for the game `env`."""
        return self.networks.evaluator(env)

    def board(self, size: int, rules: Rules) -> GoEnv:
        """Return the game for a board size and rules; raise QueryError for a board that the network cannot play."""
        if (size, rules) not in self._boards:
            try:
                self._boards[size, rules] = self.networks.game(size, rules)
            except ValueError as problem:
                raise QueryError("boardXSize", str(problem)) from None
        return self._boards[size, rules]
