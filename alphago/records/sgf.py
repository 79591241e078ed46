"""SGF files: reading and writing games of Go.

The grammar is sgfmill's (`pip install 'alphago[sgf]'`); this file interprets the properties.

Source: "SGF file format FF[4]", https://www.red-bean.com/sgf/
"""

import codecs
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from alphago.env.game import PLAYER_NAMES
from alphago.env.go import GoEnv
from alphago.env.go_position import GoPosition
from alphago.env.go_rules import MAX_SIZE, MIN_SIZE, check_komi
from alphago.records.sgf_game import SgfGame
from alphago.system.validation import shown

SIGNS = {"B": 1, "W": -1}
LARGEST_KOMI = 100  # points; a larger number without a decimal point in a file is in hundredths

Node = Mapping[str, list[bytes]]  # properties and their raw values


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
        "RE": game.result, "C": game.comment, "PL": game.setup.get("to_play", "black")[0].upper() if game.setup else "",
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
        if ply not in game.inserted:
            comment = {"C": value(game.comments[ply])} if ply in game.comments else {}
            tree.sequence.append({PLAYER_NAMES[colour][0]: [point_text(env, action)], **comment})
        colour = -colour
    text: bytes = grammar.serialise_game_tree(tree)
    return text


def komi_text(komi: float) -> str:
    """Return komi as `read_komi` and other programs read it back: 6.5, 7, 150.0."""
    return f"{komi:g}" if abs(komi) <= LARGEST_KOMI else f"{komi:.1f}"


def point_text(env: GoEnv, action: int) -> bytes:
    """Return an action as SGF writes it: letters for column and row, from the top left; empty for a pass."""
    if action == env.pass_action:
        return b""
    row, column = divmod(action, env.N)
    return bytes((ord("a") + column, ord("a") + row))


def read_sgf(path: str | Path, env: GoEnv | None = None) -> SgfGame:
    """Return the only game in a file; raise ValueError that names the file if it cannot be used.

    env: as in `parse_sgf`.
    """
    return parse_sgf(Path(path).read_bytes(), str(path), env)


def read_sgf_games(path: str | Path, env: GoEnv | None = None) -> list[SgfGame]:
    """Return all games in a file; raise ValueError that names file and game if one cannot be used.

    env: as in `parse_sgf`.
    """
    return parse_games(Path(path).read_bytes(), str(path), env)


def parse_sgf(data: bytes | str, name: str = "the SGF text", env: GoEnv | None = None) -> SgfGame:
    """Return the main line of the only game in an SGF text; raise ValueError that begins with `name` for other texts.

    env: the game to read it as, with board, rules and end; needed for fixed turns, which SGF cannot express.  None for
        a game that two passes end, with the ko and suicide rules that the text names (RU), or `GoEnv`'s defaults if it
        names none or unknown ones.

    Every move must be legal.  Stones are set up before the first move; what a later node sets up is left out where it
    changes nothing, or after the last move.  Passes after the end are left out.  Komi is read as servers write it: 750
    is 7.5; 3.75, which counts one side's stones above half of the board, is 7.5 points.  Bytes are read in the encoding
    that the text names (CA), UTF-16 by its mark.
    """
    games = parse_games(data, name, env, most=1)
    return games[0]


def parse_games(
    data: bytes | str, name: str = "the SGF text", env: GoEnv | None = None, most: int | None = None
) -> list[SgfGame]:
    """Return the main lines of all games in an SGF text, `most` at the most, as `parse_sgf` does."""
    grammar = load_grammar()
    where = name
    try:
        text, encoding = plain_bytes(data)
        trees = grammar.parse_sgf_collection(text)
        if most is not None and len(trees) > most:
            raise ValueError(f"it must hold one game, got {len(trees)}: split it, or read all by read_sgf_games")
        games = []
        for number, tree in enumerate(trees, 1):
            where = name if len(trees) == 1 else f"{name}, game {number}"
            games.append(read_game(list(grammar.main_sequence_iter(tree)), env, encoding))
        return games
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def plain_bytes(data: bytes | str) -> tuple[bytes, str | None]:
    """Return the text as bytes for the grammar, and their encoding, None for the one that the text names.

    Files of the Nihon Ki-in lack the semicolon of the first node, which is added.
    """
    encoding = None
    if isinstance(data, bytes) and data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        data = data.decode("utf-16", "replace")
    if isinstance(data, str):
        data, encoding = data.encode("utf-8", "replace"), "utf-8"
    return re.sub(rb"\A((?:\xef\xbb\xbf)?\s*\()(?=\s*[A-Z]{1,2}\s*\[)", rb"\1;", data), encoding


def read_game(nodes: list[Node], required: GoEnv | None, encoding: str | None) -> SgfGame:
    """Return the game of a sequence of nodes.

    required: the game to read it as; None for the one that the nodes describe.
    encoding: of the nodes' texts; None for the one that the first node names.
    """
    head = nodes[0]
    text = text_reader(encoding or find_encoding(head))
    if text(head, "GM") not in ("1", ""):
        raise ValueError(f"GM must be 1, a game of Go, got {shown(text(head, 'GM'))}")
    env = GoEnv(read_size(text(head, "SZ")))
    if required is not None and required.N != env.N:
        raise ValueError(f"the board must be {required.N}x{required.N}, got {env.N}x{env.N}")
    stones: dict[int, int] = {}
    plays: list[tuple[int, int, str]] = []  # (colour, action, comment)
    later: dict[int, dict[int, int]] = {}  # stones that are set up after so many moves
    for node in nodes:
        set_up(env, node, later.setdefault(len(plays), {}) if plays else stones)
        for letter in SIGNS:
            if letter in node:
                comment = "" if node is head else text(node, "C")
                plays.append((SIGNS[letter], read_point(env, node[letter][0]), comment))
    mover = plays[0][0] if plays else -1 if text(head, "PL").upper().startswith("W") else 1
    black, white = ([action for action, stone in stones.items() if stone == sign] for sign in (1, -1))
    setup = env.position(black, white, to_play=mover if mover < 0 else None).setup
    game = SgfGame(
        env.N, (), read_komi(text(head, "KM")), setup, result=text(head, "RE"), rules=text(head, "RU"),
        players=(text(head, "PB"), text(head, "PW")), handicap=read_handicap(text(head, "HA")),
        comment=text(head, "C"),
    )  # fmt: skip
    return with_plays(game, required or game.env(max_moves=2 * len(plays) + 2), plays, later)


def with_plays(
    game: SgfGame, env: GoEnv, plays: list[tuple[int, int, str]], later: Mapping[int, Mapping[int, int]]
) -> SgfGame:
    """Return the game with these plays, legal in `env`, as its moves; passes come between plays of one colour.

    later: by number of plays, stones by point that the file sets up then, which must be on the board already.
    """
    position = game.position(env)
    inserted, comments = set[int](), dict[int, str]()
    for number, (colour, action, comment) in enumerate(plays):
        if any(position.board.ravel()[point] != sign for point, sign in later.get(number, {}).items()):
            raise ValueError(f"stones must be set up before the first move, got a set-up after move {number}")
        if position.is_over and action == env.pass_action:
            continue
        if colour != position.to_play and not position.is_over:
            inserted.add(len(position.moves))
            position = position.play(env.pass_action)
        if not position.legal_mask[action]:
            why = why_over(position) if position.is_over else position.why_illegal(action)
            move = f"{PLAYER_NAMES[colour]} {env.to_text(action)}"
            raise ValueError(f"move {len(position.moves) + 1}, {move}, is illegal: {why}")
        if comment:
            comments[len(position.moves)] = comment
        position = position.play(action)
    return replace(game, moves=position.moves, comments=comments, inserted=frozenset(inserted))


def why_over(position: GoPosition) -> str:
    """Return what ended the game, for an error message."""
    last = position.env.max_moves
    return f"the game ends after move {last}" if len(position.moves) == last else "two passes have ended the game"


def find_encoding(head: Node) -> str:
    """Return the encoding of the texts, as the first node names it (CA).

    If it names none or an unknown one: UTF-8 if the node is valid UTF-8, else Latin 1, SGF's default.
    """
    try:
        encoding = codecs.lookup(head["CA"][0].decode("ascii", "replace").strip()).name
        b" ".decode(encoding, "replace")  # some are no encodings of text, such as hex; Python lets b"" pass
        return encoding
    except (LookupError, ValueError):
        try:
            b"".join(value for values in head.values() for value in values).decode("utf-8")
            return "utf-8"
        except UnicodeDecodeError:
            return "latin-1"


def text_reader(encoding: str) -> Callable[[Node, str], str]:
    """Return a function that reads a text property of a node, "" if the node lacks it."""
    grammar = load_grammar()

    def text(node: Node, name: str) -> str:
        raw = grammar.text_value(node[name][0]) if name in node else b""
        return str(raw.decode(encoding, "replace").strip())

    return text


def set_up(env: GoEnv, node: Node, stones: dict[int, int]) -> None:
    """Update `stones` (action: 1, -1 or 0) by the set-up of a node."""
    for name, sign in (("AB", 1), ("AW", -1), ("AE", 0)):
        for raw in node.get(name, []):
            corners = [divmod(read_point(env, part, "stone"), env.N) for part in raw.split(b":")]
            rows, columns = zip(*corners, strict=True)  # any two opposite corners
            for row in range(min(rows), max(rows) + 1):
                for column in range(min(columns), max(columns) + 1):
                    stones[row * env.N + column] = sign


def read_point(env: GoEnv, raw: bytes, kind: str = "move") -> int:
    """Return the action that a property value stands for; `kind`: "move", which may be a pass, or "stone"."""
    text = raw.decode("latin-1").strip()
    if kind == "move" and (text == "" or (text == "tt" and env.N <= 19)):  # on larger boards tt is a point
        return env.pass_action
    if re.fullmatch("[a-z]{2}", text):
        column, row = (ord(letter) - ord("a") for letter in text)
        if column < env.N and row < env.N:
            return row * env.N + column
    raise ValueError(f"a {kind} must be on a point of a board of {env.N} x {env.N}, got {shown(text)}")


def read_size(text: str) -> int:
    """Return the board's size from the text of SZ, 19 for an empty text; raise ValueError for other boards."""
    match = re.fullmatch(r"([0-9]{1,3})(?::([0-9]{1,3}))?", text or "19")
    if not match or int(match[2] or match[1]) != int(match[1]) or not MIN_SIZE <= int(match[1]) <= MAX_SIZE:
        raise ValueError(f"the board must be a square one from {MIN_SIZE} to {MAX_SIZE}, got {shown(text)}")
    return int(match[1])


def read_handicap(text: str) -> int:
    if not re.fullmatch("[0-9]{0,2}", text):
        raise ValueError(f"the handicap must be a number of stones, got {shown(text)}")
    return int(text or 0)


def read_komi(text: str) -> float | None:
    """Return White's komi in points, None for an empty text; raise ValueError for anything else."""
    if not text:
        return None
    try:
        value = float(text)
        value = value / 100 if abs(value) > LARGEST_KOMI and "." not in text else value
        return check_komi(2 * value if value * 2 % 1 == 0.5 else value)
    except (ValueError, OverflowError):  # also "nan" and "inf"
        raise ValueError(f"komi must be a multiple of 0.5, got {shown(text)}") from None
