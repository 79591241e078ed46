"""Write games as SGF text that this package, Sabaki and KaTrain read.

The serialiser is sgfmill's (`pip install 'alphago[sgf]'`).

Source: "SGF file format FF[4]", https://www.red-bean.com/sgf/
"""

from pathlib import Path
from typing import Any

import numpy as np

from alphago.env.game import PLAYER_NAMES
from alphago.env.go import GoEnv
from alphago.records.sgf.notes import GENERATED, note_properties
from alphago.records.sgf.sgf_game import SgfGame
from alphago.records.sgf.values import LARGEST_KOMI


def load_grammar() -> Any:
    """Return sgfmill's grammar; raise ImportError if it is not installed."""
    try:
        from sgfmill import sgf_grammar
    except ImportError:
        raise ImportError("SGF files need the library sgfmill: pip install 'alphago[sgf]' brings it") from None
    return sgf_grammar


def write_sgf(path: str | Path, game: SgfGame) -> None:
    """Write one game to a file."""
    Path(path).write_bytes(format_sgf(game))


def format_sgf(game: SgfGame) -> bytes:
    """Return the game as SGF text in UTF-8; the same game gives the same bytes."""
    grammar = load_grammar()
    env = GoEnv(game.board_size)

    def value(text: Any) -> list[bytes]:
        return [grammar.escape_text(str(text).encode())]

    texts = {
        "FF": 4, "CA": "UTF-8", "GM": 1, "SZ": game.board_size, "RU": game.rules, "HA": game.handicap or "",
        "KM": "" if game.komi is None else komi_text(game.komi), "PB": game.players[0], "PW": game.players[1],
        "BR": game.ranks[0], "WR": game.ranks[1], "RE": game.result, "DT": game.date, "EV": game.event,
        "C": game.comment, "PL": game.setup.get("to_play", "black")[0].upper() if game.setup else "",
    }  # fmt: skip
    head = {name: value(text) for name, text in texts.items() if text != ""}
    stones = env.place(game.setup.get("black", ()), game.setup.get("white", ())).ravel()
    for name, sign in (("AB", 1), ("AW", -1)):
        if (stones == sign).any():
            head[name] = [point_text(env, int(action)) for action in np.flatnonzero(stones == sign)]
    tree = grammar.Coarse_game_tree()
    tree.sequence = [head]
    colour = -1 if game.setup.get("to_play") == "white" else 1
    for ply, action in enumerate(game.moves):
        add_note(tree.sequence[-1], game, ply, value)
        if ply not in game.inserted:
            comment = {"C": value(game.comments[ply])} if ply in game.comments else {}
            tree.sequence.append({PLAYER_NAMES[colour][0]: [point_text(env, action)], **comment})
        colour = -colour
    add_note(tree.sequence[-1], game, len(game.moves), value)
    text: bytes = grammar.serialise_game_tree(tree)
    return text


def add_note(node: dict[str, list[bytes]], game: SgfGame, ply: int, value: Any) -> None:
    """Add the results of a search to the node of the searched position: as properties, and as a line of its comment.

    Nothing is added if there are none, or if the position follows an inserted pass, which has no node.

    node: changed in place.  ply: the move after the searched position.  value: function that encodes a text.
    """
    note = game.notes.get(ply)
    if note is None or ply - 1 in game.inserted:
        return
    for name, texts in note_properties(note).items():
        node[name] = [one for text in texts for one in value(text)]
    move = GoEnv(game.board_size).to_text(game.moves[ply]) if ply < len(game.moves) else "the next move"
    if sentence := note.sentence(move):
        written = node["C"][0] + b"\n" if "C" in node else b""
        node["C"] = [written + value(GENERATED + sentence)[0]]


def komi_text(komi: float) -> str:
    """Return komi as text that `read_komi` and other programs read correctly: 6.5, 7, 150.0."""
    return f"{komi:g}" if abs(komi) <= LARGEST_KOMI else f"{komi:.1f}"


def point_text(env: GoEnv, action: int) -> bytes:
    """Return an action in SGF notation: letters for column and row, from the top left; empty for a pass."""
    if action == env.pass_action:
        return b""
    row, column = divmod(action, env.N)
    return bytes((ord("a") + column, ord("a") + row))
