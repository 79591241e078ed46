"""Parse SGF texts, damaged ones too, into nodes, property values and lines of play, and write nodes as text.

One pass over the tokens or nodes with an explicit stack: no recursion, and linear time for any text.

Source: "SGF file format FF[4]", https://www.red-bean.com/sgf/; in older files (FF[1] to FF[3]) the names of properties
contain lower-case letters, which are ignored.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

Node = dict[str, list[str]]  # raw values by property

MOST_NODES = 400_000  # in one game: the largest collections of openings have a hundred thousand
MOST_VALUES = 2_000_000  # in one game
MOST_IN_LINES = 2_000_000  # nodes, set-up stones and text in all lines of a game together; lines share nodes
LEAST_IN_LINE = 20  # nodes: a shorter line counts as so many, since each line takes some time whatever its length
CHARACTERS_PER_NODE = 100  # so many characters of values count as much as a node
SET_UPS = ("AB", "AW", "AE")
LINE_LENGTH = 79  # most bytes of a line of written text; a property that is longer stays on one line

# A token is a value, a bracket or semicolon, or a name.  The second group is "" if the value is not closed.  Possessive
# quantifiers (++, *+) keep the time linear for unclosed values.
TOKEN = re.compile(r"\[((?:[^\\\]]++|\\.)*+)(\]?)|([();])|([A-Za-z][A-Za-z0-9]*+)", re.DOTALL)
BEGIN = re.compile(r"\(\s*(?:;|(?=[A-Za-z]{1,12}\s*\[))")  # "(;", or "(" before a property without its semicolon
FIRST_BRACKET_MISSING = re.compile(r"\s*;\s*[A-Za-z]{1,12}\s*\[")  # a text that begins with ";" instead of "(;"
# What may follow the end of a value.
AFTER_VALUE = re.compile(r"\s*+(?:[\[();]|[A-Za-z][A-Za-z0-9]*+\s*+\[|\Z)")
# The rest of a value, up to the next closing bracket, after a bracket that did not end it.
REST = re.compile(r"((?:[^\\\]]++|\\.)*+)\]", re.DOTALL)
LOWER = re.compile("[a-z]")
END_OF_VARIATION = -1  # in place of a node's number in `format_tree`
ESCAPED = re.compile(r"\\(?:\r\n|\n\r|[\r\n]|(.))", re.DOTALL)  # a line break that is escaped is no part of a text
BREAKS = re.compile(r"\r\n|\n\r|\r")


@dataclass
class SgfTree:
    """One game of a file: its nodes in the order of the file.

    Attributes:
        nodes: for each node, its raw values by property.
        parents: for each node, the number of its parent; -1 for the root.
        complete: whether its last bracket was found; False for a truncated file.
        too_long: whether nodes beyond MOST_NODES, or values beyond MOST_VALUES, were left out.
        end: index in the text where the game ends.
    """

    nodes: list[Node] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    complete: bool = False
    too_long: bool = False
    end: int = 0

    def main_line(self) -> list[int]:
        """Return the numbers of the nodes of the main line, which goes from the root to the first child of each."""
        line = [-1]  # the parent of the root
        for number, parent in enumerate(self.parents):
            if parent == line[-1]:  # its first child: once that is in the line, the others no longer match
                line.append(number)
        return line[1:]

    def lines(self) -> Iterator[list[int] | int]:
        """Yield the numbers of the nodes of every line, from the root to a leaf; the main line first.

        Lines share nodes, so the lines of a game of N nodes can have N^2 nodes in all.  The size of a line is its
        number of nodes, in which a set-up stone counts as a node, and so do CHARACTERS_PER_NODE characters of values.
        If the sizes of all lines add up to more than MOST_IN_LINES, the last thing yielded is an int: how many lines
        are left out.
        """
        with_children = set(self.parents)
        leaves = [number for number in range(len(self.nodes)) if number not in with_children]
        sizes: list[int] = []  # for each node, the size of the line from the root to the node
        for node, parent in zip(self.nodes, self.parents, strict=True):  # a parent comes before its children
            stones = sum(len(node[name]) for name in SET_UPS if name in node)
            text = sum(len(value) for values in node.values() for value in values)
            sizes.append(1 + stones + text // CHARACTERS_PER_NODE + (sizes[parent] if parent >= 0 else 0))
        size_left = MOST_IN_LINES
        for yielded, leaf in enumerate(leaves):
            size_left -= max(sizes[leaf], LEAST_IN_LINE)
            if yielded > 0 and size_left < 0:  # the main line is yielded whatever its length
                yield len(leaves) - yielded
                return
            line = [leaf]
            while (parent := self.parents[line[-1]]) >= 0:
                line.append(parent)
            yield line[::-1]


def trees(text: str) -> Iterator[SgfTree]:
    """Yield the games of an SGF text.

    Text before, between and after games is skipped, such as the headers of a mail, or surplus brackets.  Games without
    any property are skipped too.
    """
    if FIRST_BRACKET_MISSING.match(text):  # the text begins with ";" instead of "(;"
        text = "(" + text
    at = 0  # the index after the last game
    while (match := BEGIN.search(text, at)) is not None:
        tree = read_tree(text, match.start() + 1)
        if any(tree.nodes):
            yield tree
        at = tree.end


def read_tree(text: str, at: int) -> SgfTree:
    """Return the game that begins at index `at` of the text, just after its first bracket.

    The semicolon of the first node may be missing.
    """
    tree = SgfTree()
    stack = [-1]  # for each open bracket, the number of the node before it, which is the parent of the next node in it
    current = -1  # the number of the last node, the parent of the next one
    value_count = 0
    node: Node | None = None  # the last node; None after a bracket, where a name begins a new node
    values: list[str] = []  # takes the next values: those of the last name; without a name a list that is not used
    tokens = TOKEN.finditer(text, at)
    while (token := next(tokens, None)) is not None:
        value, closed, mark, name = token.groups()
        tree.end = token.end()
        if value is not None:
            if not closed:
                break  # the text ends within this value
            if "[" in value:
                # An unescaped "[" in a value pairs with a later "]", so the value may end after the token.
                value, tree.end = with_brackets(text, value, tree.end)
                if tree.end > token.end():
                    tokens = TOKEN.finditer(text, tree.end)
            value_count += 1
            if value_count > MOST_VALUES:
                tree.too_long = True
                break
            values.append(value)
        elif name is not None:
            if node is None:
                current, node = begin_node(tree, current)
            capitals = LOWER.sub("", name) or name.upper()  # a name that is all in lower case means that in capitals
            values = node.setdefault(capitals, [])
        elif max(len(tree.nodes), len(stack)) >= MOST_NODES:  # a mark may add a node or open a bracket
            tree.too_long = True
            break
        elif mark == ";":
            current, node = begin_node(tree, current)
            # The last name takes no further values.  Only a name that has none yet still does: in a damaged file, the
            # value may follow the semicolon.
            if values:
                values = []
        elif mark == "(":
            stack.append(current)
            node, values = None, []
        else:  # a closing bracket
            current = stack.pop()
            node, values = None, []
            if not stack:
                tree.complete = True
                break
    else:  # the last bracket is missing
        tree.end = len(text)
    return tree


def with_brackets(text: str, value: str, end: int) -> tuple[str, int]:
    """Return a value that may contain unescaped brackets, as in US[Matsuyama[3d]], and the index in the text after it.

    A closing bracket is part of the value if it closes one that was opened within the value, and if what follows is no
    SGF.  In the value that is returned such a bracket is escaped.

    Args:
        value: the value up to its first closing bracket.
        end: the index in the text after this bracket.
    """
    depth = opening_brackets(value)  # how many brackets are open before the closing bracket that ends at `end`
    while depth > 0 and not AFTER_VALUE.match(text, end) and (rest := REST.match(text, end)):
        value += "\\]" + rest[1]  # the closing bracket closes one of them, and is part of the value
        depth += opening_brackets(rest[1]) - 1
        end = rest.end()
    return value, end


def opening_brackets(raw: str) -> int:
    """Return the number of unescaped opening brackets in a part of a raw value."""
    return raw.count("[") - raw.count("\\[")


def begin_node(tree: SgfTree, parent: int) -> tuple[int, Node]:
    """Append a node to a game, as a child of the node with number `parent`; return its number and the node."""
    tree.nodes.append({})
    tree.parents.append(parent)
    return len(tree.parents) - 1, tree.nodes[-1]


def plain_text(raw: str) -> str:
    """Return the text of a raw value: without escapes, with line breaks as \\n and other white space as spaces."""
    if "\\" in raw:
        raw = ESCAPED.sub(r"\1", raw)
    if "\r" in raw:
        raw = BREAKS.sub("\n", raw)
    return raw.replace("\t", " ").replace("\v", " ").replace("\f", " ")


def escape_text(text: str) -> str:
    """Return a text as a raw value, with escapes; `plain_text` is the inverse."""
    return text.replace("\\", "\\\\").replace("]", "\\]")


def format_tree(nodes: Sequence[Mapping[str, Sequence[str]]], children: Sequence[Sequence[int]]) -> bytes:
    """Return one game as SGF text in UTF-8.

    In each node FF comes first, and then the other properties in alphabetical order.  If a node has moves of both
    colours, these stay in their order.

    Args:
        nodes: for each node its raw values by property; the root is the first.
        children: for each node, the numbers of its children, in the order in which they are written.
    """
    pieces: list[str] = []
    # A stack, whose last entry is written next: the number of a node that begins a variation, or END_OF_VARIATION.
    waiting = [0]
    while waiting:
        number = waiting.pop()
        if number == END_OF_VARIATION:
            pieces.append(")")
            continue
        waiting.append(END_OF_VARIATION)
        pieces += ["(", *node_pieces(nodes[number])]
        while len(children[number]) == 1:  # an only child continues the variation
            number = children[number][0]
            pieces += node_pieces(nodes[number])
        waiting += reversed(children[number])
    return b"\n".join(join_lines(piece.encode() for piece in (*pieces, "\n")))  # the text ends with a line break


def node_pieces(node: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the text of a node in pieces: each property is one, and must stay on one line."""
    filled = [name for name, values in node.items() if values]  # a name without values would join the next name
    moves = [name for name in filled if name in ("B", "W")]
    # Two moves of a node are played in their order.  If it is W, B, then B is sorted as W too: since sorting is stable,
    # it stays behind W.
    sorted_as = {"B": "W"} if moves == ["W", "B"] else {}
    # FF comes first, since False sorts before True.
    names = sorted(filled, key=lambda name: (name != "FF", sorted_as.get(name, name)))
    return [";", *(name + "".join(f"[{value}]" for value in node[name]) for name in names)]


def join_lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines of at most LINE_LENGTH bytes, joined from pieces; a longer piece is a line of its own."""
    line = b""
    for piece in pieces:
        if len(line) + len(piece) > LINE_LENGTH:
            yield line
            line = b""
        line += piece
    yield line
