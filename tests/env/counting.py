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


def solve(env: GameEnv) -> int:
    """The result with best play: 1 the first player wins, -1 the second, 0 a draw.  For tiny games."""
    batch = env.new_batch(env.max_moves + 1)  # a slot for each ply
    known: dict[bytes, int] = {}

    def value(ply: int) -> int:
        """The mover's result."""
        slot = np.array([ply])
        mask = batch.legal_mask(slot, np.empty((1, env.action_space), np.bool_))[0]
        if not mask.any():
            return round(float(batch.outcome(slot, np.empty(1, np.float32))[0]))
        planes = batch.planes(slot, np.empty((1, env.planes, *env.plane_shape), np.float32))[0]
        stones = planes[:2].reshape(2, -1)[:, env.symmetries.points]
        key = min(turned.tobytes() for turned in stones.transpose(1, 0, 2).astype(np.bool_))
        if key not in known:
            best = -1
            for action in np.flatnonzero(mask):
                batch.copy(slot, slot + 1)
                batch.play(slot + 1, np.array([action], np.int32))
                best = max(best, -value(ply + 1))
                if best == 1:
                    break
            known[key] = best
        return known[key]

    return value(0)
