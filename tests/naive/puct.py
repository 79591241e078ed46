"""PUCT search in plain Python, slow and obvious: what the search kernels have to agree with.

One object per node, every action looked at every time.  Values are summed in Black's view, where the
kernels keep each node's sum in its chooser's view: a lost sign shows.  Single precision is used where
the kernels store it, so that the two agree to the last bit.
"""

import math
from collections.abc import Callable

import numpy as np

from alphago.env.position import Position
from alphago.mcts.evaluator import Evaluator

ONLY_SLOT = np.zeros(1, np.int64)  # of a position's batch

# Priors float32 [A] and the value, both as the player about to move sees them.
Evaluation = Callable[[Position], tuple[np.ndarray, np.float32]]


def one_by_one(evaluator: Evaluator) -> Evaluation:
    """An evaluator of batches as a function of one position."""

    def evaluate(position: Position) -> tuple[np.ndarray, np.float32]:
        priors = np.empty((1, position.env.action_space), np.float32)
        values = np.empty(1, np.float32)
        evaluator.evaluate(position.batch, ONLY_SLOT, priors, values)
        return priors[0], values[0]

    return evaluate


class Node:
    """A position that a simulation has reached."""

    def __init__(self, position: Position, prior: np.float32) -> None:
        self.position = position
        self.prior = prior  # of the action that leads here
        self.evaluated = False
        self.pending = False  # chosen in the present wave
        self.value = np.float32(0)  # its evaluation, the mover's view
        self.priors: dict[int, np.float32] = {}  # of its actions; none for an illegal one or a finished game
        self.children: dict[int, Node] = {}
        self.visits = 0
        self.virtual = 0
        self.black_sum = np.float32(0)  # of the values backed up, Black's view

    @property
    def mover(self) -> int:
        return self.position.to_play


class NaiveSearch:
    """The search of one game; the keywords are those of `SearchSettings`."""

    def __init__(
        self,
        position: Position,
        evaluate: Evaluation,
        *,
        c_puct: float = 0.96,
        parent_value_weight: float = 1.0,
        first_play_reduction: float = 0.0,
        virtual_loss: int = 1,
        leaves: int = 1,
    ) -> None:
        self.evaluate = evaluate
        self.c_puct = c_puct
        self.parent_value_weight = parent_value_weight
        self.first_play_reduction = first_play_reduction
        self.virtual_loss = virtual_loss
        self.leaves = leaves
        self.root = Node(position, np.float32(0))

    def run(self, readouts: int) -> None:
        """Adds `readouts` simulations; the root's own evaluation, where it is missing, is one more."""
        self.expand_root()
        while readouts > 0:
            readouts = self.wave(readouts)

    def expand_root(self) -> None:
        if not self.root.evaluated:
            self.finish([self.root])

    def wave(self, budget: int) -> int:
        """Chooses leaves, then evaluates them; returns the budget left."""
        paths: list[list[Node]] = []
        collisions: list[list[Node]] = []
        attempts = 0
        while len(paths) < self.leaves and attempts < 2 * self.leaves and budget > 0:
            path = [self.root]
            while path[-1].priors:
                path.append(self.best_child(path[-1]))
            leaf = path[-1]
            if leaf.evaluated:  # the game is over there
                self.back_up(path)
                budget -= 1
                continue
            attempts += 1
            for node in path:
                node.virtual += 1
            if leaf.pending:
                collisions.append(path)
                continue
            leaf.pending = True
            paths.append(path)
            budget -= 1
        for path in paths:
            self.finish(path)
        for path in paths + collisions:
            for node in path:
                node.virtual -= 1
        return budget

    def best_child(self, node: Node) -> Node:
        """The child with the best score among all actions; it is made if it does not exist."""
        best = max(node.priors, key=lambda action: (self.score(node, action), -action))
        if best not in node.children:
            node.children[best] = Node(node.position.play(best), node.priors[best])
        return node.children[best]

    def score(self, node: Node, action: int) -> float:
        """Q + U (see `choose_puct`); an action without a child has no visits."""
        child = node.children.get(action)
        visits, total, lost = 0, 0.0, 0
        if child is not None:
            lost = self.virtual_loss * child.virtual
            visits = child.visits + lost
            total = node.mover * float(child.black_sum) - lost
        weight = visits + self.parent_value_weight
        own = self.parent_value_weight * float(node.value)
        mean = (total + own) / weight if weight > 0 else 0.0
        if child is None:
            mean -= self.first_play_reduction * math.sqrt(self.tried(node))
        explore = self.c_puct * math.sqrt(node.visits + self.virtual_loss * node.virtual)
        return mean + explore * float(node.priors[action]) / (1.0 + visits)

    def tried(self, node: Node) -> float:
        """The priors of the actions with children in all, the latest first, as the kernel adds them."""
        return sum(float(child.prior) for child in reversed(node.children.values()))

    def finish(self, path: list[Node]) -> None:
        """Evaluates the leaf at the end of a path and backs it up."""
        leaf = path[-1]
        if leaf.position.is_over:
            leaf.value = leaf.position.batch.outcome(ONLY_SLOT, np.empty(1, np.float32))[0]
        else:
            priors, leaf.value = self.evaluate(leaf.position)
            leaf.priors = {action: prior for action, prior in enumerate(priors) if prior > 0}
        leaf.evaluated = True
        leaf.pending = False
        self.back_up(path)

    def back_up(self, path: list[Node]) -> None:
        leaf = path[-1]
        for node in path:
            node.visits += 1
            node.black_sum += leaf.mover * leaf.value

    def advance(self, action: int) -> None:
        """The child of `action` is the new root; all that is not below it is dropped."""
        child = self.root.children.get(action)
        self.root = child or Node(self.root.position.play(action), np.float32(0))

    @property
    def root_value(self) -> float:
        """The mean of the values backed up, mover's view."""
        return self.root.mover * float(self.root.black_sum) / self.root.visits

    def visits(self) -> np.ndarray:
        """Visits of the root's actions, int32 [A]."""
        visits = np.zeros(self.root.position.env.action_space, np.int32)
        for action, child in self.root.children.items():
            visits[action] = child.visits
        return visits
