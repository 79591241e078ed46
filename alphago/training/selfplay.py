"""Self-play: groups of games on threads, one network call per wave and group.

Game i belongs to group i mod G and has its own random stream (seed, i), so what a game is does not
depend on which thread was faster.
"""

import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from alphago.env.game import GameEnv, check_env
from alphago.mcts.evaluator import Evaluator, as_evaluator
from alphago.mcts.search import SearchSettings, leaves_for
from alphago.mcts.warm_up import warm_up
from alphago.nn.threads import Workers, one_torch_thread
from alphago.records.record import GameRecord
from alphago.system.cores import available_cores
from alphago.system.validation import check_int, checks_keywords, make_settings
from alphago.training.group import Group, SelfPlaySettings, Tell, default_flight, default_groups


class SelfPlay:
    """The games of these numbers, in groups.  Games unfinished when `run` returns go on in the next call.

    device: where they will be played.
    """

    def __init__(
        self, env: GameEnv, settings: SelfPlaySettings, numbers: range, seed: int, device: str = "cpu"
    ) -> None:
        self.env, self.settings, self.numbers, self.seed, self.device = env, settings, numbers, seed, device
        flight = min(settings.games_in_flight or default_flight(device), len(numbers))
        groups = min(settings.groups or default_groups(device), flight)
        widths = shared_out(flight, groups)
        self.groups = [self.new_group(width, numbers[g::groups], groups) for g, width in enumerate(widths)]

    def new_group(self, width: int, numbers: range, groups: int) -> Group:
        """One of so many groups.  Where the network is elsewhere, each has its share of the cores for its trees."""
        threads = 1 if self.device == "cpu" else max(1, available_cores() // groups)
        return Group(self.env, self.settings, width, self.seed, numbers, threads=threads)

    def run(
        self,
        workers: Workers,
        evaluator: Evaluator,
        plies: int | None = None,
        stop: threading.Event | None = None,
        tell: Tell | None = None,
    ) -> list[GameRecord]:
        """Plays `plies` moves in every game (None: until all games are over); returns finished games in order.

        `stop` ends the call at the next move.  `tell`: called with each game as it ends.
        """
        for group in self.groups:
            group.tell = tell
        self.begin(evaluator, plies)
        self.go_on(workers, stop)
        return self.take()

    def begin(
        self,
        evaluator: Evaluator,
        plies: int | None = None,
        readouts: int | None = None,
        side_by_side: int | None = None,
    ) -> None:
        """The next calls of `go_on` play `plies` moves in every game with this evaluator (None: all games to the end).

        `readouts`: how many from now on, instead of the settings'.  `side_by_side`: how many games there is room for
        from now on, not less than before, and one in each group at least; None for `games_in_flight`.
        """
        rooms = shared_out(sys.maxsize if side_by_side is None else side_by_side, len(self.groups))
        for group, room in zip(self.groups, rooms, strict=True):
            group.room = max(1, min(room, len(group.builders)))  # each has games of its own to play
            group.use(evaluator)
            group.readouts = readouts or group.settings.readouts
            group.left = sys.maxsize if plies is None else plies

    def go_on(self, workers: Workers, stop: threading.Event | None = None, until: float | None = None) -> bool:
        """Plays the moves that `begin` asked for; False if some are left.

        `stop` ends the call at the next move, and so does the time `until` (of time.monotonic()), with one move in
        every game at least.  An interrupt stops all threads at their next move before it is raised.
        """
        stop = stop or threading.Event()

        def play(group: Group) -> None:
            with group.watch.running("games"):
                while group.left and not stop.is_set():
                    group.left = group.left - 1 if group.step() else 0
                    if until is not None and time.monotonic() >= until:
                        break

        workers.run([lambda group=group: play(group) for group in self.groups], stop)  # type: ignore[misc]
        return not any(group.left for group in self.groups)

    def take(self) -> list[GameRecord]:
        """The games finished since the last call, in order of their numbers."""
        finished = sorted((pair for group in self.groups for pair in group.finished), key=lambda pair: pair[0])
        for group in self.groups:
            group.finished.clear()
        return [record for _, record in finished]

    @property
    def begun(self) -> int:
        """A number greater than those of all games that have begun, but for gaps the next one."""
        return max((group.numbers.start for group in self.groups), default=self.numbers.start)

    @property
    def moves(self) -> int:
        """Moves played so far."""
        return sum(group.moves for group in self.groups)

    @property
    def readouts_done(self) -> int:
        """Simulations so far, and evaluations of roots."""
        return sum(group.readouts_done for group in self.groups)


def shared_out(games: int, groups: int) -> list[int]:
    """How many of the games each group has: as many, or one more in the first ones."""
    return [games // groups + (group < games % groups) for group in range(groups)]


def chosen_search(search: SearchSettings | Mapping[str, Any] | None, games: int, readouts: int) -> SearchSettings:
    """The search of self-play with so many games side by side: Gumbel's, changed by the settings that `search` names.

    Complete settings stay as they are.  TypeError that names near misses for a setting that there is not.
    """
    if isinstance(search, SearchSettings):
        return search
    if search is not None and not isinstance(search, Mapping):
        raise TypeError(f'search is SearchSettings, a dictionary such as {{"gumbel": True}} or None, got {search!r}')
    usual = {"gumbel": True, "considered": max(2, min(16, readouts // 2)), "leaves": leaves_for(games, readouts)}
    return make_settings(SearchSettings, **{**usual, **(search or {})})


@checks_keywords(SelfPlaySettings)
def selfplay(
    env: GameEnv,
    nn: Any,
    readouts: int = 800,
    num_games: int = 1,
    *,
    seed: int = 0,
    device: str = "auto",
    search: SearchSettings | Mapping[str, Any] | None = None,
    tell: Tell | None = None,
    **settings: Any,
) -> list[GameRecord]:
    """Plays games of a network against itself and returns their records, in order.

    nn: a NeuralNet, an evaluator, or a function on positions.
    device: where a network is computed and its boards are: "cpu", "cuda", or "auto" for the GPU where there is one
        that suits game and network.
    search: see SearchSettings; None for a Gumbel search with enough leaves to fill a batch; a dictionary changes
        some settings of that one.
    tell: called with each game as it ends, see Tell.
    Further keywords are those of `SelfPlaySettings`.  The same seed gives the same games on a CPU; on a GPU sums differ
    in their last bits from one size of batch to another, which may decide between moves that are equally good.
    """
    check_env(env)
    warm_up()
    num_games, seed = check_int("num_games", num_games, 1), check_int("seed", seed, 0)
    chosen = make_settings(SelfPlaySettings, readouts=readouts, **settings)
    with one_torch_thread():
        evaluator = as_evaluator(nn, env, device)
        flight = min(chosen.games_in_flight or default_flight(evaluator.device), num_games)
        chosen = replace(chosen, search=chosen_search(search, flight, readouts))
        games = SelfPlay(env, chosen, range(num_games), seed, evaluator.device)
        with Workers(len(games.groups)) as workers:
            return games.run(workers, evaluator, tell=tell)
