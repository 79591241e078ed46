"""What a run's networks can be watched by: an opponent, or the moves of given records."""

import threading
from collections.abc import Sequence
from typing import Any, Protocol

from alphago.arena.engine import Engine
from alphago.arena.engine_player import check_engine
from alphago.env.game import GameEnv
from alphago.env.games import require_go
from alphago.mcts.evaluator import Evaluator
from alphago.records.collection import read_collection
from alphago.training.judges.criteria import RECORDS, split_readouts
from alphago.training.judges.prediction import WatchedRecords
from alphago.training.judges.watched_opponent import WatchedOpponent

POSITIONS = 4096  # of records: enough to tell 40 % from 42 %


class Examination(Protocol):
    """One network's examination by an opponent or by records, which may pause between two moves.

    It has pieces: pairs of games, or some records each.
    """

    @property
    def pieces(self) -> int:
        """Pieces that are over."""

    @property
    def is_over(self) -> bool:
        """Whether all pieces are."""

    def go_on(self, evaluator: Evaluator, at_once: int, stop: threading.Event) -> None:
        """Go on until the examination is over or `stop` is set, with so many pieces side by side.

        Raises EngineError if an engine does not start.
        """

    def row(self) -> dict[str, Any] | None:
        """Return the result of the pieces that are over as a part of a row of evaluations.jsonl; None without any."""

    def summary(self) -> str:
        """Return the result of the pieces that are over as a part of a sentence."""

    def state(self) -> Any:
        """Return the pieces that are over as plain data."""

    def close(self) -> None:
        """End what goes on between two calls of `go_on`, such as engines."""


class Watched(Protocol):
    """An opponent or records by which networks are examined again and again."""

    @property
    def name(self) -> str:
        """The name by which `watch` has it."""

    def examination(self, seed: int, device: str, state: Any = None) -> Examination:
        """Begin an examination on a device, or go on with one from its `state`."""


def make_watched(names: Sequence[str], env: GameEnv) -> list[Watched]:
    """Return what these names of `watch` stand for.

    Raises ValueError, OSError or EngineError that names the first that does not exist or does not play the game.
    """
    return [make_one(name, env) for name in names]


def make_one(text: str, env: GameEnv) -> Watched:
    """Return what one name stands for; raises as `make_watched`."""
    if text.startswith(RECORDS):
        return WatchedRecords(text, env, read_collection(text.removeprefix(RECORDS), env, POSITIONS))
    name, readouts = split_readouts(text)
    watched = WatchedOpponent(name, readouts, env)
    player = watched.entrant("cpu").player
    if isinstance(player, Engine):
        check_engine(require_go(env.match_variant(), player.name), player)
    return watched
