"""Results of games as files spell them: 'B+2.5', 'White resigns.', '黒十二目半勝ち', '백 불계승', '白胜2又3/4子'.

What cannot be read with certainty is unknown: a text with two winners has none, one with two numbers has no margin.
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

# --- winners in English: each pattern has one group, the colour of the winner or of the loser ---

SIDE = r"(?<![a-z])(black|white|[bw])"
BY = r"by\s+(?:[0-9.]|resign|time|forfeit|half|default)"
WINNERS = (
    re.compile(SIDE + r"\s*\+"),
    re.compile(SIDE + r"\s*:\s*(?:\+?\s*[0-9.]|r\b|resign|t\b|time|f\b|forfeit)"),
    re.compile(SIDE + r"(?:['’]?s?\s+w[io]n|\s+" + BY + ")"),
    re.compile(r"(?:winner(?:\s+is)?|won\s+by|win\s+(?:by|for)|victory\s+(?:of|for))\s*[:=]?\s*(black|white|[bw])\b"),
    re.compile(r"^(black|white|[bw])[\s.!]*$"),
)
LOSERS = (
    re.compile(SIDE + r"\s+(?:resign|lose|loss|lost|forfeit|timeout|time[sd]? ?out|ran out|gives? up|gave up)"),
    re.compile(r"(?:loser(?:\s+is)?|lost\s+by)\s*[:=]?\s*(black|white|[bw])\b"),
)

# --- winners in Chinese, Japanese and Korean: a colour, and what follows it up to the next colour ---

SEGMENT = re.compile("([黒黑白흑백])([^黒黑白흑백]*)")
NAMED = re.compile("(?:勝者|胜者|勝方|胜方|赢家|贏家|승자)\\s*[:は는=]?\\s*([黒黑白흑백])")
BETWEEN = (
    r"[-0-9./,:+()\s・、。番方棋のはがをち으로이가의大险險惜零一二三四五六七八九两兩両十百又と半余分之强強子目点점집반]"
)
REASON = (
    "中押し?|中盘|中盤|불계|时间到?|時間切れ?|시간|초과|超时|超時|読秒|读秒|反則|反则|犯規|犯规|不戦|不战|不戰|优势|優勢|判定"
    "|判|기권|반칙|弃权|棄権|棄權|数子|計点|计点|による|により|で|以"
)
WINS = re.compile(f"(?:{BETWEEN}|{REASON})*[勝胜贏赢승](?![負负败敗者패])")
LOSES = re.compile(f"(?:{BETWEEN}|{REASON})*(?:[負负败敗패]|投了|投子|認輸|认输)")
BEFORE_AMOUNT = re.compile(f"(?:{BETWEEN}|{REASON}|[勝胜贏赢승負负败敗패出])*")
RESIGNED_TO = re.compile(r"[番方棋の\s]*(?:中押し?|中盘|中盤|불계)[\s.。]*$")  # '黒中押': Black won by resignation
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
# One of two forms: a number and a fraction, as in 2又3/4子 or 又四分之三 ("3 of 4 parts": `parts` 4, `taken` 3), or a
# number alone, perhaps with a half, as in 12目半.
EASTERN = re.compile(
    rf"(?:(?P<whole>{NUMBER}|{NUMERAL})\s*(?:[又と]|\s)\s*)?"
    rf"(?:(?P<fraction>[0-9]+\s*/\s*[0-9]+)|(?P<parts>{NUMERAL}|[0-9]+)分之(?P<taken>{NUMERAL}|[0-9]+))"
    r"\s*(?P<unit>子|目|点|점|집)?"
    rf"|(?P<only>{NUMBER}|{NUMERAL})?\s*(?P<one>子|目|点|점|집|もく)?\s*(?P<half>半|반)?\s*(?P<last>子|目|집)?"
)
MOVES = re.compile(r"[0-9]+\s*(?:手|수)")
IN_AMOUNT = re.compile(f"[0-9{ONES}两兩両十百半반]")


def parse_outcome(result: str) -> float | None:
    """Return the outcome in the text of a result: +1 Black won, -1 White won, 0 a draw; None if unknown."""
    text = normalised(result)
    if not text or VOID.search(text):
        return None
    if DRAW.fullmatch(text):
        return 0.0
    claims = set(winners(text))
    return claims.pop() if len(claims) == 1 else None


def winners(text: str) -> Iterator[float]:
    """Yield, for each part of a normalised text that names a winner or a loser, +1 if Black won, -1 if White won."""
    for patterns, sign in ((WINNERS, 1.0), (LOSERS, -1.0)):
        for pattern in patterns:
            for match in pattern.finditer(text):
                yield sign if match[1][0] in BLACK else -sign
    for match in NAMED.finditer(text):
        yield 1.0 if match[1] in BLACK else -1.0
    for match in SEGMENT.finditer(text):
        if winner := winner_of_segment(match[1], match[2]):
            yield winner


def winner_of_segment(colour: str, after: str) -> float:
    """Return +1 if Black won, -1 if White won, 0 if unknown, from a colour and the text after it."""
    side = 1.0 if colour in BLACK else -1.0
    wins, loses = WINS.match(after), LOSES.match(after)
    if PLUS.match(after) or RESIGNED_TO.fullmatch(after) or (wins and not loses):
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
    text = normalised(result)
    if match := POINTS.fullmatch(text):
        points, unit = amount(match["whole"], match["fraction"]), match["unit"]
    else:
        points, unit = eastern_amount(text)
    if points is None:
        return None
    if unit in ("子", "zi") or is_quarter(points):
        points *= 2
    is_margin = 0 < points <= LARGEST_MARGIN and points * 2 % 1 == 0  # a multiple of a half
    return outcome * points if is_margin else None


def is_quarter(points: float) -> bool:
    return points * 2 % 1 == 0.5


def amount(whole: str | None, fraction: str | None) -> float | None:
    """Return the sum of a number and a fraction such as 3/4, each of which may be missing.

    Returns:
        None if both are missing, or if they are not one number: a fraction of 1 or more, or after a decimal.
    """
    if not whole and not fraction:
        return None
    value = float((whole or "0").replace(",", "."))
    if not fraction:
        return value
    above, below = map(int, fraction.split("/"))
    return None if above >= below or value % 1 else value + above / below


def eastern_amount(text: str) -> tuple[float | None, str | None]:
    """Return the margin in a normalised text in Chinese, Japanese or Korean, and the margin's unit.

    Returns:
        (None, None) unless the text has exactly one number of points, after the colour of the winner or the loser.  A
        number without a unit is a margin only after a plus.
    """
    text = MOVES.sub(lambda match: " " * len(match[0]), text)  # blanks in place of a number of moves
    found = amounts(text)
    if len(found) != 1:
        return None, None
    match = found[0]
    segments = (segment for segment in SEGMENT.finditer(text) if segment.start() < match.start() <= segment.end())
    segment = next(segments, None)  # the colour before the number, with the text up to the next colour
    if segment is None or not winner_of_segment(segment[1], segment[2]):
        return None, None
    between = text[segment.start(2) : match.start()]  # what stands between the colour and the number
    points, unit = parse_points(match) if BEFORE_AMOUNT.fullmatch(between) else (None, None)
    has_unit = points is not None and (unit or match["half"] or is_quarter(points))
    after_plus = text[: match.start()].rstrip().endswith("+")
    return (points, unit) if has_unit or after_plus else (None, None)


def amounts(text: str) -> list[re.Match[str]]:
    """Return the matches of EASTERN in a text, one for each number in it."""
    return [match for match in EASTERN.finditer(text) if IN_AMOUNT.search(match[0])]


def parse_points(match: re.Match[str]) -> tuple[float | None, str | None]:
    """Return the number in a match of EASTERN, and its unit, None without a unit.

    Returns:
        (None, None) for a match with two different units, or with parts that are not one number.
    """
    whole, fraction = match["whole"] or match["only"], match["fraction"]
    if match["parts"]:  # Chinese names the denominator first
        fraction = f"{parse_numeral(match['taken'])}/{parse_numeral(match['parts'])}"
    if whole and not whole.isascii():
        whole = f"{parse_numeral(whole)}"
    value = 0.0 if match["half"] and not whole else amount(whole, fraction)
    units = {match["unit"], match["one"], match["last"]} - {None}
    if value is None or len(units) > 1 or (match["half"] and value % 1):
        return None, None
    return value + (0.5 if match["half"] else 0.0), next(iter(units), None)


def parse_numeral(numeral: str) -> int:
    """Return the number that a numeral below a thousand means, such as 百二十三 or 12; 0 for an empty one."""
    if numeral.isdecimal():
        return int(numeral)
    total = 0
    for sign, worth in (("百", 100), ("十", 10)):
        before, found, rest = numeral.partition(sign)
        if found:
            total += worth * DIGITS.get(before.strip("零"), 1)  # 百 alone is one hundred
            numeral = rest
    return total + DIGITS.get(numeral.strip("零"), 0)


def normalised(result: str) -> str:
    """Return a result in lower case, with ASCII digits and signs, cut to a limited length."""
    return unicodedata.normalize("NFKC", result[:LONGEST].translate(QUOTIENTS)).strip().lower()
