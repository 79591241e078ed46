"""Read SGF files as games: `read_sgf` and `parse_sgf` refuse faulty files, `salvage_sgf` reads files of any quality."""

import os
import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path

from alphago.env.go import GoEnv
from alphago.records.sgf.encoding import DecodedText, decode
from alphago.records.sgf.faults import ACCEPTED, ENCODING, HARMLESS, TOO_LARGE, TRUNCATED, UNREADABLE, Fault
from alphago.records.sgf.game_line import UNKNOWN_SIZE, LineReader
from alphago.records.sgf.grammar import MOST_IN_LINES, MOST_NODES, MOST_VALUES, SET_UPS, SgfTree, trees
from alphago.records.sgf.sgf_game import SgfGame, SgfOrigin
from alphago.system.files import read_named, user_path

LARGEST_FILE = 64 * 2**20  # bytes
# Formats of other servers, by name, with a pattern of their beginning.  NGF begins with lines of title, size, players
# and further facts, after which comes a line of a move.
OTHER_FORMATS = {
    "GIB (Tygem)": re.compile(r"\s*\\HS\b|[\s\S]{0,20000}^\\\[(?:GAMETAG|GAMEINFOMAIN)=", re.MULTILINE),
    "NGF (WBaduk)": re.compile(r"[^\n]*\n\s*[0-9]{1,2}\s*\n(?:[^\n]*\n){3,12}?PM[A-Z]{2}[BW][A-Z]{2}", re.MULTILINE),
    "UGF or UGI (PandaNet)": re.compile(r"\s*\[Header\]", re.IGNORECASE),
}


def read_sgf(path: str | Path, env: GoEnv | None = None) -> SgfGame:
    """Return the only game in a file.

    Args:
        env: as in `parse_sgf`.

    Raises:
        ValueError: which names the file, unless it holds one game and every move is legal.
    """
    return parse_sgf(read_named(user_path(path), LARGEST_FILE), str(path), env)


def read_sgf_games(path: str | Path, env: GoEnv | None = None) -> list[SgfGame]:
    """Return all games in a file.

    Args:
        env: as in `parse_sgf`.

    Raises:
        ValueError: which names file and game, unless every move of every game is legal.
    """
    return parse_games(read_named(user_path(path), LARGEST_FILE), str(path), env)


def salvage_sgf(
    source: str | Path | bytes, *, name: str | None = None, env: GoEnv | None = None, all_lines: bool = False
) -> Iterator[SgfGame]:
    """Yield the games of a file of any quality, each up to its first illegal move, with its faults (`SgfGame.faults`).

    No content of a file raises an exception.  Damage, an unsupported board or another game than Go gives a game without
    moves, but with a fault.

    Args:
        source: the path of a file, or the content of a file as bytes.
        name: the file's name in messages; None for the path, or for "" if `source` is the content.
        env: as in `parse_sgf`.
        all_lines: whether to yield every variation as a game of its own, instead of the main line only.  If there are
            too many variations, an empty game with a fault is yielded in the end; it says how many are left out.

    Raises:
        OSError: if the file cannot be read.
    """
    if name is None:
        name = "" if isinstance(source, bytes) else str(source)
    size = len(source) if isinstance(source, bytes) else os.stat(user_path(source)).st_size
    if size > LARGEST_FILE:
        yield empty_game(Fault(TOO_LARGE, f"a file must have at most {LARGEST_FILE >> 20} MiB"), name)
        return
    data = source if isinstance(source, bytes) else read_named(user_path(source))
    yield from iterate_games(decode(data), name, env, all_lines)


def empty_game(fault: Fault, name: str) -> SgfGame:
    """Return a game without moves whose only fault is this one."""
    return SgfGame(UNKNOWN_SIZE, (), faults=(fault,), source=name)


def parse_sgf(
    data: bytes | str, name: str = "the SGF text", env: GoEnv | None = None, allowed: Collection[str] = ACCEPTED
) -> SgfGame:
    """Return the main line of the only game in an SGF text.

    Stones may be set up before the first move.  Later set-ups are ignored if they change nothing; after the last move
    one that changes the board is reported in `SgfGame.faults`.  Passes after the end are ignored.  Komi is read as
    servers write it, see `read_komi`.  Bytes are decoded with the encoding in CA or, without CA, with the most
    plausible encoding.

    Args:
        env: the game as which the text is read: its board, its rules, and when it ends.  It is needed for a game of a
            fixed number of moves, which SGF cannot express.  None for a game that two passes end, with the ko and
            suicide rules that the text names (RU).  If the text names no known rules, they are `GoEnv`'s default, or
            more lenient rules if the moves need them (`SgfGame.assumed`).
        allowed: the kinds of faults with which a game is accepted, see `faults`.

    Raises:
        ValueError: whose message begins with `name`, unless the text holds one game and every move is legal.
            (`salvage_sgf` reads other texts.)
    """
    return parse_games(data, name, env, only_one=True, allowed=allowed)[0]


def parse_games(
    data: bytes | str, name: str, env: GoEnv | None, *, only_one: bool = False, allowed: Collection[str] = ACCEPTED
) -> list[SgfGame]:
    """Return the main line of each game in an SGF text.

    Args:
        data: the text.
        name, env, allowed: as in `parse_sgf`.
        only_one: whether a text of several games is refused.

    Raises:
        ValueError: whose message begins with `name`, if a game has a fault that is not allowed.
    """
    if len(data) > LARGEST_FILE:
        raise ValueError(f"{name}: a file must have at most {LARGEST_FILE >> 20} MiB")
    parts = [DecodedText(data.removeprefix("\ufeff"))] if isinstance(data, str) else decode(data)
    if only_one:  # count before any game is read: too many may take long
        count = sum(1 for part in parts for _ in trees(part.text))
        if count > 1:
            advice = "split it; read_sgf_games of Python reads all"
            raise ValueError(f"{name}: it must hold one game, got {count}: {advice}")
    games = []
    for game in iterate_games(parts, name, env):
        for fault in game.faults:
            if fault.kind not in allowed:
                # The message with the file's name, but without the number of the node: the message tells the move.
                raise ValueError(replace(fault, node=None).of(name))
        games.append(game)
    return games


def iterate_games(parts: list[DecodedText], name: str, env: GoEnv | None, all_lines: bool = False) -> Iterator[SgfGame]:
    """Yield the games of a decoded file, each with its faults.

    Args:
        parts: the decoded file.
        name, env, all_lines: as in `salvage_sgf`.
    """
    all_trees = ((tree, part.fault) for part in parts for tree in trees(part.text))
    first_two = list(islice(all_trees, 2))  # enough to know whether there are several games
    if not first_two:
        yield empty_game(Fault(UNREADABLE, no_sgf_message(parts[0].text)), name)
    for place, (tree, encoding_fault) in enumerate(chain(first_two, all_trees), 1):  # the others follow the first two
        number = place if len(first_two) > 1 else None  # None if the file holds only one
        faults_of_tree = tree_faults(tree, encoding_fault)
        for line in tree.lines() if all_lines else [tree.main_line()]:
            if isinstance(line, int):  # how many lines are left out, see `SgfTree.lines`
                limit = f"the lines of a game must have at most {MOST_IN_LINES} nodes in all"
                yield empty_game(Fault(TOO_LARGE, f"{limit}: {line} of them are left out", number), name)
                continue
            reader = LineReader([tree.nodes[node] for node in line], env)
            game = reader.read()
            faults = tuple(replace(fault, game=number) for fault in (*faults_of_tree, *game.faults))
            game = replace(game, faults=faults, source=name)
            if not all_lines and all(fault.kind in HARMLESS for fault in faults):
                # All moves of the text were read, so that the game can be written with the text kept as it is.
                nodes = tuple(line[node] for node in reader.move_nodes)  # numbered in the tree, not in the line
                first = reader.move_nodes[0] if nodes else len(line)
                if first == len(line) or tree.nodes[line[first]].keys().isdisjoint((*SET_UPS, "PL")):
                    first = max(0, first - 1)  # the position before the first move is that of the node before
                # The origin keeps the game as it was read.
                game = replace(game, origin=SgfOrigin(tree, line[first], nodes, game))
            yield game


def tree_faults(tree: SgfTree, encoding_fault: str) -> list[Fault]:
    """Return the faults of a game that are known before its lines are read, the gravest first: messages name the first.

    Args:
        encoding_fault: what is wrong with the encoding; "" for nothing.
    """
    faults = [Fault(ENCODING, encoding_fault)] if encoding_fault else []
    if tree.too_long:
        limits = f"{MOST_NODES} nodes and {MOST_VALUES} values"
        return [Fault(TOO_LARGE, f"a game must have at most {limits}"), *faults]
    return faults if tree.complete else [Fault(TRUNCATED, "the file ends within the game"), *faults]


def no_sgf_message(text: str) -> str:
    """Return the message for a text that holds no SGF; it names the text's format if it is one of OTHER_FORMATS."""
    kind = next((kind for kind, begin in OTHER_FORMATS.items() if begin.match(text)), None)
    return "no SGF data found" + ("" if kind is None else f": it is a game in the format {kind}, not in SGF")
