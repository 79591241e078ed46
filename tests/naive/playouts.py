"""UCT and RAVE in plain Python, slow and obvious: what the arena's kernels have to agree with.

Positions are `NaiveGo`.  One object per node; who was first on a point is looked up in the game's moves, and wins are
kept as Black's.
"""

import math

import numpy as np

from tests.naive.go import BLACK, EMPTY, WHITE, NaiveGo, is_own_eye

GOLDEN = 0x9E3779B97F4A7C15


class Stream:
    """splitmix64 (Steele, Lea and Flood 2014) with signed shifts: 32 random bits from the middle of each number."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def below(self, limit: int) -> int:
        """Return a number from 0 to `limit` - 1."""
        self.seed = signed(self.seed + GOLDEN)
        return (((mixed(self.seed) >> 16) & 0xFFFFFFFF) * limit) >> 32


def mixed(x: int) -> int:
    """Return splitmix64's finaliser of a signed number."""
    x = signed((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9)
    x = signed((x ^ (x >> 27)) * 0x94D049BB133111EB)
    return x ^ (x >> 31)


def signed(x: int) -> int:
    """Return the low 64 bits as a signed number."""
    return (x + 2**63) % 2**64 - 2**63


class Node:
    def __init__(self, action: int, side: int, amaf_visits: int, amaf_wins: float) -> None:
        self.action = action
        self.side = side  # the colour that plays the action
        self.visits = 0
        self.black_wins = 0.0  # a draw is half of one
        self.amaf_visits = amaf_visits
        self.amaf_wins = amaf_wins  # the side's
        self.children: list[Node] = []

    def wins(self) -> float:
        return self.black_wins if self.side == BLACK else self.visits - self.black_wins


class EmptyPoints:
    """A game's empty points in the order in which they are drawn from: new ones at the end, gaps filled from there.

    A chain is a list of its stones, the head first; what is taken comes back in that order.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.order = list(range(size * size))
        self.board = [EMPTY] * size * size
        self.chains: dict[int, list[int]] = {}  # of each stone

    def copy(self) -> "EmptyPoints":
        twin = EmptyPoints(self.size)
        twin.order, twin.board = list(self.order), list(self.board)
        copies = {id(chain): list(chain) for chain in self.chains.values()}
        twin.chains = {stone: copies[id(chain)] for stone, chain in self.chains.items()}
        return twin

    def play(self, action: int, colour: int) -> None:
        if action == self.size * self.size:
            return
        place = self.order.index(action)
        self.order[place] = self.order[-1]
        self.order.pop()
        self.board[action] = colour
        self.chains[action] = [action]
        for near in self.beside(action):
            if self.board[near] == colour and self.chains[near] is not self.chains[action]:
                self.join(self.chains[action], self.chains[near])
        enemies = [self.chains[near] for near in self.beside(action) if self.board[near] == -colour]
        for i, chain in enumerate(enemies):
            if chain not in enemies[i + 1 :]:
                self.take_dead(chain)
        self.take_dead(self.chains[action])

    def join(self, a: list[int], b: list[int]) -> None:
        if self.liberties(a) < self.liberties(b):
            a, b = b, a
        joined = [a[0], *b[1:], b[0], *a[1:]]
        self.chains |= dict.fromkeys(joined, joined)

    def take_dead(self, chain: list[int]) -> None:
        if self.liberties(chain) == 0:
            for stone in chain:
                self.board[stone] = EMPTY
                self.order.append(stone)

    def liberties(self, chain: list[int]) -> int:
        """Return the pairs of a stone and an empty point beside it."""
        return sum(self.board[near] == EMPTY for stone in chain for near in self.beside(stone))

    def beside(self, point: int) -> list[int]:
        """Return the points left, up, right and down."""
        row, column = divmod(point, self.size)
        near = [(row, column - 1), (row - 1, column), (row, column + 1), (row + 1, column)]
        return [r * self.size + c for r, c in near if 0 <= r < self.size and 0 <= c < self.size]


class NaivePlayoutSearch:
    """A search from `position`, a game that began with an empty board; equivalence 0 is UCT."""

    def __init__(self, position: NaiveGo, seed: int, *, exploration: float, equivalence: float, prior: int) -> None:
        self.position = position
        self.random = Stream(seed)
        self.exploration = exploration
        self.equivalence = equivalence
        self.prior = prior
        self.root = Node(-1, -position.to_play, 0, 0.0)
        self.empties = EmptyPoints(position.env.N)
        for ply, action in enumerate(position.moves):
            self.empties.play(action, WHITE if ply % 2 else BLACK)

    def run(self, playouts: int) -> np.ndarray:
        """Return the visits of the root's actions, int32 [A]."""
        for _ in range(playouts):
            self.simulate()
        visits = np.zeros(self.position.env.action_space, np.int32)
        for child in self.root.children:
            visits[child.action] = child.visits
        return visits

    def simulate(self) -> None:
        game, empties = self.position.copy(), self.empties.copy()
        path = [self.root]
        while not game.is_over():
            node = path[-1]
            if not node.children and (node is self.root or node.visits > 0):
                node.children = self.children_of(game, node is self.root)
            if not node.children:
                break
            path.append(max(node.children, key=lambda child: self.value(node, child)))
            empties.play(path[-1].action, game.to_play)
            game.play(path[-1].action)
        while not game.is_over():
            action = self.random_action(game, empties.order)
            empties.play(action, game.to_play)
            game.play(action)
        begin = len(self.position.moves)
        self.count(path, game.moves[begin:], won(game))

    def children_of(self, game: NaiveGo, is_root: bool) -> list[Node]:
        passing = game.env.pass_action
        mask = game.legal_mask()
        legal = [point for point in range(passing) if game.is_legal(point)]
        points = [point for point in legal if not own_eye(game, point)]
        passes = not points or is_root or (game.moves[-1:] == [passing] and game.env.turns is None)
        if not points and not mask[passing]:
            points, passes = legal, False
        for left in range(len(points), 1, -1):
            k = self.random.below(left)
            points[left - 1], points[k] = points[k], points[left - 1]
        nodes = [Node(point, game.to_play, self.prior, self.prior / 2) for point in points]
        if passes and mask[passing]:
            wins = won(game) if game.to_play == BLACK else 1 - won(game)
            nodes.append(Node(passing, game.to_play, self.prior, self.prior * wins))
        return nodes

    def value(self, node: Node, child: Node) -> float:
        n, m, k = child.visits, child.amaf_visits, self.equivalence
        if k > 0:
            return (child.wins() * (1 + m / k) + child.amaf_wins) / (n + m + n * m / k)
        return child.wins() / n + self.exploration * math.sqrt(math.log(node.visits) / n) if n else math.inf

    def random_action(self, game: NaiveGo, points: list[int]) -> int:
        """Return one of the empty points; those that do not fit are left at the end."""
        for last in range(len(points) - 1, -1, -1):
            k = self.random.below(last + 1)
            point = points[k]
            if not own_eye(game, point) and game.is_legal(point):
                return point
            points[k], points[last] = points[last], points[k]
        return game.env.pass_action

    def count(self, path: list[Node], moves: list[int], black_won: float) -> None:
        for node in path:
            node.visits += 1
            node.black_wins += black_won
        for depth, node in enumerate(path):
            later = moves[depth:]
            for child in node.children:
                played = child.action in later and child.action != self.position.env.pass_action
                if played and later.index(child.action) % 2 == 0:
                    child.amaf_visits += 1
                    child.amaf_wins += black_won if child.side == BLACK else 1 - black_won


def won(game: NaiveGo) -> float:
    """Return 1, 1/2 or 0 for Black, of the board as it stands."""
    return (1 + np.sign(game.score() * game.to_play)) / 2


def own_eye(game: NaiveGo, point: int) -> bool:
    return is_own_eye(game.board, point, game.to_play, game.env.N)
