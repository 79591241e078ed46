"""Games played on numba's rows and on a back end's, side by side."""

import math
from typing import Any

import numpy as np

from alphago import GameEnv, GoEnv
from alphago.cuda.contract import Backend
from alphago.env.batch import Leaves, Reached
from alphago.env.device_batch import REACHED, DeviceBatch
from alphago.env.device_rows import DeviceRowBatch, row_program
from alphago.env.go_cuda import PROGRAM as GO
from alphago.env.go_cuda import CudaGoBatch
from alphago.env.kernels import connect_four, gomoku, oware, reversi

ROWS = {"connect-four": connect_four, "gomoku": gomoku, "oware": oware, "reversi": reversi}
PROGRAMS = {"go": GO, **{game: row_program(kernels) for game, kernels in ROWS.items()}}


def batch_on(backend: Backend, env: GameEnv, count: int) -> Any:
    """A batch as `env.new_batch` makes it, on a back end of the caller's."""
    if isinstance(env, GoEnv):
        return CudaGoBatch(env, count, backend)
    return DeviceRowBatch(env, count, backend, PROGRAMS[env.name])


class Twins:
    """The same positions twice, in `ours` (numba) and `theirs`; each verb goes to both."""

    def __init__(self, env: GameEnv, count: int, backend: Backend) -> None:
        self.env: Any = env
        self.ours: Any = env.new_batch(count)
        self.theirs: DeviceBatch = batch_on(backend, env, count)
        self.slots = np.arange(count)
        points = ("ownership", "pass_alive") if isinstance(env, GoEnv) else ("ownership",)
        self.plane_shape = (env.planes, *env.plane_shape)
        self.verbs: dict[str, tuple[tuple[int, ...], Any]] = {  # shape and type of a slot's answer
            "legal_mask": ((env.action_space,), np.bool_),
            "is_over": ((), np.bool_),
            "to_play": ((), np.int8),
            "hash": ((), np.int64),
            "score": ((), np.float32),
            "outcome": ((), np.float32),
            **dict.fromkeys(points, ((math.prod(env.plane_shape),), np.int8)),
            **({"decisive_moves": ((), np.int32)} if env.has_decisive_moves else {}),
        }

    def do(self, verb: str, *arguments: Any, **options: Any) -> None:
        for batch in (self.ours, self.theirs):
            getattr(batch, verb)(*arguments, **options)

    def ask(self, verb: str, shape: tuple[int, ...], dtype: Any, slots: np.ndarray) -> np.ndarray:
        """The answer of both, which has to be the same to the bit."""
        answers = []
        for batch in (self.ours, self.theirs):
            out = np.full((len(slots), *shape), 77).astype(dtype)
            assert getattr(batch, verb)(slots, out) is out
            answers.append(out)
        assert np.array_equal(answers[0], answers[1]), verb
        return answers[0]

    def compare(self) -> np.ndarray:
        """All that can be asked of all slots, then the rows word by word; returns the legal masks."""
        slots = self.slots
        planes = self.ask("planes", self.plane_shape, np.float32, slots)
        masks = {verb: self.ask(verb, *shape, slots) for verb, shape in self.verbs.items()}["legal_mask"]
        observed = [self.theirs.backend.zeros(array.shape, array.dtype) for array in (masks, planes)]
        self.theirs.observe(slots, *observed)
        for one, two in zip(observed, (masks, planes), strict=True):
            assert np.array_equal(self.theirs.backend.download(one), two)
        assert np.array_equal(self.ours.rows, self.theirs.rows)
        return masks

    def play_on(self, random: np.random.Generator, plies: int, every: int = 1) -> None:
        """Random legal moves until all games are over, or for so many plies; compares after every so many."""
        for ply in range(plies):
            if ply % every == 0:
                self.compare()
            masks = self.ask("legal_mask", (self.env.action_space,), np.bool_, self.slots)
            going = np.flatnonzero(masks.any(axis=1))
            if len(going) == 0:
                return
            chances = random.random(masks.shape) * masks
            if self.env.pass_action is not None:
                chances[:, -1] *= random.random(len(masks)) < 0.02
                chances[:, -1] += 1e-9 * masks[:, -1]
            self.do("play", going, chances[going].argmax(axis=1).astype(np.int32))
        self.compare()

    def wave(self, random: np.random.Generator) -> None:
        """What a search does: from the first third of the slots to the second, by up to three moves.

        The third third is for `replay`.
        """
        third = len(self.slots) // 3
        roots, slots, spare = self.slots[:third], self.slots[third : 2 * third], self.slots[2 * third : 3 * third]
        paths, lengths = np.zeros((third, 5), np.int32), np.zeros(third, np.int32)
        for i, root in enumerate(roots):
            position = self.env.position_of(self.ours, int(root))
            while lengths[i] < i % 4 and not position.is_over:
                paths[i, lengths[i]] = random.choice(np.flatnonzero(position.legal_mask))
                position = position.play(int(paths[i, lengths[i]]))
                lengths[i] += 1
        self.do("replay", roots, paths, lengths, spare)
        leaves, backend = Leaves(roots, paths, lengths, slots), self.theirs.backend
        ours = self.ours.reach(leaves, Reached(*(np.zeros(third, dtype) for dtype in REACHED)))
        there = self.theirs.reach(leaves, Reached(*(backend.zeros((third,), dtype) for dtype in REACHED)))
        assert all(np.array_equal(one, backend.download(two)) for one, two in zip(ours, there, strict=True))
        assert np.array_equal(self.ours.rows, self.theirs.rows)

    def compare_there(self) -> None:
        """As `compare`, with answers that are written where the kernels are, planes with channels last."""
        env, count, backend = self.env, len(self.slots), self.theirs.backend
        for verb, (shape, dtype) in self.verbs.items():
            there = getattr(self.theirs, verb)(self.slots, backend.zeros((count, *shape), dtype))
            here = getattr(self.ours, verb)(self.slots, np.empty((count, *shape), dtype))
            assert np.array_equal(backend.download(there), here), verb
        planes = backend.zeros((count, *env.plane_shape, env.planes), np.float32)
        self.theirs.planes(self.slots, planes.transpose(0, 3, 1, 2))
        here = self.ours.planes(self.slots, np.empty((count, *self.plane_shape), np.float32))
        assert np.array_equal(backend.download(planes), here.transpose(0, 2, 3, 1))

    def exercise(self, random: np.random.Generator, plies: int) -> None:
        """Every verb once at least, over games of so many plies."""
        self.play_on(random, plies, every=10)
        self.wave(random)
        self.compare_there()
        self.do("copy", self.slots[:1], self.slots[-1:])
        self.compare()
        self.theirs.playout(self.slots, np.arange(len(self.slots), dtype=np.int64))
