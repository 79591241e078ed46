"""Gumbel search in plain Python (Danihelka et al. 2022), slow and obvious, over the naive search's tree."""

import math

import numpy as np

from alphago.env.position import Position
from tests.naive.puct import Evaluation, NaiveSearch, Node


class NaiveGumbel(NaiveSearch):
    """Sequential halving at the root, visits that follow the improved policy below it."""

    def __init__(
        self,
        position: Position,
        evaluate: Evaluation,
        gumbel: np.ndarray,
        *,
        considered: int,
        c_visit: float,
        c_scale: float,
        leaves: int = 1,
    ) -> None:
        super().__init__(position, evaluate, leaves=leaves)
        self.gumbel = gumbel
        self.considered = considered
        self.c_visit = c_visit
        self.c_scale = c_scale

    def run(self, readouts: int) -> None:
        self.expand_root()
        root = self.root
        ranked = sorted(root.priors, key=lambda a: self.gumbel[a] + math.log(root.priors[a]), reverse=True)
        for action in ranked[: min(self.considered, readouts)]:
            root.children[action] = Node(root.position.play(action), root.priors[action])
        self.due = self.visits_due(len(root.children), readouts)
        while readouts > 0:
            readouts = self.wave(readouts)

    @staticmethod
    def visits_due(candidates: int, readouts: int) -> list[int]:
        """The visits that the candidate of each simulation has before it, if none of them were a surprise."""
        counts = [0] * candidates
        remaining, due = candidates, []
        phases = max(1, math.ceil(math.log2(candidates)))
        while len(due) < readouts:
            for _ in range(max(1, readouts // (phases * remaining))):
                for i in range(remaining):
                    due.append(counts[i])
                    counts[i] += 1
            remaining = min(candidates, max(2, remaining // 2))
        return due[:readouts]

    def best_child(self, node: Node) -> Node:
        return self.candidate() if node is self.root else super().best_child(node)

    def candidate(self) -> Node:
        """The best by root score of the candidates that have the visits which are due (or else the fewest)."""
        children = self.root.children
        count = {action: child.visits + child.virtual for action, child in children.items()}
        done = sum(count.values())
        right = [action for action in children if done < len(self.due) and count[action] == self.due[done]]
        fewest = [action for action in children if count[action] == min(count.values())]
        return children[max(right or fewest[-1:], key=self.root_score)]

    def root_score(self, action: int) -> float:
        child = self.root.children[action]
        score = float(self.gumbel[action]) + math.log(child.prior)
        return score + (self.scale(self.root) * self.q(self.root, action) if child.visits else 0.0)

    def q(self, node: Node, action: int) -> float:
        """The value of an action, mover's view; of one not visited, the mixed value."""
        child = node.children.get(action)
        if child is not None and child.visits:
            return node.mover * float(child.black_sum) / child.visits
        visited = [child for child in node.children.values() if child.visits]
        visits = sum(child.visits for child in visited)
        if not visits:
            return float(node.value)
        priors = sum(float(child.prior) for child in visited)
        mean = sum(float(c.prior) * node.mover * float(c.black_sum) / c.visits for c in visited) / priors
        return (float(node.value) + visits * mean) / (1 + visits)

    def scale(self, node: Node) -> float:
        most = max((child.visits for child in node.children.values()), default=0)
        return (self.c_visit + most) * self.c_scale / 2

    def improved(self, node: Node) -> dict[int, float]:
        """softmax(logits + sigma(completed q)) over the legal actions."""
        logits = {a: math.log(p) + self.scale(node) * self.q(node, a) for a, p in node.priors.items()}
        highest = max(logits.values())
        total = sum(math.exp(logit - highest) for logit in logits.values())
        return {action: math.exp(logit - highest) / total for action, logit in logits.items()}

    def score(self, node: Node, action: int) -> float:
        """How far an action's share of visits lags behind the improved policy."""
        child = node.children.get(action)
        visits = child.visits + child.virtual if child is not None else 0
        return self.improved(node)[action] - visits / (node.visits + node.virtual)
