"""A game with its variations, as files and runs have it; the page keeps it, and sends it back to save it."""

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from alphago.env.game import GameEnv
from alphago.env.go_count import GoCount, count_of
from alphago.env.position import Position
from alphago.system.validation import check_int, is_finite, shown
from alphago.ui.web.new_game import start_from

MOST_NODES = 4000  # of a game with its variations
KEPT_POSITIONS = 400  # most positions in memory; others are computed again from their moves


@dataclass
class Node:
    """A position of the tree: the move that leads to it, and what was found there.

    found: moves of an analysis, the best first, in KataGo's fields and Black's view.
    """

    parent: int  # -1 for the root
    action: int  # -1 for the root
    mover: int  # who played `action`, +1 or -1; 0 for the root
    children: list[int] = field(default_factory=list)
    comment: str = ""
    win_rate: float | None = None  # Black's, 0 .. 1
    score: float | None = None  # Black's margin in points
    visits: int = 0  # of the search that found `win_rate`
    found: list[Mapping[str, Any]] = field(default_factory=list)
    in_file: int = -1  # the number of this node in the file that was opened; -1 if it is not in a file
    loser: int = 0  # who has resigned here, +1 or -1


class GameTree:
    """The positions of a game and its variations, as numbered nodes.

    start: the first position.  names: the players' names by side, "" for unknown ones.
    """

    def __init__(self, start: Position, names: Mapping[int, str] | None = None) -> None:
        self.env: GameEnv = start.env
        self.start = start
        self.names = {1: "", -1: "", **(names or {})}
        self.nodes = [Node(parent=-1, action=-1, mover=0)]
        self.positions: OrderedDict[int, Position] = OrderedDict({0: start})  # of some nodes, see KEPT_POSITIONS
        self.counts: dict[int, GoCount] = {}  # by node, the count of a finished game
        self.end = 0  # the last node of the line on the board
        # These are set for a game from an SGF file:
        self.file = ""  # its text
        self.stated = ""  # the result that the file states, which holds at the end of its main line
        self.loser_in_file = 0  # who resigns there, +1 or -1; 0 if neither side does
        self.remarks: list[str] = []  # sentences about the file for the person who opened it

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

    def play(self, parent: int, action: int | str, mover: int = 0) -> int:
        """Play a move at a node, and return the number of the next one, which is new if the move was not tried before.

        mover: who plays the move, see `Position.give_turn`; 0 for the side to move.
        Raises IllegalMove for an illegal move, ValueError if the tree is full.
        """
        before = self.position_at(parent)
        position = before.give_turn(mover) if mover else before
        action = position.check_action(action)
        for child in self.nodes[parent].children:
            if (self.nodes[child].action, self.nodes[child].mover) == (action, position.to_play):
                return child
        if len(self.nodes) >= MOST_NODES:
            raise ValueError(f"a game with its variations must have at most {MOST_NODES} positions: begin a new one")
        after = position.play(action)
        child = len(self.nodes)
        self.nodes.append(Node(parent, action, position.to_play))
        self.nodes[parent].children.append(child)
        self._keep(child, after)
        return child

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

    # --- as the page has it -----------------------------------------------------------------------

    def view(self) -> dict[str, Any]:
        """Return the tree for the page; `tree_of` reads it."""
        return {
            "names": [self.names[1], self.names[-1]],
            "nodes": [self._node_view(node) for node in self.nodes],
            "end": self.end,
            "file": self.file,
            "stated": self.stated,
            "fileLoser": self.loser_in_file,
            "remarks": self.remarks,
        }

    def _node_view(self, node: Node) -> dict[str, Any]:
        """Return a node for the page, without the fields that have their usual values."""
        move = {} if node.parent < 0 else {"move": self.env.to_text(node.action), "mover": node.mover}
        found = {"win": node.win_rate, "score": node.score, "inFile": node.in_file if node.in_file >= 0 else None}
        told = {"comment": node.comment, "visits": node.visits, "loser": node.loser}
        known = {name: value for name, value in found.items() if value is not None}
        return {"parent": node.parent, **move, **known, **{name: value for name, value in told.items() if value}}


def tree_of(query: Mapping[str, Any], bases: Mapping[str, GameEnv]) -> GameTree:
    """Return the game with its variations that a page sends to be saved.

    query: what `begun` and `GameTree.view` have, and `end`, the last node of the line on the board; nodes may also have
        `dead`, the dead stones of a count, and `found`, the moves of an analysis.
    bases: games by name.  Raises ValueError for anything else, IllegalMove for illegal moves.
    """
    tree = GameTree(start_from(query.get("game"), bases))
    tree.names = dict(zip((1, -1), [text(name) for name in listed(query, "names", 2)], strict=True))
    tree.file, tree.stated = text(query.get("file", "")), text(query.get("stated", ""))
    tree.loser_in_file = check_int("fileLoser", query.get("fileLoser", 0), -1, 1)
    for number, given in enumerate(listed(query, "nodes")):
        if not isinstance(given, Mapping):
            raise ValueError(f"a node must be an object, got {shown(given)}")
        if number > 0:
            parent = check_int("parent", given.get("parent"), 0, number - 1)
            if tree.play(parent, text(given.get("move")), check_int("mover", given.get("mover"), -1, 1)) != number:
                raise ValueError(f"each move must be there once, got {shown(given)}")
        fill_node(tree, number, given)
    tree.end = check_int("end", query.get("end", 0), 0, len(tree.nodes) - 1)
    return tree


def fill_node(tree: GameTree, number: int, given: Mapping[str, Any]) -> None:
    """Set what was found at a node; raise ValueError for anything else."""
    node = tree.nodes[number]
    node.comment = text(given.get("comment", ""))
    node.win_rate, node.score = (None if given.get(key) is None else real(key, given[key]) for key in ("win", "score"))
    node.visits = check_int("visits", given.get("visits", 0), 0)
    node.loser = check_int("loser", given.get("loser", 0), -1, 1)
    node.in_file = check_int("inFile", given.get("inFile", -1), -1)
    node.found = listed(given, "found")
    if given.get("dead") is not None and (count := count_of(tree.position_at(number))) is not None:
        tree.counts[number] = with_dead(count, given["dead"])


def with_dead(count: GoCount, points: object) -> GoCount:
    """Return the count in which the chains at these points are dead; raise ValueError for other points."""
    if not isinstance(points, list):
        raise ValueError(f"dead must be a list of points, got {shown(points)}")
    for point in points:
        if check_int("dead", point, 0) not in count.dead:
            count = count.toggled(point)
    return count


def listed(given: Mapping[str, Any], name: str, count: int | None = None) -> list[Any]:
    """Return a field that is a list, by default an empty one; raise ValueError for others and for another length."""
    value = given.get(name, [])
    if not isinstance(value, list) or count not in (None, len(value)):
        raise ValueError(f"{name} must be a list{'' if count is None else f' of {count}'}, got {shown(value)}")
    return value


def text(value: object) -> str:
    """Return a text; raise ValueError for anything else."""
    if not isinstance(value, str):
        raise ValueError(f"a text must be given, got {shown(value)}")
    return value


def real(name: str, value: object) -> float:
    """Return a number; raise ValueError for anything else."""
    if not is_finite(value):
        raise ValueError(f"{name} must be a number, got {shown(value)}")
    return float(value)
