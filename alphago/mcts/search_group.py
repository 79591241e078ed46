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
from alphago.mcts.level_choice import level_move
from alphago.mcts.levels import FULL_STRENGTH, level_conditions
from alphago.mcts.questions import Answer, Kind, Question
from alphago.mcts.rule import without_rash_passes
from alphago.mcts.search import FULL_BATCH, Search, node_bytes
from alphago.mcts.tree import root_priors
from alphago.mcts.tree_reading import read_analysis
from alphago.system.validation import MOST_READOUTS

FIRST_LEAVES = 8  # of a wave of a long question, at first
# The most simulations of a question in one wave, so that a stop is heeded soon also in a tree without new leaves.
MOST_OF_A_WAVE = 2**16
VISITS_PER_LEAF = 50  # visits of its tree for each leaf of a wave: long waves hardly harm the search of a large tree


class SearchGroup:
    """Up to `count` questions of one kind, each with a slot of its own; one thread works on a group at a time.

    Args:
        analyst: the `Analyst`, whose evaluators, kept trees and random numbers the group uses.
        count: 1 for a long question (`Question.is_long`).  Its waves grow with its tree, from FIRST_LEAVES leaves to
            the setting `leaves`.

    Attributes:
        is_long: whether there is one slot only, as for a long question.
        coming: the questions that get slots in the next step; other threads append to it.
        searched: the questions in the search, by slot.
        budget: int32 [count], the simulations left, by slot.
    """

    def __init__(self, analyst: Any, kind: Kind, count: int) -> None:
        # A long question has a group with one slot, and its group takes turns with those of short questions.
        self.analyst, self.kind, self.count, self.is_long = analyst, kind, count, count == 1
        self.coming: list[Question] = []
        self.searched: dict[int, Question] = {}
        self.budget = np.zeros(count, np.int32)

    @cached_property
    def search(self) -> Search:
        """The search of all slots; the first use loads the network."""
        evaluator: Any = self.analyst.evaluators(self.kind.env)
        env = with_planes(self.kind.env, of=getattr(evaluator, "env", self.kind.env))  # it may read other planes
        return Search(env, evaluator, self.count, self.kind.settings)

    @property
    def is_urgent(self) -> bool:
        """Whether a question was told to stop."""
        return any(question.stopped for question in self.questions)

    @property
    def questions(self) -> list[Question]:
        """All questions, in the search or not yet."""
        return [*self.searched.values(), *self.coming]

    def step(self) -> None:
        """Begin the questions that have come, run a wave, and give the answers that are due."""
        for slot in [slot for slot, question in self.searched.items() if question.stopped]:
            self.end_question(slot)
        self.begin_questions()
        self.end_settled()
        # A simulation adds one node at most.  One more is a margin: kernels do not check the capacity.
        self.search.make_room(int(self.search.tree.used.max()) + self.search.settings.leaves + 1)
        later = np.maximum(self.budget - MOST_OF_A_WAVE, 0)
        self.budget -= later
        if self.budget.any() and not self.search.wave(self.budget, self.wave_leaves()) and self.budget.any():
            later[:] = self.budget[:] = 0  # the wave found no new leaf, so that more simulations would change nothing
        self.budget += later
        now = time.monotonic()
        most_nodes = self.analyst.group_bytes() // (self.count * node_bytes(self.kind.env))  # of each tree
        ends = (self.budget <= 0) | (self.search.tree.used >= most_nodes)
        for slot, question in list(self.searched.items()):
            if ends[slot] or question.must_end(now):
                self.end_question(slot)
            elif now >= question.due:
                self.give_answer(slot)

    def wave_leaves(self) -> int:
        """Return how many leaves the next wave may choose for each question, at most the setting `leaves`."""
        most = self.search.settings.leaves  # for one question
        if not self.is_long:  # several slots, whose questions fill the batch together
            return max(1, min(most, FULL_BATCH // len(self.searched)))
        [root_visits] = self.search.tree.at("visits", np.zeros(1, np.int64)).tolist()  # in the only slot
        wished = root_visits // VISITS_PER_LEAF
        # A multiple of FIRST_LEAVES: a CPU takes as long for a part of such a block as for the whole.
        return min(max(FIRST_LEAVES, wished - wished % FIRST_LEAVES), most)

    def end_settled(self) -> None:
        """Set the budget to 0 where a question's time is over, or its best move is certain (if `Limit.certain`)."""
        now = time.monotonic()
        self.budget[[slot for slot, question in self.searched.items() if question.must_end(now)]] = 0
        asked = [slot for slot, question in self.searched.items() if question.limit.certain]
        if asked:
            is_certain = self.search.rule.settled(self.search.tree, self.budget)
            self.budget[[slot for slot in asked if is_certain[slot]]] = 0

    def begin_questions(self) -> None:
        """Begin the search of the questions that have come, and evaluate their roots; answer the stopped ones."""
        slots = []
        while self.coming:
            question = self.coming[0]
            if question.stopped:
                question.answer(Answer(question.position, None, is_last=True))
                del self.coming[0]
                continue
            slot = next(slot for slot in range(self.count) if slot not in self.searched)
            self.searched[slot] = question
            del self.coming[0]  # only now: other threads always find the question in `questions`
            self.prepare_slot(slot)  # may take seconds, in which the next questions may be told to stop
            slots.append(slot)
        if not slots:
            return
        games = np.array(slots, np.int64)
        self.search.begin_move(games, np.array([self.searched[slot].position.move_number for slot in slots], np.int32))
        self.search.expand_roots(games)
        games = games[self.budget[games] > 0]  # those to be searched
        if len(games) and self.kind.settings.needs_readouts:
            self.search.prepare(games, self.budget[games])

    def prepare_slot(self, slot: int) -> None:
        """Give a slot the position, the kept tree and the budget of its new question, whose time begins."""
        question, search = self.searched[slot], self.search
        question.position = question.position.again_in(search.env)  # the search's game may have other planes
        search.start(slot, question.position, question.avoid)
        if question.reuse and search.rule.keeps_trees:
            self.analyst.kept.load(tree_kind(question.kind), question.position, question.avoid, search, slot)
        question.begin()
        visits = int(search.tree.visits[slot, ROOT])
        question.visits = max(1, visits)  # the first visit is the root's own evaluation, which is no readout
        self.budget[slot] = self.needed_readouts(question, visits)

    def needed_readouts(self, question: Question, visits: int) -> int:
        """Return how many simulations a question needs; for the level "even" the question gets the opponent's level.

        Args:
            visits: those of the root in the kept tree, its own evaluation included; 0 without a kept tree.
        """
        limit = question.limit
        if question.position.is_over or (limit.until is not None and limit.until.is_set()):
            return 0
        if isinstance(question.level, str):  # "even"; half of the time is left for the search itself
            question.opponent = self.analyst.estimate(question.position, (limit.seconds or math.inf) / 2)
            question.level = question.opponent.level
        if question.level is not None and question.level < FULL_STRENGTH:
            terms = level_conditions(question.level, self.search.env, self.search.has_forecasts)
            return max(0, terms.readouts - visits)  # the readouts of a level include the root's own visit
        most = MOST_READOUTS if limit.readouts is None else limit.readouts
        # With `added` the readouts come on top of the kept tree's.  The root's own evaluation is no readout.
        done = 0 if limit.added else max(0, visits - 1)
        return max(0, most - done)

    def end_question(self, slot: int) -> None:
        """Choose a move for the question in a slot, keep its tree, give it the last answer, and free the slot."""
        question = self.searched[slot]
        move = self.chosen_move(slot)  # before the tree is kept, since for a level it may search on
        size = int(self.search.tree.used[slot]) * node_bytes(self.kind.env)
        if question.reuse and self.search.rule.keeps_trees and size <= MOST_BYTES:
            tree = self.search.snapshot(slot)
            self.analyst.kept.keep(tree_kind(question.kind), question.position, question.avoid, tree)
        self.give_answer(slot, move)
        del self.searched[slot]
        self.budget[slot] = 0

    def fail(self, error: Exception) -> None:
        """End all questions with an error."""
        for question in (failed := self.questions):
            question.answer(Answer(question.position, None, is_last=True, error=error))
        del self.coming[: len(failed) - len(self.searched)]  # other threads may have appended to it meanwhile
        self.searched.clear()
        self.budget[:] = 0

    def give_answer(self, slot: int, move: Mapping[str, Any] | None = None) -> None:
        """Give the question in a slot an answer from the search so far.

        Args:
            move: what `chosen_move` has returned, for the last answer, even if it is empty; None while the search goes
                on.
        """
        question, position = self.searched[slot], self.searched[slot].position
        options: dict[str, Any] = {"plies": question.plies, "move_ownership": question.move_ownership}
        analysis = read_analysis(self.search, np.array([slot]), positions=(position,), **options)
        readouts = int(self.search.tree.visits[slot, ROOT]) - question.visits
        answer = Answer(position, analysis, move is not None, readouts, opponent=question.opponent, **(move or {}))
        question.answer(answer)

    def chosen_move(self, slot: int) -> Mapping[str, Any]:
        """Return the fields of an `Answer` that tell of the move, for the question in a slot; none without a level."""
        question, search, games = self.searched[slot], self.search, np.array([slot])
        level = question.level
        # "even" is no number yet if `Limit.until` was set before the search.
        if level is None or isinstance(level, str) or question.stopped or question.position.is_over:
            return {}
        if level < FULL_STRENGTH:
            return level_move(search, slot, level, self.analyst.random.random(), question.end)._asdict()
        if search.tree.visits[slot, ROOT] > 1:  # more than the root's own evaluation
            return {"action": int(search.choose(games, by_chance=np.zeros(1, np.bool_), chance=np.zeros(1))[0])}
        # The network's first move, without a pass that might lose a won game; moves to avoid have no prior.
        priors, values = root_priors(search.tree, games), search.tree.at("value", games)
        allowed = without_rash_passes(search.batch, games, priors, values)
        return {"action": int(allowed[0].argmax())}


@lru_cache  # `replace` checks the settings, which takes longer than a small search
def tree_kind(kind: Kind) -> Kind:
    """Return a kind without its number of leaves: searches that differ only in it may use each other's trees."""
    return kind._replace(settings=replace(kind.settings, leaves=1))
