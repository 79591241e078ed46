"""Batches whose positions are packed rows of integers and whose methods are kernels: `PackedBatch`, `RowBatch`."""

import math
from collections.abc import Sequence
from importlib import import_module
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
        rules: the module with the kernels `play_batch`, `replay_batch` and `legal_mask_batch`.
        common: the module with the kernels `copy_batch`, `is_over_batch`, `to_play_batch`, `hash_batch` and
            `score_batch`.
    """

    def __init__(self, env: GameEnv, rows: np.ndarray, rules: ModuleType, common: ModuleType) -> None:
        super().__init__(env, len(rows))
        self.rows = rows
        self._rules = rules
        self._common = common

    def __getstate__(self) -> dict[str, object]:
        """Return the state for copies and pickles; modules, which cannot be pickled, are replaced by their names."""
        return vars(self) | {"_rules": self._rules.__name__, "_common": self._common.__name__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        modules = {name: import_module(state[name]) for name in ("_rules", "_common")}
        vars(self).update(state | modules)

    def copy(self, sources: np.ndarray, targets: np.ndarray, of: GameBatch | None = None) -> None:
        rows = self.rows if of is None else of.rows.astype(self.rows.dtype, copy=False)  # type: ignore[attr-defined]
        self._common.copy_batch(rows, sources, self.rows, targets)

    def gather(self, batches: Sequence[GameBatch]) -> None:
        rows = [batch.rows for batch in batches]  # type: ignore[attr-defined]
        if rows:
            np.concatenate(rows, out=self.rows[: len(rows)])

    def play(self, slots: np.ndarray, actions: np.ndarray) -> None:
        self._rules.play_batch(self.rows, slots, actions)

    def replay(self, roots: np.ndarray, paths: np.ndarray, lengths: np.ndarray, targets: np.ndarray) -> None:
        self._rules.replay_batch(self.rows, roots, paths, lengths, targets)

    def legal_mask(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        self._rules.legal_mask_batch(self.rows, slots, out)
        return out

    def is_over(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        self._common.is_over_batch(self.rows, slots, out)
        return out

    def to_play(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        self._common.to_play_batch(self.rows, slots, out)
        return out

    def hash(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        self._common.hash_batch(self.rows, slots, out)
        return out

    def score(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        self._common.score_batch(self.rows, slots, out)
        return out


class RowBatch(PackedBatch):
    """A batch of a game whose kernels use the layout of `alphago.env.kernels.rows`.

    Args:
        kernels: the module with the game's `reset_batch`, `play_batch`, `replay_batch`, `legal_mask_batch` and
            `planes_batch`.
        words: number of int64 words of a row.
        options: the arguments of `reset_batch` that follow `rows` and `slots`.
    """

    def __init__(self, env: GameEnv, count: int, kernels: ModuleType, words: int, options: Sequence[int] = ()) -> None:
        super().__init__(env, np.zeros((count, words), np.int64), kernels, row_kernels)
        self._options = tuple(options)
        self.reset(np.arange(count))

    def reset(self, slots: np.ndarray) -> None:
        self._rules.reset_batch(self.rows, slots, *self._options)

    def planes(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        self._rules.planes_batch(self.rows, slots, out.reshape(len(out), math.prod(out.shape[1:])))
        return out

    def decisive_moves(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        scratch_mask = np.empty(self.env.action_space, np.bool_)
        scratch_row = np.empty(self.rows.shape[1], np.int64)
        self._rules.decisive_moves_batch(self.rows, slots, scratch_mask, scratch_row, out)
        return out

    def outcome(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        row_kernels.outcome_batch(self.rows, slots, out)
        return out

    def ownership(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        if not self.env.has_ownership:
            return super().ownership(slots, out)
        row_kernels.ownership_batch(self.rows, slots, out)
        return out
