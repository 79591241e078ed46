"""`RowBatch`: positions of a small game as packed rows, over the kernels of that game."""

import math
from collections.abc import Sequence
from types import ModuleType

import numpy as np

from alphago.env.game import GameEnv
from alphago.env.kernels import rows as common
from alphago.env.packed import PackedBatch


class RowBatch(PackedBatch):
    """A batch of a game whose kernels keep to the layout of `alphago.env.kernels.rows`.

    kernels: the module with the game's `reset_batch`, `play_batch`, `replay_batch`, `legal_mask_batch` and
        `planes_batch`.
    words: int64 words of a row.  options: what `reset_batch` takes after the slots.
    """

    def __init__(self, env: GameEnv, count: int, kernels: ModuleType, words: int, options: Sequence[int] = ()) -> None:
        super().__init__(env, np.zeros((count, words), np.int64), kernels, common)
        self._options = tuple(options)
        self.reset(np.arange(count))

    def reset(self, slots: np.ndarray) -> None:
        self._rules.reset_batch(self.rows, slots, *self._options)

    def planes(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        self._rules.planes_batch(self.rows, slots, out.reshape(len(out), math.prod(out.shape[1:])))
        return out

    def outcome(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        common.outcome_batch(self.rows, slots, out)
        return out

    def ownership(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        if not self.env.has_ownership:
            return super().ownership(slots, out)
        common.ownership_batch(self.rows, slots, out)
        return out
