"""Self-play: the call `selfplay`, and GameSource, the interface through which a run has its games played."""

import secrets
import threading
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from alphago.env.game import GameEnv, check_env
from alphago.mcts.evaluator import as_evaluator
from alphago.mcts.warm_up import warm_up
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers, one_torch_thread
from alphago.records.record import SEED_END, GameRecord
from alphago.system.validation import check_int, checks_keywords, make_settings
from alphago.training.group import OnGame, SelfPlay
from alphago.training.lineup import Lineup
from alphago.training.settings import NO_LIMIT, SelfPlaySettings


class GameSource(Protocol):
    """The source of a run's games on one board: threads of this machine (SelfPlay), or other machines.

    An iteration is `publish` (if the network has changed), `begin`, `go_on` until it returns True, and `take`. Between
    two moves `state` has all that another source of the same class and settings needs to continue. A run makes a source
    for each board of a stage, and closes it when the stage or the call of `train` ends.
    """

    def publish(self, net: NeuralNet, dtype: str | None = None, *, lineup: Lineup | None = None) -> None:
        """Play the next iterations with a snapshot of this network; `dtype` as in NetEvaluator.

        lineup: the networks that play beside it, which only a run with `champions` has.
        """

    def begin(
        self,
        plies: int | None,
        readouts: int | None = None,
        side_by_side: int | None = None,
        resign_threshold: float | None = None,
    ) -> None:
        """Let the next `go_on` play `plies` moves (None: to the end) in each game, `side_by_side` at once at most.

        A player resigns below `resign_threshold`; None: below that of the settings.
        """

    def go_on(self, stop: threading.Event | None = None, until: float | None = None) -> bool:
        """Play until the moves are done, `stop` is set or time.monotonic() is `until`; False if moves are left."""

    def take(self) -> list[GameRecord]:
        """Return the games finished since the last call, in the order of their numbers."""

    def time_spent(self) -> dict[str, float]:
        """Return the seconds of all threads together since the last call, by kind of work."""

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Return all that is needed to continue: arrays by name, and plain data."""

    def restore(self, arrays: Mapping[str, np.ndarray], data: Mapping[str, Any]) -> None:
        """Continue from what `state` returned; call it after `publish`."""

    def close(self) -> None:
        """Release threads, processes and connections; no more games are played."""

    @property
    def begun(self) -> int:
        """A number above those of all games begun so far."""

    @property
    def moves(self) -> int:
        """The number of moves played so far."""

    @property
    def readouts_done(self) -> int:
        """The number of simulations and root evaluations so far."""


FRESH_BITS = 40  # of a seed that is drawn: a number short enough to be copied, and hardly ever the same
# (env, settings, numbers of the games, workers, seed=…, device=…) -> GameSource
MakeSource = Callable[..., GameSource]


@checks_keywords(SelfPlaySettings)
def selfplay(
    env: GameEnv,
    nn: Any,
    readouts: int = 800,
    num_games: int = 1,
    *,
    seed: int | None = None,
    device: str = "auto",
    on_game: OnGame | None = None,
    **settings: Any,
) -> list[GameRecord]:
    """Play games of a network against itself and return their records, in the order of their numbers.

    Each call plays new games.  Their records have the seed, `record.seed[0]`, with which a call on a CPU plays the same
    games again; on a GPU sums differ in their last bits from one batch size to another, which may decide between moves
    that are equally good.

    nn: a NeuralNet, its name, file or run folder as `load_model` takes it ("7x7"), an evaluator, or a function on
        positions.
    device: where a network is computed and its boards are: "cpu", "cuda", or "auto" for the GPU if there is one that
        supports game and network.
    seed: of the games' random streams; None for a fresh one.
    on_game: called with the number and the record of each game as it ends, from several threads at once.
    settings: keywords of SelfPlaySettings.
    """
    check_env(env)
    warm_up()
    num_games = check_int("num_games", num_games, 1, NO_LIMIT)
    seed = secrets.randbits(FRESH_BITS) if seed is None else check_int("seed", seed, 0, SEED_END - 1)
    chosen = make_settings(SelfPlaySettings, readouts=readouts, **settings)
    with one_torch_thread():
        evaluator = as_evaluator(nn, env, device)
        chosen = chosen.resolved(evaluator.device, num_games)
        with Workers(min(chosen.groups or 1, chosen.games_in_flight or 1)) as workers:
            source = SelfPlay(env, chosen, range(num_games), workers, seed=seed, device=evaluator.device)
            return source.play_all(evaluator, on_game)
