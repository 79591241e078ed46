"""All games from the start, ply by ply: how many there are, and who wins with best play."""

import numpy as np

from alphago import GameBatch, GameEnv


def legal(batch: GameBatch) -> np.ndarray:
    """bool [count, action_space] of all slots."""
    return batch.legal_mask(np.arange(batch.count), np.empty((batch.count, batch.env.action_space), np.bool_))


def count_games(env: GameEnv, depth: int) -> list[int]:
    """How many different games there are after 1, 2, ... `depth` plies ("perft")."""
    batch, counts = env.new_batch(1), []
    for _ in range(depth):
        parents, actions = np.nonzero(legal(batch))
        counts.append(len(parents))
        if len(counts) < depth:
            after = env.new_batch(len(parents))
            after.copy(parents, np.arange(len(parents)), of=batch)
            after.play(np.arange(len(parents)), actions.astype(np.int32))
            batch = after
    return counts
