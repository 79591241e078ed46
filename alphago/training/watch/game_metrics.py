"""What finished games tell of a run."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from alphago.env.game import GameEnv
from alphago.records.record import GameRecord
from alphago.training.boards import Board

Told = tuple[str, int, Mapping[str, float | None]]  # a board's size, its weight in means, and its metrics


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


def describe_boards(boards: Sequence[Board]) -> dict[str, Any]:
    """What the games of an iteration tell: means over all of them, and of each board where there are several.

    A board's own names end in its size, as `pass_rate_7x7`; `games_7x7` and `positions_7x7` are those in its memory.
    """
    told = [(b.size, len(b.records), describe_games(b.records, b.env)) for b in boards]
    if len(told) == 1:
        return told[0][2]
    counts = {
        f"{name}_{size}": count
        for (size, _, _), board in zip(told, boards, strict=True)
        for name, count in (("games", len(board.memory.entries)), ("positions", len(board.memory)))
    }
    return describe_games([], boards[0].env) | weighted_means(told, apart=True) | counts


def weighted_means(told: Sequence[Told], apart: bool) -> dict[str, float]:
    """Means of metrics told of several boards; `apart` gives each board's own too, if it has any."""
    means: dict[str, float] = {}
    names = dict.fromkeys(name for _, _, metrics in told for name in metrics)
    for name in names:
        known = [(size, weight, value) for size, weight, metrics in told if (value := metrics[name]) is not None]
        whole = sum(weight for _, weight, _ in known)
        if whole:
            means[name] = sum(weight * value for _, weight, value in known) / whole
        if apart:
            means |= {f"{name}_{size}": value for size, _, value in known}
    return means
