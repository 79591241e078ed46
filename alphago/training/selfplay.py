"""Self-play: the function `selfplay`, and GameSource, the interface between a run and whatever plays its games."""

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
    """The source of a run's games on one board: threads of this process (SelfPlay), or for example other machines.

    In each iteration a run calls `publish` if the network has changed, then `begin`, then `go_on` until it returns
    True, then `take`.  Between two moves it may call `state`, from which another source of the same class and settings
    can continue.  A run makes a source for each board of a stage, and closes it when the stage or `train` ends.
    """

    def publish(self, net: NeuralNet, dtype: str | None = None, *, lineup: Lineup | None = None) -> None:
        """Let the next iterations use snapshots of a network and of a lineup's networks.

        net: the network.
        dtype: dtype of inference, as in NetEvaluator.
        lineup: the networks that play beside `net`, in a run with `champions`; None if `net` plays alone.
        """

    def begin(
        self,
        plies: int | None,
        readouts: int | None = None,
        side_by_side: int | None = None,
        resign_threshold: float | None = None,
    ) -> None:
        """Begin an iteration, whose moves the next calls of `go_on` play.

        plies: moves to play in each game; None for all games to their ends.
        readouts: simulations per move; None for the settings' number.
        side_by_side: largest number of games in progress; None for the settings' `games_in_flight`.
        resign_threshold: a player resigns if the root's value is below it; None for the settings' threshold.
        """

    def go_on(self, stop: threading.Event | None = None, until: float | None = None) -> bool:
        """Play until the iteration's moves are played, `stop` is set, or time.monotonic() reaches `until`.

        Returns False if moves are left to play.
        """

    def take(self) -> list[GameRecord]:
        """Return the games finished since the last call, in the order of their numbers."""

    def time_spent(self) -> dict[str, float]:
        """Return for each kind of work its seconds since the last call, summed over all threads."""

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Return arrays by name and plain data, from which `restore` continues; they include the unfinished games."""

    def restore(self, arrays: Mapping[str, np.ndarray], data: Mapping[str, Any]) -> None:
        """Continue from the results of `state`; the caller must have called `publish` before."""

    def close(self) -> None:
        """Release threads, processes and connections; no more games can be played."""

    @property
    def begun(self) -> int:
        """A number greater than the numbers of all games begun so far."""

    @property
    def moves(self) -> int:
        """The number of moves played so far."""

    @property
    def readouts_done(self) -> int:
        """The number of simulations and of evaluations of root positions so far."""


FRESH_BITS = 40  # bits of a random seed: short enough to copy, and hardly ever drawn twice
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
    """Play games of a network against itself and return their records, ordered by number.

    Without `seed` each call plays new games.  The seed that was used is `record.seed[0]`; on a CPU a call with this
    seed plays the same games again.  On a GPU, rounding depends on the batch size, so moves of equal value may differ.

    env: the game.
    nn: a NeuralNet; a network's name ("7x7"), file or run folder, as for `load_model`; an evaluator; or a function of
        positions.
    readouts: simulations per move.
    num_games: number of games.
    seed: seed of the games' random generators; None for a random one.
    device: the device of network and boards: "cpu", "cuda", or "auto" for the GPU if there is one that supports the
        game and the network.
    on_game: called with the number and the record of each finished game, from several threads at the same time.
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
