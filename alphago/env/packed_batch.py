"""Batches whose positions are packed rows of integers and whose methods are kernels: `PackedBatch`, `RowBatch`."""

import math
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from alphago.env.batch import GameBatch
from alphago.env.game import GameEnv
from alphago.env.kernels import rows as row_kernels


class PackedBatch(GameBatch):
    """Base class of batches on kernels: the method `play` runs the kernel `play_batch`, and so on.

    Args:
        rows: integers [count, words], one position per row.

    Attributes:
        rules: the module with the kernels `play_batch`, `replay_batch` and `legal_mask_batch`.
        common: the module with the kernels `copy_batch`, `is_over_batch`, `to_play_batch`, `hash_batch` and
            `score_batch`.
    """

    rules: ModuleType
    common: ModuleType

    def __init__(self, env: GameEnv, rows: np.ndarray) -> None:
        super().__init__(env, len(rows))
        self.rows = rows

    def copy(self, sources: np.ndarray, targets: np.ndarray, of: GameBatch | None = None) -> None:
        rows = self.rows if of is None else of.rows.astype(self.rows.dtype, copy=False)  # type: ignore[attr-defined]
        self.common.copy_batch(rows, sources, self.rows, targets)

    def gather(self, batches: Sequence[GameBatch]) -> None:
        rows = [batch.rows for batch in batches]  # type: ignore[attr-defined]
        if rows:
            np.concatenate(rows, out=self.rows[: len(rows)])

    def play(self, slots: np.ndarray, actions: np.ndarray) -> None:
        self.rules.play_batch(self.rows, slots, actions)

    def replay(self, roots: np.ndarray, paths: np.ndarray, lengths: np.ndarray, targets: np.ndarray) -> None:
        self.rules.replay_batch(self.rows, roots, paths, lengths, targets)

    def _answer(self, kernel: Callable[..., None], slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Return `out` with what a kernel writes for the slots."""
        kernel(self.rows, slots, out)
        return out

    def legal_mask(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        return self._answer(self.rules.legal_mask_batch, slots, out)

    def is_over(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        return self._answer(self.common.is_over_batch, slots, out)

    def to_play(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        return self._answer(self.common.to_play_batch, slots, out)

    def hash(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        return self._answer(self.common.hash_batch, slots, out)

    def score(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        return self._answer(self.common.score_batch, slots, out)


class RowBatch(PackedBatch):
    """A batch of a game whose kernels use the layout of `alphago.env.kernels.rows`.

    The module `rules` also has the game's kernels `reset` and `planes_batch`.

    Args:
        words: number of int64 words of a row.
        options: the arguments of `reset` that follow the row.
    """

    common = row_kernels

    def __init__(self, env: GameEnv, count: int, words: int, options: Sequence[int] = ()) -> None:
        super().__init__(env, np.zeros((count, words), np.int64))
        self._options = tuple(options)
        self.reset(np.arange(count))

    def reset(self, slots: np.ndarray) -> None:
        self.start_from(slots, *self._options)

    def start_from(self, slots: np.ndarray, *options: Any) -> None:
        """Set the slots to the position that the kernel `reset` makes with these options."""
        row = np.zeros(self.rows.shape[1], np.int64)
        self.rules.reset(row, *options)
        self.rows[slots] = row

    def planes(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        self.rules.planes_batch(self.rows, slots, out.reshape(len(out), math.prod(out.shape[1:])))
        return out

    def decisive_moves(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        scratch_mask = np.empty(self.env.action_space, np.bool_)
        scratch_row = np.empty(self.rows.shape[1], np.int64)
        self.rules.decisive_moves_batch(self.rows, slots, scratch_mask, scratch_row, out)
        return out

    def outcome(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        return self._answer(row_kernels.outcome_batch, slots, out)

    def ownership(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        has_owners = self.env.has_ownership
        return self._answer(row_kernels.ownership_batch, slots, out) if has_owners else super().ownership(slots, out)
