"""Search trees and waves on a device: the C++ kernels of `alphago/mcts/kernels/tree.cu`.

They have the names and the results of the kernels for the CPU, and the arrays of a tree have the same words.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from alphago.cuda.contract import Backend
from alphago.cuda.kernel_source import Program, constants
from alphago.env.batch import Leaves, Reached
from alphago.mcts.kernels import nodes, waves
from alphago.mcts.kernels.nodes import NONE, ROOT
from alphago.mcts.rule import SearchRule
from alphago.mcts.tree import Tree, Wave, new_tree, new_wave
from alphago.system import stopwatch

PROGRAM = Program(Path(str(nodes.__file__)).with_name("tree.cu"), constants(nodes, waves))
# The kernels with the arguments (tree, games, …) that the program has too, under their names.  All other kernels with
# these arguments only read a tree.
ON_DEVICE = ("clear_all", "restart_all", "advance", "mix_noise", "add_candidates", "read_children", "improved_policy")
# The fields behind the others in memory.  The last two have one byte for each node, so that the words before them stay
# aligned; the others have words.
LAST_IN_MEMORY = ("waiting", "used", "state", "mover")
FORECASTS = ("score", "owners")  # fields with forecasts, which no evaluator on a device makes: the program lacks them
MOST_WAVES = 256  # that are queued at once
FADING = 0.9  # how fast the room in a wave shrinks from move to move while fewer games need it

# Games whose roots are the leaves of a wave, int64 [n]; None for leaves that the rule chooses.
Roots = np.ndarray | None
# A function that changes evaluations in place on the CPU, such as `Search._forbid`; None for no change.  Its arguments
# are a `Wave`, a `Reached`, the priors, and the decisive moves if the search looks for them.
Change = Callable[..., None] | None


class DeviceTree:
    """The trees of B games on a device.  It has the attributes of a `Tree`, which are copied to the CPU when read.

    Attributes:
        memory: an array of bytes on the device, which kernels get.
        arrays: the fields on the device, views of `memory` but for those of FORECASTS.
        actions: the number of actions of the game.
    """

    def __init__(self, backend: Any, games: int, nodes: int, actions: int) -> None:
        self.backend, self.kernels, self.actions = backend, backend.load(PROGRAM), actions
        fields = new_tree(1, nodes, actions)._asdict()  # of one game
        # The fields with forecasts have arrays of their own, since the kernels on a device do not use them.
        arrays = {name: backend.upload(fields[name].repeat(games, axis=0), fields[name].dtype) for name in FORECASTS}
        # The other fields share one memory, in the order in which the kernels of `tree.cu` look for them: words first,
        # then bytes, so that all words are aligned.
        in_order = [name for name in fields if name not in FORECASTS + LAST_IN_MEMORY] + [*LAST_IN_MEMORY]
        self.memory = backend.zeros((games * sum(fields[name].nbytes for name in in_order),), np.uint8)
        begin = 0
        for name in in_order:
            field = fields[name]
            end = begin + games * field.nbytes
            arrays[name] = self.memory[begin:end].view(field.dtype).reshape(games, *field.shape[1:])
            arrays[name][...] = backend.upload(field, field.dtype)  # the start of one game, for all games
            begin = end
        self.arrays = Tree(**arrays)
        self.as_arguments = (self.memory, games, nodes, actions)  # the first arguments of kernels on trees

    def __getattr__(self, name: str) -> Any:
        """Return a copy of a field in the CPU's memory."""
        if name not in Tree._fields:
            raise AttributeError(name)
        return self.backend.download(getattr(self.arrays, name))

    def launch(self, kernel: Any, games: np.ndarray, *arguments: object, **out: np.ndarray) -> None:
        """Run a kernel on the device; see `Tree.launch`.

        A kernel that is not in ON_DEVICE, since the device's program lacks it, runs on the CPU, on a copy of the trees.
        Such a kernel only reads the trees, so that nothing is copied back to them.
        """
        if kernel.__name__ not in ON_DEVICE:
            kernel(Tree(*map(self.backend.download, self.arrays)), games, *arguments, **out)
            return
        on_device = [self.backend.upload(array, array.dtype) for array in out.values()]
        other_arguments = flat((*arguments, *on_device), self.backend)
        index = self.backend.upload(games, np.int64)
        self.kernels.launch(kernel.__name__, len(games), *self.as_arguments, index, len(games), *other_arguments)
        for array, written in zip(out.values(), on_device, strict=True):
            array[...] = self.backend.download(written)

    def with_capacity(self, nodes: int) -> "DeviceTree":
        """Return a copy with a capacity of `nodes` nodes per game; see `Tree.with_capacity`."""
        larger = DeviceTree(self.backend, len(self.arrays.used), nodes, self.actions)
        self.arrays.copy_to(larger.arrays)
        self.backend.wait()  # the caller may free these trees, and another stream get their memory, once this returns
        return larger

    def at(self, name: str, games: np.ndarray, nodes: int | np.ndarray = ROOT) -> np.ndarray:
        """Return a field of one node of each of `games`, in the CPU's memory; see `Tree.at`."""
        # The games, and the node of each.
        index = self.backend.upload(games, np.int64), self.backend.upload(np.broadcast_to(nodes, games.shape), np.int64)
        return self.backend.download(getattr(self.arrays, name)[index])

    def bits(self, name: str) -> Any:
        """Return a view of a field on the device as int32; see `Tree.bits`."""
        return self.arrays.bits(name)

    def snapshot(self, game: int) -> list[np.ndarray]:
        """Return a copy of the nodes of a game; see `Tree.snapshot`."""
        return [self.backend.download(array) for array in self.arrays.snapshot(game)]

    def restore(self, game: int, snapshot: list[np.ndarray]) -> None:
        """Replace the tree of a game; see `Tree.restore`."""
        self.arrays.restore(game, [self.backend.upload(array, array.dtype) for array in snapshot])


def flat(values: Any, backend: Backend) -> Iterator[Any]:
    """Yield values one by one, as arguments of a kernel on the device.

    Arrays are uploaded.  An array of several axes is followed by their lengths, without the first: [2, 3, 4] by 3, 4.

    Args:
        values: an array, a number, or a tuple of such values, which may have tuples in it.
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

    A wave is a fixed sequence of kernels on the same arrays, which needs nothing from the CPU.  So on a GPU it is one
    CUDA graph, and all waves of a move are queued at once.  Each chooses the games with simulations left itself.  How
    many of them it has room for is what the same wave of the last moves needed; games without room wait for the next
    wave.  Then the CPU looks once which games have simulations left.  A game has a fixed number of rows in a wave; if
    it finds fewer leaves, the other rows are padding.

    Args:
        batch: the boards.  Their first `games` slots have the root positions, the next `rows` slots the leaves.
        rule: the search rule, which has a `device_select`.
        decisive: whether to look for moves that win at once.
    """

    def __init__(self, batch: Any, rule: SearchRule, games: int, rows: int, decisive: bool) -> None:
        backend, zeros, env = batch.backend, batch.backend.zeros, batch.env
        self.batch, self.rule, self.backend = batch, rule, backend
        # A game with L rows has at most 2 L collisions in a wave (see `waves.select`), so each row has two places.  A
        # place gets only the collision's node, since the place itself tells the game.
        self.buffers = new_wave(rows, env.max_moves + 1, zeros)._replace(collisions=zeros((2 * rows,), np.int32))
        self.slots = backend.upload(np.arange(games, games + rows), np.int64)  # of the rows, behind those of the games
        self.reached = Reached(*(zeros((rows,), dtype) for dtype in (np.bool_, np.int8, np.float32)))
        self.priors, self.values = zeros((rows, env.action_space), np.float32), zeros((rows,), np.float32)
        self.decisive = zeros((rows,), np.int32) if decisive else None
        # What the CPU reads after the waves: of each game the simulations left and the number of broken evaluations,
        # then the `counts` of the kernel `choose_games`.
        self.report = zeros((2 * games + 2 + MOST_WAVES,), np.int32)
        self.budget, self.broken, self.counts = (self.report[part] for part in report_parts(games))
        self.chosen = zeros((games,), np.int64)  # the games of a wave
        # By the number of waves of a run, the share of the run's games that is expected to have simulations left before
        # each wave.
        self.shares: dict[int, np.ndarray] = {}
        # The rule's parameters, as arguments of kernels.  Arrays are copies, into which `prepare` writes later values:
        # graphs read them where they were at first.
        self.parameters = [item.copy() if hasattr(item, "shape") else item for item in flat(rule.parameters, backend)]
        self.tree: Any = None  # the tree of the latest waves
        self.evaluator: Any = None  # and their evaluator
        self.graphs: dict[Any, Any] = {}  # CUDA graphs of waves with these two, by the numbers of games and leaves

    def prepare(self) -> None:
        """Copy the values of the rule's arrays of parameters, for the next waves; their shapes never change."""
        for parameter, value in zip(self.parameters, flat(self.rule.parameters, self.backend), strict=True):
            if hasattr(parameter, "shape"):
                parameter[...] = value

    def run(
        self, tree: DeviceTree, evaluator: Any, budget: np.ndarray, plan: list[int], *, roots: Roots, change: Change
    ) -> int:
        """Run waves, and return the number of broken evaluations.

        Args:
            evaluator: a `WaveEvaluator`.
            budget: int32 [games], the simulations left in each game; reduced by those of the waves.
            plan: for each wave, how many leaves it may have in a game; with `roots` there is only one wave.  Of more
                than MOST_WAVES only the first ones are run.
            roots: see Roots.
            change: see Change.
        """
        if self.tree is not tree or self.evaluator is not evaluator:
            self.tree, self.evaluator, self.graphs = tree, evaluator, {}
        plan = plan[:MOST_WAVES]
        sizes = self.sizes(int(np.count_nonzero(budget)), len(plan)) if roots is None else [0]
        with evaluator.stream():
            self.report[...] = 0
            self.budget[...] = self.backend.upload(budget, np.int32)
            self.buffers.collisions[:] = NONE  # after an error some are left
            for games, leaves in zip(sizes, plan, strict=False):
                if roots is None and change is None:  # otherwise the wave is no CUDA graph
                    evaluator.repeat(partial(self.wave, games, leaves), self.graphs, (games, leaves))
                else:
                    self.wave(games, leaves, roots, change)
            with stopwatch.NET:  # the wait is mostly for the network, so a stopwatch counts it as the network's time
                self.backend.wait()
            report = self.backend.download(self.report)
        budget[:], broken, counts = (report[part] for part in report_parts(len(budget)))
        if roots is None and counts[1] > 0:
            counts[len(sizes) + 1] = np.count_nonzero(budget)  # the games for which there was no further wave
            seen = counts[1 : len(plan) + 1] / counts[1]
            self.shares[len(plan)] = np.maximum(seen, FADING * self.shares.get(len(plan), seen))
        return int(broken.sum())

    def sizes(self, games: int, waves: int) -> list[int]:
        """Return how many games have room in each of the next waves, at least one wave and at most `waves`.

        Args:
            games: the number of games with simulations left.
        """
        expected = self.shares.get(waves, np.ones(waves)) * games
        return [min(round_size(math.ceil(count)), len(self.chosen)) for count in expected[expected > 0.5].tolist()]

    def wave(self, games: int, leaves: int, roots: Roots = None, change: Change = None) -> None:
        """Queue the kernels of one wave: choose leaves, reach and evaluate them, expand them and back them up.

        Padding and the leaves of finished games are evaluated too.

        Args:
            games: the number of games that have room; without meaning if there are `roots`.
            leaves: the rows of each game, the most leaves that it may choose; 1 for roots.
            roots, change: as in `run`.
        """
        games = self.select(games, leaves, roots)
        rows = games * leaves
        # The part of the buffers that this wave uses, with two places for collisions for each row.
        buffers = self.buffers.part(rows=slice(rows), collisions=slice(2 * rows))
        reached = Reached(*(array[:rows] for array in self.reached))
        slots, priors, values = self.slots[:rows], self.priors[:rows], self.values[:rows]
        decisive = None if self.decisive is None else self.decisive[:rows]
        self.batch.reach(Leaves(buffers.game, buffers.path, buffers.length, slots), reached)
        self.evaluator.evaluate(self.batch, slots, priors, values)
        may_change = [priors]
        if decisive is not None:
            self.batch.decisive_moves(slots, decisive)
            may_change.append(decisive)
        if change is not None:
            self.change_on_cpu(change, buffers, reached, may_change)
        if decisive is not None:
            self.tree.kernels.launch("decide", rows, decisive, *flat((priors, values), self.backend), rows)
        evaluated = flat((buffers, reached, priors, values), self.backend)
        self.tree.kernels.launch("expand", games, *self.tree.as_arguments, *evaluated, self.broken, leaves, games)

    def select(self, games: int, leaves: int, roots: Roots) -> int:
        """Queue the kernel that writes the leaves of a wave to `buffers`; return the number of games with rows there.

        Args:
            games, leaves, roots: as in `wave`.
        """
        # `buffers` is an iterator, which one of the two launches uses up.
        launch, trees, buffers = self.tree.kernels.launch, self.tree.as_arguments, flat(self.buffers, self.backend)
        if roots is None:
            every = len(self.chosen)
            launch("choose_games", every, self.budget, every, self.chosen, games, self.counts)
            arguments = (self.chosen, games, self.budget, *self.parameters, *buffers, leaves)
            launch(self.rule.device_select, games, *trees, *arguments)
            return games
        launch("select_roots", len(roots), *trees, self.backend.upload(roots, np.int64), len(roots), *buffers)
        return len(roots)

    def change_on_cpu(self, change: Callable[..., None], wave: Wave, reached: Reached, arrays: list[Any]) -> None:
        """Let a function change arrays of a wave's n rows in copies on the CPU, and copy these back to the device.

        Args:
            arrays: the priors [n, A], and the decisive moves [n] if the search looks for them.
        """
        copies = [self.backend.download(array) for array in arrays]
        change(Wave(*map(self.backend.download, wave)), Reached(*map(self.backend.download, reached)), *copies)
        for array, changed in zip(arrays, copies, strict=True):
            array[...] = self.backend.upload(changed, changed.dtype)


def report_parts(games: int) -> tuple[slice, slice, slice]:
    """Return where in the report of `DeviceWaves` the budget, the broken evaluations and the counts of games are."""
    return slice(games), slice(games, 2 * games), slice(2 * games, None)


def round_size(games: int) -> int:
    """Return the least of 0, 1, 2, 3, 4, 6, 8, 12, 16, 24, … (powers of two, and 3/4 of them) that is at least `games`.

    So waves have few sizes, since a CUDA graph of each size takes a tenth of a second to capture.
    """
    quarter = max(1, (1 << (games - 1).bit_length()) // 4)  # of the least power of two that is enough
    return -(-games // quarter) * quarter  # rounded up to a multiple: 3/4 of that power, or all of it
