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


class Examination(Protocol):
    """A test of one network against an opponent, on records or by an exam, which can pause between two moves.

    An examination consists of units of work: pairs of games against an opponent, batches of records, or positions of
    an exam.
    """

    @property
    def completed(self) -> int:
        """Number of completed units of work."""

    @property
    def is_over(self) -> bool:
        """Whether all units of work are completed."""

    @property
    def at_rest(self) -> bool:
        """Whether no unit of work is in progress, so that ending the examination now would discard nothing."""

    def go_on(self, evaluator: Evaluator, at_once: int, stop: threading.Event) -> None:
        """Complete the units in progress; if none is in progress, complete the next `at_once` units, in parallel.

        evaluator: the evaluator of the network that is tested.
        stop: once it is set, the call returns after the next move.
        Raises EngineError if an engine does not start.
        """

    def row(self) -> dict[str, Any] | None:
        """Return the completed units' result as entries of a row of evaluations.jsonl; None if no unit is completed."""

    def summary(self) -> str:
        """Return the result of the completed units as a clause for a report."""

    def state(self) -> Any:
        """Return the completed units as plain data, from which `Watched.examination` continues."""

    def close(self) -> None:
        """End games and engines that are still running; completed units are kept."""


class Watched(Protocol):
    """An opponent, a set of game records, or an exam, that tests a run's networks again and again."""

    @property
    def name(self) -> str:
        """The name of this opponent, set of records or exam in `watch`."""

    def examination(self, seed: int, device: str, state: object = None) -> Examination:
        """Begin an examination, or continue one from its saved `state`.

        seed: determines all random choices of the examination.  device: where networks are computed.
        state: the result of the saved examination's method `state`; None to begin.
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
