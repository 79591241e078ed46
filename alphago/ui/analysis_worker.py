"""`Worker`: a thread that searches the positions of many queries side by side, in waves."""

import time
import traceback
from collections.abc import Sequence
from typing import Any

import numpy as np

from alphago.env.go import GoEnv
from alphago.mcts.analysis_search import AnalysisSearch, node_bytes
from alphago.mcts.puct import Puct
from alphago.mcts.search import leaves_for
from alphago.mcts.tree_reading import read_analysis
from alphago.ui.analysis_jobs import Job, JobSource, no_results
from alphago.ui.analysis_reply import error, reply_of
from alphago.ui.katago import seen_by

LONG = 1000  # a position with more visits gets a search of its own: trees side by side all take the largest one's room
LEAVES = 8  # most leaves of a position in a wave


class Worker:
    """A thread that searches.

    Positions with the same board size and rules share a search; each position with more than LONG visits has its own.
    """

    def __init__(self, engine: JobSource) -> None:
        self.engine = engine
        self.searches: list[PositionSlots] = []
        self.kept: dict[GoEnv, PositionSlots] = {}  # shared searches, the one used longest ago first

    def run(self) -> None:
        """Search until the engine ends."""
        while True:
            slots = self.engine.limits.slots
            # At most half of the slots are filled at once: searches then end at different times, and the last jobs are
            # spread evenly over the threads.
            most = min(slots - self.busy, max(1, slots // 2))
            jobs = self.engine.take(most, idle=self.busy == 0)
            if jobs is None or self.engine.ending:
                return
            for job in jobs:
                self.begin(job)
            tree_bytes = self.engine.limits.tree_bytes // max(1, len(self.searches))
            for search in list(self.searches):
                self.step(search, tree_bytes)

    @property
    def busy(self) -> int:
        """The number of positions being searched."""
        return sum(len(search.jobs) for search in self.searches)

    def begin(self, job: Job) -> None:
        """Start the search of a job, or reply with an error."""
        env = job.query.env
        try:
            if job.query.visits > LONG:
                slots = PositionSlots(env, self.engine, count=1)
            else:
                slots = self.kept.get(env) or PositionSlots(env, self.engine, self.engine.limits.slots)
                self.keep(env, slots)
            slots.begin(job)
        except ValueError as problem:  # the query forbids all moves
            self.engine.send(error(str(problem), "avoidMoves", job.query.id))
            self.engine.finish(job, no_results(job))
            return
        if slots not in self.searches:
            self.searches.append(slots)

    def keep(self, env: GoEnv, slots: "PositionSlots") -> None:
        """Keep a search for later queries of the game `env`; if too many are kept, drop the one used longest ago."""
        self.kept.pop(env, None)
        self.kept[env] = slots  # as the last one
        if len(self.kept) > self.engine.limits.kept:
            del self.kept[next(iter(self.kept))]

    def step(self, slots: "PositionSlots", tree_bytes: int) -> None:
        """Run a wave of a search and send the replies that are due.

        If that fails, all jobs of the search end with the error.  tree_bytes: as in `PositionSlots.step`.
        """
        try:
            slots.step(tree_bytes)
        except Exception as problem:
            traceback.print_exc()
            for job in slots.jobs.values():
                self.engine.send(error(f"{type(problem).__name__}: {problem}", None, job.query.id))
                self.engine.finish(job, no_results(job))
            slots.release(list(slots.jobs))
        if not slots.jobs:
            self.searches.remove(slots)


class PositionSlots:
    """A search of up to `count` positions side by side, each for one job."""

    def __init__(self, env: GoEnv, engine: JobSource, count: int) -> None:
        self.engine = engine
        self.search = AnalysisSearch(env, engine.evaluator(env), count, Puct(leaves=LEAVES))
        self.jobs: dict[int, Job] = {}  # by slot
        self.free = list(range(count))  # slots without a job
        self.budget = np.zeros(count, np.int32)  # visits left
        self.due = np.full(count, np.inf)  # when to send the next reply, in seconds of `time.monotonic`
        self.end = np.full(count, np.inf)  # when to end, in seconds of `time.monotonic`
        self.node_bytes = count * node_bytes(env)  # a node more in one tree takes room in the trees of all slots

    def begin(self, job: Job) -> None:
        """Put a job's position into a free slot; the root's evaluation counts as its first visit."""
        slot, query = self.free[-1], job.query
        self.search.start(slot, job.turn.position, query.forbidden)
        self.free.pop()  # only now, since `start` may raise
        self.jobs[slot], self.budget[slot] = job, query.visits
        now = time.monotonic()
        self.end[slot] = now + query.seconds
        self.due[slot] = np.inf if query.every is None else now + (query.first or query.every)

    def step(self, tree_bytes: int) -> None:
        """Run a wave, and send the replies that are due.

        tree_bytes: most bytes of this search's trees together; a position whose tree is full ends early.
        """
        fewest = min(job.query.visits for job in self.jobs.values())
        self.search.wave(self.budget, leaves_for(len(self.jobs), fewest))
        now = time.monotonic()
        is_full = self.search.tree.used >= tree_bytes // self.node_bytes  # [slots]
        must_end = (self.budget <= 0) | (now >= self.end) | is_full
        ended = [slot for slot, job in self.jobs.items() if job.stopped or must_end[slot]]
        due = [slot for slot in np.flatnonzero(now >= self.due).tolist() if slot not in ended]
        for slot in due:
            self.due[slot] = now + (self.jobs[slot].query.every or np.inf)
        self.reply(due, during=True)
        self.reply(ended, during=False)
        self.release(ended)

    def release(self, slots: Sequence[int]) -> None:
        """Free `slots` for other jobs."""
        for slot in slots:
            del self.jobs[slot]
            self.free.append(slot)
            self.budget[slot], self.due[slot] = 0, np.inf

    def reply(self, slots: Sequence[int], during: bool) -> None:
        """Send the analyses of `slots` as replies; during: whether the searches of these slots continue."""
        if not slots:
            return
        flags = {flag for slot in slots for flag in self.jobs[slot].query.flags}
        move_ownership = bool({"includeMovesOwnership", "includeMovesOwnershipStdev"} & flags)
        analysis = read_analysis(self.search, np.array(slots, np.int64), move_ownership=move_ownership)
        by_side = {side: seen_by(analysis, side) for side in {self.jobs[slot].query.side for slot in slots}}
        for i, slot in enumerate(slots):
            job = self.jobs[slot]
            reply: dict[str, Any] = reply_of(job.query, job.turn, by_side[job.query.side], i, during)
            if during:
                self.engine.report(job, reply)
            else:
                self.engine.finish(job, reply)
