"""The things that `watch` can name: an opponent to play, game records to predict, or an exam to take."""

import threading
from collections.abc import Sequence
from typing import Any, Protocol

from alphago.arena.engine import Engine
from alphago.arena.engine_player import check_engine
from alphago.env.game import GameEnv
from alphago.env.games import require_go
from alphago.mcts.evaluator import Evaluator
from alphago.records.collection import read_collection
from alphago.training.judges.prediction import WatchedRecords
from alphago.training.judges.watched_exam import WatchedExam, is_exam
from alphago.training.judges.watched_opponent import WatchedOpponent
from alphago.training.watch_names import RECORDS, split_readouts

POSITIONS = 4096  # positions of records to predict: enough to distinguish an accuracy of 40 % from 42 %


class WatchedTest(Protocol):
    """A test of one network against an opponent, on records or by an exam.

    A test consists of units of work: pairs of games against an opponent, batches of records, or positions of an exam.

    """

    @property
    def done(self) -> int:
        """Number of completed units of work."""

    @property
    def units(self) -> int:
        """Number of units of a whole test."""

    def go_on(self, count: int, stop: threading.Event) -> None:
        """Do the next `count` units, in parallel, or as many as are left.

        stop: once it is set, the call returns after the next move, and the units in progress are lost.
        Raises EngineError if an engine does not start.
        """

    def row(self) -> dict[str, Any]:
        """Return the result of the completed units, at least one, as entries of a row of evaluations.jsonl."""

    def summary(self) -> str:
        """Return the result of the completed units as a clause for a report."""


class Watched(Protocol):
    """An opponent, a set of game records, or an exam, that tests a run's networks again and again."""

    @property
    def name(self) -> str:
        """The name of this opponent, set of records or exam in `watch`."""

    def test(self, evaluator: Evaluator, device: str, seed: int) -> WatchedTest:
        """Begin a test.

        evaluator: the evaluator of the network that is tested.  device: where an opponent's network is computed.
        seed: determines all random choices of the test.
        """


def make_watched(names: Sequence[str], env: GameEnv) -> list[Watched]:
    """Return an opponent, records or an exam for each of `names`, written as in the run's setting `watch`.

    Raises ValueError, OSError or EngineError for the first name that does not exist or cannot play the game `env`.
    """
    return [watched_by_name(name, env) for name in names]


def watched_by_name(text: str, env: GameEnv) -> Watched:
    """Return the opponent, the records or the exam for one name in `watch`, such as "gnugo:10@64".

    Raises the errors of `make_watched`.
    """
    if text.startswith(RECORDS):
        return WatchedRecords(text, env, read_collection(text.removeprefix(RECORDS), env, POSITIONS))
    name, readouts = split_readouts(text)
    if is_exam(name):
        return WatchedExam(name, readouts, env)
    watched = WatchedOpponent(name, readouts, env)
    player = watched.entrant("cpu").player
    if isinstance(player, Engine):
        check_engine(require_go(env.match_variant(), player.name), player)
    return watched
