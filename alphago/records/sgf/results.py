"""Results of games as files spell them: 'B+2.5', 'White resigns.', '黒中押し勝ち', '백 불계승', '白胜2又3/4子'."""

import re

DRAWS = ("0", "draw", "jigo", "tie", "draw.", "drawn", "持碁", "和棋", "和局", "無勝負", "빅", "무승부")
VOID = re.compile(r"void|no ?result|annul|unfinished|suspended|打ち掛け|無勝負|无胜负")
LONGEST = 200  # characters: anything after them is a comment
WINNER = re.compile(r"(black|white|[bw])(?:\s*\+|[\s.]*$|\s+w[io]n|['’]?s? win)")
WINNER_IN_KANJI = re.compile("([黒黑白])[^黒黑白]*?[勝胜贏赢]|([黒黑白])\\s*\\+")
LOSER_IN_KANJI = re.compile("([黒黑白])[^黒黑白]*(?:投了|负|負|認輸|认输)")
WINNER_IN_HANGUL = re.compile("(흑|백)[^흑백]*승|(흑|백)\\s*\\+")
LOSER = re.compile(r"(black|white|[bw])\s+(?:resign|lose|lost|forfeit|timeout|times? out)")
POINTS = re.compile(
    r"(?:black|white|[bw])\s*(?:\+|wins? by|won by)\s*([0-9]+(?:[.,][0-9]*)?)\s*(?:points?|pts?|moku|目)?\.?"
)
POINTS_EAST = re.compile(r"([0-9]+)?\s*(?:又|と)?\s*(?:([0-9])\s*/\s*([0-9]))?\s*(子|目|집|点|もく)(半|반)?")
DECIMAL_EAST = re.compile(r"([0-9]+\.[0-9]+)\s*(子|目|집|点)?")
WIDE = str.maketrans("０１２３４５６７８９．＋：ＢＷ", "0123456789.+:bw")
NUMERALS = str.maketrans("一二三四五六七八九两", "1234567892")
BLACK = "b黒黑흑"


def outcome_of(result: str) -> float | None:
    """Return the outcome in the text of a result: +1 Black won, -1 White won, 0 a draw; None if unknown."""
    text = plain(result)
    if text in DRAWS:
        return 0.0
    if not text or VOID.search(text):
        return None
    for pattern, sign in (
        (WINNER, 1.0), (WINNER_IN_KANJI, 1.0), (WINNER_IN_HANGUL, 1.0), (LOSER, -1.0), (LOSER_IN_KANJI, -1.0),
    ):  # fmt: skip
        match = pattern.match(text) if pattern in (WINNER, LOSER) else pattern.search(text)
        if match:
            name = next(filter(None, match.groups()))
            return sign if name[0] in BLACK else -sign
    return None


def margin_of(result: str) -> float | None:
    """Return Black's margin in points; None if unknown, as after a resignation."""
    outcome = outcome_of(result)
    if not outcome:
        return outcome
    text = plain(result)
    if match := POINTS.fullmatch(text):
        return outcome * float(match[1].replace(",", "."))
    if text.isascii():
        return None
    return east_margin(text, outcome)


def east_margin(text: str, outcome: float) -> float | None:
    """Return Black's margin in a result in Chinese, Japanese or Korean; None if the text has no margin.

    A zi (子) counts two points.  outcome: +1 if Black won, -1 if White won.
    """
    text = text.translate(NUMERALS)
    if match := DECIMAL_EAST.search(text):
        return outcome * float(match[1]) * (2 if match[2] == "子" else 1)
    for match in POINTS_EAST.finditer(text):
        whole, above, below, unit, half = match.groups()
        if whole is None and above is None and half is None:
            continue
        if below == "0":
            return None
        points = int(whole or 0) + (int(above) / int(below) if above else 0.0) + (0.5 if half else 0.0)
        points *= 2 if unit == "子" else 1
        return outcome * points if points > 0 else None
    return None


def plain(result: str) -> str:
    """Return a result in lower case, with ASCII digits, cut to a limited length."""
    return result[:LONGEST].translate(WIDE).strip().lower()
