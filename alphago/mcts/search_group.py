"""`SearchGroup`: a search of positions side by side, each for one question, in waves."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from alphago.env.game import GameEnv
from alphago.env.position import Position
from alphago.mcts.analysis_result import Analysis
from alphago.mcts.analysis_search import AnalysisSearch, node_bytes, usable
from alphago.mcts.evaluator import Evaluator
from alphago.mcts.kept_trees import KeptTrees
from alphago.mcts.kernels.nodes import ROOT
from alphago.mcts.levels import LEVELS, terms_of
from alphago.mcts.moves import Move, level_move, policy_move
from alphago.mcts.opponent import OpponentStrength
from alphago.mcts.questions import Answer, Kind, Question
from alphago.mcts.raw_analysis import with_ended
from alphago.mcts.search import FULL_BATCH
from alphago.mcts.tree_reading import read_analysis
from alphago.system.validation import MOST_READOUTS

LEAVES = 8  # of a wave, at first, in a search that grows without limit
VISITS_PER_LEAF = 50  # visits of its tree for each leaf of a wave: long waves hardly harm the search of a large tree
NEVER = np.zeros(1, np.bool_)  # no move is drawn by chance


class SearchGroup:
    """Up to `count` positions of one kind, each with a slot of its own; one thread works on a group at a time.

    evaluators: returns the evaluator for a game.  count: 1 for the search of a long question; its waves grow with its
        tree, from LEAVES leaves to those of the settings.
    kept: where trees are found and kept.
    share: returns the most bytes that all trees may take now; the search of a position ends early if its tree is full.
    estimate: returns how strong the side that is not to move seems to be in a position, with time for
        searches in seconds, for the level "even".
    draw: returns a random number, 0 .. 1, with which a move of a level is drawn.
    """

    def __init__(
        self,
        kind: Kind,
        evaluators: Callable[[GameEnv], Evaluator],
        count: int,
        kept: KeptTrees,
        *,
        share: Callable[[], int],
        estimate: Callable[[Position, float], OpponentStrength],
        draw: Callable[[], float],
    ) -> None:
        self.kind, self.evaluators, self.count = kind, evaluators, count
        self.kept, self.share, self.estimate, self.draw = kept, share, estimate, draw
        self.coming: list[Question] = []  # for the next step
        self.arrived: list[Question] = []  # for this step
        self.questions: dict[int, Question] = {}  # by slot
        self.before: dict[int, int] = {}  # visits at the beginning, by slot
        self.opponents: dict[int, OpponentStrength] = {}  # by slot
        self.budget = np.zeros(count, np.int32)  # readouts left, by slot
        self.free = list(range(count))
        self.is_scheduled = False  # whether a thread works on it, or will

    @cached_property
    def search(self) -> AnalysisSearch:
        """The search of all slots; the first use loads the network."""
        kind = self.kind
        evaluator = self.evaluators(kind.env)
        return AnalysisSearch(kind.env, evaluator, self.count, kind.settings, symmetries=kind.symmetries)

    @property
    def all(self) -> list[Question]:
        """All questions."""
        return [*self.questions.values(), *self.arrived, *self.coming]

    def step(self) -> None:
        """Begin what has arrived, run a wave, and give the answers that are due."""
        self.finish([slot for slot, question in self.questions.items() if question.stopped])
        self.begin()
        self.settle()
        if self.budget.any() and not self.search.wave(self.budget, self.leaves()):
            self.budget[:] = 0  # without a new leaf no simulation is left
        now = time.monotonic()
        is_full = self.search.tree.used >= self.share() // (self.count * node_bytes(self.kind.env))
        must_end = (self.budget <= 0) | is_full
        self.finish([slot for slot, question in self.questions.items() if must_end[slot] or question.is_late(now)])
        due = [slot for slot, question in self.questions.items() if now >= question.due]
        for slot in due:
            self.questions[slot].due = now + (self.questions[slot].every or np.inf)
        self.answer(due)

    def leaves(self) -> int | None:
        """Return how many leaves the next wave has for each position; None for those of the settings."""
        most = self.search.settings.leaves
        if self.count > 1:
            return max(1, min(most, FULL_BATCH // max(1, len(self.questions))))
        if most <= LEAVES:
            return None
        wished = int(self.search.tree.visits[:, ROOT].max()) // VISITS_PER_LEAF
        return min(max(LEAVES, wished - wished % LEAVES), most)  # whole blocks: a part of one costs as much on a CPU

    def settle(self) -> None:
        """End the searches of questions with `Limit.certain` whose best move is certain."""
        asked = [slot for slot, question in self.questions.items() if question.limit.certain]
        if asked:
            only = np.zeros(len(self.budget), np.bool_)
            only[asked] = True
            self.budget[only & self.search.rule.settled(self.search.tree, self.budget)] = 0

    def begin(self) -> None:
        """Give what has arrived its slots, with the trees that are kept, and evaluate the roots."""
        slots = []
        while self.arrived:
            question = self.arrived.pop(0)
            if question.stopped:
                question.answer(Answer(question.position, None, is_last=True))
                continue
            slot = self.free.pop()
            self.questions[slot] = question
            self.search.start(slot, question.position, question.avoid)
            if question.reuse and self.search.rule.keeps_trees:
                self.kept.load(self.search, slot, question.position, kept_kind(question))
            question.begin()
            visits = int(self.search.tree.visits[slot, ROOT])
            self.before[slot] = max(1, visits)  # the first visit is the root's own evaluation, which is no readout
            self.budget[slot] = self.readouts(question, slot, visits)
            if not question.position.is_over:
                slots.append(slot)
        games = np.array(slots, np.int64)
        self.search.expand_roots(games)
        if self.kind.readouts and slots:
            self.search.prepare(games, self.budget[games])

    def readouts(self, question: Question, slot: int, visits: int) -> int:
        """Return how many readouts a question needs; visits: of the tree that was kept, its root's own included."""
        if question.position.is_over:
            return 0
        limit, level = question.limit, question.level
        if limit.until is not None and limit.until.is_set():
            return 0
        if isinstance(level, str):  # "even"
            self.opponents[slot] = self.estimate(question.position, (limit.seconds or math.inf) / 2)
            level = question.level = self.opponents[slot].level
        if level is not None and level < LEVELS:
            return max(0, terms_of(level, self.search.env, self.search.has_forecasts).readouts - visits)
        most = MOST_READOUTS if limit.readouts is None else limit.readouts
        return most if limit.added else most - min(most, max(0, visits - 1))

    def finish(self, slots: Sequence[int]) -> None:
        """Choose the moves of slots, keep their trees, give their last answers, and free the slots."""
        moves = {slot: self.move(slot) for slot in slots if self.wants_move(slot)}
        for slot in slots:
            question = self.questions[slot]
            size = int(self.search.tree.used[slot]) * node_bytes(self.kind.env)
            if question.reuse and self.search.rule.keeps_trees and size <= self.kept.most_bytes:
                rules = usable(question.avoid)
                self.kept.keep(kept_kind(question), question.position, rules, self.search.saved(slot))
        self.answer(slots, moves)
        self.release(slots)

    def fail(self, error: Exception) -> None:
        """End all questions with an error."""
        for question in (*self.questions.values(), *self.arrived):
            question.answer(Answer(question.position, None, is_last=True, error=error))
        self.arrived = []
        self.release(list(self.questions))

    def release(self, slots: Sequence[int]) -> None:
        """Free slots for other questions."""
        for slot in slots:
            del self.questions[slot]
            self.opponents.pop(slot, None)
            self.free.append(slot)
            self.budget[slot] = 0

    def answer(self, slots: Sequence[int], moves: Mapping[int, Move] | None = None) -> None:
        """Give the answers of slots by what was found so far.

        moves: for the last answers: by slot, what `move` has returned, if a move is wanted; None for growing answers.
        """
        if not slots:
            return
        asked = [self.questions[slot] for slot in slots]
        live = np.array([i for i, question in enumerate(asked) if not question.position.is_over], np.int64)
        games = np.array(slots, np.int64)[live]
        plies = max(question.plies for question in asked)
        move_ownership = any(question.move_ownership for question in asked)
        visits = self.search.tree.visits[slots, ROOT].tolist()
        read = read_analysis(self.search, games, plies=plies, move_ownership=move_ownership)
        found = with_ended(read, [question.position for question in asked], live)
        for i, (slot, question) in enumerate(zip(slots, asked, strict=True)):
            action, shares, least_behind = (moves or {}).get(slot, (None, None, 0.0))
            question.answer(
                Answer(
                    question.position,
                    of_question(found, i, question),
                    is_last=moves is not None,
                    readouts=max(0, visits[i] - self.before[slot]),
                    action=action,
                    opponent=self.opponents.get(slot),
                    least_behind=least_behind,
                    shares=shares,
                )
            )

    def wants_move(self, slot: int) -> bool:
        """Return whether a move is to be chosen in a slot."""
        question = self.questions[slot]
        return question.level is not None and not question.stopped

    def move(self, slot: int) -> Move:
        """Return `Answer.action`, `Answer.shares` and `Answer.least_behind` of a slot, at its question's level."""
        question, search, games = self.questions[slot], self.search, np.array([slot])
        level = question.level
        assert level is None or not isinstance(level, str)  # "even" was made a number
        if question.position.is_over:
            return None, None, 0.0
        if level is None or level >= LEVELS:
            if search.tree.visits[slot, ROOT] > 1:
                return int(search.choose(games, NEVER, np.zeros(1))[0]), None, 0.0
            return policy_move(search, slot, question.position, question.avoid), None, 0.0
        return level_move(search, slot, level, self.draw(), question.end)


def kept_kind(question: Question) -> Kind:
    """Return the kind of the trees in which a question's search may go on: however many leaves their waves had."""
    return question.kind._replace(settings=replace(question.kind.settings, leaves=1))


def of_question(found: Analysis, i: int, question: Question) -> Analysis:
    """Return the analysis of position i with what its question has asked for."""
    one = found.take([i]) if len(found) > 1 else found
    if question.plies < one.lines.shape[2]:
        one = replace(one, lines=one.lines[:, :, : question.plies], line_visits=one.line_visits[:, :, : question.plies])
    return one if question.move_ownership else replace(one, move_ownership=None, move_ownership_stdev=None)
