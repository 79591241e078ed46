"""The games of a match that one thread plays side by side, with their players."""

import contextlib
from collections.abc import Sequence

from alphago.arena.engine import Engine
from alphago.arena.engine_player import EnginePlayer
from alphago.arena.entrant import Entrant
from alphago.arena.match_games import MatchPlan, ParallelGames
from alphago.arena.players import Player, PlayerSource, make_player
from alphago.env.game import GameEnv
from alphago.env.games import selfplay_game


def open_games(env: GameEnv, entrants: Sequence[Entrant], plan: MatchPlan, numbers: Sequence[int]) -> ParallelGames:
    """Begin the games with these numbers, to be played side by side on one thread; `close` them at the end."""
    seeds = [plan.engine_seed(number) for number in numbers]
    with contextlib.ExitStack() as stack:
        players: list[Player] = []
        for entrant in entrants:
            player = make_player(
                own_view(env, entrant.player),
                entrant.player,
                games=len(numbers),
                readouts=entrant.readouts,
                leaves=plan.leaves,
                search=entrant.search,
                seeds=seeds,
                level=entrant.level,
            )
            if isinstance(player, EnginePlayer):
                stack.callback(player.close)  # called if a later step fails
            players.append(player)
        games = ParallelGames(env, players, numbers, plan)
        stack.pop_all()  # nothing failed: `close` of the games closes the players
    return games


def own_view(env: GameEnv, player: PlayerSource) -> GameEnv:
    """Return the match's game as a player's search plays it (`SelfPlayGame.player_view`), with its network's planes.

    For an engine the game is not changed.
    """
    if isinstance(player, Engine):
        return env
    network_env = getattr(player, "env", None)
    if type(network_env) is type(env) and "planes" in env.config:
        env = env.replace(planes=network_env.config["planes"])
    return selfplay_game(env).player_view()
