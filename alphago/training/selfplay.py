"""Self-play in threads of this process: SelfPlay has a Group of games for each thread.

With G groups, game i is played by group i mod G, so games do not depend on the speed of threads.
"""

import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np

from alphago.drawing.live_bar import LiveBar
from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers, quick_switches
from alphago.records.record import GameRecord, read_arrays, to_arrays
from alphago.training.group import GameGroup, Group
from alphago.training.settings.selfplay_settings import SelfPlaySettings
from alphago.training.source import GameSource, OnGame


@dataclass(eq=False)
class SelfPlay(GameSource):
    """The GameSource that plays games in threads of this process.

    The games are divided among groups, one for each thread.  Games that are unfinished at the end of an iteration
    continue in the next one.

    Attributes:
        numbers: the numbers of the games to play.
        workers: the threads.
        seed: the run's seed.
        device: the name of the network's device, such as "cpu" or "cuda".
    """

    env: GameEnv
    settings: SelfPlaySettings
    numbers: range
    workers: Workers
    seed: int = field(default=0, kw_only=True)
    device: str = field(default="cpu", kw_only=True)
    evaluator: Evaluator | None = field(default=None, init=False)  # None until the first network is published
    groups: Sequence[GameGroup] = field(default=(), init=False)  # none until games begin
    # In RemoteSelfPlay a thread changes the groups, and this lock keeps it out.  Here there is no such thread.
    lock: AbstractContextManager[Any] = field(default_factory=nullcontext, init=False)
    group_class: ClassVar[type[Group]] = Group  # a derived class may name a derived class of Group

    def _new_groups(self) -> Sequence[GameGroup]:
        """Return new groups, whose games have not begun; of G groups, group i has every G-th game from game i on."""
        in_flight = max(1, min(self.settings.games_in_flight, len(self.numbers)))  # 1: one group even without games
        group_count = min(self.settings.groups, in_flight)
        widths = divide(in_flight, group_count)
        return [self.new_group(width, self.numbers[i::group_count]) for i, width in enumerate(widths)]

    def new_group(self, width: int, numbers: range) -> GameGroup:
        """Return a group with `width` slots for the games with these numbers."""
        assert self.evaluator is not None
        return self.group_class(self.env, self.evaluator, self.settings, width, seed=self.seed, numbers=numbers)

    def publish(self, net: NeuralNet, dtype: str | None = None) -> None:
        """Let the next iterations use a snapshot of a network.

        Args:
            dtype: dtype of inference, as in NetEvaluator.
        """
        # `exact`: a game does not depend on the games in the same batch.  On a GPU the previous evaluator (`before`) is
        # reused: it gets the weights of `net`, which is faster than a new evaluator.  So no other caller may have this
        # evaluator (`shared=False`).
        self.evaluator = net.evaluator(dtype, self.device, exact=True, shared=False, before=self.evaluator)

    def play_all(self, on_game: OnGame | None = None) -> list[GameRecord]:
        """Play all games to their ends and return their records, ordered by number.

        Sentences of `news`, such as that a worker has come or gone, are printed on standard error.

        Args:
            on_game: called with the number and the record of each finished game, from several threads at the same time.
        """
        self.groups = self._new_groups()
        for group in self.groups:
            group.on_game = on_game
        self.begin(None)
        while not self.advance():
            for sentence in self.news():
                LiveBar.write(sentence, file=sys.stderr)
        return self.take()

    def begin(
        self,
        plies: int | None,
        readouts: int | None = None,
        side_by_side: int | None = None,
        resign_threshold: float | None = None,
    ) -> None:
        """Begin an iteration with the latest published network; the next calls of `advance` play its moves.

        Args:
            plies: moves to play in every game; None for all games to their ends.
            readouts: simulations per move; None for the settings' number.
            side_by_side: largest number of games in progress, but at least one per group.  If more games are in
                progress now, they continue.  None for `games_in_flight`.
            resign_threshold: a player resigns if the root's value is below it; None for the settings' threshold.
        """
        assert self.evaluator is not None  # `publish` was called
        self.groups = self.groups or self._new_groups()
        most_games = sys.maxsize if side_by_side is None else side_by_side
        capacities = divide(most_games, len(self.groups))
        for group, capacity in zip(self.groups, capacities, strict=True):
            group.capacity = max(1, min(capacity, group.width))  # every group must play its own games
            group.use(self.evaluator)
            group.readouts = readouts or group.settings.readouts
            group.resign_threshold = self.settings.resign_threshold if resign_threshold is None else resign_threshold
            group.left = sys.maxsize if plies is None else plies

    def advance(self, stop: threading.Event | None = None, until: float | None = None) -> bool:
        """Play the iteration's moves; return False if moves are left to play.

        Args:
            stop: once this event is set, the threads stop at their next move; a KeyboardInterrupt has the same effect.
            until: value of time.monotonic() at which the threads stop, after at least one move in every game.
        """
        stop = stop or threading.Event()
        # With a GPU, a thread that has its results must not wait for Python's lock for long.
        with quick_switches(self.device != "cpu"):
            self.workers.run([partial(group.play, stop, until) for group in self.groups], stop)
        return not any(group.left for group in self.groups)

    def take(self) -> list[GameRecord]:
        """Return the games finished since the last call, ordered by number."""
        finished = sorted((pair for group in self.groups for pair in group.finished), key=lambda pair: pair[0])
        for group in self.groups:
            group.finished.clear()
        return [record for _, record in finished]

    def time_spent(self) -> dict[str, float]:
        """Return the seconds of each kind of work since the last call, summed over all threads."""
        spent: dict[str, float] = {}
        for group in self.groups:
            for work, seconds in group.stopwatch.take().items():
                spent[work] = spent.get(work, 0.0) + seconds
        return spent

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Return the games as arrays by name, and plain data, for `restore`; the search trees are not saved.

        No thread may be playing.
        """
        with self.lock:  # keeps out RemoteSelfPlay's thread, which puts the workers' answers into the groups
            games = [record for group in self.groups for record in group.records()]
            return to_arrays(games), {"groups": [group.state() for group in self.groups]}

    def restore(self, arrays: Mapping[str, np.ndarray], data: Mapping[str, Any]) -> None:
        """Continue from the two results of `state`, with as many groups as were saved.

        The caller must have called `publish` before.
        """
        records = iter(read_arrays(arrays))
        group_count = len(data["groups"])
        groups = []
        for state in data["groups"]:
            # Each game has a number.  Of three groups, the second has the games 1, 4, 7, … (see `_new_groups`).
            # A restored group gets the games that the saved group has not begun.
            numbers_left = range(state["next"], self.numbers.stop, self.numbers.step * group_count)
            group = self.new_group(len(state["slots"]), numbers_left)
            group.restore(state, records)  # takes its own games from the iterator
            groups.append(group)
        self.groups = groups

    @property
    def begun(self) -> int:
        """A number greater than the numbers of all games begun so far."""
        return max((group.numbers.start for group in self.groups), default=self.numbers.start)

    @property
    def moves(self) -> int:
        """The number of moves played so far."""
        return sum(group.moves for group in self.groups)

    @property
    def readouts_done(self) -> int:
        """The number of simulations and of evaluations of root positions so far."""
        return sum(group.readouts_done for group in self.groups)


def divide(games: int, groups: int) -> list[int]:
    """Divide games evenly among groups; return the number of games of each group, the larger numbers first.

    Args:
        games: number of games.
        groups: number of groups.
    """
    return [games // groups + (group < games % groups) for group in range(groups)]
