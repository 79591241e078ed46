"""Add variations, marks and territory to the SGF text of a game."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from alphago.env.game import PLAYER_NAMES
from alphago.env.go import GoEnv
from alphago.records.sgf.sgf_game import SgfGame
from alphago.records.sgf.writing import load_grammar, point_text


class Additions(NamedTuple):
    """Additions to the SGF text of a game.

    lines: by ply, the actions of a variation: a line of play that could replace the move at this ply.
    marks: by ply, a property and its value for the node of the move.
    territory: the points for each of the properties TB and TW, for the last node.
    properties: by ply, properties for the node of the position before the move at this ply; the number of moves for
        the last position.  A position that follows an inserted pass has no node.
    """

    lines: Mapping[int, Sequence[int]]
    marks: Mapping[int, tuple[str, str]]
    territory: Mapping[str, Sequence[int]]
    properties: Mapping[int, Mapping[str, Sequence[str]]] = {}


def with_additions(text: bytes, game: SgfGame, additions: Additions) -> bytes:
    """Return the text of a game, as from `format_sgf`, with additions; variations follow the main line."""
    grammar, env = load_grammar(), GoEnv(game.board_size)
    nodes = list(grammar.parse_sgf_game(text).sequence)
    node_of: dict[int, int] = {}  # by ply, the index of the move's node
    for ply in range(len(game.moves)):
        if ply not in game.inserted:
            node_of[ply] = len(node_of) + 1
    for ply, (name, value) in additions.marks.items():
        if ply in node_of:
            nodes[node_of[ply]][name] = [value.encode()]
    for ply, properties in additions.properties.items():
        if ply == 0 or ply - 1 in node_of:
            for name, values in properties.items():
                nodes[node_of[ply - 1] if ply else 0][name] = [text.encode() for text in values]
    for name, points in additions.territory.items():
        if points:
            nodes[-1][name] = [point_text(env, point) for point in points]
    first = -1 if game.setup.get("to_play") == "white" else 1
    branches = {}
    for ply, line in additions.lines.items():
        if ply in node_of and line:
            colour = first * (-1) ** ply
            branches[node_of[ply]] = [
                {PLAYER_NAMES[colour * (-1) ** i][0]: [point_text(env, action)]} for i, action in enumerate(line)
            ]
    result: bytes = grammar.serialise_game_tree(build_tree(grammar, nodes, branches))
    return result


def build_tree(grammar: Any, nodes: Sequence[Any], branches: Mapping[int, Sequence[Any]]) -> Any:
    """Return sgfmill's tree of a main line with variations.

    nodes: the main line.  branches: by index in `nodes`, the nodes of a variation that replaces the node at this index
        and the nodes after it.
    """
    end, below = len(nodes), None
    for index in sorted(branches, reverse=True):
        rest, variation = grammar.Coarse_game_tree(), grammar.Coarse_game_tree()
        rest.sequence, rest.children = list(nodes[index:end]), below or []
        variation.sequence = list(branches[index])
        end, below = index, [rest, variation]
    root = grammar.Coarse_game_tree()
    root.sequence, root.children = list(nodes[:end]), below or []
    return root
