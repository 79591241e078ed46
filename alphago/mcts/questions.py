"""`Question`: a position that an `Analyst` searches for a client, up to a `Limit`; `Answer`: the result so far."""

import math
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from alphago.env.game import GameEnv
from alphago.env.position import Position
from alphago.mcts.analysis_result import PLIES, Analysis
from alphago.mcts.levels import Level
from alphago.mcts.opponent import OpponentStrength
from alphago.mcts.rule import SearchSettings
from alphago.mcts.search import Forbidden
from alphago.system.validation import MOST_READOUTS, check_int, check_positive

LONG = 1000  # readouts above which a search is long, see `Question.is_long`


@dataclass(frozen=True)
class Limit:
    """Limits of the search of a position, which ends at the first limit that it reaches.

    Attributes:
        readouts: simulations; 0 for the network alone, None for no limit.
        seconds: time; None for no limit.
        added: whether the search adds `readouts` simulations to those of a kept tree; if not, those of the tree count.
        certain: whether the search ends early, when the simulations left cannot change its best move.
        until: an event that ends the search; the network evaluates the position even then.
    """

    readouts: int | None = 800
    seconds: float | None = None
    added: bool = False
    certain: bool = False
    until: threading.Event | None = None

    def __post_init__(self) -> None:
        if self.readouts is not None:
            check_int("readouts", self.readouts, 0, MOST_READOUTS)
        if self.seconds is not None:
            check_positive("seconds", self.seconds)


class Kind(NamedTuple):
    """What two questions must have in common to be searched side by side, and in each other's kept trees.

    Attributes:
        env: the game.
        settings: the search.
    """

    env: GameEnv
    settings: SearchSettings


@dataclass(frozen=True)
class Answer:
    """What is known of a position.

    Attributes:
        analysis: of one position, in the view of the player to move; None if the search was stopped before it began, or
            has failed.
        is_last: whether the search has ended.
        readouts: simulations that were done for the question; those of a kept tree do not count.
        action: the move to play, in the last answer to a question with a level; None if the game is over or the
            question was stopped, and at the level "even" if `Limit.until` was set before the search.
        opponent: how strong the other side seems to be, for the level "even"; None for other levels.
        least_behind: points that the player to move must be behind to resign.  At a level below the greatest the
            opponent may lose points too, so that a small lead of the opponent is not safe.
        shares: the probabilities of the moves at a level below the greatest, float64 [A]; else None.
        error: why the search has failed; None if it has not.
    """

    position: Position
    analysis: Analysis | None
    is_last: bool
    readouts: int = 0
    action: int | None = None
    opponent: OpponentStrength | None = None
    least_behind: float = 0.0
    shares: np.ndarray | None = None
    error: Exception | None = None

    @property
    def found(self) -> Analysis:
        """The analysis, which must be there; raises the error of a search that has failed."""
        if self.error is not None:
            raise self.error
        assert self.analysis is not None
        return self.analysis


@dataclass(eq=False)
class Question:
    """A position to search, for one client.

    Iterate over it for the answers while the search goes on and the last one, or call `last`.  An answer that comes
    before the previous one was read replaces it.

    Attributes:
        level: the strength of the move that the last answer has (see `alphago.mcts.levels`); None for no move.
        avoid: moves that the search must not try.
        every: seconds between two answers while the search goes on; None for the last answer only.
        first: seconds until the first answer; None for `every`.
        priority: questions with a greater one begin first.
        plies: the most plies of each expected line of play.
        move_ownership: whether answers have the ownership expected after each action.
        reuse: whether the search goes on in a kept tree, and its own tree is kept.
        tell: a function that the searching thread calls with each answer, for clients that do not iterate.
    """

    position: Position
    kind: Kind
    limit: Limit
    level: Level | None = None
    avoid: tuple[Forbidden, ...] = ()
    every: float | None = None
    first: float | None = None
    priority: int = 0
    plies: int = PLIES
    move_ownership: bool = False
    reuse: bool = True
    tell: Callable[[Answer], None] | None = None

    def __post_init__(self) -> None:
        self.stopped = False  # whether the client has told it to end
        self.waits = False  # whether it has no place in a search yet
        self.visits = 1  # of the root, when the search began
        self.opponent: OpponentStrength | None = None  # as in `Answer`
        self.wake: Callable[[Question], None] = lambda question: None  # lets the analyst see a stop
        self.newest: Answer | None = None
        self._told = threading.Condition()  # there is a newer answer
        self._ended = threading.Event()
        self.due = self.end = math.inf  # when to answer next, and when to end, in seconds of `time.monotonic`

    @property
    def is_long(self) -> bool:
        """Whether the search has a tree of its own: trees side by side all take the room of the largest one."""
        return self.limit.readouts is None or self.limit.readouts > LONG

    def begin(self) -> None:
        """Start the clock of the search: set `end`, and `due` for the first answer."""
        now = time.monotonic()
        self.end = now + (self.limit.seconds or math.inf)
        if self.every is not None:  # if not, only the last answer is given, whatever `first` is: `due` stays infinite
            self.due = now + (self.every if self.first is None else self.first)

    def must_end(self, now: float) -> bool:
        """Return whether the client has stopped the search, or its time is over; now: a value of `time.monotonic()`."""
        return self.stopped or now >= self.end or (self.limit.until is not None and self.limit.until.is_set())

    def stop(self) -> None:
        """End the search, without waiting; the last answer follows after the present wave at the latest."""
        self.stopped = True
        self.wake(self)

    def answer(self, answer: Answer) -> None:
        """Give the client an answer, first by `tell`; do nothing if it has the last one already.

        If `tell` raises, the error is printed, and the search is stopped.
        """
        if self._ended.is_set():
            return
        self.due = time.monotonic() + (self.every or math.inf)
        try:
            if self.tell is not None:
                self.tell(answer)
        except Exception:  # it must not reach the thread, which searches for other clients too
            traceback.print_exc()
            self.stopped = True
        finally:
            with self._told:
                self.newest = answer
                self._told.notify_all()
            if answer.is_last:
                self._ended.set()

    def __iter__(self) -> Iterator[Answer]:
        """Yield the newest answer whenever there is a new one, and the last one at the end.

        Raises the error of a search that has failed.
        """
        answer = None
        while answer is None or not answer.is_last:
            with self._told:
                while self.newest is None or self.newest is answer:
                    self._told.wait()
                answer = self.newest
            if answer.error is not None:
                raise answer.error
            yield answer

    def wait(self, seconds: float | None = None) -> None:
        """Wait until the last answer was given, at most `seconds`."""
        self._ended.wait(seconds)

    def last(self) -> Answer:
        """Wait for the last answer and return it; raise the error of a search that has failed."""
        return deque(self, maxlen=1).pop()  # a deque of one answer keeps the last of those that `__iter__` yields
