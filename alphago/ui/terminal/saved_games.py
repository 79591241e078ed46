"""Files of games at the terminal: SGF for Go, records (.npz) for other games."""

import io
from pathlib import Path
from typing import Any

from alphago.env.game import GameEnv, Position
from alphago.env.games import require_go
from alphago.records.record import GameRecord, load_records, save_records
from alphago.records.sgf import format_sgf, read_sgf
from alphago.records.sgf_game import SgfGame
from alphago.system.files import write_atomic


def save_game(path: Path, env: GameEnv, record: GameRecord, over: bool, players: tuple[str, str]) -> None:
    """Write a game atomically, replacing an existing file.

    over: whether the game has ended; the SGF file of an unfinished game has no result.
    players: names of Black and White.
    """
    if env.has_sgf:
        result = {} if over else {"result": ""}
        write_atomic(path, format_sgf(SgfGame.from_record(record, env, players=players, **result)))
    else:
        data = io.BytesIO()
        save_records(data, [record])
        write_atomic(path, data.getvalue())


def load_game(path: Path, env: GameEnv) -> list[Position]:
    """Return all positions of a saved game, from the start.

    Raises ValueError for a file without a game of `env`, ImportError for a game of Go without sgfmill.
    """
    game: Any = read_sgf(path, require_go(env, "SGF files")) if env.has_sgf else only_record(path)
    try:
        positions: list[Position] = [game.position(env, 0)]
        for action in game.moves:
            positions.append(positions[-1].play(action))
    except (TypeError, ValueError, IndexError) as error:  # set-up or moves of another game
        raise ValueError(f"{path} must hold a game of {env}: {error}") from None
    return positions


def only_record(path: Path) -> GameRecord:
    """Return the record in a file of exactly one; raise ValueError for any other file."""
    records = load_records(path)
    if len(records) != 1:
        raise ValueError(f"{path} must hold one game, got {len(records)}")
    return records[0]
