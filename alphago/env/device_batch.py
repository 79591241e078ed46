"""`DeviceBatch`: positions of any game as packed rows on a device; its methods are kernels of a CUDA program."""

import math
import threading
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from alphago.cuda.contract import Array, Backend, KernelArray
from alphago.cuda.kernel_source import LANES, Program
from alphago.env.batch import GameBatch, Leaves, Reached
from alphago.env.game import GameEnv

Out = TypeVar("Out", bound=Array)
REACHED = (np.bool_, np.int8, np.float32)  # dtypes of the fields of Reached
# The dtypes of `planes`, by the dtype of `out`: NumPy lacks bfloat16, so 16-bit integers stand for bfloat16's bits.
PLANE_DTYPES = {np.dtype(np.float32): "float32", np.dtype(np.uint16): "bfloat16", np.dtype(np.int16): "bfloat16"}


class Target(NamedTuple):
    """Where a kernel writes planes: an array, and the steps in this array, in items."""

    array: KernelArray
    to_board: int  # from a board to the next board
    to_plane: int  # from a plane to the next plane
    to_point: int  # from a point to the next point


class DeviceBatch(GameBatch):
    """Base class of batches on a device; a game's class adds `reset`, `legal_mask` and `write_planes`.

    Methods without a docstring do what those of `GameBatch` do.

    Slots, actions and `out` may be NumPy arrays or arrays of the backend (on a GPU, CuPy arrays or torch tensors).
    Calls on a GPU return without waiting for the answers if `out` is on the device. An `out` in NumPy may have any
    dtype and layout; on the device it must be C-contiguous and of the answer's dtype, else ValueError.

    All positions of a call are processed in parallel, so a slot that a call changes must occur only once among the
    slots, sources and targets passed to it.

    Args:
        program: the game's kernels, including the kernels of `alphago/env/kernels/batch.cuh`.
        words: number of int32 words per row.
        options: numbers that the game's `outcome` kernel reads, such as Go's `margin_weight`.
    """

    def __init__(
        self, env: GameEnv, count: int, backend: Backend, *, program: Program, words: int, options: Sequence[float] = ()
    ) -> None:
        super().__init__(env, count)
        self.device = backend.name
        self.backend = backend
        self._kernels = backend.load(program)
        # For the kernels that write outcomes.  The 0.0 is not read: an empty CuPy array has no address.
        self._outcome_options = backend.upload([*options, 0.0], np.float64)
        self._words = words
        self._rows = backend.zeros((count, words), np.int32)
        self._scratches: dict[tuple[int, int, int], KernelArray] = {}  # by thread and shape

    @property
    def rows(self) -> np.ndarray:
        """The rows, int32 [count, words]; for a batch on a GPU, a copy on the CPU."""
        return self.backend.download(self._rows)

    def copy(self, sources: Array, targets: Array, of: GameBatch | None = None) -> None:
        """Copy positions as `GameBatch.copy` does, also from a batch on another device."""
        if of is None or (isinstance(of, DeviceBatch) and of.device == self.device):
            rows = self._rows if of is None else of._rows
        else:  # only the rows to be copied are transferred
            index = self.backend.download(self.backend.upload(sources, np.int64))  # `sources` may be on the device
            rows = self.backend.upload(of.rows[index], np.int32)  # type: ignore[attr-defined]
            sources = np.arange(len(targets))
        self._copy(rows, self.backend.upload(sources, np.int64), self.backend.upload(targets, np.int64))

    def extract(self, slots: int | np.ndarray) -> GameBatch:
        """Return a batch on the CPU with copies of some slots; only their rows are transferred."""
        rows = self.backend.download(self._rows[self.backend.upload(np.atleast_1d(slots), np.int64)])
        copies: Any = self.env.new_batch(len(rows))
        copies.rows[:] = rows
        return copies

    def play(self, slots: Array, actions: Array) -> None:
        self._launch("play_batch", slots, self.backend.upload(actions, np.int32))

    def replay(self, roots: Array, paths: Array, lengths: Array, targets: Array) -> None:
        """Copy each root slot to its target slot and play `paths[i, :lengths[i]]` there, with two kernels."""
        upload = self.backend.upload
        slots = upload(targets, np.int64)
        self._copy(self._rows, upload(roots, np.int64), slots)
        self._launch("replay_batch", slots, upload(paths, np.int32), paths.shape[1], upload(lengths, np.int32))

    def reach(self, leaves: Leaves, out: Reached) -> Reached:
        """Play the moves of each leaf as `GameBatch.reach` does, with one kernel.

        If the arrays of `out` are on the device, the call returns before the kernel ends.
        """
        upload = self.backend.upload
        roots, slots = upload(leaves.roots, np.int64), upload(leaves.slots, np.int64)
        paths, lengths = upload(leaves.paths, np.int32), upload(leaves.lengths, np.int32)
        buffers = [self._buffer(array, dtype, slots.shape) for array, dtype in zip(out, REACHED, strict=True)]
        arguments = (roots, paths, paths.shape[1], lengths, self._outcome_options, *buffers)
        self._launch("reach_batch", slots, *arguments, threads=LANES)
        for array, buffer in zip(out, buffers, strict=True):
            self._deliver(buffer, array)
        return out

    def is_over(self, slots: Array, out: Out) -> Out:
        return self._answer("is_over_batch", slots, out, np.bool_)

    def to_play(self, slots: Array, out: Out) -> Out:
        return self._answer("to_play_batch", slots, out, np.int8)

    def hash(self, slots: Array, out: Out) -> Out:
        return self._answer("hash_batch", slots, out, np.int64)

    def outcome(self, slots: Array, out: Out) -> Out:
        return self._answer("outcome_batch", slots, out, np.float32, self._outcome_options)

    def score(self, slots: Array, out: Out) -> Out:
        return self._answer("score_batch", slots, out, np.float32)

    def ownership(self, slots: Array, out: Out) -> Out:
        if not self.env.has_ownership:
            return super().ownership(slots, out)  # type: ignore[arg-type, return-value]  # zeros, in any kind of array
        points = math.prod(self.env.plane_shape)
        return self._answer("ownership_batch", slots, out, np.int8, points, shape=(points,))

    def planes(self, slots: Array, out: Out) -> Out:
        """Write the planes of the positions in `slots` to `out`.

        Args:
            out: [n, planes, height, width], of any dtype in PLANE_DTYPES; for bfloat16 pass `tensor.view(torch.int16)`.
                An array on the device may also be channels_last, but the points of a plane must have equal strides.
        """
        dtype, target = self._plane_target(slots, out)
        self.write_planes(slots, dtype, target)
        return self._deliver(target.array, out)

    def _plane_target(self, slots: Array, out: Array) -> tuple[str, Target]:
        """Return the arguments `dtype` and `target` of `write_planes` for the array `out` that was passed to `planes`.

        The target is `out` itself if kernels can write to it, otherwise a new array.
        """
        height, width = self.env.plane_shape
        self._check_shape(out, (len(slots), self.env.planes, height, width))
        buffer = self.backend.reachable(out)  # a view of `out` with a NumPy dtype; None if kernels cannot write to it
        given_dtype = out.dtype if buffer is None else buffer.dtype
        dtype = PLANE_DTYPES.get(given_dtype)
        if dtype is None:
            names = ", ".join(map(str, PLANE_DTYPES))
            raise ValueError(f"planes must be {names} (bfloat16 by its bits), got {given_dtype}")
        if buffer is None:  # the planes are copied to `out` later
            self._check_takes_copies(out, str(given_dtype))
            buffer = self.backend.zeros(tuple(out.shape), given_dtype)
        to_board, to_plane, to_row, to_point = (stride // buffer.itemsize for stride in buffer.strides)  # in items
        if to_row != width * to_point:  # kernels go from point to point in equal steps
            steps = f"steps of {to_row} and {to_point}"
            raise ValueError(f"the points of a plane must follow each other evenly, got {steps}")
        return dtype, Target(buffer, to_board, to_plane, to_point)

    @abstractmethod
    def write_planes(self, slots: Array, dtype: str, target: Target) -> None:
        """Launch the kernel that writes the planes of the positions in `slots`.

        Args:
            dtype: "float32" or "bfloat16", which is a part of the kernel's name.
            target: the array to write, and the steps between its boards, planes and points.  The fields of `target` are
                the kernel's first arguments after the slots.
        """

    def playout(self, slots: Array, states: Array, fill_eyes: bool = False) -> np.ndarray:
        """Play random moves to the end in every slot; return the number of moves played in each, int32 [n].

        Args:
            states: int64 [n], the state of one random generator per slot, changed in place.
            fill_eyes: in Go, whether a side may fill its own eyes; such games end only at `max_moves`.
        """
        # The kernel reads and changes the states: in place if it can, else in a copy.
        buffer: Any = self._buffer(states, np.int64, (len(slots),))
        if isinstance(states, np.ndarray):
            buffer[:] = self.backend.upload(states, np.int64)  # changes nothing in place
        moves = self.backend.zeros((len(slots),), np.int32)
        self._launch("playout_batch", slots, buffer, moves, fill_eyes)
        self._deliver(buffer, states)  # copies the changed states back, unless the kernel worked in place
        return self.backend.download(moves)

    def _scratch(self, count: int, words: int) -> KernelArray:
        """Return scratch memory for `count` boards, int32 [count or more, words].

        A thread's calls with the same arguments get the same memory, since a CUDA graph keeps its address.
        """
        shape = 1 << (count - 1).bit_length(), words  # a power of two, so that few sizes are allocated
        key = threading.get_ident(), *shape
        if key not in self._scratches:
            self._scratches[key] = self.backend.zeros(shape, np.int32)
        return self._scratches[key]

    def _launch(self, kernel: str, slots: Array, *arguments: object, threads: int = 1, most: int | None = None) -> None:
        """Run a kernel on the slots, with `threads` threads per slot.

        Args:
            most: the most slots on which it works at the same time; None for all.
            arguments: the kernel's further arguments, after rows, words of a row, slots and their number, which every
                kernel gets.
        """
        index = self.backend.upload(slots, np.int64)
        count = len(index)
        at_once = count if most is None else min(count, most)
        self._kernels.launch(kernel, at_once * threads, self._rows, self._words, index, count, *arguments)

    def _copy(self, rows: KernelArray, sources: KernelArray, targets: KernelArray) -> None:
        """Copy the slots `sources` of `rows` to the slots `targets`; both are int64 arrays of the backend."""
        count = len(targets)
        self._kernels.launch("copy_batch", count * LANES, rows, sources, self._rows, self._words, targets, count)

    def _answer(
        self,
        kernel: str,
        slots: Array,
        out: Out,
        dtype: DTypeLike,
        *arguments: object,
        shape: tuple[int, ...] = (),
        threads: int = 1,
    ) -> Out:
        """Run a kernel that writes an array [n, *shape] of `dtype`, copy the array to `out`, and return `out`.

        Args:
            arguments: the kernel's further arguments, after the array.
            threads: number of threads per slot.
        """
        buffer = self._buffer(out, dtype, (len(slots), *shape))
        self._launch(kernel, slots, buffer, *arguments, threads=threads)
        return self._deliver(buffer, out)

    def _buffer(self, out: Array, dtype: DTypeLike, shape: tuple[int, ...]) -> KernelArray:
        """Return the array that a kernel writes: `out` itself, or a new array that `_deliver` then copies to `out`.

        Raises ValueError if `out` has another shape, or if results can neither be written nor copied to `out`.
        """
        self._check_shape(out, shape)
        shared = self.backend.reachable(out)
        if shared is not None and shared.dtype == dtype and shared.flags.c_contiguous:
            return shared
        self._check_takes_copies(out, str(np.dtype(dtype)))
        return self.backend.zeros(shape, dtype)

    def _check_takes_copies(self, out: Array, dtype: str) -> None:
        """Raise ValueError unless an `out` to which kernels cannot write is a NumPy array, which takes copies.

        Args:
            dtype: for the message.
        """
        if not isinstance(out, np.ndarray):
            raise ValueError(
                f"out must be a NumPy array, or a C-contiguous {dtype} array that {self.device!r} kernels reach, "
                f"got a {type(out).__name__} of {out.dtype}"
            )

    def _deliver(self, buffer: KernelArray, out: Out) -> Out:
        """Copy `buffer` into `out` unless they are the same array, and return `out`."""
        if isinstance(out, np.ndarray) and buffer is not out:  # any other `out` shares the memory of `buffer`
            out[...] = self.backend.download(buffer)
        return out

    def _check_shape(self, out: Array, shape: tuple[int, ...]) -> None:
        """Raise ValueError unless `out` has this shape, since kernels do not check bounds."""
        if tuple(out.shape) != shape:
            raise ValueError(f"out must have shape {list(shape)}, got {list(out.shape)}")
