"""The kernels' trees beside the naive search's, and positions to search from."""

import numpy as np

from alphago import GameBatch, GameEnv, Position, SearchSettings
from alphago.mcts.evaluator import Evaluator, HashEvaluator
from alphago.mcts.kernels.nodes import EXPANDED, NONE, ROOT, TERMINAL
from alphago.mcts.search import Search
from alphago.mcts.tree import Tree
from tests.naive.puct import NaiveSearch, Node

ONE = np.zeros(1, np.int64)


class Counting(HashEvaluator):
    """Knows how many positions it was asked for, each time."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        assert not batch.is_over(slots, np.empty(len(slots), np.bool_)).any()
        self.sizes.append(len(slots))
        super().evaluate(batch, slots, priors, values)


def random_position(env: GameEnv, plies: int, random: np.random.Generator) -> Position:
    """A position after up to `plies` random moves, not over; a pass only where nothing else is legal."""
    position = env.position()
    for _ in range(plies):
        legal = np.flatnonzero(position.legal_mask)
        others = legal[legal != env.pass_action] if env.pass_action is not None else legal
        after = position.play(int(random.choice(others if len(others) else legal)))
        if after.is_over:
            break
        position = after
    return position


def search_from(positions: list[Position], evaluator: Evaluator, settings: SearchSettings) -> Search:
    """A search with one game per position."""
    search = Search(positions[0].env, evaluator, len(positions), settings)
    for game, position in enumerate(positions):
        search.batch.copy(ONE, np.array([game]), of=position.batch)
    return search


def run(search: Search, readouts: int | list[int]) -> np.ndarray:
    """Searches all games; the visits int32 [games, A]."""
    search.run(np.full(search.games, readouts, np.int32) if isinstance(readouts, int) else np.array(readouts, np.int32))
    return search.visits(np.arange(search.games))


def improved(search: Search, games: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The policies [n, A] and actions [n] that Gumbel searches end with."""
    return search.selfplay_moves(games, np.zeros(len(games), np.bool_), [])


def children(tree: Tree, game: int, node: int) -> dict[int, int]:
    """Action to child."""
    found = {}
    child = int(tree.first_child[game, node])
    while child != NONE:
        found[int(tree.action[game, child])] = child
        child = int(tree.next_sibling[game, child])
    return found


def assert_same(ours: Search, theirs: Search) -> None:
    """Every word of the trees that is in use."""
    for name in Tree._fields:
        one, other = getattr(ours.tree, name), getattr(theirs.tree, name)
        for game, used in enumerate(ours.tree.used):
            rows = slice(used) if one.ndim > 1 else ()
            assert np.array_equal(one[game][rows], other[game][rows], equal_nan=True), name


def assert_same_tree(search: Search, game: int, naive: NaiveSearch) -> None:
    """Every node of a game with every field, and no node besides."""
    nodes = assert_same_node(search.tree, game, ROOT, naive.root, naive.root.mover)
    assert search.tree.used[game] == nodes


def assert_same_node(tree: Tree, game: int, node: int, twin: Node, chooser: int) -> int:
    """Compares a node and all below it; returns how many there are."""
    where = f"{twin.position.describe()}, node {node}"
    assert tree.visits[game, node] == twin.visits, where
    assert tree.virtual[game, node] == twin.virtual == 0, where
    assert tree.value_sum[game, node] == chooser * twin.black_sum, where
    below = children(tree, game, node)
    if not twin.evaluated:
        assert not below, where
        return 1
    assert tree.state[game, node] == (EXPANDED if twin.priors else TERMINAL), where
    assert tree.mover[game, node] == twin.mover, where
    assert tree.value[game, node] == twin.value, where
    assert below.keys() == twin.children.keys(), where
    count = 1
    for action, child in below.items():
        assert tree.parent[game, child] == node < child, where
        assert tree.prior[game, child] == twin.children[action].prior, where
        count += assert_same_node(tree, game, child, twin.children[action], twin.mover)
    if twin.priors:
        untried = {action: prior for action, prior in twin.priors.items() if action not in below}
        waiting = tree.waiting[game, node]
        assert {action: waiting[action] for action in np.flatnonzero(waiting > 0)} == untried, where
        best = min(untried, key=lambda action: (-untried[action], action), default=NONE)
        assert tree.next_action[game, node] == best, where
    return count
