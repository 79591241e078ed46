"""`Analyst`: the one holder of position searches, which answers the questions of many clients at once."""

import heapq
import itertools
import threading
import traceback
from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial
from typing import Any, Self

import numpy as np

from alphago.env.game import GameEnv
from alphago.env.go_count import GoCount, count_as_alive
from alphago.env.position import Position
from alphago.mcts.analysis_result import Analysis, join_analyses
from alphago.mcts.evaluator import AveragedEvaluator, Evaluator, as_evaluator, as_network
from alphago.mcts.kept_trees import KeptTrees
from alphago.mcts.levels import FULL_STRENGTH, check_level
from alphago.mcts.opponent import OpponentStrength, StrengthEstimator
from alphago.mcts.questions import Answer, Kind, Limit, Question
from alphago.mcts.search import Forbidden, check_move_left, leaves_for, without_empty
from alphago.mcts.search_group import SearchGroup
from alphago.mcts.search_specs import SearchSpec, make_search
from alphago.system.cores import available_cores
from alphago.system.validation import MOST_READOUTS, check_int, check_positive

UNLIMITED_LEAVES = 32  # the most leaves of a wave in a search without a limit of readouts


class Analyst:
    """Searches positions for clients, which share its threads, its network and the trees that it keeps.

    Short questions of one kind are searched side by side, in common batches.  A long one (`Question.is_long`) is
    searched alone; the threads work on it and on the others in turn.  A search goes on in the kept tree of its position
    or of an earlier position of the game, if there is one.

    Args:
        network: as in `MCTSPlayer`.  Levels count as measured only if the network is given itself, not by its name.
        settings, symmetries, device: as in `alphago.analyze`.
        threads: how many threads search; None for one per core.
        forecasts: whether the network forecasts scores and ownership, if it can; then boards stay in the CPU's memory.
        evaluators: a function that returns the evaluator for a game, called by several threads; then `symmetries`,
            `device` and `forecasts` have no effect.  None for the evaluators of `network`.
        slots: most questions that a thread searches side by side.
        kinds: most kinds of searches (see `Kind`) whose groups stay ready for later questions.
        tree_bytes: most bytes of the trees of a thread; the search of a position ends early if its tree is full.
        seed: of the random choice among the moves of a level; None for a random seed.
        name: of the threads.
    """

    def __init__(
        self,
        network: object = None,
        *,
        settings: SearchSpec = None,
        symmetries: bool = False,
        device: str = "auto",
        forecasts: bool = True,
        threads: int | None = None,
        evaluators: Callable[[GameEnv], Evaluator] | None = None,
        slots: int = 32,
        kinds: int = 16,
        tree_bytes: int = 2**31,
        seed: int | None = None,
        name: str = "alphago-analyst",
    ) -> None:
        self.network, self.settings, self.name = network, settings, name
        self._settings_for = lru_cache(partial(make_search, settings))  # arguments: readouts and leaves
        self.threads = available_cores() if threads is None else check_int("threads", threads, 1)
        self.slots, self.kinds, self.tree_bytes = slots, kinds, tree_bytes
        self.kept = KeptTrees()
        self.evaluators = evaluators or Evaluators(network, device, forecasts, symmetries)
        self._estimator = cache(lambda env: StrengthEstimator(env, self.evaluators(env), network))  # of a game
        self._estimator_lock = threading.Lock()
        self.random = np.random.default_rng(seed)
        self._changed = threading.Condition()  # guards the attributes below
        self._numbers = itertools.count()  # of the questions: of equal priority, the one asked first comes first
        self._waiting: list[tuple[int, int, Question]] = []  # a heap of (-priority, number, question)
        self._shared: dict[Kind, list[SearchGroup]] = {}  # for short questions
        self._groups: list[SearchGroup] = []  # those that have questions; the one that waits longest is the first
        self._stepping: list[SearchGroup] = []  # those of them that a thread works on
        self._latest_was_long = False
        self._workers: list[threading.Thread] = []
        self._closing = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- questions -----------------------------------------------------------------------------------

    def count(self, position: Position) -> GoCount | None:
        """Return the count of a game that ended by two passes; None for any other position.

        The network alone says which stones are dead, in the position before the two passes.  A search would not find
        them: its passes end the game.
        """
        all_alive = count_as_alive(position)
        if all_alive is None or not all_alive.position.board.any():  # an empty board has no dead stones
            return all_alive
        owners = self.ask(all_alive.before, limit=Limit(readouts=0)).last().found.as_black().raw_ownership
        return all_alive.proposed(None if owners is None else owners[0])

    def ask(
        self,
        game: GameEnv | Position,
        moves: Sequence[int | str] = (),
        limit: Limit = Limit(),  # noqa: B008 (it cannot be changed)
        *,
        avoid: Sequence[Forbidden] = (),
        **options: Any,
    ) -> Question:
        """Begin to search the position after moves, and return at once; see `Question` for the answers.

        Errors of the network are in the last answer.

        Args:
            game: the game, from its start, or the position in which the moves begin.
            moves: actions, or their texts such as "D4".
            limit: when the search ends.  If the option `level` is below the greatest level, the level's number of
                readouts counts instead of the limit's.
            avoid: moves that the search must not try.
            options: level, every, first, priority, plies, move_ownership, reuse, tell; see `Question`.

        Raises:
            IllegalMove: for an illegal move.
            ValueError: if all legal moves are to be avoided, and without a limit of readouts in a search that divides
                them, as Gumbel search does.
        """
        start = game if isinstance(game, Position) else game.position()
        return self.ask_all([start.after(moves)], limit, avoid=[avoid], **options)[0]

    def ask_all(
        self,
        positions: Sequence[Position],
        limit: Limit,
        *,
        avoid: Sequence[Sequence[Forbidden]] = (),
        beside: int = 1,
        **options: Any,
    ) -> list[Question]:
        """Begin to search positions, all at the same time, and return at once.

        Args:
            limit: of each position.
            avoid: for each position, the moves that its search must not try; () for none at all.
            beside: the number of positions that are searched at the same time, these and other clients' together.  The
                greater the number, the fewer leaves each search has in a wave, since all searches together fill the
                network's batch.  With 1, the default, each has as many leaves as the search of a single position.
            options: as in `ask`, for all positions.
        """
        if options.get("level") is not None:
            check_level(options["level"])
        if options.get("every") is not None:
            check_positive("every", options["every"])
        questions = []
        for i, position in enumerate(positions):
            # An entry without actions changes no search, but a kept tree would not be found with such an entry.
            forbidden = without_empty(avoid[i]) if avoid else ()
            if not position.is_over:
                check_move_left(position, forbidden)
            kind = self._kind(position, limit, beside, options.get("level"))
            questions.append(Question(position, kind, limit, avoid=forbidden, **options))
        self._enqueue(questions)
        return questions

    def analyze(self, positions: Sequence[Position], readouts: int | Limit, **options: Any) -> Analysis:
        """Search positions and return their analysis, with a row for each.

        Args:
            readouts: simulations of each position, those of kept trees included; or the limit of each position.
            options: as in `ask_all`.
        """
        limit = readouts if isinstance(readouts, Limit) else Limit(readouts)
        return join_analyses([question.last().found for question in self.ask_all(positions, limit, **options)])

    def forget(self) -> None:
        """Drop the trees that are kept."""
        self.kept.clear()

    def close(self, wait: bool = False) -> None:
        """End the threads; wait: whether to finish all questions before, instead of stopping them."""
        with self._changed:
            self._closing = True
            if not wait:
                waiting = [question for *_, question in self._waiting]
                for question in [*waiting, *(asked for group in self._groups for asked in group.questions)]:
                    question.stopped = True  # the threads still give each of them its last answer
            self._changed.notify_all()
        for worker in self._workers:
            worker.join()

    # -- threads -------------------------------------------------------------------------------------

    def _kind(self, position: Position, limit: Limit, beside: int, level: float | str | None) -> Kind:
        """Return the kind of search of a question; beside: as in `ask_all`; level: of `Question`."""
        readouts = MOST_READOUTS if limit.readouts is None else max(1, limit.readouts)
        leaves = UNLIMITED_LEAVES if limit.readouts is None else leaves_for(beside, readouts)
        settings = self._settings_for(readouts, leaves)
        has_own_readouts = isinstance(level, (int, float)) and level < FULL_STRENGTH
        if limit.readouts is None and settings.needs_readouts and not has_own_readouts:
            raise ValueError(f"readouts must be limited in the search {type(settings).__name__}, got None")
        return Kind(position.env, settings)

    def _enqueue(self, questions: Sequence[Question]) -> None:
        """Let questions wait for a thread, and start the threads; the questions arrive all at once."""
        with self._changed:
            if self._closing:
                raise RuntimeError("the analyst must be open to be asked, and it was closed")
            for question in questions:
                question.wake, question.waits = self._wake, True
                heapq.heappush(self._waiting, (-question.priority, next(self._numbers), question))
            while len(self._workers) < self.threads:
                worker = threading.Thread(target=self._work, name=self.name, daemon=True)
                self._workers.append(worker)
                worker.start()
            self._changed.notify_all()

    def _wake(self, question: Question) -> None:
        """Give a stopped question its last answer if it still waits; if not, its group does so in the next turn."""
        with self._changed:
            waits, question.waits = question.waits, False  # False: `_admit` passes over it
        if waits:
            question.answer(Answer(question.position, None, is_last=True))

    def _work(self) -> None:
        """Search until the analyst is closed."""
        while (group := self._next()) is not None:
            try:
                group.step()
            except Exception as problem:
                traceback.print_exc()
                group.fail(problem)
            self._put_back(group)

    def _next(self) -> SearchGroup | None:
        """Wait for a group that has questions and return it; None if the thread must end.

        Groups with stopped questions come first.  Then groups with short and with long questions take turns, so that
        short ones need not wait for all long ones.  Of several such groups the one that waits longest comes.
        """
        with self._changed:
            while True:
                self._admit()
                ready = [group for group in self._groups if group not in self._stepping]
                if ready:
                    # The first group with the least key (False is least): an urgent one, or one of the other length.
                    # Among equals `min` takes the first one, and `_groups` has the groups in the order of waiting.
                    group = min(ready, key=lambda one: (not one.is_urgent, one.is_long == self._latest_was_long))
                    self._latest_was_long = group.is_long
                    self._stepping.append(group)
                    return group
                if self._closing and not self._stepping:
                    return None
                self._changed.wait()

    def _put_back(self, group: SearchGroup) -> None:
        """Let a group wait for its next turn if it has questions left."""
        with self._changed:
            self._stepping.remove(group)
            self._groups.remove(group)
            if group.questions:
                self._groups.append(group)  # behind all groups that wait longer
            if self._closing:  # threads that wait in `_next` may end now
                self._changed.notify_all()

    def _admit(self) -> None:
        """Give waiting questions to groups, those of the greatest priority first, as far as there is room."""
        busy = sum(len(group.questions) for group in self._groups) if self._waiting else 0  # not needed if none waits
        while self._waiting and busy < self.slots * self.threads:
            _priority, _number, question = heapq.heappop(self._waiting)
            if not question.waits:  # it was stopped, and `_wake` has answered it
                continue
            question.waits = False
            group = self._group(question)
            group.coming.append(question)
            busy += 1
            if group not in self._groups:
                self._groups.append(group)
                self._changed.notify()

    def _group(self, question: Question) -> SearchGroup:
        """Return the group for a question: a new one for a long question, else one of its kind with few questions."""
        if question.is_long:
            return SearchGroup(self, question.kind, count=1)
        if question.kind not in self._shared and len(self._shared) >= self.kinds:  # too many: drop idle kinds
            in_use = [kind for kind, groups in self._shared.items() if any(group.questions for group in groups)]
            self._shared = {kind: self._shared[kind] for kind in in_use}
        groups = self._shared.setdefault(question.kind, [])
        has_empty_group = any(not group.questions for group in groups)
        if len(groups) < self.threads and not has_empty_group:
            groups.append(SearchGroup(self, question.kind, self.slots))
        return min(groups, key=lambda group: len(group.questions))

    def group_bytes(self) -> int:
        """Return the most bytes that the trees of one group may take now: the search of a full tree ends early."""
        return self.threads * self.tree_bytes // max(1, len(self._groups))

    def estimate(self, position: Position, seconds: float) -> OpponentStrength:
        """Return how strong the side that is not to move seems to be; seconds: the time for this."""
        with self._estimator_lock:
            return self._estimator(position.env).estimate(position, seconds)


class Evaluators:
    """The evaluators of one network, one for each game, made when they are needed.

    Args:
        network, device, forecasts: as in `as_evaluator`.
        symmetries: whether evaluations are averages over all symmetries of the board.
    """

    def __init__(self, network: object, device: str = "auto", forecasts: bool = True, symmetries: bool = False) -> None:
        self.network, self.device, self.forecasts, self.symmetries = network, device, forecasts, symmetries
        self._evaluators: dict[GameEnv, Evaluator] = {}
        self._lock = threading.Lock()

    def __call__(self, env: GameEnv) -> Evaluator:
        """Return the evaluator for a game; it evaluates the game with the planes that the network reads."""
        with self._lock:
            if env not in self._evaluators:
                self.network = as_network(self.network, env)  # a name is loaded once
                evaluator = as_evaluator(self.network, env, self.device, forecasts=self.forecasts)
                self._evaluators[env] = AveragedEvaluator(evaluator, env) if self.symmetries else evaluator
            return self._evaluators[env]
