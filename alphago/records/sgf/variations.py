"""Add variations, marks and territory to the SGF text of a game."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from alphago.env.game import PLAYER_NAMES
from alphago.env.go import GoEnv
from alphago.records.sgf.grammar import format_tree, trees
from alphago.records.sgf.sgf_game import SgfGame
from alphago.records.sgf.writing import point_properties, point_text


class Additions(NamedTuple):
    """Additions to the SGF text of a game.

    lines: by ply, the actions of a variation: a line of play that could replace the move at this ply.
    marks: by ply, a property and its value for the node of the move.
    territory: the points for each of the properties TB and TW, for the last node.
    properties: by ply, properties for the node of the position before the move at this ply; the number of moves for
        the last position.
    """

    lines: Mapping[int, Sequence[int]] = {}
    marks: Mapping[int, tuple[str, str]] = {}
    territory: Mapping[str, Sequence[int]] = {}
    properties: Mapping[int, Mapping[str, Sequence[str]]] = {}


def with_additions(text: bytes, game: SgfGame, additions: Additions) -> bytes:
    """Return the text of a game, as from `format_sgf`, with additions; variations follow the main line."""
    env = GoEnv(game.board_size)
    nodes = next(trees(text.decode())).main_line()
    parents = [*range(-1, len(nodes) - 1)]
    for ply, (name, value) in additions.marks.items():
        nodes[ply + 1][name] = [value]
    for ply, properties in additions.properties.items():
        nodes[ply] |= {name: list(values) for name, values in properties.items()}
    nodes[-1] |= point_properties(env, additions.territory)
    for ply, line in additions.lines.items():
        for i, action in enumerate(line):
            parents.append(len(nodes) - 1 if i else ply)
            nodes.append({PLAYER_NAMES[game.movers[ply] * (-1) ** i][0]: [point_text(env, action)]})
    return format_tree(nodes, parents)
