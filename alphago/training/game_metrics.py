"""What finished games tell of a run."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from alphago.env.game import GameEnv
from alphago.records.record import GameRecord


def describe_games(records: Sequence[GameRecord], env: GameEnv) -> dict[str, Any]:
    """Length, passes, result balance and resignations of finished games; None where there are none."""
    if not records:
        names = ("game_length", "pass_rate", "black_wins", "draws", "resignations", "capped")
        return dict.fromkeys(names)
    lengths = [len(record) for record in records]
    moves = np.concatenate([record.moves for record in records])
    return {
        "game_length": float(np.mean(lengths)),
        "pass_rate": float(np.mean(moves == env.pass_action)) if env.pass_action is not None else None,
        "black_wins": float(np.mean([record.outcome > 0 for record in records])),
        "draws": float(np.mean([record.outcome == 0 for record in records])),
        "resignations": float(np.mean([record.resigned for record in records])),
        "capped": float(np.mean([length >= env.max_moves and not env.fixed_length for length in lengths])),
    }
