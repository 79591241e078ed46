"""The things that `watch` can name: an opponent to play, game records to predict, or an exam to take."""

import threading
from collections.abc import Callable, Sequence
from typing import Protocol

from alphago.arena.engine import Engine
from alphago.arena.engine_player import check_engine
from alphago.env.game import GameEnv
from alphago.env.games import require_go
from alphago.mcts.evaluator import Evaluator
from alphago.records.collection import read_collection
from alphago.training.judges.prediction import WatchedRecords
from alphago.training.judges.results import WatchResult
from alphago.training.judges.watched_exam import WatchedExam, is_exam
from alphago.training.judges.watched_opponent import WatchedOpponent
from alphago.training.watch_names import RECORDS, split_readouts

POSITIONS = 4096  # positions of records to predict: enough to distinguish an accuracy of 40 % from 42 %


class Watched(Protocol):
    """An opponent, a set of game records, or an exam, that tests a run's networks again and again."""

    @property
    def name(self) -> str:
        """The name of this opponent, set of records or exam in `watch`."""

    def test(
        self, evaluator: Evaluator, device: str, *, seed: int, left: Callable[[], float], stop: threading.Event
    ) -> WatchResult | None:
        """Test a network; return None if `stop` was set before the end.

        evaluator: the evaluator of the network that is tested.  device: where an opponent's network is computed.
        seed: determines all random choices of the test.
        left: returns the seconds that the test may still take; a match has fewer games if that is too little.
        Raises EngineError if an engine does not start.
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
