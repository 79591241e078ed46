"""Write games as SGF text that this package, Sabaki and KaTrain read.

Source: "SGF file format FF[4]", https://www.red-bean.com/sgf/
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from alphago.env.game import PLAYER_NAMES
from alphago.env.go import GoEnv
from alphago.records.sgf.grammar import Node, escape_text, format_tree
from alphago.records.sgf.notes import GENERATED, note_properties
from alphago.records.sgf.sgf_game import SgfGame
from alphago.records.sgf.values import LARGEST_KOMI
from alphago.system.files import user_path, write_atomic


def write_sgf(path: str | Path, game: SgfGame) -> None:
    """Write one game to a file, atomically."""
    write_atomic(user_path(path), format_sgf(game))


def format_sgf(game: SgfGame) -> bytes:
    """Return the game as SGF text in UTF-8; the same game gives the same bytes."""
    env = GoEnv(game.board_size)
    komi = "" if game.komi is None else komi_text(game.komi)
    to_play = game.setup.get("to_play", "black")[0].upper() if game.setup else ""
    texts: dict[str, object] = {"FF": 4, "CA": "UTF-8", "GM": 1, "SZ": game.board_size, "RU": game.rules}
    texts |= {"KM": komi, "HA": game.handicap or "", "PL": to_play, "RE": game.result}
    texts |= {"PB": game.players[0], "PW": game.players[1], "BR": game.ranks[0], "WR": game.ranks[1]}
    texts |= {"DT": game.date, "EV": game.event, "C": game.comment}
    nodes: list[Node] = [{name: [escape_text(str(text))] for name, text in texts.items() if text != ""}]
    stones = env.place(game.setup.get("black", ()), game.setup.get("white", ()))
    nodes[0] |= stone_properties(env, stones)
    for ply, (mover, action) in enumerate(zip(game.movers, game.moves, strict=True)):
        add_note(nodes[-1], game, ply)
        nodes.append({PLAYER_NAMES[mover][0]: [point_text(env, action)]})
        if ply in game.comments:
            nodes[-1]["C"] = [escape_text(game.comments[ply])]
    add_note(nodes[-1], game, len(game.moves))
    return format_tree(nodes, range(-1, len(nodes) - 1))


def stone_properties(env: GoEnv, stones: np.ndarray) -> Node:
    """Return the properties that place stones, int8 [N, N]: 1 black, -1 white."""
    return point_properties(env, {name: np.flatnonzero(stones == sign) for name, sign in (("AB", 1), ("AW", -1))})


def point_properties(env: GoEnv, points: Mapping[str, Sequence[int] | np.ndarray]) -> Node:
    """Return properties whose values are points, given as actions by property; those without points are left out."""
    return {name: [point_text(env, int(point)) for point in found] for name, found in points.items() if len(found)}


def add_note(node: Node, game: SgfGame, ply: int) -> None:
    """Add the results of a search to the node of the searched position: as properties, and as a line of its comment.

    node: changed in place.  ply: the move after the searched position.
    """
    note = game.notes.get(ply)
    if note is None:
        return
    for name, texts in note_properties(note).items():
        node[name] = [escape_text(text) for text in texts]
    move = GoEnv(game.board_size).to_text(game.moves[ply]) if ply < len(game.moves) else "the next move"
    if sentence := note.sentence(move):
        node["C"] = ["\n".join([*node.get("C", ()), escape_text(GENERATED + sentence)])]


def komi_text(komi: float) -> str:
    """Return komi as text that `read_komi` and other programs read correctly: 6.5, 7, 150.0."""
    return f"{komi:g}" if abs(komi) <= LARGEST_KOMI else f"{komi:.1f}"


def point_text(env: GoEnv, action: int) -> str:
    """Return an action in SGF notation: letters for column and row, from the top left; empty for a pass."""
    if action == env.pass_action:
        return ""
    row, column = divmod(action, env.N)
    return chr(ord("a") + column) + chr(ord("a") + row)
