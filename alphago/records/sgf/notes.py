"""Search results as SGF properties that Sabaki and KaTrain read.

Sabaki draws its graphs from SBKV, Black's win rate in percent, and SBKS, Black's lead in points (Sabaki 0.60,
src/modules/sabaki.js).  KaTrain reads KT: the ownership, the policy and an analysis in JSON, each gzipped and in
base64 (KaTrain 1.20, katrain/core/game_node.py).  The properties belong to the node of the searched position, which
precedes the node of the move.
"""

import base64
import binascii
import gzip
import json
import math
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from alphago.env.go import GoEnv
from alphago.records.sgf.grammar import Node

KATRAIN_VERSION = "1.0"  # of the format of KT
GENERATED = "alphago: "  # prefix of a comment line that was generated from a note
LARGEST_ANALYSIS = 2**20  # bytes of one position's analysis, uncompressed


class MoveNote(NamedTuple):
    """The results of a search of the position before a move, all from Black's view.

    value: -1 .. 1, the expected outcome; None if unknown.
    visits: readouts of the position; None if unknown.
    prior: the probability that the network gave the move that was played; None if unknown.
    score: Black's expected lead in points; None if unknown.
    move_visits: readouts of the move that was played; None if unknown.
    """

    value: float | None = None
    visits: int | None = None
    prior: float | None = None
    score: float | None = None
    move_visits: int | None = None

    @property
    def win_rate(self) -> float | None:
        """Black's win rate, 0 .. 1."""
        return None if self.value is None else (self.value + 1) / 2

    def sentence(self, move: str) -> str:
        """Return the note as a line of a comment.

        move: the move that was played, such as "D4".
        """
        parts = []
        if self.win_rate is not None:
            side, rate = ("Black", self.win_rate) if self.win_rate >= 0.5 else ("White", 1 - self.win_rate)
            parts.append(f"{side} wins {rate:.1%}")
        if self.score is not None:
            parts.append(f"{'Black' if self.score >= 0 else 'White'} leads by {abs(self.score):.1f}")
        if self.visits is not None:
            parts.append(f"{self.visits} visits")
        if self.prior is not None:
            parts.append(f"{move} had prior {self.prior:.1%}")
        if self.move_visits is not None:
            parts.append(f"{move} got {self.move_visits} visits")
        return ", ".join(parts)


def note_properties(note: MoveNote, env: GoEnv, action: int) -> dict[str, list[str]]:
    """Return a note as SGF properties, values by name, for the node before the move.

    action: the move that was played.
    """
    found: dict[str, list[str]] = {}
    if note.win_rate is not None:
        found["SBKV"] = [f"{100 * note.win_rate:.2f}"]
    if note.score is not None:
        found["SBKS"] = [f"{note.score:.2f}"]
    if note.visits is not None or note.prior is not None or note.move_visits is not None:
        found["KT"] = [packed(b""), packed(b""), packed(json.dumps(katrain_analysis(note, env, action)).encode())]
    return found


def katrain_analysis(note: MoveNote, env: GoEnv, action: int) -> dict[str, Any]:
    """Return a note as an analysis in KaTrain's format: of the position, and of `action`, the move that was played."""
    root = round_known(winrate=note.win_rate, scoreLead=note.score, visits=note.visits)
    root.setdefault("visits", 0)
    move = env.to_text(action)
    name = "pass" if action == env.pass_action else move
    info = round_known(visits=note.move_visits, prior=note.prior, winrate=note.win_rate, scoreLead=note.score)
    moves = {}
    if note.prior is not None or note.move_visits is not None:
        moves[name] = {"move": name, "order": 0, "pv": [name], "visits": 0, "winrate": 0.5, "scoreLead": 0.0, **info}
    return {"moves": moves, "root": {"winrate": 0.5, "scoreLead": 0.0, **root}, "completed": True}


def round_known(**numbers: float | None) -> dict[str, Any]:
    """Return the numbers that are not None, rounded to six places."""
    return {name: round(value, 6) for name, value in numbers.items() if value is not None}


def packed(data: bytes) -> str:
    """Return data gzipped and in base64, as a value of KT; the same data gives the same bytes."""
    return base64.b64encode(gzip.compress(data, mtime=0)).decode()


def unpack(text: str) -> bytes:
    """Return the data in a value of KT; raise ValueError for invalid data, or more than LARGEST_ANALYSIS."""
    try:
        raw = base64.b64decode(text, validate=False)
        reader = zlib.decompressobj(wbits=31)
        data = reader.decompress(raw, LARGEST_ANALYSIS)
    except (binascii.Error, zlib.error) as error:
        raise ValueError(str(error)) from None
    if reader.unconsumed_tail:
        raise ValueError("too large")
    return data


def read_notes(nodes: Sequence[Node]) -> dict[int, MoveNote]:
    """Return the notes in the nodes of a game, by ply; node i belongs to the position before ply i."""
    notes = {}
    for ply, node in enumerate(nodes):
        if "SBKV" in node or "KT" in node or "SBKS" in node:
            note = read_note(node)
            if note != MoveNote():
                notes[ply] = note
    return notes


def read_note(node: Node) -> MoveNote:
    """Return the note in a node; fields that cannot be read are None."""
    rate, score = number(node, "SBKV"), number(node, "SBKS")
    value = None if rate is None else max(-1.0, min(1.0, rate / 50 - 1))
    analysis = read_analysis(node)
    root, moves = analysis.get("root"), analysis.get("moves")
    visits = prior = move_visits = None
    if isinstance(root, Mapping):
        visits = whole(root.get("visits")) or None
        if value is None and (won := finite(root.get("winrate"))) is not None:
            value = max(-1.0, min(1.0, 2 * won - 1))
        score = finite(root.get("scoreLead")) if score is None else score
    if isinstance(moves, Mapping) and len(moves) == 1:
        own = next(iter(moves.values()))
        if isinstance(own, Mapping):
            prior, move_visits = finite(own.get("prior")), whole(own.get("visits")) or None
    return MoveNote(value, visits, prior, score, move_visits)


def read_analysis(node: Node) -> Mapping[str, Any]:
    """Return the analysis in the property KT; {} if it is missing or cannot be read."""
    values = node.get("KT", [])
    if len(values) < 3:
        return {}
    try:
        found = json.loads(unpack(values[2]))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def number(node: Node, name: str) -> float | None:
    """Return the number in a property; None if it is missing or not a finite number."""
    values = node.get(name)
    try:
        return finite(float(values[0])) if values else None
    except ValueError:
        return None


def finite(value: Any) -> float | None:
    """Return a finite number as float, None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def whole(value: Any) -> int | None:
    """Return a whole number >= 0, None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None


def without_generated(text: str) -> str:
    """Return a comment without the lines that were generated from notes."""
    if GENERATED not in text:
        return text
    return "\n".join(line for line in text.split("\n") if not line.startswith(GENERATED)).strip()
