"""Search results as SGF properties that Sabaki and KaTrain read.

Sabaki draws its graphs from SBKV, Black's win rate in percent, and SBKS, Black's lead in points (Sabaki 0.60,
src/modules/sabaki.js).  KaTrain reads KT, a complete analysis: the ownership, the policy and the candidate moves in
JSON, each gzipped and in base64 (KaTrain 1.20, katrain/core/game_node.py).  KaTrain regards a position with KT as
analysed and shows the candidate moves in it, so KT is written only with all candidates (`katrain_values`).  The
numbers of a `MoveNote` that fit none of these properties are in AGO, in JSON.  The properties belong to the node of the
searched position, which precedes the node of the move.
"""

import base64
import binascii
import contextlib
import gzip
import io
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from alphago.records.sgf.grammar import Node
from alphago.system.validation import is_finite, is_int

KATRAIN_VERSION = "1.0"  # of the format of KT
KATRAIN_ADDED = 999  # the field `order` of a move that was played but is not a candidate
OF_NOTES = frozenset(["SBKV", "SBKS", "AGO", "KT"])  # the properties from which a note is read
GENERATED = "alphago: "  # prefix of a comment's line that was made from a note (`MoveNote.sentence`)
LARGEST_ANALYSIS = 2**20  # bytes of one position's analysis, uncompressed
LARGEST_COUNT = 2**53 - 1  # larger whole numbers are not exact in every JSON reader


class MoveNote(NamedTuple):
    """The results of a search of the position before a move, all from Black's view.

    Attributes:
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

        Args:
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


def note_properties(note: MoveNote) -> dict[str, list[str]]:
    """Return a note as properties, values by name, of the node of the searched position."""
    percent = None if note.win_rate is None else 100 * note.win_rate
    texts = {name: f"{value:.2f}" for name, value in (("SBKV", percent), ("SBKS", note.score)) if value is not None}
    others = {"visits": note.visits, "prior": note.prior, "played": note.move_visits}
    if known := {name: round(value, 6) for name, value in others.items() if value is not None}:
        texts["AGO"] = json.dumps(known)
    return {name: [text] for name, text in texts.items()}


def katrain_values(
    root: Mapping[str, object],
    moves: Sequence[Mapping[str, object]],
    policy: np.ndarray | None,
    ownership: np.ndarray | None,
) -> list[str]:
    """Return the three values of KT for an analysed position: ownership, policy and the moves, all from Black's view.

    Args:
        root: fields of KataGo's `rootInfo`, at least visits, winrate (0 .. 1) and scoreLead.
        moves: fields of KataGo's `moveInfos`, at least move, order, visits, winrate, scoreLead and pv; order 0 is the
            best, KATRAIN_ADDED a move that was played without being a candidate.
        policy: [N * N + 1], probabilities row by row from the top, then the pass; -1 for illegal moves. None if
            unknown.
        ownership: [N * N], 1 Black's, -1 White's. None if unknown.
    """
    analysis = {"moves": {move["move"]: shorten(move) for move in moves}, "root": shorten(root), "completed": True}
    return [half_floats(ownership), half_floats(policy), pack_value(json.dumps(analysis).encode())]


def half_floats(array: np.ndarray | None) -> str:
    """Return numbers as a value of KT, in 16-bit floats; None gives a value without data."""
    return pack_value(b"" if array is None else np.asarray(array, "<f2").tobytes())


def shorten(fields: Mapping[str, object]) -> dict[str, object]:
    """Return the fields with floats rounded to six places."""
    return {name: round(value, 6) if isinstance(value, float) else value for name, value in fields.items()}


def pack_value(data: bytes) -> str:
    """Return data gzipped and in base64, as a value of KT; the same data always gives the same text."""
    return base64.b64encode(gzip.compress(data, mtime=0)).decode()


def unpack_value(text: str) -> bytes:
    """Return the data in a value of KT; raise ValueError for invalid data, or more bytes than LARGEST_ANALYSIS."""
    try:
        with gzip.open(io.BytesIO(base64.b64decode(text))) as file:
            data = file.read(LARGEST_ANALYSIS + 1)
    except (binascii.Error, gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise ValueError(str(error)) from None
    if len(data) > LARGEST_ANALYSIS:
        raise ValueError("too large")
    return data


def read_notes(nodes: Sequence[Node]) -> dict[int, MoveNote]:
    """Return the notes in the nodes of a game, by ply; nodes[i] is the node of the position before ply i."""
    noted = ((ply, read_note(node)) for ply, node in enumerate(nodes) if not OF_NOTES.isdisjoint(node))
    return {ply: note for ply, note in noted if note != MoveNote()}


def read_note(node: Node) -> MoveNote:
    """Return the note in a node.

    It is read from SBKV, SBKS and AGO.  Value, score and visits that these lack are read from the analysis in KT.
    Fields that cannot be read are None.
    """
    percent, score = number(node, "SBKV"), number(node, "SBKS")
    own = read_object("".join(node.get("AGO", ())[:1]))  # the first value of AGO; {} if there is none
    value = None if percent is None else max(-1.0, min(1.0, percent / 50 - 1))  # a win rate in percent as -1 .. 1
    visits, prior, move_visits = count(own.get("visits")), finite(own.get("prior")), count(own.get("played"))
    if value is None or score is None or visits is None:
        root = read_analysis(node).get("root")
        if isinstance(root, Mapping):
            visits = count(root.get("visits")) if visits is None else visits
            if value is None and (rate := finite(root.get("winrate"))) is not None:
                value = max(-1.0, min(1.0, 2 * rate - 1))
            score = finite(root.get("scoreLead")) if score is None else score
    return MoveNote(value, visits or None, prior, score, move_visits)  # 0 visits of the position: no search, unknown


def read_analysis(node: Node) -> Mapping[str, object]:
    """Return the analysis in the property KT; {} if it is missing or cannot be read."""
    with contextlib.suppress(LookupError, ValueError):
        return read_object(unpack_value(node["KT"][2]))  # the third value, see `katrain_values`
    return {}


def read_object(text: str | bytes) -> Mapping[str, object]:
    """Return the object in a JSON text; {} for anything else."""
    with contextlib.suppress(ValueError, RecursionError):
        data = json.loads(text)
        return data if isinstance(data, dict) else {}
    return {}


def number(node: Node, name: str) -> float | None:
    """Return the number in the property called `name`; None if it is missing or not a finite number."""
    with contextlib.suppress(LookupError, ValueError):
        return finite(float(node[name][0]))
    return None


def finite(value: object) -> float | None:
    """Return a value as float if it is a finite number, else None."""
    return float(value) if is_finite(value) else None


def count(value: object) -> int | None:
    """Return a value if it is a whole number from 0 to LARGEST_COUNT, else None."""
    return value if is_int(value, 0) and value <= LARGEST_COUNT else None


def without_generated(text: str) -> str:
    """Return a comment without the lines that were made from notes, which begin with GENERATED."""
    if GENERATED not in text:
        return text
    return "\n".join(line for line in text.split("\n") if not line.startswith(GENERATED)).strip()
