"""Find the text encoding of an SGF file: the one that the file declares if it fits, else the most plausible one.

A file must be decoded before it is parsed: in Shift-JIS, GBK, EUC-KR and Big5 the second byte of a letter may equal `]`
or a backslash.
"""

import codecs
import re

UTF32 = ((codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be"))
UTF16 = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
MARKS = ((codecs.BOM_UTF8, "utf-8"), *UTF32, *UTF16)  # a mark of UTF-32 begins with one of UTF-16
DECLARED = re.compile(rb"(?<![A-Z])CA\s*\[\s*([^\]\s]{1,40})\s*\]")
WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949", "ascii": "utf-8"}
ALIASES = {"gb": "gb18030", "gb-2312": "gb18030", "sjis": "cp932", "x-sjis": "cp932", "ks_c_5601-1987": "cp949"}
CANDIDATES = ("cp932", "gb18030", "cp949", "euc_jp", "big5")
LOOKED_AT = 100_000  # bytes: enough to tell encodings apart
BAD_SHARE = 0.1  # a declared encoding is rejected if more of the non-ASCII letters cannot be decoded
BAD_SHARE_UTF8 = 0.5  # the same for UTF-8, where bytes of another encoding hardly ever make a letter of three bytes

# Letters that tell encodings apart: those common in game records, and those typical of a wrong encoding.
KANA = re.compile("[\u3041-\u30fa\u30fc]")
HALF_KANA = re.compile("[\uff61-\uff9f]")
HANGUL = re.compile("[\uac00-\ud7a3]")
KANJI = re.compile("[\u4e00-\u9fff]")
GO_WORDS = re.compile(
    "[黑黒白胜勝负負中盘盤押目子段级級名人战戦戰杯赛賽局围圍棋手合李金朴崔曹趙王张陈刘年月日第回决決预]|흑|백|승|불계|기원|국수|명인"
)
ODD = re.compile("[\u0080-\u009f\u0400-\u04ff\u0370-\u03ff\u2500-\u257f\ue000-\uf8ff\ufffd]")


def decode(data: bytes) -> tuple[str, str]:
    """Return a file's text and the name of its encoding; undecodable bytes become U+FFFD."""
    for mark, name in MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(name, "replace"), name
    if (wide := unmarked_utf16(data)) is not None:
        return data.decode(wide, "replace"), wide
    if data.isascii():
        return data.decode("ascii"), "utf-8"
    declared = declared_encoding(data)
    if declared is not None:
        text = data.decode(declared, "replace")
        if bad_share(text[:LOOKED_AT]) <= (BAD_SHARE_UTF8 if declared == "utf-8" else BAD_SHARE):
            return text, declared
    name = guess(data)
    return data.decode(name, "replace"), name


def bad_share(text: str) -> float:
    """Return the share of a text's non-ASCII letters that could not be decoded."""
    letters = sum(not character.isascii() for character in text)
    return text.count("\ufffd") / max(letters, 1)


def declared_encoding(data: bytes) -> str | None:
    """Return the encoding named in a file's first CA property; None if there is none, or Python does not know it."""
    match = DECLARED.search(data)
    if match is None:
        return None
    word = match[1].decode("ascii", "replace").lower()
    try:
        name = codecs.lookup(ALIASES.get(word, word)).name
        b" ".decode(name, "replace")  # some codecs, such as hex, are not for text
    except (LookupError, ValueError):
        return None
    if name.startswith(("utf-16", "utf-32", "utf-7")):
        return None  # impossible: in such a file the ASCII bytes of CA would not have been found
    return WIDER.get(name, name)


def unmarked_utf16(data: bytes) -> str | None:
    """Return "utf-16-le" or "utf-16-be" if the data is UTF-16 without a byte order mark, else None.

    The first letters of an SGF file are ASCII, so in UTF-16 every second byte is 0.
    """
    head = data[:64].ljust(4, b" ")
    even, odd = head[0::2], head[1::2]
    if even.count(0) > len(even) // 2 and odd.count(0) == 0:
        return "utf-16-be"
    if odd.count(0) > len(odd) // 2 and even.count(0) == 0:
        return "utf-16-le"
    return None


def guess(data: bytes) -> str:
    """Return the encoding of non-ASCII data: UTF-8 if the data is valid UTF-8, else the most plausible encoding.

    Data that is damaged in a few places counts as valid UTF-8 if most of its letters are letters of three bytes.
    """
    part = data[:LOOKED_AT]
    try:
        codecs.getincrementaldecoder("utf-8")().decode(part, final=len(data) <= LOOKED_AT)
        return "utf-8"
    except UnicodeDecodeError:
        text = part.decode("utf-8", "replace")
        if len(re.findall("[\u0800-\ufffc]", text)) > 2 * text.count("\ufffd"):
            return "utf-8"
    best, most = "latin-1", latin_score(part)
    for name in CANDIDATES:
        score = plausibility(part.decode(name, "replace"))
        if score > most:
            best, most = name, score
    return best


def latin_score(data: bytes) -> float:
    """Return how plausible it is that data is Latin-1; comparable with `plausibility`.

    In Latin-1 the non-ASCII letters stand alone among ASCII letters, as in "Müller".
    """
    runs = re.findall(rb"[\x80-\xff]+", data)
    total = sum(map(len, runs))
    alone = sum(len(run) == 1 for run in runs)
    return 1.2 * alone / max(len(runs), 1) - 0.5 * sum(data.count(bytes([byte])) for byte in range(0x80, 0xA0)) / max(
        total, 1
    )


def plausibility(text: str) -> float:
    """Return how plausible it is that a text was decoded correctly, from about -10 (wrong) to 3 (right)."""
    letters = [character for character in text if not character.isascii()]
    if not letters:
        return 0.0
    joined, count = "".join(letters), len(letters)
    kinds = ((1.0, KANJI), (1.3, KANA), (1.2, HANGUL), (1.5, GO_WORDS))
    good = sum(weight * len(pattern.findall(joined)) for weight, pattern in kinds)
    bad = 2.0 * len(ODD.findall(joined)) + 0.7 * len(HALF_KANA.findall(joined)) + 8.0 * joined.count("\ufffd")
    mixed = 0.5 * min(len(KANJI.findall(joined)), len(HANGUL.findall(joined)))
    return (good - bad - mixed) / count
