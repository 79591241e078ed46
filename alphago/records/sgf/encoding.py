"""Find the text encoding of each game of an SGF file: the declared one if it fits, else the most plausible one.

A game must be decoded before it is parsed: in Shift-JIS, GBK, EUC-KR and Big5 the second byte of a letter may equal `]`
or a backslash.  So a file of several games, which may declare several encodings, is decoded and parsed game by game.
"""

import codecs
import contextlib
import re
from collections.abc import Iterator
from typing import NamedTuple

from alphago.records.sgf.grammar import read_tree

UTF32 = ((codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be"))
UTF16 = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
MARKS = ((codecs.BOM_UTF8, "utf-8"), *UTF32, *UTF16)  # UTF-32 first: its little-endian mark begins as UTF-16's
DECLARED = re.compile(rb"(?<![A-Z])CA\s*\[\s*([^\]\s\\]{1,40})\s*\]")
BEGIN = re.compile(rb"\(\s*;")
NEXT = re.compile(rb"\)[^()]*\(\s*;")  # an end and a beginning after it: of two games, or of two variations
# From a game's bracket to the end of its first node.
ROOT = re.compile(rb"\(\s*;(?:[^\[\]();]*+(?:\[(?:[^\\\]]++|\\.)*+\]\s*+)++)*+", re.DOTALL)
WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949", "ascii": "utf-8"}
ALIASES = {"gb": "gb18030", "gb-2312": "gb18030", "sjis": "cp932", "x-sjis": "cp932", "ks_c_5601-1987": "cp949"}
LATIN = ("iso8859-1", "iso8859-15", "cp1252")
# The encodings of China, Japan and Korea that are tried, with the least and the greatest first byte of common letters.
EAST_ASIAN = {
    "cp932": (0x81, 0x98),
    "gb18030": (0xA1, 0xD7),
    "cp949": (0xA1, 0xC8),
    "euc_jp": (0xA1, 0xCF),
    "big5": (0xA1, 0xC6),
}
CYRILLIC = ("cp1251", "koi8_u", "cp866", "iso8859_5")
# ISO-2022 and HZ write all letters as ASCII bytes; those after an escape sequence mean other letters.
ESCAPE_SEQUENCE = re.compile(rb"\x1b|~\{")
JIS_ESCAPE = re.compile(rb"\x1b\$[@B]")  # ISO-2022-JP
HIGH_BYTES = re.compile(rb"[\x80-\xff]+")  # non-ASCII bytes in a row
CONTROL_BYTE = re.compile(rb"[\x80-\x9f]")  # in Latin-1 a control character, which texts do not have
# In Latin-1, a letter (or a sign before a letter, such as ¿) with no other non-ASCII byte beside it: the ü in "Müller".
LONE_LATIN = re.compile(rb"(?<![\x80-\xff])(?:[\xc0-\xff]|[\xa1-\xbf](?=[a-z]))(?![\x80-\xff])")
# The bracket after a value that another property, node or end of a variation follows.
CLOSING = re.compile(rb"\](?=\s*+(?:;?\s*+[A-Z]{1,2}\s*+\[|\)\s*+(?:[();]|$)))")
WINDOW = 2**14  # bytes in which the end of a game is looked for first
SAMPLE = 100_000  # first bytes of a text, which are enough to tell encodings apart
BAD_SHARE = 0.1  # a declared encoding is rejected if more than this share of the non-ASCII letters cannot be decoded
BAD_SHARE_UTF8 = 0.5  # the same for UTF-8; it is larger, since other encodings hardly ever look like UTF-8
# What a letter adds to a score (gain), or subtracts from it (loss); WEIGHTS has that of other kinds of letters.
# LONE_LATIN: a match of this pattern.  RUSSIAN: a letter in a plausible word of Russian or Ukrainian.
LONE_LATIN_GAIN, RUSSIAN_GAIN = 1.2, 2.0
# IN_LATIN: a match of this pattern.  MIXED: in a text with Chinese and Korean letters, a letter of the rarer kind.
# RARE: a letter whose first byte is not in the range of EAST_ASIAN.  CONTROL: a control character of Latin-1.
IN_LATIN_LOSS, MIXED_LOSS, RARE_LOSS, CONTROL_LOSS = 1.0, 0.5, 0.5, 0.5
EATEN_LOSS = 10.0  # if a bracket that closes a value is read as the second byte of a letter, which would lose moves
RELIABLE_COUNT = 4  # number of non-ASCII bytes from which on a game's score is reliable
CLEAR_DIFFERENCE = 0.5  # difference of two scores from which on one encoding is clearly better

# Letters that tell encodings apart: those common in game records, and those typical of a wrong encoding.
IN_LATIN = re.compile("(?<=[a-z])[\u3041-\u9fff가-힣]|[\u3041-\u9fff가-힣](?=[a-z])")  # letters within a Latin word
KANA = re.compile("[\u3041-\u30fa\u30fc]")
HALF_KANA = re.compile("[\uff61-\uff9f]")
KANJI = re.compile("[\u4e00-\u9fff]")
GO_WORDS = re.compile(
    "[黑黒白胜勝负負中盘盤押目子段级級名人战戦戰杯赛賽局围圍棋手合李金朴崔曹趙王张陈刘年月日第回决決预]|흑|백|승|불계|기원|국수|명인"
)
# The syllables of nearly all Korean names and words of Go; bytes of another encoding give rare ones.
USUAL_HANGUL = re.compile(
    "[가각간갑강개거건걸결겸경계고곡곤골공과관광교구국군궁권규균그근금급기길김까나남내너네노논누는능니다단담대덕데도독돌동두드득들"
    "등라락란람래량러려력련렬령로록론롱루류륜률륭르를름리린림마만말망매맹면명모목묘무문물미민바박반방배백번범법변별병보복본봉부북"
    "분불비빈빙사산삼상새생서석선설섭성세소손송수숙순술숭스승시식신실심쌍아안압애양어언엄업여역연열엽영예오옥온완왕외요용우욱운웅"
    "원월위유육윤율은을음응의이익인일임입자작장재쟁적전점정제조종좌주준중증지직진집차찬창채처천철첨청체초최추축춘충치침카커컵크타탁"
    "탄태택토통투특티파판팔패팽편평포표프피하학한함합항해행향허헌혁현협형혜호홍화환활황회효후훈휘휴흑흥희히]"
)
WORD = re.compile("[А-Яа-яЁёІіЇїЄєҐґ]+")
RUSSIAN = re.compile("(?:[А-ЯЁІЇЄҐ]?[а-яёіїєґ]{2,}|[А-ЯЁІЇЄҐ]{3,})")  # a single letter is no evidence
VOWEL = re.compile("[аеёиоуыэюяіїєАЕЁИОУЫЭЮЯІЇЄ]")
UNDECODED = re.compile("\ufffd")
ODD = re.compile("[\u0080-\u009f\u0400-\u04ff\u0370-\u03ff\u2500-\u257f\ue000-\uf8ff\ufffd]")
# What each letter of a kind adds to a score.
WEIGHTS = {KANJI: 1.0, KANA: 1.3, USUAL_HANGUL: 1.2, GO_WORDS: 1.5, ODD: -2.0, HALF_KANA: -0.7, UNDECODED: -8.0}


class DecodedText(NamedTuple):
    """The text of one or more games of a file.

    Attributes:
        text: U+FFFD stands for bytes that cannot be decoded.
        fault: what is wrong with the encoding; "" for nothing.
    """

    text: str
    fault: str = ""


def decode(data: bytes, *, one_game: bool = False) -> list[DecodedText]:
    """Return the text of a file in parts, one for each game; a single part if one encoding is certain for the file.

    Args:
        one_game: whether the file is decoded as one game, however many there are.
    """
    for mark, name in MARKS:
        if data.startswith(mark):
            return [decode_as(data[len(mark) :], name)]
    if (wide := unmarked_utf16(data)) is not None:
        return [decode_as(data, wide)]
    if data.isascii() and ESCAPE_SEQUENCE.search(data) is None:  # else ASCII bytes may stand for other letters
        return [DecodedText(data.decode("ascii"))]
    likely = guess_encoding(data)
    parts = [data] if one_game else split_games(data, likely)
    return [decode_game(part, likely) for part in parts]


def decode_as(data: bytes, name: str) -> DecodedText:
    """Decode data in the encoding `name`; bytes that cannot be decoded are a fault."""
    text = data.decode(name, "replace")
    # U+FFFD stands for each undecodable byte, but the data may have had this letter before.
    encoded = "\ufffd".encode(name, "ignore")  # empty if the encoding does not have this letter
    had_before = data.count(encoded) if encoded else 0
    lost = text.count("\ufffd") - had_before
    return DecodedText(text, f"{lost} letters of the text are damaged (not {name})" if lost > 0 else "")


def decode_game(data: bytes, likely: str) -> DecodedText:
    """Decode a game.

    Args:
        likely: the most plausible encoding of the whole file, for a game that declares no encoding that fits.
    """
    name, declared = find_encoding(data, likely)
    text, fault = decode_as(data, name)
    if declared is not None and declared != name:
        fault = f"the text must be {declared}, as CA says, but is not: it is read as {name}"
    elif declared is None and not data.isascii() and (ca_value := declared_word(data)):
        # CA has a value, but the value names no known encoding, or one in which the file cannot be.
        fault = f"CA must name an encoding of text that fits, got {ca_value}: it is read as {name}"
    return DecodedText(text, fault)


def find_encoding(data: bytes, likely: str) -> tuple[str, str | None]:
    """Return the encoding of a game and the encoding that it declares, None if it declares no known one.

    The two differ if the declared encoding is wrong.

    Args:
        likely: as in `decode_game`.
    """
    declared = declared_encoding(data)
    if declared is not None and declared != "utf-8" and is_surely_utf8(data, declared):
        return "utf-8", declared
    if declared is not None and fits(data, declared):
        return declared, declared
    name = guess_encoding(data)
    # One game has few letters, so the encoding of the whole file is used unless the game's own is clearly better.
    # A guess of UTF-8 is kept, since other encodings hardly ever look like it.
    if name not in (likely, "utf-8") and score(data, likely) > score(data, name) - CLEAR_DIFFERENCE:
        name = likely
    return name, declared


def fits(data: bytes, declared: str) -> bool:
    """Return whether a game can be in the encoding that it declares."""
    if declared in LATIN:  # every byte is a letter in these encodings, so no byte shows that they are wrong
        name = guess_encoding(data)
        if name == "utf-8":
            return False
        is_reliable = sum(byte >= 0x80 for byte in data[:SAMPLE]) >= RELIABLE_COUNT
        other_is_better = score(data, name) > score(data, "latin-1") + CLEAR_DIFFERENCE
        return not (is_reliable and other_is_better)
    text = data[:SAMPLE].decode(declared, "replace")
    letters = sum(not character.isascii() for character in text)
    return text.count("\ufffd") <= letters * (BAD_SHARE_UTF8 if declared == "utf-8" else BAD_SHARE)


def is_surely_utf8(data: bytes, declared: str) -> bool:
    """Return whether a game is certainly in UTF-8 although it declares another encoding.

    The letters of the game's first node decide, or those of the whole game if the node has ASCII letters only.  Bytes
    in the declared encoding may be valid UTF-8 by chance, but hardly ever as a letter of three bytes.  So one letter of
    three bytes is enough.  Without one there must be four letters of two bytes; one if the declared encoding is Latin.
    """
    root = ROOT.search(data)
    part = root[0] if root and not root[0].isascii() else data[:SAMPLE]
    try:
        # An incremental decoder allows that the sample ends within a letter.
        text = codecs.getincrementaldecoder("utf-8")().decode(part)
    except UnicodeDecodeError:
        return False
    letters = re.findall(r"[^\x00-\x9f]", text)  # no ASCII, and no control characters
    has_three_byte_letter = max(letters, default="") > "\u07ff"  # U+07FF is the last letter of two bytes
    return has_three_byte_letter or len(letters) >= (1 if declared in LATIN else 4)


def split_games(data: bytes, likely: str) -> Iterator[bytes]:
    """Yield the bytes of each game of a file; together they are the whole file.

    The bytes between two games belong to the later game, and the bytes after the last game to the last game.

    Args:
        likely: as in `decode_game`.
    """
    at = 0  # the end of the game before
    # To find the end of a game takes time.  It is not needed if no further game can follow (NEXT).
    while (match := BEGIN.search(data, at)) is not None and NEXT.search(data, match.end()) is not None:
        end = end_of_game(data, match.start(), likely)
        yield data[at:end]
        at = end
    yield data[at:]


def end_of_game(data: bytes, begin: int, likely: str) -> int:
    """Return the index after the game that begins at the index `begin`.

    Args:
        likely: as in `decode_game`.
    """
    size = WINDOW  # bytes of the part that is read; four times as many at each failure
    while True:
        part = data[begin : begin + size]
        name, _ = find_encoding(part, likely)
        has_no_end = begin + size >= len(data)  # if the end is not found in this part either
        # Raised for text in ISO-2022 or HZ that is damaged, or that the part cuts within a letter.
        with contextlib.suppress(UnicodeError):
            text = part.decode(name, "surrogateescape")  # other texts can be encoded to the same bytes again
            tree = read_tree(text, 1)  # after the game's first bracket
            if tree.complete:
                return begin + len(text[: tree.end].encode(name, "surrogateescape"))
            has_no_end = has_no_end or tree.too_long
        # A game that is too long to be read, or that is cut off, has no known end: it takes the rest of the data.
        if has_no_end:
            return len(data)
        size *= 4


def declared_word(data: bytes) -> str:
    """Return the value of CA in the first game in `data`; "" for none."""
    root = ROOT.search(data)
    match = DECLARED.search(root[0] if root else data)
    return "" if match is None else match[1].decode("ascii", "replace")


def declared_encoding(data: bytes) -> str | None:
    """Return the encoding that the first game in `data` declares; None for none, or one that Python does not know."""
    word = declared_word(data).lower()
    if not word:
        return None
    try:
        name = codecs.lookup(ALIASES.get(word, word)).name
        # Raises LookupError for a codec that is not for text, such as hex, and ValueError for punycode, which raises it
        # for any text that is damaged.
        b"\xff".decode(name, "replace")
    except (LookupError, ValueError):
        return None
    if name.startswith(("utf-16", "utf-32", "utf-7")):
        return None  # certainly wrong: the ASCII bytes of CA would not have been found in such a file
    return WIDER.get(name, name)


def unmarked_utf16(data: bytes) -> str | None:
    """Return "utf-16-le" or "utf-16-be" if the data is UTF-16 without a byte order mark, else None.

    The first letters of an SGF file are ASCII, so in UTF-16 every second byte is 0.
    """
    head = data[:64].ljust(4, b" ")  # at least four bytes, so that neither half is empty
    # The high byte of an ASCII letter is 0, and the low byte is not.
    for name, high, low in (("utf-16-be", head[0::2], head[1::2]), ("utf-16-le", head[1::2], head[0::2])):
        if high.count(0) > len(high) // 2 and low.count(0) == 0:
            return name
    return None


def guess_encoding(data: bytes) -> str:
    """Return the most plausible encoding of non-ASCII data, which is UTF-8 for all valid UTF-8.

    Damaged UTF-8 counts as valid if its letters of three bytes are more than twice as many as its damaged places.
    """
    part = data[:SAMPLE]
    if JIS_ESCAPE.search(part):
        return "iso2022_jp_ext"
    try:
        # final: a sample that is only a part of the data may end within a letter.
        codecs.getincrementaldecoder("utf-8")().decode(part, final=len(data) <= SAMPLE)
        return "utf-8"
    except UnicodeDecodeError:
        text = part.decode("utf-8", "replace")
        three_byte_letters = len(re.findall("[\u0800-\ufffc]", text))
        if three_byte_letters > 2 * text.count("\ufffd"):
            return "utf-8"
    return max(("latin-1", *CYRILLIC, *EAST_ASIAN), key=lambda name: score(part, name))


def score(data: bytes, name: str) -> float:
    """Return how plausible it is that data is in an encoding, from about -10 (wrong) to 3 (right)."""
    part = data[:SAMPLE]
    if name == "latin-1":
        return latin_score(part)
    text = part.decode(name, "replace")
    if name in CYRILLIC:
        return cyrillic_score(text)
    # A closing bracket is lost in the decoded text if it was read as the second byte of a letter.
    loses_bracket = len(CLOSING.findall(part)) > len(CLOSING.findall(text.encode("utf-8")))
    return plausibility(text, name) - (EATEN_LOSS if loses_bracket else 0)


def cyrillic_score(text: str) -> float:
    """Return how plausible it is that a text is Russian or Ukrainian, from -2 to 2; comparable with `plausibility`.

    Letters in plausible words raise the score, and all other non-ASCII letters lower it.  Bytes of another encoding,
    read as Cyrillic, give capitals within words, words without vowels, and signs.
    """
    letters = sum(not character.isascii() for character in text)
    words = [word for word in WORD.findall(text) if len(word) > 2 and RUSSIAN.fullmatch(word) and VOWEL.search(word)]
    good = sum(map(len, words))
    return RUSSIAN_GAIN * (2 * good - letters) / max(letters, 1)


def latin_score(data: bytes) -> float:
    """Return how plausible it is that data is Latin-1, from -0.5 to 1.2; comparable with `plausibility`.

    In Latin-1 most non-ASCII letters stand alone among ASCII letters, as in "Müller".  So the score rises with the
    share of such lone letters among the runs of non-ASCII bytes.  It falls with the share of control characters among
    these bytes.
    """
    runs = HIGH_BYTES.findall(data)
    byte_count = sum(map(len, runs))
    gain = LONE_LATIN_GAIN * len(LONE_LATIN.findall(data)) / max(len(runs), 1)
    return gain - CONTROL_LOSS * len(CONTROL_BYTE.findall(data)) / max(byte_count, 1)


def plausibility(text: str, name: str) -> float:
    """Return how plausible it is that a text in the encoding `name` was decoded correctly, from about -10 to 3."""
    letters = [character for character in text if not character.isascii()]
    if not letters:
        return 0.0
    joined = "".join(letters)
    total = sum(weight * len(pattern.findall(joined)) for pattern, weight in WEIGHTS.items())
    total -= IN_LATIN_LOSS * len(IN_LATIN.findall(text))
    mixed = min(len(KANJI.findall(joined)), len(USUAL_HANGUL.findall(joined)))  # few texts have both kinds of letters
    # The first bytes of the encoding's common letters; of ISO-2022 and HZ, whose letters are ASCII bytes, any.
    least, most = EAST_ASIAN.get(name, (0, 0xFF))
    rare = sum(not least <= letter.encode(name, "replace")[0] <= most for letter in letters)
    return (total - MIXED_LOSS * mixed - RARE_LOSS * rare) / len(letters)
