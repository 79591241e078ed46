"""Results of every spelling: winner and margin, or unknown; never a wrong one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alphago.records.sgf.result_texts import parse_margin, parse_outcome

ENGLISH = {
    (0, 0): "0|0.0|Draw|Draw (0)|Jigo.|tie|引き分け|持碁|和棋|平局|빅|무승부",
    (None, None): "|Void|Unfinished|無勝負|B+R W+R|B?|black did not win|黑不胜|白石裕 勝|勝負|黒五目",  # no winner
    # Fox writes B+0.02 for wins on time and by leaving, OGS B+0 for forfeits: they name the winner, and are no draw.
    (1, None): "White resigns.|B+Time|B+|B+AW|Winner: Black|White lost on time|B+0|B+0.0|B+0.02|B+0.03",
    (-1, None): "W|W by resignation|Chinese W+1.5|White's win",
    (1, 0.5): "B:0.5|B+1/2",
    (1, 1.5): "B+1.5",
    (1, 2.5): "B+2.5 points|B+1.25",
    (1, 3.5): "Black by 3.5|B + 3.5|B+3½|Ｂ＋３．５",
    (-1, -0.5): "W by 0.5",
    (-1, -1.5): "W+1 1/2|W+0.75",  # quarters are of a zi, as Fox writes under Chinese rules
    (-1, -3.5): "White won by 3.5 points|W+3,5",
    (-1, -7.5): "W + 3.75 zi",
}
# Numerals with tens and hundreds, halves, and fractions of a zi, which is two points.
EASTERN = {
    (1, None): "黑中盘胜|흑 불계승|黒中押|白時間切れ負け|勝者は黒",
    (-1, None): "白中押し勝ち|黑方认输|黑负|흑 시간패|胜方:白",
    (1, 0.5): "黒半目勝ち|흑 반집승",
    (1, 2.5): "黒2目半勝ち|白负2目半|黒+2.5",
    (1, 3.0): "黒勝ち(三目)",
    (1, 5.5): "黑胜2又3/4子",
    (1, 12.5): "黒十二目半勝ち|97手完、黒12目半勝ち",
    (1, 14.5): "黑七又四分之一子胜",
    (1, 24.0): "黑胜十二子",
    (1, 210.0): "黑胜一百零五子",
    (-1, -1.5): "白胜3/4子|白胜四分之三子",
    (-1, -3.5): "백 3집반승|백 3.5집승",
    (-1, -4.0): "白胜两子",
    (-1, -5.0): "白胜二子半",
}


@pytest.mark.parametrize(("result", "texts"), [*ENGLISH.items(), *EASTERN.items()])
def test_winner_and_margin(result: tuple[float, float | None], texts: str) -> None:
    for text in texts.split("|"):
        assert (parse_outcome(text), parse_margin(text)) == result, text


UNSURE = """
B+999999|B+1/3|B+4/2|B+9.5 (maybe only 8.5)|W+J 5.5|コミ5目半 黒勝ち|白番 5目半 コミ 黒勝ち|黒勝ち コミ5目半
黑胜 贴3又3/4子|黒3目勝ち, 白2目|黑胜33/4子|黑胜一二子|黑胜百百子|黑胜12|黑胜2子3/4|黑胜3.75子(3又3/4子)
"""


@pytest.mark.parametrize("text", UNSURE.strip().replace("\n", "|").split("|"))
def test_margins_that_are_not_sure(text: str) -> None:
    """A winner, but no number: there are two, or it is the komi's, or no numeral."""
    assert parse_outcome(text) is not None
    assert parse_margin(text) is None


PARTS = """
B W black white + 0 1 25 .5 /4 黒 白 흑 백 勝 負 승 十 百 三 両 又 分之 四 子 目 집 半 반 中押し by wins resign ( )
½ 零 ²
"""


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.lists(st.sampled_from([" ", *PARTS.split()]), max_size=12).map("".join), st.text(max_size=40)))
def test_any_text(text: str) -> None:
    """A margin has the winner's sign, is a multiple of half a point, and comes with a winner."""
    outcome, margin = parse_outcome(text), parse_margin(text)
    assert outcome in (None, -1, 0, 1)
    if margin is not None:
        assert outcome is not None
        assert margin * outcome > 0 or margin == outcome == 0
        assert margin * 2 % 1 == 0


def test_long_texts() -> None:
    """Only the beginning counts, so no text takes long."""
    for text in ("黒" * 10**6, "黒一" + "十百" * 10**6, "b " * 10**6, "黒(((((中押し" * 10**5, "w+" + "1" * 10**6):
        parse_margin(text)
