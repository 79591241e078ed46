"""`DeviceRowBatch`: positions of a small game on a device, with the rows and methods of the game's `RowBatch`."""

from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from alphago.cuda.contract import Array, Backend
from alphago.cuda.kernel_source import Program, constants
from alphago.env.batch import FIRST_SLOT
from alphago.env.device_batch import DeviceBatch, Out, Target
from alphago.env.game import GameEnv
from alphago.env.kernels import rows as layout


@cache
def row_program(kernels: ModuleType) -> Program:
    """Return the CUDA program of a game's kernels, cached.

    Args:
        kernels: the module of the kernels for the CPU; the program is the file of the same name that ends in `.cu`.
    """
    return Program(Path(str(kernels.__file__)).with_suffix(".cu"), constants(layout, kernels))


class DeviceRowBatch(DeviceBatch):
    """Positions, on a backend, of a game whose rows have the layout of `alphago.env.kernels.rows`.

    Rows and results equal those of the game's batch on the CPU, but the words of a row are int32 instead of int64.
    Methods without a docstring do what those of `GameBatch` and `DeviceBatch` do.
    """

    def __init__(self, env: GameEnv, count: int, backend: Backend, program: Program) -> None:
        start = start_row(env)
        super().__init__(env, count, backend, program=program, words=start.shape[1])
        self._start = backend.upload(start, np.int32)
        self.reset(np.arange(count))

    def reset(self, slots: Array, **setup: object) -> None:
        """Set the slots to the start position, or to a set-up.

        Args:
            setup: the keywords that `reset` of the game's batch on the CPU takes.
        """
        start = self.backend.upload(start_row(self.env, **setup), np.int32) if setup else self._start
        targets = self.backend.upload(slots, np.int64)
        # Each target gets row 0 of `start`.
        self._copy(start, self.backend.zeros((len(targets),), np.int64), targets)

    def legal_mask(self, slots: Array, out: Out) -> Out:
        actions = self.env.action_space
        # The number of actions: the kernel's argument, the length of an answer, and the number of threads for a slot.
        return self._answer("legal_mask_batch", slots, out, np.bool_, actions, shape=(actions,), threads=actions)

    def decisive_moves(self, slots: Array, out: Out) -> Out:
        scratch = self._scratch(len(slots), self._words)
        return self._answer("decisive_moves_batch", slots, out, np.int32, scratch, self.env.action_space)

    def write_planes(self, slots: Array, dtype: str, target: Target) -> None:
        height, width = self.env.plane_shape
        points = height * width
        self._launch(f"planes_{dtype}_batch", slots, *target, points, threads=points)


def start_row(env: GameEnv, **setup: object) -> np.ndarray:
    """Return the row of the start position, or of a set-up, from the game's batch on the CPU, int64 [1, words].

    Args:
        setup: keywords of the batch's method `reset`.
    """
    batch: Any = env.new_batch(1)
    batch.reset(FIRST_SLOT, **setup)
    return np.asarray(batch.rows)
