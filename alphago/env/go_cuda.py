"""`CudaGoBatch`: positions of Go on a device, with the rows and methods of `GoBatch`."""

from pathlib import Path
from typing import Any

import numpy as np

from alphago.cuda.contract import Array, Backend, KernelArray
from alphago.cuda.kernel_source import LANES, Program, constants
from alphago.env.device_batch import DeviceBatch, Out, Target
from alphago.env.go_batch import GoStart, check_setup
from alphago.env.go_rules import MAX_SIZE
from alphago.env.kernels import go_alive as alive
from alphago.env.kernels import go_katago, go_ladders, go_planes
from alphago.env.kernels import go_row as layout

NO_MASK = 0  # a null pointer instead of the array of a legal mask
KERNELS = Path(__file__).parent / "kernels"
# MARGIN_WEIGHT: the index of `margin_weight` in the batch's options.
NUMBERS = constants(layout, alive, go_ladders, go_planes) | {"MARGIN_WEIGHT": 0, "MAX_SIZE": MAX_SIZE}
PROGRAM = Program(KERNELS / "go.cu", NUMBERS)
KATAGO_PROGRAM = Program(KERNELS / "go_katago.cu", NUMBERS)  # for games with KataGo's planes
LADDER_BYTES = 2**30  # the most memory in which a call reads ladders


def ladder_words(start: GoStart) -> tuple[int, int, int]:
    """Return (lines, words of a line, words in all) of a board's memory for KataGo's planes, see go_katago.cu."""
    lines, line_words = go_ladders.boards_shape(start.ladder_board)
    size = int(start.row[layout.SIZE])
    return lines, line_words, go_katago.PLANES * size**2 + alive.scratch_words(size) + lines * line_words


class CudaGoBatch(DeviceBatch):
    """Go positions on a backend; rows and answers equal those of `GoBatch`, whose docstrings hold here too.

    Only `GoBatch` has `give_turn`, `sensible_mask` and `neutral_mask`: `extract` copies positions to the CPU.

    `score`, `outcome`, `ownership`, `planes` and `pass_alive` also write to the rows' scratch words.
    """

    def __init__(self, env: Any, count: int, backend: Backend) -> None:
        start = env.start
        program = PROGRAM if start.ladder_board is None else KATAGO_PROGRAM
        super().__init__(env, count, backend, program=program, words=len(start.row), options=[env.margin_weight])
        self._size = env.N
        self._start = backend.upload(start.row, np.int32)
        # The index of each rule plane (see go_planes); None for other planes.
        self._plane_indices = None if start.plane_indices is None else backend.upload(start.plane_indices, np.int64)
        # For KataGo's planes the board on which ladders are read; None for others.
        self._ladder_board = None if start.ladder_board is None else backend.upload(start.ladder_board, np.int32)
        self.reset(np.arange(count))

    def reset(
        self, slots: Array, *, stones: np.ndarray | None = None, to_play: int | str = 1, komi: float | None = None
    ) -> None:
        """Set the slots to the start position, or all to the same set-up; see `GoBatch.reset`."""
        colours, mover, doubled_komi = check_setup(self.env, stones, to_play, komi)
        self._launch("reset_batch", slots, self._start, doubled_komi, threads=LANES)
        if colours is None:  # the start position: no stones, and Black to move
            return
        misplaced = self.backend.zeros((len(slots),), np.int32)  # by slot, a stone without liberty, or NO_ACTION
        self._launch("set_up_batch", slots, self.backend.upload(colours, np.int8), mover, misplaced)
        point = int(self.backend.download(misplaced).max(initial=layout.NO_ACTION))  # NO_ACTION is less than any point
        if point != layout.NO_ACTION:
            raise ValueError(f"the chain at {self.env.to_text(point)} has no liberty")

    def legal_mask(self, slots: Array, out: Out) -> Out:
        return self._answer("legal_mask_batch", slots, out, np.bool_, shape=(self.env.action_space,), threads=LANES)

    def write_planes(self, slots: Array, dtype: str, target: Target) -> None:
        if self._ladder_board is not None:
            self._write_katago_planes(slots, target)
        elif self._plane_indices is None:  # history planes
            self._launch(f"history_planes_{dtype}_batch", slots, *target, self.env.planes, threads=LANES)
        else:
            self._write_rule_planes(slots, dtype, target, NO_MASK)

    def observe(self, slots: Array, mask: Array, planes: Array) -> None:
        """Write legal actions and planes; for rule planes one kernel writes both."""
        if self._plane_indices is None:  # history planes, or KataGo's
            super().observe(slots, mask, planes)  # type: ignore[arg-type]
            return
        dtype, target = self._plane_target(slots, planes)
        legal = self._buffer(mask, np.bool_, (len(slots), self.env.action_space))
        self._write_rule_planes(slots, dtype, target, legal)
        self._deliver(legal, mask)
        self._deliver(target.array, planes)

    def _write_rule_planes(self, slots: Array, dtype: str, target: Target, mask: KernelArray | int) -> None:
        """Launch the kernel that writes rule planes, and the legal mask unless `mask` is NO_MASK."""
        arguments = (*target, self.env.planes, self._plane_indices, mask)
        self._launch(f"rule_planes_{dtype}_batch", slots, *arguments, threads=LANES)

    def _write_katago_planes(self, slots: Array, target: Target) -> None:
        """Launch the kernel that writes KataGo's planes, in as many blocks as have memory for ladders."""
        lines, line_words, per_board = ladder_words(self.env.start)
        most = 1 << (LADDER_BYTES // (4 * per_board)).bit_length() - 1  # a power of two, as `_scratch` returns
        places = min(len(slots), most)
        memory = (lines, line_words, self._scratch(places, per_board), per_board, places)
        arguments = (*target, self.env.planes, target.array.itemsize, self._ladder_board, *memory)
        self._launch("katago_planes_batch", slots, *arguments, threads=LANES, most=places)

    def pass_alive(self, slots: Array, out: Out) -> Out:
        """Write the pass-alive points, as `GoBatch.pass_alive` does."""
        words = alive.scratch_words(self._size)
        arguments = (self._scratch(len(slots), words), words)
        return self._answer("pass_alive_batch", slots, out, np.int8, *arguments, shape=(self._size**2,))
