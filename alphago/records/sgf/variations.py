"""Add variations, marks and territory to the SGF text of a game."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from alphago.env.game import PLAYER_NAMES
from alphago.env.go import GoEnv
from alphago.records.sgf.document import document_of
from alphago.records.sgf.sgf_game import SgfGame
from alphago.records.sgf.writing import point_properties, point_text


class Additions(NamedTuple):
    """Additions to the SGF text of a game.

    lines: by ply, the actions of a variation: a line of play that could replace the move at this ply.
    marks: by ply, a property and its value for the node of the move at this ply.
    territory: the points for each of the properties TB and TW, for the last node.
    properties: by ply, properties for the node of the position before the move at this ply.  The last position has the
        number of moves as its ply.
    """

    lines: Mapping[int, Sequence[int]] = {}
    marks: Mapping[int, tuple[str, str]] = {}
    territory: Mapping[str, Sequence[int]] = {}
    properties: Mapping[int, Mapping[str, Sequence[str]]] = {}


def with_additions(game: SgfGame, additions: Additions) -> bytes:
    """Return a game as SGF text with additions; added variations come after the variations of the game."""
    env, document = GoEnv(game.board_size), document_of(game)
    line = document.line
    for ply, (name, value) in additions.marks.items():
        document.nodes[line[ply + 1]][name] = [value]
    for ply, properties in additions.properties.items():
        document.nodes[line[ply]] |= {name: list(values) for name, values in properties.items()}
    document.nodes[line[-1]] |= point_properties(env, additions.territory)
    for ply, actions in additions.lines.items():
        parent, mover = line[ply], game.movers[ply]
        for action in actions:
            parent = document.add(parent, {PLAYER_NAMES[mover][0]: [point_text(env, action)]})
            mover = -mover
    return document.text()
