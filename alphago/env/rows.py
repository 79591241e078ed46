"""`RowBatch`: positions of a small game as packed rows, over the kernels of that game."""

import math
from collections.abc import Sequence
from types import ModuleType

import numpy as np

from alphago.env.game import GameBatch, GameEnv
from alphago.env.kernels import rows as common


class RowBatch(GameBatch):
    """A batch of a game whose kernels keep to the layout of `alphago.env.kernels.rows`.

    kernels: the module with the game's `reset_batch`, `play_batch`, `replay_batch`, `legal_mask_batch` and
        `planes_batch`.
    words: int64 words of a row.  options: what `reset_batch` takes after the slots.
    """

    def __init__(self, env: GameEnv, count: int, kernels: ModuleType, words: int, options: Sequence[int] = ()) -> None:
        super().__init__(env, count)
        self._kernels = kernels
        self._options = tuple(options)
        self.rows = np.zeros((count, words), np.int64)
        self.reset(np.arange(count))

    def reset(self, slots: np.ndarray) -> None:
        self._kernels.reset_batch(self.rows, slots, *self._options)

    def copy(self, sources: np.ndarray, targets: np.ndarray, of: GameBatch | None = None) -> None:
        rows = self.rows if of is None else of.rows  # type: ignore[attr-defined]
        common.copy_batch(rows, sources, self.rows, targets)

    def play(self, slots: np.ndarray, actions: np.ndarray) -> None:
        self._kernels.play_batch(self.rows, slots, actions)

    def replay(self, roots: np.ndarray, paths: np.ndarray, lengths: np.ndarray, targets: np.ndarray) -> None:
        self._kernels.replay_batch(self.rows, roots, paths, lengths, targets)

    def legal_mask(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        self._kernels.legal_mask_batch(self.rows, slots, out)
        return out

    def planes(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        self._kernels.planes_batch(self.rows, slots, out.reshape(len(out), math.prod(out.shape[1:])))
        return out

    def is_over(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        common.is_over_batch(self.rows, slots, out)
        return out

    def to_play(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        common.to_play_batch(self.rows, slots, out)
        return out

    def hash(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        common.hash_batch(self.rows, slots, out)
        return out

    def outcome(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        common.outcome_batch(self.rows, slots, out)
        return out

    def score(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        common.score_batch(self.rows, slots, out)
        return out

    def ownership(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        if not self.env.has_ownership:
            return super().ownership(slots, out)
        common.ownership_batch(self.rows, slots, out)
        return out
