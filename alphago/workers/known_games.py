"""Games as plain data that travels to workers."""

from typing import Any

from alphago.env.game import GameEnv
from alphago.env.games import GAMES, game_reference
from alphago.workers.work import WorkerRefused


def plain_game(env: GameEnv) -> list[Any]:
    """Return a game as data for JSON."""
    return [env.name, game_reference(type(env)), env.config]


def known_game(plain: list[Any]) -> GameEnv:
    """Return the game that `plain_game` converted; raise WorkerRefused if this program does not know the game."""
    name, reference, config = plain
    if name not in GAMES:
        raise WorkerRefused(f"this worker must know the game {name!r}: start it with --game {reference}")
    return GAMES[name](**config)
