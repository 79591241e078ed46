"""`selfplay`: games of a network against itself, in threads of this process or by workers."""

import secrets
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

from alphago.env.game import GameEnv, check_env
from alphago.mcts.evaluator import as_evaluator, fitting_network
from alphago.mcts.warm_up import warm_up
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers, one_torch_thread
from alphago.records.record import SEED_END, GameRecord
from alphago.system.settings import keywords, make_settings
from alphago.system.validation import LARGEST, check_int, checks_keywords, shown
from alphago.training.selfplay import SelfPlay
from alphago.training.settings.selfplay_settings import SelfPlaySettings, default_games_in_flight, default_groups
from alphago.training.source import OnGame
from alphago.training.workers.remote_selfplay import RemoteSelfPlay
from alphago.workers.jobs import find_workers

TASK_GAMES = 16  # games of a worker's task: enough to fill batches, and not much is lost with a worker
SEED_BITS = 40  # of a random seed: short enough to copy, and hardly ever drawn twice


@checks_keywords(keywords(SelfPlaySettings))
def selfplay(
    env: GameEnv,
    nn: object,
    readouts: int = 800,
    num_games: int = 1,
    *,
    seed: int | None = None,
    device: str = "auto",
    on_game: OnGame | None = None,
    workers: str | int | None = None,
    **settings: object,
) -> list[GameRecord]:
    """Play games of a network against itself and return their records, ordered by number.

    Without `seed` each call plays new games.  The seed that was used is `record.seed[0]`; on a CPU a call with this
    seed plays the same games again.  On a GPU, rounding depends on the batch size, so moves of equal value may differ.

    Args:
        env: the game.
        nn: a NeuralNet; a network's name ("7x7"), file or run folder, as for `load_model`; an evaluator; or a function
            of positions.
        readouts: simulations per move.
        num_games: number of games.
        seed: seed of the games' random generators; None for a random one.
        device: the device of network and boards: "cpu", "cuda", or "auto" for the GPU if there is one that supports the
            game and the network.
        on_game: called with the number and the record of each finished game, from several threads at the same time.
        workers: who plays, as in `train`; `nn` must then be a network, and the workers use CPUs.  The games depend on
            the seed, and not on which worker plays which game.  Without workers, `nn.evaluator(exact=True)` plays the
            same games.  Without workers and without `exact=True`, a network is faster, but the last bits of its outputs
            depend on how many games are played side by side, so the games may differ.
        settings: settings of SelfPlaySettings and of its search, by name.
    """
    check_env(env)
    warm_up()
    num_games = check_int("num_games", num_games, 1, LARGEST)
    seed = secrets.randbits(SEED_BITS) if seed is None else check_int("seed", seed, 0, SEED_END - 1)
    chosen = make_settings(SelfPlaySettings, {"readouts": readouts, **settings})
    make_transport = find_workers(workers)
    with one_torch_thread():
        make_source: Callable[..., SelfPlay] = SelfPlay
        if make_transport is None:
            player: Any = as_evaluator(nn, env, device)
            player_device = getattr(player, "device", "cpu")  # a function has no device
        else:
            player, player_device = fitting_network(nn, env), "cpu"
            if not isinstance(player, NeuralNet):
                raise ValueError(
                    f"with workers, the player must be a network, which can travel to them, got {shown(nn)}"
                )
            make_source = partial(RemoteSelfPlay, make_transport=make_transport)
        chosen = complete_settings(chosen, num_games, player_device, by_workers=make_transport is not None)
        with Workers(chosen.groups) as threads:  # RemoteSelfPlay does not use them
            source = make_source(env, chosen, range(num_games), threads, seed=seed, device=player_device)
            with closing(source):
                if isinstance(player, NeuralNet):
                    source.publish(player)  # sends it to the workers
                else:
                    source.evaluator = player
                return source.play_all(on_game)


def complete_settings(chosen: SelfPlaySettings, num_games: int, device: str, *, by_workers: bool) -> SelfPlaySettings:
    """Return a call's settings with values in place of None.

    The search's own settings are those for games in threads, also if workers play, so that the games are the same.

    Args:
        num_games: number of games to play, which limits the number of games in parallel.
        device: the device of the player.
        by_workers: whether workers play.  Then all games are in parallel, and the groups have TASK_GAMES games each.
    """
    in_flight = min(chosen.games_in_flight or default_games_in_flight(device), num_games)
    for_threads = replace(chosen, games_in_flight=in_flight).completed(in_flight, default_groups(device))
    if not by_workers:
        return for_threads
    # A group is a task: a worker plays all its games at once, to their ends.
    return replace(for_threads, games_in_flight=num_games, groups=-(-num_games // TASK_GAMES))  # rounded up
