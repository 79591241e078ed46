"""The search trees of many games, as arrays.

B games, N nodes each, A actions. A node exists once a simulation has reached it. The children of a node are a linked
list of the actions tried so far. `waiting` has the priors of the untried actions, and `next_action` is the untried
action with the greatest prior. No other untried action is needed: they differ only in their priors, so any rule that
chooses an untried action chooses `next_action`. Thus a simulation looks at the children only, not at all A actions of
every node.

A search that is restarted in an earlier search's tree (`restart_all`) begins without children and visits, but evaluated
nodes stay in the `cached` lists of their parents. Their actions count as untried. When such an action is tried, it gets
its node and evaluation back.

A wave is a set of simulations whose leaves are evaluated together; until then the nodes on their paths have virtual
visits. The parent of a node has a smaller index than the node.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from alphago.mcts.kernels import nodes
from alphago.mcts.kernels.nodes import NONE, ROOT


class Tree(NamedTuple):
    """The nodes of B games.

    `value_sum` is from the view of the player who moved to the node, the mover of the node's parent; at the root it is
    from the view of the root's mover.
    """

    parent: np.ndarray  # int32 [B, N]
    first_child: np.ndarray  # int32 [B, N]
    next_sibling: np.ndarray  # int32 [B, N]
    cached: np.ndarray  # int32 [B, N], first node in the list of children that an earlier search evaluated
    action: np.ndarray  # int32 [B, N], the action that leads here
    next_action: np.ndarray  # int32 [B, N], the untried action with the greatest prior, or NONE
    state: np.ndarray  # int8 [B, N], NEW and so on, see kernels/nodes.py
    mover: np.ndarray  # int8 [B, N], +1 or -1, the player to move
    visits: np.ndarray  # int32 [B, N]
    virtual: np.ndarray  # int32 [B, N], simulations of the current wave that passed here
    prior: np.ndarray  # float32 [B, N], of the action that leads here
    value: np.ndarray  # float32 [B, N], the evaluation, from the view of `mover`
    value_sum: np.ndarray  # float32 [B, N], sum of the values backed up
    score: np.ndarray  # float32 [B, N], the forecast margin in points, from the view of `mover`; NaN if unknown
    owners: np.ndarray  # int8 [B, N, P], the forecast ownership, from the view of `mover`, times OWNERS; P = 0 if none
    waiting: np.ndarray  # float32 [B, N, A], priors of the untried actions, TAKEN for tried ones
    used: np.ndarray  # int32 [B], number of nodes in use

    def launch(self, kernel: Callable[..., object], games: np.ndarray, *arguments: object, **out: np.ndarray) -> None:
        """Run a kernel on the trees of `games` (int64 [n]), wherever the trees are.

        Args:
            arguments: what the kernel reads.
            out: the arrays that it writes, in the CPU's memory.
        """
        kernel(self, games, *arguments, **out)

    def with_capacity(self, nodes: int) -> "Tree":
        """Return a copy of the trees with a capacity of `nodes` nodes per game."""
        larger = new_tree(len(self.used), nodes, self.actions, points=self.owners.shape[2])
        self.copy_to(larger)
        return larger

    def copy_to(self, larger: "Tree") -> None:
        """Copy the nodes of all games to trees that have room for as many nodes or more."""
        for field, copy in zip(self[:-1], larger[:-1], strict=True):  # all but the last field, `used`
            copy[:, : field.shape[1]] = field
        larger.used[:] = self.used

    @property
    def actions(self) -> int:
        """The number of actions of the game."""
        return int(self.waiting.shape[2])

    def at(self, name: str, games: np.ndarray, nodes: int | np.ndarray = ROOT) -> np.ndarray:
        """Return a field of one node of each of `games` (int64 [n]), such as `at("visits", games)` of the roots.

        Args:
            name: of the field.
            nodes: the node of each game, int [n]; one number for all games.
        """
        return getattr(self, name)[games, nodes]

    def bits(self, name: str) -> np.ndarray:
        """Return a view of an int32 or float32 field as int32, [B, N], so that one kernel reads both."""
        return getattr(self, name).view(np.int32)

    def snapshot(self, game: int) -> list[np.ndarray]:
        """Return a copy of the nodes that a game uses: an array for each field but `used`, [n], [n, P] or [n, A]."""
        used = int(self.used[game])
        return [array[game, :used].copy() for array in self[:-1]]

    def restore(self, game: int, snapshot: list[np.ndarray]) -> None:
        """Replace the tree of a game by a snapshot, for which there must be room."""
        for field, copy in zip(self[:-1], snapshot, strict=True):  # all but `used`, which is the copies' length
            field[game, : len(copy)] = copy
        self.used[game] = len(snapshot[0])


class Wave(NamedTuple):
    """The leaves that a wave chose, one row per leaf.  The buffers have R rows, `SearchSettings.leaves` per game."""

    game: np.ndarray  # int64 [R]
    leaf: np.ndarray  # int32 [R], the leaf's node
    path: np.ndarray  # int32 [R, plies], the actions that lead from the root to the leaf
    length: np.ndarray  # int32 [R], the number of these actions
    collisions: np.ndarray  # int32 [2 R, 2], a game and the leaf of the same wave at which a simulation has ended

    def part(self, rows: slice, collisions: slice) -> "Wave":
        """Return a view of the wave that has only these rows and these collisions."""
        return Wave(self.game[rows], self.leaf[rows], self.path[rows], self.length[rows], self.collisions[collisions])


def new_tree(games: int, nodes: int, actions: int, points: int = 0) -> Tree:
    """Return trees that have one unevaluated root each, with a capacity of `nodes` nodes per game.

    Args:
        points: the number of points whose ownership is forecast.
    """
    shape = (games, nodes)
    integers = {name: np.zeros(shape, np.int32) for name in ("action", "next_action", "visits", "virtual")}
    links = {name: np.full(shape, NONE, np.int32) for name in ("parent", "first_child", "next_sibling", "cached")}
    floats = {name: np.zeros(shape, np.float32) for name in ("prior", "value", "value_sum")}
    small = {name: np.zeros(shape, np.int8) for name in ("state", "mover")}
    waiting, used = np.zeros((*shape, actions), np.float32), np.ones(games, np.int32)
    score, owners = np.full(shape, np.nan, np.float32), np.zeros((*shape, points), np.int8)
    return Tree(**integers, **links, **floats, **small, score=score, owners=owners, waiting=waiting, used=used)


def new_wave(rows: int, plies: int, zeros: Callable[..., Any] = np.zeros) -> Wave:
    """Return buffers for `rows` leaves at depths of at most `plies`.

    Args:
        zeros: makes an array of zeros of a shape and a dtype, in the CPU's memory or on a device.
    """
    shapes = ((rows,), (rows, plies), (rows,), (2 * rows, 2))  # of leaf, path, length and collisions
    return Wave(zeros((rows,), np.int64), *(zeros(shape, np.int32) for shape in shapes))


def only_child(tree: Tree, games: np.ndarray) -> np.ndarray:
    """Return whether the root of each of `games` (int64 [n]) has exactly one child, bool [n]."""
    first = tree.at("first_child", games)  # where it is NONE, the next line reads a node that does not matter
    return (first != NONE) & (tree.at("next_sibling", games, first) == NONE)


def read_children(tree: Tree, games: np.ndarray, name: str, out: np.ndarray) -> np.ndarray:
    """Return `out`, with a field of each child of the roots written to the entry of its action.

    Args:
        games: int64 [n].
        name: of an int32 or float32 field.
        out: [n, A], of the field's dtype; the entries of actions without a child stay.
    """
    # Floats are copied as the int32 with the same bits, so that the kernel is compiled for one dtype.
    tree.launch(nodes.read_children, games, tree.bits(name), out=out.view(np.int32))
    return out


def root_visits(tree: Tree, games: np.ndarray) -> np.ndarray:
    """Return the number of visits of each action at each root, int32 [n, A]."""
    return read_children(tree, games, "visits", np.zeros((len(games), tree.actions), np.int32))


def root_priors(tree: Tree, games: np.ndarray) -> np.ndarray:
    """Return the prior of each action at each root, float32 [n, A]; 0 for illegal actions."""
    untried = np.maximum(tree.at("waiting", games), np.float32(0))  # TAKEN is negative
    return read_children(tree, games, "prior", untried)
