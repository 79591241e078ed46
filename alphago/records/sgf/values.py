"""Read and write values of SGF properties: board size, komi, handicap, points, ranks.

What is written can be read by this package, Sabaki and KaTrain.

Source: "SGF file format FF[4]", https://www.red-bean.com/sgf/
"""

import contextlib
import re
from collections.abc import Mapping, Sequence

import numpy as np

from alphago.env.board import StonesEnv
from alphago.env.go_rules import MAX_SIZE, MIN_SIZE, check_komi
from alphago.records.sgf.grammar import Node
from alphago.records.sgf.result_texts import find_amounts, has_quarter, normalise, parse_points
from alphago.system.validation import shown

LARGEST_KOMI = 100  # points; a whole number above it is refused, or from LEAST_HUNDREDTHS on is in hundredths
LEAST_HUNDREDTHS = 250  # the least komi in hundredths of a point, or of a zi, that some program is known to write
FOX = "foxwq"  # the name of the program that writes every whole number in hundredths
LONGEST = 40  # characters of a komi, a point or a rank: a longer text is something else
POINT = re.compile("[a-z]{2}")
D4_NOTATION = re.compile("[A-HJ-Z][1-9][0-9]?|pass", re.IGNORECASE)  # a move as people write it, such as D4
SIZE = re.compile(r"([0-9]{1,3})(?:\s*[:x*,]\s*([0-9]{1,3}))?")
NUMERALS = str.maketrans("一二三四五六七八九", "123456789")
RANK = re.compile(r"([0-9]{1,2})\s*(k|d|p|级|級|段|dan|kyu|급|단)|(p|pro|职业|職業|プロ)?\s*([0-9]{1,2})\s*段")
PRO = re.compile(r"^p|pro|プロ|职业|職業|[0-9]\s*p")
ELO = re.compile(r"[0-9]{3,4}(?:\.[0-9]*)?\??")
RATED_NAME = re.compile(r"\(([0-9]{3,4}\??)\)\s*$")  # "Ann (2241)", as Go Quest and CGOS write
TITLE_RANKS = {"meijin": 9, "honinbo": 9, "kisei": 9, "名人": 9, "本因坊": 9, "棋聖": 9, "国手": 9}
PRO_OFFSET, FIRST_ELO, LAST_ELO = 100, 1000, 9999  # see `read_rank`


def read_sides(text: str) -> tuple[int, int]:
    """Return the numbers of columns and rows in the text of SZ, 19 each for an empty text.

    Raises:
        ValueError: for a board of another size than MIN_SIZE to MAX_SIZE, and for any other text.
    """
    match = SIZE.fullmatch(text.strip() or "19")
    sides = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)  # (0, 0) is refused below
    if not all(MIN_SIZE <= side <= MAX_SIZE for side in sides):
        raise ValueError(f"the board must be one from {MIN_SIZE} to {MAX_SIZE}, got {shown(text)}")
    return sides


def read_size(text: str) -> int:
    """Return the size of a square board in the text of SZ; raise ValueError for other boards."""
    columns, rows = read_sides(text)
    if columns != rows:
        command = "alphago web --game examples/go_variants.py:OutlineGoEnv"
        raise ValueError(f"the board must be a square one, got {shown(text)}: {command} opens others (Menu, Open)")
    return columns


def read_handicap(text: str) -> int:
    """Return the number of handicap stones in the text of HA; raise ValueError for anything but a whole number."""
    plain = normalise(text)
    if not plain:
        return 0
    try:
        number = float(plain)  # also "2.0"
    except ValueError:
        number = -1.0  # refused below
    if not (number.is_integer() and 0 <= number < 100):
        raise ValueError(f"the handicap must be a number of stones, got {shown(text)}")
    return int(number)


def read_komi(text: str, program: str = "") -> float | None:
    """Return White's komi in points; None for an empty text.

    Servers write komi in several units.  7.5 points are also written as 750 (hundredths of a point), or in zi (a
    Chinese unit of two points) as 3.75, 375, 3 3/4, 3¾ and 3又3/4子.

    Args:
        program: the program that wrote the file (AP), which may decide the unit: Fox's 50 is half a point.

    Raises:
        ValueError: for a text without exactly one number, and for a number that is no komi.
    """
    plain = normalise(text)
    if not plain:
        return None
    try:
        number, unit = komi_amount(plain)
        may_be_hundredths = "." not in plain  # hundredths of a point are always written without a decimal point
        if may_be_hundredths and (FOX in program.lower() or abs(number) >= LEAST_HUNDREDTHS):
            number /= 100
        elif may_be_hundredths and abs(number) > LARGEST_KOMI:
            # Too large for points and too small for hundredths.  `komi_text` writes such a komi as 150.0.
            raise ValueError(text)  # the message is made below
        in_zi = unit == "子" or has_quarter(number)  # points are never given in quarters
        return check_komi(2 * number if in_zi else number)
    except (ValueError, OverflowError):  # also "nan" and "inf"
        raise ValueError(f"komi must be a multiple of 0.5, got {shown(text)}") from None


def komi_amount(text: str) -> tuple[float, str | None]:
    """Return the number in the text of a komi, and its unit, None without one.

    Raises:
        ValueError: unless there is exactly one number.
    """
    with contextlib.suppress(ValueError):
        return float(text.replace(",", ".")), None
    text = text.replace(" and ", " ")  # 7 and 1/2
    matches = find_amounts(text) if len(text) <= LONGEST else []
    number, unit = parse_points(matches[0]) if len(matches) == 1 else (None, None)
    if number is None:
        raise ValueError(text)
    is_negative = text[: matches[0].start()].rstrip().endswith("-")
    return (-number if is_negative else number), unit


def read_point(env: StonesEnv, text: str, kind: str = "move") -> int:
    """Return the action in a property value; raise ValueError for a point off the board.

    A move is also read as some programs write it: D4 instead of dp; and "pass", or two backticks (the character before
    "a"), instead of the empty value that means a pass.

    Args:
        env: a game on the board.
        kind: "move", which may be a pass, or "stone".
    """
    if len(text) != 2 or not POINT.fullmatch(text):
        # Without blanks and line breaks.  A long text is no point: it has a meaning only if it is all blank, a pass.
        text = "".join(text.split()) if len(text) < LONGEST else text.strip()
    height, width = env.plane_shape
    tt_is_pass = env.N <= 19  # on larger boards tt is a point
    if kind == "move" and (text in ("", "``") or (text == "tt" and tt_is_pass)):
        return height * width
    if len(text) == 2 and POINT.fullmatch(text):
        column, row = ord(text[0]) - ord("a"), ord(text[1]) - ord("a")
        if column < width and row < height:
            return row * width + column
    # D4_NOTATION also matches "pass", which no stone can be.
    if D4_NOTATION.fullmatch(text) and (kind == "move" or text.lower() != "pass"):
        with contextlib.suppress(ValueError):
            return env.from_text(text)
    raise ValueError(f"a {kind} must be on a point of a board of {width} x {height}, got {shown(text)}")


def read_rectangle(env: StonesEnv, text: str) -> tuple[slice, slice]:
    """Return the rows and the columns of one point, or of a rectangle such as ab:cd, its two opposite corners."""
    width = env.plane_shape[1]
    # One corner or two; whatever follows a second colon is ignored.
    corners = [divmod(read_point(env, part, "stone"), width) for part in text.split(":", 2)[:2]]
    (top, left), (bottom, right) = corners[0], corners[-1]
    rows, columns = sorted((top, bottom)), sorted((left, right))
    return slice(rows[0], rows[1] + 1), slice(columns[0], columns[1] + 1)


def read_rank(text: str) -> int:
    """Return a rank as a number; 0 if it is unknown.

    -30 .. -1 are kyu, 1 .. 9 dan, 101 .. 109 professional dan, 1000 .. 9999 Elo ratings.  A number beyond these limits
    is read as the limit: 40 kyu is -30.
    """
    plain = normalise(text).translate(NUMERALS).replace("初段", "1段")[:LONGEST]
    if ELO.fullmatch(plain):
        rating = int(float(plain.rstrip("?")))  # 1850 for "1850.5?" too
        return max(FIRST_ELO, min(rating, LAST_ELO))
    if match := re.fullmatch(r"p([1-9])", plain):
        return PRO_OFFSET + int(match[1])
    if match := RANK.search(plain):
        number = int(match[1] or match[4])  # group 1 in "5k", group 4 in "プロ 5段"
        unit = match[2] or "段"  # group 2 in "5k"; with group 4 there is no other unit
        if number == 0:
            return 0
        if unit in ("k", "kyu", "级", "級", "급"):
            return -min(number, 30)
        return min(number, 9) + (PRO_OFFSET if PRO.search(plain) else 0)
    return next((PRO_OFFSET + rank for title, rank in TITLE_RANKS.items() if title in plain), 0)


def point_properties(env: StonesEnv, points: Mapping[str, Sequence[int] | np.ndarray]) -> Node:
    """Return properties whose values are points.

    Args:
        env: a game on the board.
        points: actions by the name of the property; a property without points is left out.
    """
    filled = {name: actions for name, actions in points.items() if len(actions)}
    return {name: [point_text(env, int(action)) for action in actions] for name, actions in filled.items()}


def komi_text(komi: float, program: str = "") -> str:
    """Return komi as text that `read_komi` and other programs read correctly: 6.5, 7, 150.0; 7.0 in a file of Fox."""
    may_be_whole = abs(komi) <= LARGEST_KOMI and FOX not in program.lower()  # else "7" would be read as hundredths
    return f"{komi:g}" if may_be_whole else f"{komi:.1f}"


def point_text(env: StonesEnv, action: int) -> str:
    """Return an action in SGF notation: letters for column and row, from the top left; "" for a pass."""
    if action == env.pass_action:
        return ""
    row, column = divmod(action, env.plane_shape[1])
    return chr(ord("a") + column) + chr(ord("a") + row)
