"""`CudaGoBatch`: positions of Go on a device, with the rows and the verbs of `GoBatch`."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from alphago.cuda.backend import Backend, BackendMissing, check_device, find_backend
from alphago.cuda.source import BOARD_PARTS, LANES
from alphago.env.game import GameBatch, GameEnv, Leaves, Reached
from alphago.env.go import GoEnv
from alphago.env.go_rules import check_komi, check_player
from alphago.env.kernels import go_alive as alive
from alphago.env.kernels import go_features as features
from alphago.env.kernels import go_row as layout

# What planes may be written as; bfloat16, which NumPy does not know, by its bits.
PLANE_KINDS = {"float32": "float32", "float16": "float16", "uint16": "bfloat16", "int16": "bfloat16"}
REACHED = (np.bool_, np.int8, np.float32)  # the types of Reached
ALIVE = [features.OWN_ALIVE, features.ENEMY_ALIVE]


class CudaGoBatch(GameBatch):
    """Go positions on a back end; behaves as `GoBatch`, row for row.

    Slots, actions and `out` may be NumPy arrays or arrays of the back end (on a GPU CuPy's, or torch's tensors):
    answers are written where `out` is, and on a GPU without waiting for them.  NumPy arrays of another type or layout
    are filled as `GoBatch` does; ValueError for other arrays that are not C-contiguous and of the answer's type.
    All boards of a call are done at the same time: no slot may be named twice where it is written, nor be written and
    read.  `score`, `outcome`, `ownership`, `planes` and `pass_alive` write too: words of the row in which they reckon.
    """

    def __init__(self, env: GoEnv, count: int, backend: Backend) -> None:
        super().__init__(env, count)
        self._komi, self._margin_weight, self._size = env.komi, env.margin_weight, env.N
        self._history, self._planes = env.history, env.planes
        self._backend = backend
        self.device = backend.name
        self._start = backend.upload(env.start.row, np.int32)
        self._places = None if env.start.places is None else backend.upload(env.start.places, np.int64)
        self._has_alive = env.start.places is not None and bool((env.start.places[ALIVE] != features.ABSENT).any())
        self._words = len(env.start.row)
        self._rows = backend.zeros((count, self._words), np.int32)
        self.reset(np.arange(count))

    @property
    def rows(self) -> np.ndarray:
        """int32 [count, words] for `GoBatch.copy` and whoever looks on: on a GPU a copy of the rows."""
        return self._backend.download(self._rows)

    def reset(
        self,
        slots: Any,
        *,
        stones: np.ndarray | None = None,
        to_play: int | str = 1,
        komi: float | None = None,
    ) -> None:
        """As `GoBatch.reset`: start positions, or one set-up for all slots."""
        if stones is not None and np.shape(stones) != (self._size, self._size):
            raise ValueError(f"stones are {[self._size, self._size]} points, got {list(np.shape(stones))}")
        komi2 = int(2 * (self._komi if komi is None else check_komi(komi)))
        mover = layout.BLACK if check_player(to_play) == 1 else layout.WHITE
        self._launch("reset_batch", slots, self._start, komi2, threads=LANES)
        if stones is None and mover == layout.BLACK:
            return
        colours = np.zeros(self._size**2, np.int8) if stones is None else np.ravel(stones)
        dead = self._backend.zeros((len(slots),), np.int32)
        self._launch("set_up_batch", slots, self._backend.upload(colours, np.int8), mover, dead)
        worst = int(self._backend.download(dead).max(initial=layout.NO_ACTION))
        if worst != layout.NO_ACTION:
            raise ValueError(f"the chain at {self.env.to_text(worst)} has no liberty")

    def copy(self, sources: Any, targets: Any, of: GameBatch | None = None) -> None:
        if of is None or (isinstance(of, CudaGoBatch) and of._backend.name == self._backend.name):
            rows = self._rows if of is None else of._rows
        else:  # only the rows that are wanted travel
            wanted = self._backend.download(self._backend.upload(sources, np.int64))
            rows = self._backend.upload(of.rows[wanted], np.int32)  # type: ignore[attr-defined]
            sources = np.arange(len(targets))
        targets = self._backend.upload(targets, np.int64)
        sources = self._backend.upload(sources, np.int64)
        self._copy(rows, sources, targets)

    def play(self, slots: Any, actions: Any) -> None:
        self._launch("play_batch", slots, self._backend.upload(actions, np.int32))

    def replay(self, roots: Any, paths: Any, lengths: Any, targets: Any) -> None:
        upload = self._backend.upload
        steps, depths, slots = upload(paths, np.int32), upload(lengths, np.int32), upload(targets, np.int64)
        self._copy(self._rows, upload(roots, np.int64), slots)
        self._launch("replay_batch", slots, steps, steps.shape[1], depths)

    def reach(self, leaves: Leaves, out: Reached) -> Reached:
        """As `GameBatch.reach`, in two kernels; nothing waits where `out` is on the device."""
        upload = self._backend.upload
        roots, slots = upload(leaves.roots, np.int64), upload(leaves.slots, np.int64)
        paths, depths = upload(leaves.paths, np.int32), upload(leaves.lengths, np.int32)
        rooms = [self._room(array, dtype, (len(leaves.slots),)) for array, dtype in zip(out, REACHED, strict=True)]
        self._copy(self._rows, roots, slots)
        targets = (target for target, _ in rooms)
        self._launch("reach_batch", slots, paths, paths.shape[1], depths, self._margin_weight, *targets)
        for array, (target, room) in zip(out, rooms, strict=True):
            self._deliver(target, array, room)
        return out

    def legal_mask(self, slots: Any, out: Any) -> Any:
        size = self._size
        return self._answer("legal_mask_batch", slots, out, np.bool_, (self.env.action_space,), size, threads=size + 1)

    def planes(self, slots: Any, out: Any) -> Any:
        """As `GameBatch.planes`, but of any number type in PLANE_KINDS and, where kernels reach `out`, any layout.

        bfloat16 is written as bits: hand a torch tensor over as `tensor.view(torch.int16)`.  The memory may be
        channels_last; a row of points has to follow the one before without a gap.
        """
        self._check_shape(out, (len(slots), self._planes, self._size, self._size))
        room = self._backend.reachable(out)
        given = str(out.dtype if room is None else room.dtype)
        kind = PLANE_KINDS.get(given)
        if kind is None:
            raise ValueError(f"planes are written as {', '.join(PLANE_KINDS)} (bfloat16 by its bits), got {given}")
        if room is None:
            self._check_takes_copies(out, given)
        target = self._backend.zeros(tuple(out.shape), given) if room is None else room
        board, plane, line, point = (step // target.itemsize for step in target.strides)
        if line != self._size * point:
            raise ValueError(f"the points of a plane have to follow each other evenly, got steps of {line} and {point}")
        self._write_planes(slots, kind, target, board, plane, point)
        return self._deliver(target, out, room)

    def _write_planes(self, slots: Any, kind: str, *target: Any) -> None:
        """Runs the kernels of planes as numbers of a kind. target: memory, steps of boards, planes and points."""
        slots, size = self._backend.upload(slots, np.int64), self._size
        if self._places is None:
            threads = self._history * size + 1
            self._launch(f"planes_{kind}_batch", slots, *target, size, self._history, threads=threads)
            return
        self._launch(f"begin_features_{kind}_batch", slots, *target, self._places, threads=2 + features.PLANES)
        scratch = self._scratch(2 * len(slots) if self._has_alive else 0)
        threads = size + BOARD_PARTS
        self._launch(f"features_{kind}_batch", slots, *target, size, self._places, *scratch, threads=threads)

    def is_over(self, slots: Any, out: Any) -> Any:
        return self._answer("is_over_batch", slots, out, np.bool_)

    def to_play(self, slots: Any, out: Any) -> Any:
        return self._answer("to_play_batch", slots, out, np.int8)

    def hash(self, slots: Any, out: Any) -> Any:
        return self._answer("hash_batch", slots, out, np.int64)

    def outcome(self, slots: Any, out: Any) -> Any:
        return self._answer("outcome_batch", slots, out, np.float32, (), self._margin_weight)

    def score(self, slots: Any, out: Any) -> Any:
        return self._answer("score_batch", slots, out, np.float32)

    def ownership(self, slots: Any, out: Any) -> Any:
        return self._answer("ownership_batch", slots, out, np.int8, (self._size**2,))

    def pass_alive(self, slots: Any, out: Any) -> Any:
        """int8 [n, N * N], as `GoBatch.pass_alive`."""
        return self._answer("pass_alive_batch", slots, out, np.int8, (self._size**2,), *self._scratch(len(slots)))

    def settle(self, slots: Any, out: Any) -> Any:
        """As `GoBatch.settle`."""
        owners = self._backend.zeros((len(slots), self._size**2), np.int8)
        return self._answer("settle_batch", slots, out, np.bool_, (), owners, *self._scratch(len(slots)))

    def playout(self, slots: Any, states: Any, fill_eyes: bool = False) -> np.ndarray:
        """Plays random moves to the end in every slot; returns their numbers, int32 [n].

        states: int64 [n], one stream of random numbers per slot, which advances in place.
        fill_eyes: whether a side may fill its own eyes; a game of those who do ends by its longest length only.
        """
        room = self._reach(states, np.int64, (len(slots),))
        streams = self._backend.upload(states, np.int64) if room is None else room
        moves = self._backend.zeros((len(slots),), np.int32)
        self._launch("playout_batch", slots, streams, fill_eyes, moves)
        self._deliver(streams, states, room)
        return self._backend.download(moves)

    def _launch(self, kernel: str, slots: Any, *arguments: Any, threads: int = 1) -> None:
        """threads: of a board."""
        numbers = self._backend.upload(slots, np.int64)
        count = len(numbers)
        self._backend.launch(kernel, count * threads, self._rows, self._words, numbers, count, *arguments)

    def _copy(self, rows: Any, sources: Any, targets: Any) -> None:
        """Copies from those rows; sources, targets: arrays of the back end, int64."""
        count = len(targets)
        self._backend.launch("copy_batch", count * LANES, rows, sources, self._rows, self._words, targets, count)

    def _answer(
        self,
        kernel: str,
        slots: Any,
        out: Any,
        dtype: DTypeLike,
        shape: tuple[int, ...] = (),
        *arguments: Any,
        threads: int = 1,
    ) -> Any:
        """Runs a kernel that writes one item of `shape` per slot, and leaves what it wrote in `out`."""
        target, room = self._room(out, dtype, (len(slots), *shape))
        self._launch(kernel, slots, target, *arguments, threads=threads)
        return self._deliver(target, out, room)

    def _room(self, out: Any, dtype: DTypeLike, shape: tuple[int, ...]) -> tuple[Any, Any]:
        """An array for a kernel's answer, and `out` as the kernels reach it: None where they do not."""
        room = self._reach(out, dtype, shape)
        return (self._backend.zeros(shape, dtype) if room is None else room), room

    def _reach(self, out: Any, dtype: DTypeLike, shape: tuple[int, ...]) -> Any | None:
        """`out` as kernels can write it, None for a NumPy array to copy into; ValueError for what is neither."""
        self._check_shape(out, shape)
        room = self._backend.reachable(out)
        if room is not None and room.dtype == dtype and room.flags.c_contiguous:
            return room
        self._check_takes_copies(out, str(np.dtype(dtype)))
        return None

    def _check_takes_copies(self, out: Any, wanted: str) -> None:
        """CuPy's and torch's arrays refuse to be filled from NumPy's."""
        if not isinstance(out, np.ndarray):
            raise ValueError(
                f"an answer goes into a NumPy array, or a C-contiguous one of {wanted} that {self.device!r} kernels "
                f"reach; came a {type(out).__name__} of {out.dtype}"
            )

    def _deliver(self, target: Any, out: Any, room: Any) -> Any:
        """`out`, with what stands in `target` copied into it unless kernels wrote there."""
        if room is None:
            out[...] = self._backend.download(target)
        return out

    def _check_shape(self, out: Any, shape: tuple[int, ...]) -> None:
        """Kernels write without looking: an array of another shape would be overrun."""
        if tuple(out.shape) != shape:
            raise ValueError(f"an answer of shape {list(shape)} was wanted, got room for {list(out.shape)}")

    def _scratch(self, count: int) -> tuple[Any, int]:
        """Room for one call over so many boards, and its words per board."""
        words = alive.scratch_words(self._size)
        return self._backend.zeros((count, words), np.int32), words


def make_batch(env: GameEnv, count: int, device: str = "auto") -> GameBatch:
    """`count` start positions of a game, where the caller wants them.

    device: "cpu", numba's kernels; "cuda", the GPU; "auto", the GPU where the game has kernels for it and one can
        be used, else the CPU; "host", the CUDA source compiled for the CPU, which is slower than numba's kernels and
        meant for tests.
    Raises ValueError for another device or a game that has no CUDA kernels, BackendMissing where there is no such
    device, MemoryError where the boards do not fit.
    """
    where = choose_device(env, device)
    if where == "cpu":
        return env.new_batch(count)
    assert isinstance(env, GoEnv)
    try:
        return CudaGoBatch(env, count, find_backend(where))
    except MemoryError:
        if device != "auto":
            raise
        return env.new_batch(count)


def choose_device(env: GameEnv, device: str = "auto") -> str:
    """Where positions of a game will be: `device`, or what "auto" comes to here.  Raises as `make_batch`."""
    if check_device(device) == "cpu" or (device == "auto" and not isinstance(env, GoEnv)):
        return "cpu"
    if not isinstance(env, GoEnv):
        raise ValueError(f"{env} has no CUDA kernels: its device is 'cpu' or 'auto', got {device!r}")
    try:
        find_backend("cuda" if device == "auto" else device)
    except (BackendMissing, MemoryError):
        if device != "auto":
            raise
        return "cpu"
    return "cuda" if device == "auto" else device
