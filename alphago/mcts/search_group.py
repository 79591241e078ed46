"""`SearchGroup`: a search of positions side by side, each for one question, in waves."""

import math
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from alphago.env.games import with_planes
from alphago.mcts.kept_trees import MOST_BYTES
from alphago.mcts.kernels.nodes import ROOT
from alphago.mcts.level_choice import current_outcomes, level_move
from alphago.mcts.levels import FULL_STRENGTH, level_conditions
from alphago.mcts.questions import Answer, Kind, Question
from alphago.mcts.rule import without_rash_passes
from alphago.mcts.search import FULL_BATCH, Search, node_bytes
from alphago.mcts.tree import root_priors
from alphago.mcts.tree_reading import read_analysis
from alphago.system.validation import MOST_READOUTS

LEAVES = 8  # of a wave, at first, in a search that grows without limit
VISITS_PER_LEAF = 50  # visits of its tree for each leaf of a wave: long waves hardly harm the search of a large tree
NEVER = np.zeros(1, np.bool_)  # no move is drawn by chance


class SearchGroup:
    """Up to `count` positions of one kind, each with a slot of its own; one thread works on a group at a time.

    Args:
        analyst: the `Analyst`, whose evaluators, kept trees and random numbers the group uses.
        count: 1 for the search of a long question; its waves grow with its tree, from LEAVES leaves to those of the
            settings.
    """

    def __init__(self, analyst: Any, kind: Kind, count: int) -> None:
        self.analyst, self.kind, self.count, self.is_long = analyst, kind, count, count == 1
        self.coming: list[Question] = []  # which get slots in the next step; other threads append to it
        self.questions: dict[int, Question] = {}  # by slot
        self.budget = np.zeros(count, np.int32)  # readouts left, by slot

    @cached_property
    def search(self) -> Search:
        """The search of all slots; the first use loads the network."""
        kind = self.kind
        evaluator: Any = self.analyst.evaluators(kind.env)
        env = with_planes(kind.env, of=getattr(evaluator, "env", kind.env))  # of a network that reads other planes
        return Search(env, evaluator, self.count, kind.settings, forecasts=True)

    @property
    def is_urgent(self) -> bool:
        """Whether a question was told to stop."""
        return any(question.stopped for question in self.all)

    @property
    def all(self) -> list[Question]:
        """All questions."""
        return [*self.questions.values(), *self.coming]

    def step(self) -> None:
        """Begin what has arrived, run a wave, and give the answers that are due."""
        for slot in [slot for slot, question in self.questions.items() if question.stopped]:
            self.finish(slot)
        self.begin()
        self.end_settled()
        self.search.make_room(int(self.search.tree.used.max()) + self.search.settings.leaves + 1)
        if self.budget.any() and not self.search.wave(self.budget, self.leaves()):
            self.budget[:] = 0  # the wave found no new leaf, so that more simulations would change nothing
        now = time.monotonic()
        most_nodes = self.analyst.share() // (self.count * node_bytes(self.kind.env))  # of each tree
        is_full = self.search.tree.used >= most_nodes
        ends = (self.budget <= 0) | is_full
        for slot, question in list(self.questions.items()):
            if ends[slot] or question.must_end(now):
                self.finish(slot)
            elif now >= question.due:
                self.answer(slot)

    def leaves(self) -> int | None:
        """Return how many leaves the next wave has for each position; None for those of the settings."""
        most = self.search.settings.leaves
        if self.count > 1:
            return max(1, min(most, FULL_BATCH // max(1, len(self.questions))))
        if most <= LEAVES:
            return None
        wished = int(self.search.tree.visits[:, ROOT].max()) // VISITS_PER_LEAF
        return min(max(LEAVES, wished - wished % LEAVES), most)  # whole blocks: a part of one costs as much on a CPU

    def end_settled(self) -> None:
        """End searches whose time is over, and those with `Limit.certain` whose best move is certain."""
        now = time.monotonic()
        self.budget[[slot for slot, question in self.questions.items() if question.must_end(now)]] = 0
        asked = [slot for slot, question in self.questions.items() if question.limit.certain]
        if asked:
            self.budget[asked] *= ~self.search.rule.settled(self.search.tree, self.budget)[asked]

    def begin(self) -> None:
        """Give what has arrived its slots, with the trees that are kept, and evaluate the roots."""
        slots = []
        while self.coming:
            question = self.coming[0]
            if question.stopped:
                question.answer(Answer(question.position, None, is_last=True))
                del self.coming[0]
                continue
            slot = next(slot for slot in range(self.count) if slot not in self.questions)
            self.questions[slot] = question
            del self.coming[0]  # only now: `all` has the question at any time
            question.position = question.position.again_in(self.search.env)  # which may have other planes
            self.search.start(slot, question.position, question.avoid)
            if question.reuse and self.search.rule.keeps_trees:
                self.analyst.kept.load(self.search, slot, question.position, kept_kind(question.kind))
            question.begin()
            visits = int(self.search.tree.visits[slot, ROOT])
            question.visits = max(1, visits)  # the first visit is the root's own evaluation, which is no readout
            self.budget[slot] = self.readouts(question, visits)
            slots.append(slot)
        games = np.array(slots, np.int64)
        self.search.expand_roots(games)
        searched = games[self.budget[games] > 0]
        if self.kind.readouts and len(searched):  # the rule plans the readouts of a search, as Gumbel search does
            self.search.prepare(searched, self.budget[searched])

    def readouts(self, question: Question, visits: int) -> int:
        """Return how many readouts a question needs; visits: of the tree that was kept, its root's own included."""
        if question.position.is_over:
            return 0
        limit, level = question.limit, question.level
        if limit.until is not None and limit.until.is_set():
            return 0
        if isinstance(level, str):  # "even"; half of the time is left for the search itself
            question.opponent = self.analyst.estimate(question.position, (limit.seconds or math.inf) / 2)
            level = question.level = question.opponent.level
        if level is not None and level < FULL_STRENGTH:  # among a level's readouts counts the root's own visit too
            return max(0, level_conditions(level, self.search.env, self.search.has_forecasts).readouts - visits)
        most = MOST_READOUTS if limit.readouts is None else limit.readouts
        return most if limit.added else most - min(most, max(0, visits - 1))

    def finish(self, slot: int) -> None:
        """Choose the move of a slot, keep its tree, give its last answer, and free it."""
        question, move = self.questions[slot], self.move(slot)
        size = int(self.search.tree.used[slot]) * node_bytes(self.kind.env)
        if question.reuse and self.search.rule.keeps_trees and size <= MOST_BYTES:
            self.analyst.kept.keep(
                kept_kind(question.kind), question.position, question.avoid, self.search.snapshot(slot)
            )
        self.answer(slot, move)
        del self.questions[slot]
        self.budget[slot] = 0

    def fail(self, error: Exception) -> None:
        """End all questions with an error."""
        left = list(self.questions.values())
        while self.coming:
            left.append(self.coming.pop(0))
        for question in left:
            question.answer(Answer(question.position, None, is_last=True, error=error))
        self.questions.clear()
        self.budget[:] = 0

    def answer(self, slot: int, move: Mapping[str, Any] | None = None) -> None:
        """Give an answer of what was found so far in a slot.

        Args:
            move: what `move` has returned, for the last answer; None while the search goes on.
        """
        question, visits = self.questions[slot], int(self.search.tree.visits[slot, ROOT])
        options: dict[str, Any] = {"plies": question.plies, "move_ownership": question.move_ownership}
        question.answer(
            Answer(
                question.position,
                read_analysis(self.search, np.array([slot]), positions=(question.position,), **options),
                is_last=move is not None,
                readouts=max(0, visits - question.visits),
                opponent=question.opponent,
                **(move or {}),
            )
        )

    def move(self, slot: int) -> Mapping[str, Any]:
        """Return what an `Answer` tells of the move in a slot, at its question's level; nothing without a level."""
        question, search, games = self.questions[slot], self.search, np.array([slot])
        level = question.level
        if level is None or question.stopped or question.position.is_over:
            return {}
        assert not isinstance(level, str)  # "even" was made a number
        if level < FULL_STRENGTH:
            return level_move(search, slot, level, self.analyst.random.random(), question.end)._asdict()
        if search.tree.visits[slot, ROOT] > 1:
            return {"action": int(search.choose(games, NEVER, np.zeros(1))[0])}
        # The network's first move, without a pass that might lose a won game; moves to avoid have no prior.
        priors, values = root_priors(search.tree, games), search.tree.at("value", games)
        allowed = without_rash_passes(search.env, priors, values, current_outcomes(search, games))
        return {"action": int(allowed[0].argmax())}


@lru_cache  # settings check themselves, which takes longer than a small search
def kept_kind(kind: Kind) -> Kind:
    """Return the kind of the trees in which a search may go on: however many leaves their waves had."""
    return kind._replace(settings=replace(kind.settings, leaves=1))
