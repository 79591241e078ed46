"""Search trees and waves on a device: the C++ kernels of `alphago/mcts/kernels/tree.cu`.

They have the names and the results of the kernels for the CPU, and the arrays of a tree have the same words.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from alphago.cuda.contract import Backend
from alphago.cuda.kernel_source import Program, constants
from alphago.env.leaves import Leaves, Reached
from alphago.mcts.evaluator import Evaluator
from alphago.mcts.kernels import nodes, waves
from alphago.mcts.kernels.nodes import NONE, ROOT
from alphago.mcts.tree import Tree, Wave, new_tree
from alphago.system.stopwatch import NET

PROGRAM = Program(Path(str(nodes.__file__)).with_name("tree.cu"), constants(nodes, waves))
# Kernels with the arguments (tree, games, …) that the program has too; any other kernel only reads a tree.
CHANGING = ("clear_all", "restart_all", "advance", "mix_noise", "add_candidates")
SHARED = (*CHANGING, "root_visits", "root_priors", "improved_policy")
LAST = ("waiting", "used", "state", "mover")  # the fields of a tree that are behind the others in memory


class DeviceTree:
    """The trees of B games on a device, with the fields of a `Tree`: they are copied to the CPU when they are read.

    Attributes:
        arrays: the fields on the device, which share `memory`, the array of bytes that kernels get.
    """

    def __init__(self, backend: Any, games: int, nodes: int, actions: int) -> None:
        self.backend, self.shape, self.kernels = backend, (games, nodes, actions), backend.load(PROGRAM)
        fields = new_tree(1, nodes, actions)._asdict()  # of one game
        fields |= {name: fields.pop(name) for name in LAST}
        self.memory = backend.zeros((games * sum(field.nbytes for field in fields.values()),), np.uint8)
        parts, begin = {}, 0
        for name, field in fields.items():
            end = begin + games * field.nbytes
            parts[name] = self.memory[begin:end].view(field.dtype).reshape(games, *field.shape[1:])
            parts[name][...] = backend.upload(field, field.dtype)
            begin = end
        self.arrays = Tree(**parts)
        self.words = (self.memory, *self.shape)  # the first arguments of all kernels on trees

    def __getattr__(self, name: str) -> Any:
        if name not in Tree._fields:
            raise AttributeError(name)
        return self.backend.download(getattr(self.arrays, name))

    def launch(self, kernel: Any, games: np.ndarray, *arguments: object, **out: np.ndarray) -> None:
        """Run a kernel as `Tree.launch` does; one that the program lacks runs on a copy of the trees."""
        if kernel.__name__ not in SHARED:
            kernel(Tree(*map(self.backend.download, self.arrays)), games, *arguments, **out)
            return
        written = [self.backend.upload(array, array.dtype) for array in out.values()]
        index = self.backend.upload(games, np.int64)
        own = (*arguments, *written)
        self.kernels.launch(kernel.__name__, len(games), *self.words, index, len(games), *flat(own, self.backend))
        for array, there in zip(out.values(), written, strict=True):
            if there is not array:
                array[...] = self.backend.download(there)

    def grown(self, nodes: int) -> "DeviceTree":
        """Return a copy with a capacity of `nodes` nodes per game; see `Tree.grown`."""
        games, before, actions = self.shape
        larger = DeviceTree(self.backend, games, nodes, actions)
        for old, new in zip(self.arrays[:-1], larger.arrays[:-1], strict=True):
            new[:, :before] = old
        larger.arrays.used[:] = self.arrays.used
        self.backend.wait()  # another stream may get the memory of these trees at once
        return larger

    @property
    def actions(self) -> int:
        """The number of actions of the game."""
        return self.shape[2]

    def at(self, name: str, games: np.ndarray, nodes: int | np.ndarray = ROOT) -> np.ndarray:
        """Return a field of one node of each game; see `Tree.at`."""
        which = np.broadcast_to(np.asarray(nodes, np.int64), games.shape)
        index = tuple(self.backend.upload(part, np.int64) for part in (games, which))
        values: np.ndarray = self.backend.download(getattr(self.arrays, name)[index])
        return values

    def saved(self, game: int) -> list[np.ndarray]:
        """Return a copy of the nodes of a game; see `Tree.saved`."""
        used = int(self.used[game])
        return [self.backend.download(array[game, :used]).copy() for array in self.arrays[:-1]]

    def restore(self, game: int, nodes: list[np.ndarray]) -> None:
        """Replace the tree of a game; see `Tree.restore`."""
        for own, saved in zip(self.arrays[:-1], nodes, strict=True):
            own[game, : len(saved)] = self.backend.upload(saved, saved.dtype)
        self.arrays.used[game] = len(nodes[0])


def flat(values: Any, backend: Backend) -> Iterator[Any]:
    """Yield the arguments of a kernel: each array, on the device, is followed by the lengths of its axes but the first.

    Args:
        values: an array, a number, or a tuple of values.
    """
    if isinstance(values, tuple):
        for value in values:
            yield from flat(value, backend)
    elif shape := getattr(values, "shape", ()):
        yield backend.upload(values, values.dtype)
        yield from shape[1:]
    else:
        yield float(values) if isinstance(values, (float, np.floating)) else values


class DeviceWaves:
    """The waves of a search whose boards, trees and network are on a device.

    A wave is a fixed sequence of kernels on the same arrays, and the CPU looks at nothing of it.  So on a GPU it is one
    CUDA graph, and several waves are queued at once.  Then the CPU looks which games have simulations left.  Rows of
    leaves that a game does not find are padding.

    Args:
        batch: the positions; behind the games' slots there is one for each of `rows` leaves.
    """

    def __init__(self, batch: Any, games: int, rows: int, decisive: bool) -> None:
        backend, zeros, env = batch.backend, batch.backend.zeros, batch.env
        self.batch, self.backend = batch, backend
        self.wave = Wave(
            game=zeros((rows,), np.int64),
            leaf=zeros((rows,), np.int32),
            path=zeros((rows, env.max_moves + 1), np.int32),
            length=zeros((rows,), np.int32),
            collisions=zeros((2 * rows,), np.int32),
        )
        self.wave.collisions[:] = NONE
        self.slots = backend.upload(np.arange(games, games + rows), np.int64)
        self.reached = Reached(*(zeros((rows,), dtype) for dtype in (np.bool_, np.int8, np.float32)))
        self.priors, self.values = zeros((rows, env.action_space), np.float32), zeros((rows,), np.float32)
        self.decisive = zeros((rows,), np.int32) if decisive else None
        self.counts = zeros((2, games), np.int32)  # of each game: simulations left, and broken evaluations
        self.budget, self.broken = self.counts[0], self.counts[1]
        self.active = zeros((games,), np.int64)  # the games of the waves
        self.parameters: list[Any] = []  # of the rule, as arguments of kernels
        self.graphs: dict[Any, Any] = {}  # CUDA graphs of waves on these arrays, by what tells them apart

    def use(self, parameters: tuple[object, ...]) -> None:
        """Let the next waves use these parameters of the rule."""
        given = list(flat(parameters, self.backend))
        if [getattr(value, "shape", value) for value in given] == [getattr(v, "shape", v) for v in self.parameters]:
            for own, value in zip(self.parameters, given, strict=True):
                if hasattr(own, "shape"):  # where graphs look for it
                    own[...] = value
        else:
            self.parameters = [value.copy() if hasattr(value, "shape") else value for value in given]
            self.graphs.clear()

    def begin(self, budget: np.ndarray) -> int:
        """Prepare waves of `budget` simulations, int32 [games].

        Returns:
            The number of games in each wave: those with simulations left, and others up to a round number, so that
            there are few sizes, since a CUDA graph takes a tenth of a second to capture.
        """
        self.budget[...] = self.backend.upload(budget, np.int32)
        self.broken[...] = 0
        active = int(np.count_nonzero(budget))
        step = max(1, (1 << (active - 1).bit_length()) // 4)  # two sizes in each octave
        count = min(-(-active // step) * step, len(budget))
        chosen = np.argsort(budget == 0, kind="stable")[:count]
        self.active[:count] = self.backend.upload(chosen, np.int64)
        return count

    def end(self, budget: np.ndarray) -> int:
        """Wait for the waves, write the simulations left to `budget`, and return the number of broken evaluations."""
        with NET:  # most of the time; a Stopwatch counts it
            self.backend.wait()
        left, broken = self.backend.download(self.counts)
        budget[:] = left
        return int(broken.sum())

    def select(self, tree: DeviceTree, kernel: str, count: int, leaves: int) -> None:
        """Choose up to so many leaves in each of `count` games, by the rule whose kernel is `kernel`."""
        wave = flat(self.wave, self.backend)
        arguments = (*tree.words, self.active, count, self.budget, *self.parameters, *wave, leaves)
        tree.kernels.launch(kernel, count, *arguments)

    def select_roots(self, tree: DeviceTree, games: np.ndarray) -> None:
        """Let the roots of games be the wave's leaves, in the first rows."""
        index = self.backend.upload(games, np.int64)
        arguments = (*tree.words, index, len(games), *flat(self.wave, self.backend))
        tree.kernels.launch("select_roots", len(games), *arguments)

    def evaluate(self, evaluator: Evaluator, count: int) -> None:
        """Reach and evaluate the leaves in the first `count` rows, those of finished games and padding too."""
        _, leaves, reached, priors, values, decisive = self._first(count)
        self.batch.reach(leaves, reached)
        evaluator.evaluate(self.batch, leaves.slots, priors, values)
        if decisive is not None:
            self.batch.decisive_moves(leaves.slots, decisive)

    def expand(self, tree: DeviceTree, count: int, leaves: int) -> None:
        """Write the evaluations into the trees and back them up; leaves: rows of each game."""
        wave, _, reached, priors, values, decisive = self._first(count)
        if decisive is not None:
            tree.kernels.launch("decide", count, decisive, *flat((priors, values), self.backend), count)
        arguments = (*tree.words, *flat((wave, reached, priors, values), self.backend), self.broken, leaves)
        tree.kernels.launch("expand", count // leaves, *arguments, count // leaves)

    def _first(self, count: int) -> tuple[Wave, Leaves, Reached, Any, Any, Any]:
        """Return the first `count` rows of all arrays."""
        rows = slice(count)
        wave = self.wave.part(rows, slice(2 * count))
        leaves = Leaves(wave.game, wave.path, wave.length, self.slots[rows])
        reached = Reached(*(array[rows] for array in self.reached))
        decisive = None if self.decisive is None else self.decisive[rows]
        return wave, leaves, reached, self.priors[rows], self.values[rows], decisive
