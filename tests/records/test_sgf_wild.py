"""SGF from the wild: whatever a file is, its legal beginning is kept, and what is wrong is said with its place."""

import base64
import gzip
import itertools
import json
import random
import string
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alphago.env.go import GoEnv
from alphago.env.go_rules import Rules
from alphago.records.sgf import MoveNote, SgfGame, format_sgf, parse_sgf, salvage_sgf
from alphago.records.sgf import grammar as grammar_module
from alphago.records.sgf import reader as reader_module
from alphago.records.sgf.encoding import decode
from alphago.records.sgf.faults import FINAL_SET_UP
from alphago.records.sgf.grammar import trees
from alphago.records.sgf.notes import LARGEST_ANALYSIS, katrain_values, pack_value, read_notes, unpack_value
from alphago.records.sgf.reader import parse_games
from alphago.records.sgf.values import read_komi, read_rank
from tests.random_games import random_game
from tests.records.test_sgf import moves

DATA = sorted((Path(__file__).parents[1] / "data").glob("**/*.sgf"))


def only(text: str | bytes, **options: object) -> SgfGame:
    """The only game of a text, of whatever quality."""
    games = list(salvage_sgf(text.encode() if isinstance(text, str) else text, name="wild.sgf", **options))
    assert len(games) == 1
    return games[0]


def wrong(game: SgfGame) -> list[str]:
    """The faults of a game, with their places."""
    return [fault.of(game.source) for fault in game.faults]


@pytest.mark.parametrize("end", ["", ";", ";W", ";W[", ";W[b", ";W[bb", "C[so they say\\", "(", "C[a]b]"])
def test_truncation(end: str) -> None:
    game = only(f"(;SZ[5]PB[a];B[aa];W[ee]{end}")
    assert moves(game).startswith("B A5, W E1")
    assert wrong(game) == ["wild.sgf: the file ends within the game"]


# A text, the moves that are read, and the faults: their kinds, or sentences with the places.
READ = r"""
(;SZ[5];B[aa];W[aa];B[bb]) -> B A5 | node 2: move 2, White A5, is illegal: Black has a stone there
(;SZ[5]RU[Chinese];B[ab];W[ee];B[ba];W[aa]) -> B A4, W E1, B B5 | node 4: move 4, White A5, is illegal: suicide
(;SZ[5];B[aa];;W[zz];B[bb]) -> B A5 | node 3: a move must be on a point of a board of 5 x 5, got 'zz'
(;SZ[5];B[];W[];B[aa]) -> B pass, W pass | node 3: move 3, Black A5, is illegal: two passes have ended the game
(;SZ[5]HA[0.5];B[aa]) -> B A5 | the handicap must be a number of stones, got '0.5'
(;GaMe[1]SiZe[9]PB[a]Black[aa];White[bb]) -> B A9, W B8
(;CoPyright[x]SZ[9];b[aa];w[bb]) -> B A9, W B8
(;GM[1];SZ[9]KM[5.5];B[aa]) -> B A9
(\nSZ[5]\n;B[aa];W[bb]) -> B A5, W B4
;SZ[5];B[aa];W[bb]) -> B A5, W B4
(;SZ[5];B[aa];W;[bb];B[cc]) -> B A5, W B4, B C3
(;SZ[19];B[];W[p\r\nd];B[a\na]) -> B pass, W Q16, B A19
(;SZ[21];B[tt];W[``]) -> B U2, W pass
(;SZ[25];B[tt];W[yy];B[];W[ay]) -> B U6, W Z1, B pass, W A1
(;SZ[25];B[ef];W[tt]) -> B E20, W U6
(;SZ[5];B[aa];W[];B[];W[];B[]) -> B A5, W pass, B pass
(;SZ[9]HA[2];B[gc];B[cg];W[ee]) -> B G7, B C3, W E5
(;SZ[5];B[aa];W[aa];AE[aa];B[cc];W[dd]) -> B A5 | occupied point
(;SZ[5];B[aa];AE[ee];W[aa];AE[bb];B[cc]) -> B A5 | node 3: move 2, White A5, is illegal: Black has a stone there
(;SZ[5];B[aa];AE[ee];B[bb]) -> B A5, B B4
(;SZ[9];B[I5]) ->  | bad point
(;SZ[9];B[E5];W[c3];B[G7];W[pass];B[PASS]) -> B E5, W C3, B G7, W pass, B pass | notation
(;SZ[9];B[e5e]) ->  | bad point
"""


@pytest.mark.parametrize("row", READ.strip().splitlines())
def test_what_is_read(row: str) -> None:
    text, _, expected = row.replace("\\n", "\n").replace("\\r", "\r").partition(" -> ")
    game, (kept, *faults) = only(text), expected.split(" | ")
    assert moves(game) == kept
    assert [fault.kind if fault.kind in faults else str(fault) for fault in game.faults] == faults


class TestForms:
    def test_what_stands_around_games(self) -> None:
        text = "From: me\r\nSubject: (no game)\r\n\r\n(;SZ[5];B[aa])\r\n)))\r\n]C[again.])))\r\n(;SZ[5];B[bb])  bye"
        assert [moves(game) for game in salvage_sgf(text.encode())] == ["B A5", "B B4"]

    def test_brackets_that_are_not_escaped(self) -> None:
        """A bracket that is closed within a text, before what is no SGF, is part of the text, also when it is saved."""
        chat = "a [5k]: hi\nb [3k]: B[dd] or W [ee], I think\n"
        game = only(f"(;SZ[5]US[Ann[3d]]PB[a[5d]]PW[b]C[see [A]!];B[aa]C[{chat}];W[bb]LB[aa:[A]][bb:B]C[[x]])")
        assert (moves(game), game.players, game.comment) == ("B A5, W B4", ("a[5d]", "b"), "see [A]!")
        assert game.comments == {0: chat.strip(), 1: "[x]"}
        again = only(format_sgf(game))
        assert (again.players, again.comment, again.comments) == (game.players, game.comment, game.comments)
        for text in ("[open", "a [b [c", "a \\[b", "[[["):  # not closed again: as ever
            game = only(f"(;SZ[5]C[{text}]PB[b];B[aa])")
            assert (game.comment, game.players[0]) == (text.replace("\\", ""), "b")

    def test_all_lines(self) -> None:
        text = b"(;SZ[5];B[aa](;W[bb];B[cc])(;W[ca](;B[da])(;B[ea])))"
        lines = [moves(game) for game in salvage_sgf(text, all_lines=True)]
        assert lines == ["B A5, W B4, B C3", "B A5, W C5, B D5", "B A5, W C5, B E5"]
        assert [moves(game) for game in salvage_sgf(text)] == lines[:1]


class TestSetUp:
    def test_handicap_that_is_not_placed(self) -> None:
        """As some servers write it: White moves first, the stones are where they always are."""
        for text in ("HA[2]", "HA[2.0]"):
            game = only(f"(;SZ[9]{text};W[ee];B[aa])")
            assert (game.handicap, game.setup) == (2, {"black": "G7 C3", "to_play": "white"})

    def test_the_longer_part_of_a_game_with_a_set_up(self) -> None:
        game = only("(;SZ[5];B[aa];AW[ee]AE[aa];B[bb];W[cc];B[dd])")
        assert moves(game) == "B B4, W C3, B D2"
        assert game.setup == {"white": "E1"}
        assert "set-up after move 1: the game is what comes after it" in wrong(game)[0]
        game = only("(;SZ[5];B[aa];W[bb];AW[ee]AE[aa];B[cc])")
        assert moves(game) == "B A5, W B4"
        assert "set-up after move 2: the game is what comes before it" in wrong(game)[0]

    def test_moves_after_an_impossible_board(self) -> None:
        """They are told as left out, though nothing can be played there."""
        game = only("(;SZ[2];W[bb];B[ab];AW[bb][aa][ba][ab];W[bb];B[];W[ab];AB[aa])")
        assert moves(game) == "W B1, B A1"
        assert "set-up after move 2: the game is what comes before it" in wrong(game)[0]


class TestRules:
    CYCLE = "(;SZ[5]{}AB[ba][da][cb]AW[ab][bb]PL[B];B[aa];W[ca];B[ba])"

    def test_a_repetition_that_no_rule_forbids(self) -> None:
        """Without RU the rules that allow the moves are assumed; a rule that is named is heeded."""
        free, *named = (only(self.CYCLE.format(rules)) for rules in ("", "RU[Chinese]", "RU[Japanese]"))
        assert [len(game.moves) for game in (free, *named)] == [3, 2, 3]
        assert [game.assumed for game in (free, *named)] == [Rules("simple", False), None, None]
        assert free.position().moves == free.moves
        assert parse_sgf(format_sgf(free)) == free

    def test_suicide(self) -> None:
        suicide = "(;SZ[3]{};W[ba];B[aa];W[bb];B[cc];W[ac];B[ab])"
        free = only(suicide.format(""))
        assert free.assumed == Rules("simple", True)
        assert not free.faults
        assert [fault.kind for fault in only(suicide.format("RU[Japanese]")).faults] == ["suicide"]


class TestValues:
    KOMI = {None: "", 0: "0", 150: "150.0", -361.5: "-361.5", 0.5: "½", 5.5: "5.5 points|五目半", -0.5: "-0.5"}
    KOMI |= {7.5: "7.500|750|375|3.75|3又3/4子|黑贴3又3/4子|+7.5|7½|3¾|7 1/2|7 and 1/2", -7.5: "-750"}
    KOMI |= {6.5: "650|6,5|６．５|6.5目|6目半|6집반|6½ points"}

    @pytest.mark.parametrize(("komi", "texts"), KOMI.items())
    def test_odd_komi(self, komi: float | None, texts: str) -> None:
        assert {text: read_komi(text) for text in texts.split("|")} == dict.fromkeys(texts.split("|"), komi)

    def test_the_komi_of_chinese_servers(self) -> None:
        assert only("(\nTE[2018]\nKO[7.5]\nSZ[5]\nRE[x]\n;B[aa])").komi == 7.5

    def test_ranks(self) -> None:
        ranks = {9: "9d|九段", -1: "1k", -30: "30k?", 109: "9p|P9段|P9|职业九段|Meijin", 1: "初段", 2850: "2850|2850?"}
        for rank, texts in (ranks | {0: "|?", 3: "3 dan", -18: "18级"}).items():
            for text in texts.split("|"):
                assert read_rank(text) == rank, text

    def test_a_rating_in_the_name(self) -> None:
        game = only("(;SZ[5]PB[Ann (2241)]PW[Bob (x) (1800?) ];B[aa])")
        assert (game.ranks, game.players[0]) == (("2241", "1800?"), "Ann (2241)")
        assert only("(;SZ[5]PB[Ann (2241)]BR[3d];B[aa])").ranks == ("3d", "")


class TestEncodings:
    @pytest.mark.parametrize("name", ["iso2022_jp", "hz", "iso2022_kr"])
    def test_letters_of_ascii_bytes(self, name: str) -> None:
        """After a shift, in which brackets may stand for a part of a letter."""
        player = {"iso2022_jp": "棋聖戦能表", "hz": "世界围棋十段", "iso2022_kr": "이창호 구단"}[name]
        data = f"(;CA[{name.replace('_', '-')}]SZ[5]PB[{player}];B[aa]C[{player}];W[bb])".encode(name)
        assert data.isascii()
        game = only(data)
        assert (game.players[0], game.comments, len(game.moves)) == (player, {0: player}, 2)
        if name == "iso2022_jp":
            assert only(data.replace(b"CA[iso2022-jp]", b"")).players[0] == player

    def test_an_encoding_that_is_none(self) -> None:
        """Of a text that needs one; it refuses no game."""
        (sentence,) = wrong(only("(;CA[X-Unknown]SZ[5]PB[陈耀烨九段];B[aa])".encode("gb18030")))
        assert sentence.endswith("CA must name an encoding of text that fits, got X-Unknown: it is read as gb18030")
        assert wrong(only("(;CA[UTF-16]SZ[5]PB[陈耀烨];B[aa])".encode()))[0].endswith("got UTF-16: it is read as utf-8")
        assert wrong(only(b"(;CA[X-Unknown]SZ[5]PB[Ann];B[aa])")) == []

    @pytest.mark.parametrize(
        "text",
        [
            b"(;PW[M\xfcller]C[\x1b$B\xe3\x81])",
            b"(;SZ[9]PW[M\xfcller]C[Jc\x1b\x82{];B[aa];W[bb])(;SZ[9]PB[\x1b$B;y\x1b(B]C[\x80];B[aa];W[bb])",
            b"(;SZ[9]PB[\x1b$B;y\x1b(B]C[$]]$\xa1}];B[aa];W[bb])(;SZ[9]PW[M\xfcller]C[B{\x1b(~a(];B[aa];W[bb])",
        ],
    )
    def test_damaged_escape_sequences(self, text: bytes) -> None:
        assert "".join(part.text for part in decode(text)).startswith("(;")
        assert len(decode(text, one_game=True)) == 1

    @pytest.mark.parametrize("name", ["iso8859-2", "cp1250", "cp1257"])
    def test_other_letters_of_latin_words(self, name: str) -> None:
        """By SGF's default they are Latin-1; never Chinese."""
        names = ("Łukasz Nowak", "Jiří Dvořák") if name != "cp1257" else ("Žilvinas Šimkus", "Jānis Bērziņš")
        game = only(f"(;SZ[5]PB[{names[0]}]PW[{names[1]}];B[aa])".encode(name))
        assert max("".join(game.players)) < "\u0100"
        assert only(f"(;CA[{name}]SZ[5]PB[{names[0]}]PW[{names[1]}];B[aa])".encode(name)).players == names

    @pytest.mark.parametrize("declared", ["CA[UTF-8]", ""])
    def test_utf_8_with_a_damaged_letter(self, declared: str) -> None:
        """In GB18030 the last byte of a letter of UTF-8 and the bracket behind it are one letter."""
        text = f"(;{declared}SZ[9]PB[重X]PW[连笑]BR[P4段]WR[P2段]RE[B+R];B[ee];W[cc])".encode()
        game = only(text.replace("重X".encode(), "重".encode()[:2] + b"?"))
        assert (game.ranks, game.players, game.result) == (("P4段", "P2段"), ("\ufffd?", "连笑"), "B+R")
        assert list(map(read_rank, game.ranks)) == [104, 102]

    def test_utf_16(self) -> None:
        text = "(;SZ[5]PB[棋聖戦];B[aa])"
        assert only(text.encode("utf-16")).players[0] == "棋聖戦"  # with a mark
        for name in ("utf-16-le", "utf-16-be"):
            assert decode(text.encode(name)) == [(text, "")]


def encoded(*games: tuple[str, str]) -> bytes:
    """A file of games, each a text and its encoding; CA names it where the text says so."""
    return b"\n".join(text.encode(name) for text, name in games)


class TestEncodingsOfSeveralGames:
    """Each game has its own: the declared one, or the likeliest.

    In Shift-JIS 表 and ソ end in a backslash, in GBK 乗 and other letters end in a bracket.
    """

    SJIS = "(;CA[Shift_JIS]SZ[9]PB[表ソ能十]EV[棋聖戦];B[ee];W[cc](;B[gg]C[能表])(;B[hh]))"
    UTF8 = "(;CA[UTF-8]SZ[9]PB[佐藤花子]EV[名人戦];B[ee];W[cc](;B[gg])(;B[hh]C[(;CA[Big5\\]SZ[5\\])]))"
    GBK = "(;CA[GB18030]SZ[9]PB[王小明乗]EV[第一局\u4e8a侷俔];B[ee];W[cc])"
    KOREAN = "(;SZ[9]CA[EUC-KR]PB[이창호]EV[국수전 결승];B[ee];W[cc])"

    @pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
    def test_declared(self, order: tuple[int, ...]) -> None:
        texts = [(self.SJIS, "cp932"), (self.UTF8, "utf-8"), (self.GBK, "gb18030"), (self.KOREAN, "euc_kr")]
        names = ["表ソ能十", "佐藤花子", "王小明乗", "이창호"]
        data = encoded(*(texts[i] for i in order))
        games = list(salvage_sgf(data * 2))
        assert [game.players[0] for game in games] == [names[i] for i in order] * 2
        assert [fault for game in games for fault in game.faults] == []
        assert {moves(game)[:10] for game in games} == {"B E5, W C7"}
        assert [game.players[0] for game in parse_games(data, "", None)] == [names[i] for i in order]

    def test_long_games(self) -> None:
        """Longer than the part of the file in which their ends are looked for first."""
        comment = "C[能表ソ]" * 20_000
        texts = [(self.SJIS.replace(";W[cc]", f";W[cc]{comment}"), "cp932"), (self.UTF8, "utf-8")]
        assert [game.players[0] for game in salvage_sgf(encoded(*texts))] == ["表ソ能十", "佐藤花子"]

    def test_what_does_not_fit_is_told(self) -> None:
        data = encoded((self.UTF8, "utf-8"), (self.GBK.replace("GB18030", "UTF-8"), "gb18030"), (self.UTF8, "utf-8"))
        games = list(salvage_sgf(data, name="a.sgf"))
        assert [wrong(game) for game in games] == [
            [],
            ["a.sgf, game 2: the text must be utf-8, as CA says, but is not: it is read as gb18030"],
            [],
        ]
        assert games[1].players[0] == "王小明乗"
        assert len(parse_games(data, "", None)) == 3  # it refuses no game

    def test_a_damaged_letter_is_told(self) -> None:
        data = self.UTF8.encode().replace("戦".encode(), "戦".encode()[:2])
        assert wrong(next(salvage_sgf(data, name="a"))) == ["a: 1 letters of the text are damaged (not utf-8)"]
        letter = self.UTF8.replace("戦", "\ufffd").encode()  # which the file has itself
        assert wrong(next(salvage_sgf(letter, name="a"))) == []


NAMES = [
    ("cp932", "羽根直樹", "井山裕太"),
    ("cp932", "今村俊也", "伊田篤史"),
    ("gb18030", "陆敏全", "江铸久"),
    ("gb18030", "徐奉洙", "杨鼎新"),
    ("cp949", "이세돌", "송태곤"),
    ("big5", "周俊勳", "沈君山"),
    ("latin-1", "Åsa Öst", "Straße"),
]
CYRILLIC = (("Иванов Сергей", "Петров Анатолий"), ("Степан Попов", "Командный турнир"), ("Коваль Олексій", "Київ"))
UNDECLARED = [*NAMES, *((name, *names) for names in CYRILLIC for name in ("cp1251", "koi8_u", "iso8859_5", "utf-8"))]


class TestNamesAlone:
    """Two names are all that tells the encoding."""

    @pytest.mark.parametrize(("name", "black", "white"), UNDECLARED)
    def test_undeclared(self, name: str, black: str, white: str) -> None:
        game = only(f"(;SZ[9]PB[{black}]PW[{white}];B[ee];W[cc])".encode(name))
        assert (game.players, game.faults) == ((black, white), ())

    @pytest.mark.parametrize(
        ("name", "black", "white"), [*NAMES, ("utf-8", "羽根直樹", "Müller"), ("utf-8", "Jürg", "x")]
    )
    @pytest.mark.parametrize("declared", ["ISO-8859-1", "Shift_JIS"])
    def test_declared_by_a_habit_of_the_editor(self, declared: str, name: str, black: str, white: str) -> None:
        """In Latin-1 each byte is a letter, so that only the plausible ones count; UTF-8 hardly fits by chance."""
        text = f"(;CA[{declared}]SZ[9]PB[{black}]PW[{white}];B[ee];W[cc])"
        if declared == "ISO-8859-1" or black == "羽根直樹":
            game = only(text.encode(name))
            right = (declared, name) in (("ISO-8859-1", "latin-1"), ("Shift_JIS", "cp932"))
            assert (game.players, len(game.faults)) == ((black, white), 0 if right else 1)

    def test_a_few_letters_are_what_the_file_declares(self) -> None:
        for name in ("Åäö", "Öä", "ÆØÅ"):  # Cyrillic or Chinese, too
            assert only(f"(;CA[ISO-8859-1]SZ[9]PB[{name}];B[ee])".encode("latin-1")).players[0] == name


def test_stones_as_people_write_them() -> None:
    """Read, and said: it refuses no game."""
    (game,) = parse_games(b"(;SZ[9]AB[A1][E5:F6]AW[aa];W[J9])", "", None)
    assert game.position(ply=0).board.sum() == 5 - 1
    told = "node 0: points must be two letters such as dp, got AB[A1], which is read as people write it"
    assert list(map(str, game.faults)) == [told]


GIB = "\\HS\n\\[GAMETAG=S0,R1,D2]\\\n\\HE\n\\GS\n2 1 0\n0 0 &4\nINI 0 1 0 &4\nSTO 0 2 1 15 3\n"
NGF = (
    "Rating game\n19\nann 5D\nben 6D\nwww.cyberoro.com\n0\n0\n0\n20210101 [12:00]\n5\nB wins\n2\nPMABBQDQD\nPMACWDDDD\n"
)


@pytest.mark.parametrize(
    ("text", "name"), [(GIB, "GIB (Tygem)"), (NGF, "NGF (WBaduk)"), ("[Header]\nGo=1", "UGF or UGI (PandaNet)")]
)
def test_other_formats_are_named(text: str, name: str) -> None:
    assert wrong(only(text)) == [f"wild.sgf: no SGF data found: it is a game in the format {name}, not in SGF"]


class TestLimits:
    def test_depth(self) -> None:
        """Brackets in brackets: nothing recurses."""
        deep = 30_000
        text = "(;SZ[5]" + "(;" * deep + "B[aa]" + ")" * deep + ")"
        assert moves(only(text)) == "B A5"
        assert only("(;SZ[5]" + "(" * 10**6).faults

    def test_a_long_game(self) -> None:
        """Ko fights under simple ko may go on; so may passes of one side, which end no game."""
        assert len(only("(;SZ[5]" + ";B[]" * 3000 + ")").moves) == 3000

    @pytest.mark.parametrize("limit", ["MOST_NODES", "MOST_VALUES"])
    def test_many_nodes_or_values(self, limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(grammar_module, limit, 100)
        rest = {"MOST_NODES": ";" * 200, "MOST_VALUES": "AB" + "[bb]" * 200}[limit]
        assert [fault.kind for fault in only(f"(;SZ[5];B[aa]{rest})").faults] == ["too large"]

    def test_large_files(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(reader_module, "LARGEST_FILE", 1000)
        path = tmp_path / "large.sgf"
        path.write_text("(;SZ[5]C[" + "x" * 2000 + "])")
        assert [fault.kind for fault in next(salvage_sgf(path)).faults] == ["too large"]
        with pytest.raises(ValueError, match="at most"):
            parse_sgf(path.read_bytes())

    def test_a_packed_value_that_was_cut(self) -> None:
        whole = pack_value(bytes(range(256)) * 4)
        assert unpack_value(whole) == bytes(range(256)) * 4
        for length in (40, 80, len(whole) // 8 * 4):
            with pytest.raises(ValueError, match="ended before"):
                unpack_value(whole[:length])
        with pytest.raises(ValueError, match="too large"):
            unpack_value(pack_value(bytes(LARGEST_ANALYSIS + 1)))

    def test_notes_that_cannot_be_read(self) -> None:
        """They are left out, also one that unpacks to more than a note can be."""
        for value in (pack_value(b"[" * 3_000_000), pack_value(b"[" * 100_000), "%%%"):
            assert read_notes([{"KT": ["", "", value]}, {"SBKV": ["nan"]}, {"SBKV": ["x"]}]) == {}
        wrong = '{"visits": -1, "prior": "x", "played": 9e99}', '{"visits": 1', "[1]", "[" * 100_000, '{"prior": NaN}'
        assert read_notes([{"AGO": [text]} for text in wrong]) == {}


class TestNotes:
    def game(self) -> SgfGame:
        notes = {0: MoveNote(0.25, 800, 0.125, 2.5, 400), 1: MoveNote(-0.5), 3: MoveNote(0.0, score=-1.25)}
        texts = {"players": ("a", "b"), "ranks": ("3d", "2850"), "date": "2026-11-23", "event": "final"}
        texts |= {"result": "W+R", "rules": "Japanese", "comment": "two\nlines", "comments": {1: "good"}}
        return SgfGame(9, (40, 20, 24, 81), 7.0, notes=notes, **texts)

    def test_what_sabaki_draws(self) -> None:
        """SBKV: Black's win rate in percent, at the node of the position; SBKS: Black's lead."""
        nodes = format_sgf(self.game()).decode().split(";")
        for number, text in ((1, "SBKV[62.50]"), (1, "SBKS[2.50]"), (2, "SBKV[25.00]"), (4, "SBKS[-1.25]")):
            assert text in nodes[number]

    def test_katrain_is_not_told_of_one_move_only(self) -> None:
        """It would show the move that was played as the best, without a loss; the numbers are in a property of ours."""
        node = next(trees(format_sgf(self.game()).decode())).nodes[0]
        assert ("KT" in node, "KTV" in node) == (False, False)
        assert json.loads(node["AGO"][0]) == {"visits": 800, "prior": 0.125, "played": 400}

    def test_what_katrain_reads(self) -> None:
        """Three values of KT, as its load_analysis takes them apart: owners, policy, and an analysis in JSON."""
        root = {"visits": 10, "winrate": 1 / 3, "scoreLead": 1.0}
        moves = [{"move": "E5", "order": 0, **root, "pv": ["E5", "pass"]}, {"move": "pass", "order": 1, **root}]
        policy, owners = np.arange(82) / 100, np.arange(81) / -81
        values = [gzip.decompress(base64.standard_b64decode(v)) for v in katrain_values(root, moves, policy, owners)]
        assert struct.unpack("<81e", values[0]) == pytest.approx(owners, abs=1e-3)
        assert struct.unpack("<82e", values[1]) == pytest.approx(policy, abs=1e-3)
        analysis = json.loads(values[2])
        assert analysis["completed"]
        assert analysis["root"] == {"visits": 10, "winrate": 0.333333, "scoreLead": 1.0}
        assert [(name, move["order"]) for name, move in analysis["moves"].items()] == [("E5", 0), ("pass", 1)]
        assert [base64.b64decode(v) for v in katrain_values(root, moves, None, None)[:2]] == [
            gzip.compress(b"", mtime=0)
        ] * 2
        note = read_notes([{"KT": katrain_values(root, moves, policy, owners)}])
        assert note == {0: MoveNote(pytest.approx(-1 / 3, abs=1e-5), 10, None, 1.0)}

    def test_the_last_position(self) -> None:
        """It has a note too; turns that are skipped spoil none."""
        last = replace(self.game(), notes={4: MoveNote(0.5, 10, score=1.5)})
        assert parse_sgf(format_sgf(last)).notes == last.notes
        game = parse_sgf("(;GM[1]SZ[9];B[aa];B[bb];W[cc])")
        noted = replace(game, notes={ply: MoveNote(ply / 10) for ply in range(4)})
        notes = parse_sgf(format_sgf(noted)).notes
        assert notes == {ply: MoveNote(pytest.approx(ply / 10)) for ply in range(4)}

    def test_of_another_program(self) -> None:
        """A file's win rates that nobody searched here get no sentence, and stay though the game is written without."""
        game = parse_sgf("(;SZ[9];B[ee]SBKV[60.00]C[old];W[cc]SBKV[55.00])")
        for changed in (game, replace(game, notes={})):
            text = format_sgf(replace(changed, comments={0: "new"})).decode()
            assert "C[new]SBKV[60.00];SBKV[55.00]W[cc])" in text
        text = format_sgf(replace(game, notes={**game.notes, 1: MoveNote(0.5)})).decode()
        assert "C[old\nalphago: " in text
        assert "SBKV[75.00]" in text

    def test_of_a_record(self) -> None:
        """A record's values are the movers', a file's are Black's."""
        env = GoEnv(5)
        record = parse_sgf("(;SZ[5]RE[B+R];B[aa];W[bb])").to_record(env)
        record.values[:] = 0.5
        notes = SgfGame.from_record(record, env, values=True).notes
        assert notes == {0: MoveNote(0.5), 1: MoveNote(-0.5)}


# --- files with accidents ---

INSERTS = (b"(", b")", b"[", b"]", b";", b"\\", b"(;", b"B[aa]", b"\xff\xfe", b"AB[aa:zz]", b";AE[aa]", b";AB[dd]W[ee]")


def with_accidents(data: bytes, chance: random.Random) -> bytes:
    """A file in which bytes are changed, cut out, put in or doubled, or which is cut or in another encoding."""
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(max(1, len(data)))
        encoding = chance.choice(["utf-16", "utf-8", "cp932"])
        accidents = (
            data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :],
            data[:at] + data[at + chance.randint(1, 40) :],
            data[:at] + chance.choice(INSERTS) + data[at:],
            data[:at],
            data[: at + 200] + data[at:],
            data.decode("latin-1").encode(encoding, "replace"),
        )
        data = chance.choice(accidents)
    return data


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(DATA))
def test_accidents(seed: int, path: Path) -> None:
    """Never an exception; what is kept is legal, and is written and read again."""
    for game in salvage_sgf(with_accidents(path.read_bytes(), random.Random(seed)), name=path.name):
        assert game.position().moves == game.moves
        assert all(str(fault) for fault in game.faults)
        again = parse_sgf(format_sgf(game))
        assert (again.moves, again.setup, again.komi) == (game.moves, game.setup, game.komi)


def test_a_name_that_lost_its_value() -> None:
    """It is not written: in front of the next property's name it would be a part of it."""
    (game,) = salvage_sgf(b"(;SZ[9];B[ee];W[gc]ah]WL[69];B[ha])")
    assert b"AH" not in format_sgf(game)
    assert parse_sgf(format_sgf(game)).moves == game.moves == (40, 24, 7)


@settings(max_examples=100, deadline=None)
@given(st.one_of(st.binary(max_size=300), st.text("()[];\\BWASZCKMabcdt 19:", max_size=300).map(str.encode)))
def test_any_bytes(data: bytes) -> None:
    for game in salvage_sgf(data, all_lines=True):
        assert game.position().moves == game.moves


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 25), st.integers(0), st.integers(-2000, 2000), st.text(string.printable, max_size=20))
def test_what_is_written_is_read_again(size: int, seed: int, komi2: int, name: str) -> None:
    moves = random_game(GoEnv(size), seed, 30)[-1].moves
    again = parse_sgf(format_sgf(SgfGame(size, moves, komi2 / 2, players=(name.strip(), ""))))
    assert (again.board_size, again.moves, again.komi) == (size, moves, komi2 / 2)
    assert again.players[0].split() == name.split()


class TestNodesBehindTheRoot:
    """What a node says holds wherever it stands."""

    WHITE = "AB[ee][ef]AW[dd][de];PL[W] ;AB[ee][ef]AW[dd][de]PL[W] PL[B];AB[ee]PL[B];PL[W] ;PL[W];C[x];C[y];C[z]"
    BLACK = ";B[ee];PL[B] ;B[ee];PL[B];W[gg] ;B[ee];W[gg] PL[B];W[ee]"  # a move is more reliable than PL

    def test_who_is_to_move(self) -> None:
        for side, texts in ((-1, self.WHITE + " ;B[ee];W[gg];PL[W]"), (1, self.BLACK)):
            for text in texts.split():
                assert parse_sgf(f"(;SZ[9]{text})").position().to_play == side, text

    def test_the_game(self) -> None:
        game = only("(;SZ[9];KM[3.5]PB[Ann]RU[AGA];B[aa];HA[2]RE[W+R]C[not the game's])")
        assert (game.komi, game.players[0], game.rules, game.handicap) == (3.5, "Ann", "AGA", 2)
        assert (game.result, game.comment) == ("W+R", "")
        assert only("(;SZ[9]KM[7];KM[3];B[aa])").komi == 7
        assert only("(;SZ[9]KM[];KM[3];B[aa])").komi == 3

    @pytest.mark.parametrize("text", ["(;SZ[9];B[ee];W[gg];AB[cc])", "(;SZ[9];B[ee];W[gg];AE[ee];C[x];AW[cc])"])
    def test_stones_after_the_last_move_are_told(self, text: str) -> None:
        """A game to learn from has its moves; a position that is asked about would be another one."""
        game = parse_sgf(text)
        assert ([fault.kind for fault in game.faults], len(game.moves)) == ([FINAL_SET_UP], 2)
        assert "after move 2: the game is what comes before it" in game.faults[0].text
        assert parse_sgf(text.replace("AB[cc]", "AB[ee]").replace("AE[ee];C[x];AW[cc]", "AW[gg]")).faults == ()


def test_the_unit_of_komi_is_the_program_s() -> None:
    read = {"foxwq": {"50": 0.5, "-50": -0.5, "25": 0.5, "0": 0.0, "375": 7.5, "6.5": 6.5}, "foxwq:8": {"50": 0.5}}
    read |= {"CGoban:3": {"50": 50.0}, "": {"375": 7.5, "150": None, "-200": None}}  # None: it is no komi
    for program, told, komi in ((program, *pair) for program, pairs in read.items() for pair in pairs.items()):
        game = only(f"(;SZ[19]AP[{program}]KM[{told}];B[aa])")
        assert (game.komi, [fault.kind for fault in game.faults]) == (komi, [] if komi is not None else ["komi"])


NAMES_IN = {
    "cp1250": "Čapek Łukasz Őry",
    "cp1253": "Γιώργος Νίκος",
    "cp1254": "Şükrü İğne",
    "cp1255": "משה דוד",
    "mac_roman": "José René Müller Ångström Ñandú",
    "gbk": "古力 李世石 孔杰",
    "big5": "古力 周俊勳",
    "cp949": "이세돌 박정환",
    "utf-8": "José 古力",
    "cp1252": "José Müller",
    **dict.fromkeys(("cp874", "tis_620"), "สมชาย กมล สุดา"),
    **dict.fromkeys(("cp1256", "iso8859_6"), "محمد علي حسن"),
    **dict.fromkeys(("cp1251", "koi8_r"), "Иван Пётр"),
    **dict.fromkeys(("cp932", "euc_jp"), "井山裕太 趙治勲"),
}


@pytest.mark.parametrize("encoding", NAMES_IN)
@pytest.mark.parametrize("declared", ["", "CA[ISO-8859-1]"])
def test_no_bracket_is_half_of_a_letter(encoding: str, declared: str) -> None:
    """Each name before each thing that may follow it: all moves are read, and no value has a bracket."""
    for name in NAMES_IN[encoding].split():
        for text in (f"PB[{name}]PW[{name}];B[aa]C[{name}];W[bb]", f"PB[{name}]\n;B[aa]C[{name}]\n;W[bb]C[{name}]"):
            game = only(f"(;GM[1]SZ[19]{declared}{text})".encode(encoding, "ignore"))
            assert moves(game) == "B A19, W B18"
            assert "[" not in game.players[0] + game.comments[0]


@pytest.mark.parametrize("program", ["foxwq", "CGoban:3"])
@pytest.mark.parametrize("komi", [7.0, 50.0, -0.5])
def test_komi_that_is_changed_is_read_again(program: str, komi: float) -> None:
    game = parse_sgf(f"(;SZ[19]AP[{program}]KM[375];B[aa])")
    assert parse_sgf(format_sgf(replace(game, komi=komi))).komi == komi
