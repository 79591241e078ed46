"""What travels to workers as data without code: plain data and arrays as bytes, and games as plain data."""

import io
import json
from typing import Any

import numpy as np

from alphago.env.game import GameEnv
from alphago.env.games import GAMES, game_reference
from alphago.system.npz import read_npz
from alphago.workers.work import WorkerRefused


def pack(plain: object, arrays: dict[str, np.ndarray]) -> bytes:
    """Convert plain data, which JSON can hold, and arrays by name to bytes."""
    out = io.BytesIO()
    np.savez(out, **{"": np.frombuffer(json.dumps(plain).encode(), np.uint8)}, **arrays)  # type: ignore[arg-type]
    return out.getvalue()


def unpack(data: bytes) -> tuple[Any, dict[str, np.ndarray]]:
    """Return the two arguments of `pack` from its result."""
    arrays = read_npz(data)
    return json.loads(arrays.pop("").tobytes()), arrays


def plain_game(env: GameEnv) -> list[Any]:
    """Return a game as data for JSON."""
    return [env.name, game_reference(type(env)), env.config]


def known_game(plain: list[Any]) -> GameEnv:
    """Return the game that `plain_game` converted; raise WorkerRefused if this program does not know the game."""
    name, reference, config = plain
    if name not in GAMES:
        raise WorkerRefused(f"this worker must know the game {name!r}: start it with --game {reference}")
    return GAMES[name](**config)
