"""Games at the terminal as files: SGF for Go, records (.npz) for other games."""

import io
from pathlib import Path
from typing import Any

from alphago.env.game import GameEnv, Position
from alphago.env.games import require_go
from alphago.records.record import GameRecord, load_records, save_records
from alphago.records.sgf import format_sgf, read_sgf
from alphago.records.sgf_game import SgfGame


def save_game(path: Path, env: GameEnv, record: GameRecord, over: bool, players: tuple[str, str]) -> None:
    """Writes a game, whole or not at all; a file of that name is replaced.

    over: whether the record's result is the game's; else an SGF file tells none.  players: names of Black and White.
    """
    from alphago.nn.model_files import write_whole  # only now: it loads torch

    if env.has_sgf:
        result = {} if over else {"result": ""}
        write_whole(path, format_sgf(SgfGame.from_record(record, env, players=players, **result)))
    else:
        data = io.BytesIO()
        save_records(data, [record])
        write_whole(path, data.getvalue())


def load_game(path: Path, env: GameEnv) -> list[Position]:
    """All positions of a game, the start first; ValueError with a sentence that names the file if it is none of `env`.

    ImportError without sgfmill, for games of Go.
    """
    game: Any = read_sgf(path, require_go(env, "SGF files")) if env.has_sgf else only_record(path)
    try:
        positions: list[Position] = [game.position(env, 0)]
        for action in game.moves:
            positions.append(positions[-1].play(action))
    except (TypeError, ValueError, IndexError) as error:  # a set-up of another game, or its moves
        raise ValueError(f"{path} holds no game of {env}: {error}") from None
    return positions


def only_record(path: Path) -> GameRecord:
    """The record in a file of one; ValueError with a sentence for any other file."""
    records = load_records(path)
    if len(records) != 1:
        raise ValueError(f"{path} holds {len(records)} games, wanted one")
    return records[0]
