"""A game with its variations: every move that was tried, and what an analysis said there."""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field

from alphago.env.game import GameEnv
from alphago.env.go_count import GoCount
from alphago.env.position import Position
from alphago.records.sgf.document import SgfDocument
from alphago.system.validation import check_int
from alphago.ui.web.wire import LEAST_VISITS, AnalysisView

MOST_NODES = 4000  # of a game with its variations
KEPT_POSITIONS = 400  # most positions in memory; others are computed again from their moves


@dataclass
class Node:
    """A position of the tree: the move that leads to it, and what was found there.

    analysis: of this position's analyses that with the most visits, as it was sent to the page.
    """

    parent: int  # -1 for the root
    action: int  # -1 for the root
    mover: int  # who played `action`, +1 or -1; 0 for the root
    children: list[int] = field(default_factory=list)
    chosen: int = -1  # the child that was looked at last
    comment: str = ""
    analysis: AnalysisView | None = None
    win_rate: float | None = None  # Black's, 0 .. 1
    score: float | None = None  # Black's margin in points
    mean: tuple[float, float | None] | None = None  # win rate and score as means of all simulations; None if unknown
    visits: int = 0  # of the search that found `win_rate`
    in_file: int = -1  # the number of this node in the file that was opened; -1 if it is not in a file

    def remember(self, analysis: AnalysisView) -> AnalysisView:
        """Store an analysis, unless the node's own has more visits; return the analysis that the node then has."""
        if self.analysis is None or self.visits <= analysis["visits"]:
            self.analysis = analysis
            self.win_rate, self.score, self.mean = analysis["win"], analysis["score"], analysis["mean"]
            self.visits = analysis["visits"]
        return self.analysis


class GameTree:
    """All positions of a game that were reached, as numbered nodes; node `current` is on the board."""

    def __init__(self, env: GameEnv, start: Position) -> None:
        self.env = env
        self.nodes = [Node(parent=-1, action=-1, mover=0)]
        self.current = 0
        self.start = start
        self.positions: OrderedDict[int, Position] = OrderedDict({0: start})  # of some nodes, see KEPT_POSITIONS
        self.resigned: dict[int, int] = {}  # by node, who has resigned there, +1 or -1
        self.counts: dict[int, GoCount] = {}  # by node, the count of a finished game
        # These are set for a game from an SGF file:
        self.document: SgfDocument | None = None  # the file
        self.stated: str = ""  # the result that the file states, which holds at the end of its main line
        self.loser_in_file = 0  # who resigns there, +1 or -1; 0 if neither side does
        self.remarks: list[str] = []  # sentences about the file for the person who opened it

    @property
    def position(self) -> Position:
        """The position on the board."""
        return self.position_at(self.current)

    def position_at(self, number: int) -> Position:
        """Return the position of a node; compute it from the nearest ancestor whose position is in memory."""
        missing = []
        ancestor = number
        while ancestor not in self.positions:
            missing.append(ancestor)
            ancestor = self.nodes[ancestor].parent
        position = self.positions[ancestor]
        for descendant in reversed(missing):
            node = self.nodes[descendant]
            position = position.give_turn(node.mover).play(node.action)
            self._keep(descendant, position)
        return position

    def play(self, action: int | str, mover: int = 0) -> int:
        """Play a move on the board, and return the number of its node, which is new if the move was not tried before.

        mover: who plays the move, see `Position.give_turn`; 0 for the side to move.
        Raises IllegalMove for an illegal move, ValueError if the tree is full.
        """
        position = self.position.give_turn(mover) if mover else self.position
        action = position.check_action(action)
        node = self.nodes[self.current]
        move = (action, position.to_play)
        tried = [child for child in node.children if (self.nodes[child].action, self.nodes[child].mover) == move]
        child = tried[0] if tried else self._add_child(position, action)
        node.chosen = self.current = child
        return child

    def _add_child(self, position: Position, action: int) -> int:
        """Add a child to the node on the board, and return its number; raise ValueError if the tree is full.

        position: the node's position, in which the side that plays `action` is to move.
        """
        if len(self.nodes) >= MOST_NODES:
            raise ValueError(f"a game with its variations must have at most {MOST_NODES} positions: begin a new one")
        after = position.play(action)
        child = len(self.nodes)
        self.nodes.append(Node(self.current, action, position.to_play))
        self.nodes[self.current].children.append(child)
        self._keep(child, after)
        return child

    def go_to(self, number: int) -> None:
        """Put a node's position on the board; raise ValueError if there is no such node."""
        self.current = check_int("node", number, 0, len(self.nodes) - 1)
        for child in reversed(self.path()[1:]):
            self.nodes[self.nodes[child].parent].chosen = child

    def after_move(self, number: int) -> tuple[tuple[float, float | None] | None, bool]:
        """Return what a node is worth after the move that led there, and whether few visits say what that move loses.

        Black's win rate and score are those of the search that visited the move more, the node's own or its parent's.
        The best move of the parent's search is worth what its position is: it loses nothing.
        """
        node = self.nodes[number]
        own = None if node.win_rate is None else (node.win_rate, node.score)
        mean, visits = node.mean or own, node.visits
        if node.parent < 0:
            return mean, False
        parent = self.nodes[node.parent]
        analysis = parent.analysis
        moves = analysis["moves"] if analysis and analysis["mover"] == node.mover else []  # the best first
        for rank, move in enumerate(moves):
            win, score = move["win"], move["score"]
            if move["move"] != node.action or win is None:
                continue
            is_best = rank == 0
            if is_best or move["visits"] >= visits:
                visits = move["visits"]
                mean = (win if node.mover > 0 else round(1 - win, 4), None if score is None else node.mover * score)
        return mean, min(parent.visits, visits) < LEAST_VISITS

    def path(self, number: int | None = None) -> list[int]:
        """Return the numbers of the nodes from the root to node `number`; None stands for the node on the board."""
        number = self.current if number is None else number
        nodes = []
        while number >= 0:
            nodes.append(number)
            number = self.nodes[number].parent
        return nodes[::-1]

    def line(self) -> list[int]:
        """Return the numbers of the current line's nodes: from the root to `current`, then on by `next_of`."""
        nodes = self.path()
        while (child := self.next_of(nodes[-1])) is not None:
            nodes.append(child)
        return nodes

    def next_of(self, number: int) -> int | None:
        """Return the number of a node's child that was on the board last, or else of its first child.

        Returns None if the node has no children.
        """
        node = self.nodes[number]
        if node.chosen in node.children:
            return node.chosen
        return node.children[0] if node.children else None

    def loser(self) -> int:
        """Return who has resigned at the position on the board, +1 or -1; 0 if neither side has."""
        return self.resigned.get(self.current, 0)

    def is_over(self) -> bool:
        """Return whether the game is over at the position on the board, by its rules or by a resignation."""
        return bool(self.loser()) or self.position.is_over

    def main_line(self) -> Iterator[int]:
        """Yield the numbers of the root's first child, of that node's first child, and so on."""
        node = self.nodes[0]
        while node.children:
            yield node.children[0]
            node = self.nodes[node.children[0]]

    def _keep(self, number: int, position: Position) -> None:
        self.positions[number] = position
        while len(self.positions) > KEPT_POSITIONS:
            oldest = next(key for key in self.positions if key != 0)
            del self.positions[oldest]
