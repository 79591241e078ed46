"""The search tree of many games, as arrays.

B games, N nodes each, A actions.  A node exists once a simulation has reached it.  The children of a
node are a linked list of the actions tried so far; all other actions wait in the node's row of
`waiting`, of which `next_action` is the one with the greatest prior.  That suffices: untried
actions differ only in their prior, so whatever rule chooses among them takes that one.  A simulation
looks at the children tried, not at all A actions of every node on its way.

A search that begins anew where an earlier one has been (`restart_all`) has no children and no visits, but the
nodes that were evaluated wait in their parents' `cached` lists: their actions wait as untried ones do, and where
one is tried it gets its node and evaluation back.

A node's parent has a smaller index than the node.
"""

from typing import NamedTuple

import numpy as np

from alphago.mcts.kernels.nodes import NONE


class Tree(NamedTuple):
    """Node fields of B games; `value_sum` belongs to the player who chose the node, i.e. its parent's mover."""

    parent: np.ndarray  # int32 [B, N]
    first_child: np.ndarray  # int32 [B, N]
    next_sibling: np.ndarray  # int32 [B, N]
    cached: np.ndarray  # int32 [B, N], first in the list of children that an earlier search reached
    action: np.ndarray  # int32 [B, N], the action that leads here
    next_action: np.ndarray  # int32 [B, N], the waiting action with the greatest prior, or NONE
    state: np.ndarray  # int8 [B, N]
    mover: np.ndarray  # int8 [B, N], +1 or -1, the player to move
    visits: np.ndarray  # int32 [B, N]
    virtual: np.ndarray  # int32 [B, N], simulations on their way through here
    prior: np.ndarray  # float32 [B, N], of the action that leads here
    value: np.ndarray  # float32 [B, N], the evaluation, mover's view
    value_sum: np.ndarray  # float32 [B, N], of the values backed up, chooser's view (root: its own mover)
    waiting: np.ndarray  # float32 [B, N, A], priors of the untried actions, mover's
    used: np.ndarray  # int32 [B], nodes in use


class Wave(NamedTuple):
    """The leaves that a wave chose, a row for each of them.

    The scratch of a search has R rows: as many for each game as a wave may choose leaves there.
    """

    game: np.ndarray  # int64 [R]
    leaf: np.ndarray  # int32 [R], the leaf's node
    path: np.ndarray  # int32 [R, plies], the actions that lead from the root to the leaf
    length: np.ndarray  # int32 [R], how many they are
    collisions: np.ndarray  # int32 [2 R, 2], game and node where a simulation met a leaf of the same wave

    def part(self, rows: slice, collisions: slice) -> "Wave":
        """Return a view of some leaves and collisions."""
        return Wave(self.game[rows], self.leaf[rows], self.path[rows], self.length[rows], self.collisions[collisions])


def new_tree(games: int, nodes: int, actions: int) -> Tree:
    """Return trees of one unevaluated root each, with room for `nodes` nodes a game."""
    integers = {name: np.zeros((games, nodes), np.int32) for name in ("action", "next_action", "visits", "virtual")}
    links = {
        name: np.full((games, nodes), NONE, np.int32) for name in ("parent", "first_child", "next_sibling", "cached")
    }
    floats = {name: np.zeros((games, nodes), np.float32) for name in ("prior", "value", "value_sum")}
    small = {name: np.zeros((games, nodes), np.int8) for name in ("state", "mover")}
    waiting = np.zeros((games, nodes, actions), np.float32)
    return Tree(**integers, **links, **floats, **small, waiting=waiting, used=np.ones(games, np.int32))


def grown(tree: Tree, nodes: int) -> Tree:
    """Return the same trees with room for `nodes` nodes a game."""
    games, before, actions = tree.waiting.shape
    larger = new_tree(games, nodes, actions)
    for old, new in zip(tree[:-1], larger[:-1], strict=True):
        new[:, :before] = old
    larger.used[:] = tree.used
    return larger


def new_wave(rows: int, plies: int) -> Wave:
    """Return room for `rows` leaves, none of them deeper than `plies`."""
    return Wave(
        game=np.zeros(rows, np.int64),
        leaf=np.zeros(rows, np.int32),
        path=np.zeros((rows, plies), np.int32),
        length=np.zeros(rows, np.int32),
        collisions=np.zeros((2 * rows, 2), np.int32),
    )
