"""Results of games as files spell them: 'B+2.5', 'White resigns.', '黒十二目半勝ち', '백 불계승', '白胜2又3/4子'.

What cannot be read with certainty is unknown: the winner if a text names both sides, the margin if it has two numbers.
"""

import re
import unicodedata
from collections.abc import Iterator

QUOTIENTS = str.maketrans({"½": " 1/2", "¼": " 1/4", "¾": " 3/4"})
LONGEST = 200  # characters: anything after them is a comment
LARGEST_MARGIN = 1000  # points; a larger number is something else

DRAW = re.compile(
    r"(?:0(?:\.0*)?|draw|drawn|tie|jigo|even|持碁|引き?分け?|和棋|和局|平局|빅|무승부)(?:\s*(?:game|by agreement))?"
    r"\s*(?:\(\s*(?:0(?:\.0*)?|jigo|draw|tie|持碁)\s*\))?[\s.!。]*"
)
VOID = re.compile(r"void|no ?result|annul|unfinished|suspended|打ち掛け|打掛|無勝負|无胜负")

# --- winners in words: each pattern has one group, the colour of the winner or of the loser ---

SIDE = r"(?<![a-z])(black|white|[bw])"
BY = r"by\s+(?:[0-9.]|resign|time|forfeit|half|default)"
WINNERS = (
    re.compile(SIDE + r"\s*\+"),
    re.compile(SIDE + r"\s*:\s*(?:\+?\s*[0-9.]|r\b|resign|t\b|time|f\b|forfeit)"),
    re.compile(SIDE + r"(?:['’]?s?\s+w[io]n|\s+" + BY + ")"),
    re.compile(r"(?:winner(?:\s+is)?|won\s+by|win\s+(?:by|for)|victory\s+(?:of|for))\s*[:=]?\s*(black|white|[bw])\b"),
    re.compile(r"^(black|white|[bw])[\s.!]*$"),
    re.compile("(?:勝者|胜者|勝方|胜方|赢家|贏家|승자)\\s*[:は는=]?\\s*([黒黑白흑백])"),
)
LOSERS = (
    re.compile(SIDE + r"\s+(?:resign|lose|loss|lost|forfeit|timeout|time[sd]? ?out|ran out|gives? up|gave up)"),
    re.compile(r"(?:loser(?:\s+is)?|lost\s+by)\s*[:=]?\s*(black|white|[bw])\b"),
)

# --- winners in Chinese, Japanese and Korean: a colour, and what follows it up to the next colour ---

SEGMENT = re.compile("(?P<colour>[黒黑白흑백])(?P<after>[^黒黑白흑백]*)")
BETWEEN = (
    r"[-0-9./,:+()\s・、。番方棋のはがをち으로이가의大险險惜零一二三四五六七八九两兩両十百又と半余分之强強子目点점집반]"
)
REASON = (
    "中押し?|中盘|中盤|불계|时间到?|時間切れ?|시간|초과|超时|超時|読秒|读秒|反則|反则|犯規|犯规|不戦|不战|不戰|优势|優勢|判定"
    "|判|기권|반칙|弃权|棄権|棄權|数子|計点|计点|による|により|で|以"
)
WINS = re.compile(f"(?:{BETWEEN}|{REASON})*[勝胜贏赢승](?![負负败敗者패])")
LOSES = re.compile(f"(?:{BETWEEN}|{REASON})*(?:[負负败敗패]|投了|投子|認輸|认输)")
# What may stand between the colour and the number.
BEFORE_AMOUNT = re.compile(f"(?:{BETWEEN}|{REASON}|[勝胜贏赢승負负败敗패出])*")
WON_BY_RESIGNATION = re.compile(r"[番方棋の\s]*(?:中押し?|中盘|中盤|불계)[\s.。]*$")  # after a colour, as in '黒中押'
PLUS = re.compile(r"\s*\+")
BLACK = "b黒黑흑"

# --- margins ---

ONES = "一二三四五六七八九"
DIGITS = dict(zip(f"{ONES}两兩両", (*range(1, 10), 2, 2, 2), strict=True))
NUMERAL = f"(?=[{ONES}两兩両十百])(?:(?:[{ONES}两兩両]?百)?零?(?:[{ONES}]?十)?[{ONES}两兩両]?)"
NUMBER = r"[0-9]+(?:[.,][0-9]*)?|\.[0-9]+"
POINTS = re.compile(
    r"(?:winner\s*[:=]?\s*)?(?:black|white|[bw])\s*(?:\+|:\s*\+?|wins?\s+by|won\s+by|by)\s*"
    rf"(?P<whole>(?:{NUMBER})(?![0-9./]))?\s*(?P<fraction>[0-9]+\s*/\s*[0-9]+)?"
    r"\s*(?P<unit>points?|pts?\.?|moku|目|zi|子)?[\s.!]*"
)
# A margin in one of two forms.  The first is a number and a fraction, such as 2又3/4子, or a fraction in Chinese words,
# such as 四分之三 (of four parts three: `denominator` 四, `numerator` 三).  The second is a number alone, with or
# without a half; its unit stands before the half, as in 12目半, or after it, as in 12半目.
EASTERN = re.compile(
    rf"(?:(?P<whole>{NUMBER}|{NUMERAL})\s*(?:[又と]|\s)\s*)?"
    rf"(?:(?P<fraction>[0-9]+\s*/\s*[0-9]+)|(?P<denominator>{NUMERAL}|[0-9]+)分之(?P<numerator>{NUMERAL}|[0-9]+))"
    r"\s*(?P<unit>子|目|点|점|집)?"
    rf"|(?P<number>{NUMBER}|{NUMERAL})?\s*(?P<unit_before_half>子|目|点|점|집|もく)?"
    r"\s*(?P<half>半|반)?\s*(?P<unit_after_half>子|目|집)?"
)
# A number of moves, such as 213手, which is no margin.
MOVES = re.compile(r"[0-9]+\s*(?:手|수)")
IN_AMOUNT = re.compile(f"[0-9{ONES}两兩両十百半반]")


def parse_outcome(result: str) -> float | None:
    """Return the outcome in the text of a result: +1 Black won, -1 White won, 0 a draw; None if unknown."""
    text = normalise(result)
    if not text or VOID.search(text):
        return None
    if DRAW.fullmatch(text):
        return 0.0
    claims = set(winners(text))
    return claims.pop() if len(claims) == 1 else None


def winners(text: str) -> Iterator[float]:
    """Yield who won, +1 Black, -1 White, by each part of a normalised text that names a winner or a loser."""
    for patterns, sign in ((WINNERS, 1.0), (LOSERS, -1.0)):
        for pattern in patterns:
            for match in pattern.finditer(text):
                yield sign if match[1][0] in BLACK else -sign  # by the colour's first letter; sign: -1 for a loser
    for match in SEGMENT.finditer(text):
        if winner := winner_of_segment(match):
            yield winner


def winner_of_segment(segment: re.Match[str]) -> float:
    """Return who won by a match of SEGMENT: +1 Black, -1 White, 0 unknown."""
    side, after = 1.0 if segment["colour"] in BLACK else -1.0, segment["after"]
    wins, loses = WINS.match(after), LOSES.match(after)
    if PLUS.match(after) or WON_BY_RESIGNATION.fullmatch(after) or (wins and not loses):
        return side
    return -side if loses and not wins else 0.0


def parse_margin(result: str) -> float | None:
    """Return Black's margin in points; None if unknown, as after a resignation.

    A zi (子) is two points.  A margin with a quarter is in zi even without the unit: Fox writes W+0.75 if White has won
    by 1.5 points.  A win by 0, such as B+0 (OGS, Fox), has a winner and an unknown margin, as in gomill.
    """
    outcome = parse_outcome(result)
    if not outcome:  # 0 after a draw, None if unknown
        return outcome
    text = normalise(result)
    if match := POINTS.fullmatch(text):
        points, unit = amount(match["whole"], match["fraction"]), match["unit"]
    else:
        points, unit = eastern_amount(text)
    if points is None:
        return None
    if unit in ("子", "zi") or has_quarter(points):
        points *= 2
    is_margin = 0 < points <= LARGEST_MARGIN and points * 2 % 1 == 0  # a multiple of a half
    return outcome * points if is_margin else None


def has_quarter(points: float) -> bool:
    """Return whether a number is an odd multiple of a quarter, such as 0.75."""
    return points * 2 % 1 == 0.5


def amount(whole: str | None, fraction: str | None) -> float | None:
    """Return the sum of a number and a fraction such as 3/4, each of which may be missing.

    Args:
        whole: the number, also with a decimal comma; None or "" if it is missing.
        fraction: the fraction; None or "" if it is missing.

    Returns:
        None if both are missing, or if they make no number: the fraction is 1 or more, or the number before it has
        decimals.
    """
    if not whole and not fraction:
        return None
    value = float((whole or "0").replace(",", "."))
    if not fraction:
        return value
    numerator, denominator = map(int, fraction.split("/"))
    return None if numerator >= denominator or value % 1 else value + numerator / denominator


def eastern_amount(text: str) -> tuple[float | None, str | None]:
    """Return the margin in a normalised text in Chinese, Japanese or Korean, and the margin's unit.

    Returns:
        (None, None) unless the text has exactly one number of points, after the colour of the winner or the loser.  A
        number without a unit is a margin only after a plus.  The unit is None if there is none.
    """
    text = MOVES.sub(lambda match: " " * len(match[0]), text)  # a number of moves is blanked out
    matches = find_amounts(text)
    if len(matches) != 1:
        return None, None
    match = matches[0]
    before = text[: match.start()]
    segments = [segment for segment in SEGMENT.finditer(text) if segment.start() < match.start()]
    segment = segments[-1] if segments else None  # the last colour before the number, with the text up to the next one
    if segment is None or not winner_of_segment(segment):
        return None, None
    between = before[segment.start("after") :]  # what stands between the colour and the number
    if not BEFORE_AMOUNT.fullmatch(between):
        return None, None
    points, unit = parse_points(match)
    after_plus = before.rstrip().endswith("+")
    # A half or a quarter shows that the number is a margin, just as a unit or a plus does.
    if points is None or not (unit or match["half"] or has_quarter(points) or after_plus):
        return None, None
    return points, unit


def find_amounts(text: str) -> list[re.Match[str]]:
    """Return the matches of EASTERN in a text, one for each number in it."""
    return [match for match in EASTERN.finditer(text) if IN_AMOUNT.search(match[0])]


def parse_points(match: re.Match[str]) -> tuple[float | None, str | None]:
    """Return the number in a match of EASTERN and its unit, which is None if there is none.

    EASTERN has two forms.  One has the groups `whole`, `fraction` and `unit`, as in 2 3/4 子; in place of `fraction` it
    may have `denominator` and `numerator`.  The other has `number`, `half`, and a unit in `unit_before_half`, as in
    12目半, or in `unit_after_half`, as in 12半目.  Each group may be missing.

    Returns:
        (None, None) for a match with two different units, or whose parts make no number.
    """
    whole, fraction = match["whole"] or match["number"], match["fraction"]
    if match["denominator"]:
        fraction = f"{parse_numeral(match['numerator'])}/{parse_numeral(match['denominator'])}"
    if whole and not whole.isascii():
        whole = f"{parse_numeral(whole)}"
    half = 0.5 if match["half"] else 0.0
    value = 0.0 if half and not whole else amount(whole, fraction)  # a half may stand alone, as in 半目
    units = {match["unit"], match["unit_before_half"], match["unit_after_half"]} - {None}
    if value is None or len(units) > 1 or (half and value % 1):  # 3.5目半 is no number
        return None, None
    return value + half, next(iter(units), None)


def parse_numeral(numeral: str) -> int:
    """Return the number that a numeral below a thousand means, such as 百二十三 or 12; 0 for an empty one."""
    if numeral.isdecimal():
        return int(numeral)
    total = 0
    for sign, worth in (("百", 100), ("十", 10)):
        before, separator, rest = numeral.partition(sign)
        if separator:  # the numeral has this sign
            total += worth * DIGITS.get(before.strip("零"), 1)  # 百 alone is one hundred
            numeral = rest
    return total + DIGITS.get(numeral.strip("零"), 0)


def normalise(result: str) -> str:
    """Return a text in lower case, with ASCII digits and signs, cut at LONGEST characters.

    The signs ½, ¼ and ¾ become a blank and a fraction: 3½ becomes 3 1/2.
    """
    # Fractions are replaced before NFKC, which would turn 3½ into 31⁄2.  NFKC may make capitals: `lower` comes after.
    plain = unicodedata.normalize("NFKC", result[:LONGEST].translate(QUOTIENTS))
    return plain.strip().lower()
