"""`SgfDocument`: a game's nodes as they were read or made; what is not changed is written as it was read.

`with_additions` adds variations and properties to a game's text; `format_continued` writes a game that may go on
from a file.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from alphago.env.go import GoEnv
from alphago.env.go_count import GoCount
from alphago.records.sgf.grammar import Node, escape_text, format_tree
from alphago.records.sgf.notes import GENERATED, MoveNote, note_properties
from alphago.records.sgf.sgf_game import SgfGame
from alphago.records.sgf.values import komi_text, point_properties, point_text
from alphago.system.files import user_path, write_atomic

SIDE_LETTERS = {1: "B", -1: "W"}  # the property of a player's moves, and the player's name in PL


class SgfDocument:
    """The nodes of a game with its variations.  Nodes are known by their numbers; the root is node 0.

    Attributes:
        nodes: the raw values of each node, by property.
        children: for each node, the numbers of its children.
        line: the number of the node of the position before the first move, and then of the node of each move of a
            `SgfGame`: line[ply] is the node of the position before move `ply`.  Its first node is the root of
            a new game, and of a file the node before the first move, or that of the move if it sets up stones too.
    """

    def __init__(self, nodes: Sequence[Mapping[str, Sequence[str]]], parents: Sequence[int]) -> None:
        """Copy the nodes of an `SgfTree`, and make `children` from its `parents`, of which the root's is -1."""
        self.nodes: list[Node] = [{name: list(values) for name, values in node.items()} for node in nodes]
        self.children: list[list[int]] = [[] for _ in nodes]
        for number, parent in enumerate(parents[1:], 1):
            self.children[parent].append(number)
        self.line = [0]  # the root; `to_document` appends the node of each move

    def add(self, parent: int, node: Node, *, first: bool = False) -> int:
        """Add a node and return its number.

        Args:
            parent: the number of its parent.
            first: whether it becomes the first child of the parent, which continues the main line, or the last one.
        """
        number = len(self.nodes)
        self.nodes.append(node)
        self.children.append([])
        siblings = self.children[parent]
        siblings.insert(0 if first else len(siblings), number)
        return number

    def split(self, number: int, names: Sequence[str]) -> None:
        """Move these properties of a node into a new node between the node and its children."""
        children = self.children[number]
        self.children[number] = []
        added = self.add(number, {name: self.nodes[number].pop(name) for name in names})
        self.children[added] = children

    def text(self) -> bytes:
        """Return the document as SGF text in UTF-8."""
        self.nodes[0]["CA"] = ["UTF-8"]
        return format_tree(self.nodes, self.children)


def write_sgf(path: str | Path, game: SgfGame) -> None:
    """Write one game to a file, atomically."""
    write_atomic(user_path(path), format_sgf(game))


def format_sgf(game: SgfGame) -> bytes:
    """Return the game as SGF text in UTF-8 (see `to_document`); the same game always gives the same bytes."""
    return to_document(game).text()


def to_document(game: SgfGame) -> SgfDocument:
    """Return a game as a document.

    For a game that was read from a file, the document is the file's with the changes put in: variations, unknown
    properties and everything else that was not changed stay as they are.  A move that is not in the file becomes the
    first child, so that it is on the main line.
    """
    document, saved_game = shared_document(game)  # saved_game: as the file had it, empty for a game from no file
    shared_count = len(document.line) - 1  # how many of the first moves of `game` the document has
    env = GoEnv(game.board_size)
    for ply in range(shared_count, len(game.moves)):
        node = {SIDE_LETTERS[game.movers[ply]]: [point_text(env, game.moves[ply])]}
        document.line.append(document.add(document.line[ply], node, first=True))
    write_changed_texts(document, game, saved_game, shared_count)
    return document


def shared_document(game: SgfGame) -> tuple[SgfDocument, SgfGame]:
    """Return the document to which a game's further moves are added, and the game whose texts are in the document.

    For a game that was read from a file, and still has its set-up, both are the file's.  `line` of the document then
    ends with the last move that the game shares with the file; where the game was cut short there, the rest of the
    file's main line is left out.  Otherwise both have no moves and no texts.
    """
    origin = game.origin
    if origin is None or origin.game.setup != game.setup:
        return SgfDocument([set_up_node(game)], [-1]), SgfGame(game.board_size, ())
    document, saved_game = SgfDocument(origin.tree.nodes, origin.tree.parents), origin.game
    shared_count = game.count_shared(saved_game)
    document.line = [origin.start, *origin.line[:shared_count]]
    last = document.line[-1]
    # A file may have several moves in a node.  If the node of the last shared move has more, which the game does not
    # share, these get a node of their own, its only child.
    if unshared_count := origin.line[shared_count:].count(last):
        unshared_movers = saved_game.movers[shared_count : shared_count + unshared_count]
        document.split(last, [SIDE_LETTERS[mover] for mover in unshared_movers])
    if shared_count == len(game.moves) < len(saved_game.moves):  # the game is cut short, and does not go on otherwise
        del document.children[last][:1]  # the first child: the rest of the file's main line
        if document.children[last]:  # an empty node keeps the next variation from becoming the main line
            document.add(last, {}, first=True)
    return document, saved_game


def write_changed_texts(document: SgfDocument, game: SgfGame, saved_game: SgfGame, shared_count: int) -> None:
    """Write the texts of a game, such as its comments, into the nodes of its moves, where they have changed.

    Args:
        document: it has the nodes of all moves.
        saved_game: the game whose texts the document has.
        shared_count: how many of the first moves the two games share; the nodes of the others have no texts yet.
    """
    program = " ".join(value for node in document.nodes for value in node.get("AP", ()))
    line = [0, *document.line[1:]]  # what is said of the position before the first move is in the root
    shared_nodes = shared_count + 1  # the root, and the node of each shared move
    # The note on the position before move `ply` is in node number `ply` of the line.
    notes_before = {ply: note for ply, note in saved_game.notes.items() if ply < shared_nodes}
    # The notes that are new or changed, and those with a generated sentence in the file's comment: reading removed the
    # sentence, so a changed comment would lose it.  A note after the end of the game has no node, and is left out.
    comments = ["".join(document.nodes[number].get("C", ())) for number in line]
    notes_to_write = {
        ply: note
        for ply, note in game.notes.items()
        if ply < len(comments) and (note != notes_before.get(ply) or GENERATED in comments[ply])
    }
    texts = node_texts(game, program, notes_to_write)
    # Other notes are in neither the new nor the old texts, so their properties stay as they are.
    old_notes = {ply: note for ply, note in notes_before.items() if ply in notes_to_write}
    old_texts = node_texts(saved_game, program, old_notes)[:shared_nodes] + [{} for _ in line[shared_nodes:]]
    for number, new, old in zip(line, texts, old_texts, strict=True):
        for name in {**old, **new}:
            if new.get(name) != old.get(name):
                document.nodes[number][name] = [escape_text(text) for text in new.get(name, ())]


def set_up_node(game: SgfGame) -> Node:
    """Return the root of a new file: the board, and the stones that are set up."""
    env = GoEnv(game.board_size)
    node: Node = {"FF": ["4"], "GM": ["1"], "SZ": [str(game.board_size)]}
    if game.setup:
        node["PL"] = [SIDE_LETTERS[game.first]]
    board = env.place(game.setup.get("black", ()), game.setup.get("white", ()))  # int8 [N, N]
    return node | point_properties(env, {"AB": np.flatnonzero(board == 1), "AW": np.flatnonzero(board == -1)})


def node_texts(game: SgfGame, program: str, notes: Mapping[int, MoveNote]) -> list[dict[str, list[str]]]:
    """Return the texts of properties by name, for the root and then for the node of each move.

    A note on the position before ply i belongs to the node of the move before it, or to the root for ply 0.  If a node
    has a note, its comment ends with the note as a sentence.

    Args:
        program: the text of AP, the program that wrote the file, on which the unit of komi depends.
        notes: those to write, by ply.
    """
    root = {
        "RU": game.rules,
        "KM": "" if game.komi is None else komi_text(game.komi, program),
        "HA": str(game.handicap or ""),
        "RE": game.result,
        "PB": game.players[0],
        "PW": game.players[1],
        "BR": game.ranks[0],
        "WR": game.ranks[1],
        "DT": game.date,
        "EV": game.event,
    }
    env = GoEnv(game.board_size)
    nodes = [{name: [text] for name, text in root.items() if text}, *({} for _ in game.moves)]
    for number, node in enumerate(nodes):
        comment = [game.comments.get(number - 1, "") if number else game.comment]  # node 1 is of the move at ply 0
        if (note := notes.get(number)) is not None:
            node |= note_properties(note)
            move = env.to_text(game.moves[number]) if number < len(game.moves) else "the next move"
            if sentence := note.sentence(move):
                comment.append(GENERATED + sentence)
        if any(comment):
            node["C"] = ["\n".join(filter(None, comment))]
    return nodes


def with_additions(
    game: SgfGame, properties: Mapping[int, Mapping[str, Sequence[str]]], lines: Mapping[int, Sequence[int]] = {}
) -> bytes:
    """Return a game as SGF text with additions.

    Args:
        properties: by ply, the values of properties by name, for the position before the move at this ply.  They are
            put into the node of the move before, or into the root.  The position after the last move has the number of
            moves as its ply.
        lines: by ply, the actions of a variation: a line of play that could replace the move at this ply.  It comes
            after the variations that the game has there.
    """
    env, document = GoEnv(game.board_size), to_document(game)
    for ply, added in properties.items():
        document.nodes[document.line[ply] if ply else 0] |= {name: list(values) for name, values in added.items()}
    for ply, actions in lines.items():
        parent, mover = document.line[ply], game.movers[ply]
        for action in actions:
            parent = document.add(parent, {SIDE_LETTERS[mover]: [point_text(env, action)]})
            mover = -mover
    return document.text()


def format_continued(
    game: SgfGame, file: SgfGame | None, count: GoCount | None, *, decided: bool = False, **changed: object
) -> bytes:
    """Return a game, which may go on from a file, as SGF text with the territory at its end.

    What was not changed since the file was loaded is written as it was.

    Args:
        file: the game that was loaded from the file.  None, or a game with another set-up, if `game` does not go on
            from a file.
        count: of the last board; None if it was not counted.
        decided: whether the result is new even if the moves are those of the file.  If it is False, a game with the
            moves of the file keeps the file's result and gets no territory.
        changed: further fields of `SgfGame` in which the game differs from the file's, beside moves and result.  They
            are used only if `game` goes on from a file.
    """
    if file is not None and file.setup == game.setup:
        has_moves_of_file = (game.moves, game.movers) == (file.moves, file.movers)
        keeps_result = has_moves_of_file and not decided
        result, count = (file.result, None) if keeps_result else (game.result, count)
        game = file.with_moves(game, result=result, **changed)
    territory = {} if count is None else point_properties(GoEnv(game.board_size), count.territory())
    return with_additions(game, {len(game.moves): territory})
