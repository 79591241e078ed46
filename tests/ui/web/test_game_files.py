"""Files of the page: SGF with variations and analysis there and back, JSON for other games, links, refusals."""

import contextlib
import re
from dataclasses import replace

import pytest
from go_variants import OutlineGoEnv
from hypothesis import given, settings
from hypothesis import strategies as st

from alphago import GoEnv
from alphago.records.sgf import format_sgf, parse_sgf
from alphago.records.sgf.grammar import SgfTree, trees
from alphago.ui.web.game_files import open_sgf, read_game_tree, sgf_text
from alphago.ui.web.new_game import GameTree, describe_start, link_head, open_link

GO = GoEnv(9, komi=6.5).match_variant()
BASES = {"go": GO, "outline-go": OutlineGoEnv()}
NAMES = ("Ada]", "alphago 9x9")
SGF = "(;GM[1]SZ[9]KM[5.5]PB[a]PW[b]RE[W+R];B[cc];W[gg](;B[cg];W[gc])(;B[gc](;W[cg])(;W[ee];B[cc])))"


def moves(tree: GameTree) -> list[str]:
    """Every line of a tree from the start to an end, as text."""
    parents = {node["parent"] for node in tree.nodes}
    ends = [position for number, position in enumerate(tree.positions) if number not in parents]
    return [" ".join(map(tree.env.to_text, end.moves)) for end in ends]


def saved(tree: GameTree) -> str:
    """The file of a tree that the page has kept, and sends back."""
    return sgf_text(read_game_tree({"game": describe_start(tree.start), **tree.view}, BASES))


def sample() -> GameTree:
    tree = GameTree(GO.position(), NAMES)
    after = tree.play(0, "C3")
    node = tree.nodes[tree.play(after, "G7")]
    tree.view["end"] = tree.play(2, "E5")
    tree.play(after, "D4")
    node |= {"comment": "Good ] move", "win": 0.5625, "score": -2.5, "visits": 64}
    node["found"] = [{"move": "E5", "visits": 34, "prior": 0.25, "winrate": 0.6, "pv": ["E5", "F5"]}]
    return tree


def test_sgf_there_and_back() -> None:
    tree = sample()
    text = saved(tree)
    again = open_sgf(text, BASES)
    assert again.view["names"] == [*NAMES]
    assert moves(again) == moves(tree) == ["C3 G7 E5", "C3 D4"]
    assert again.env.komi == 6.5
    assert again.view["end"] == 0
    node = again.nodes[2]
    assert [node["win"], node["score"], node["visits"]] == [0.5625, -2.5, 64]
    assert node["comment"] == "Good ] move"
    told = "\nalphago: Black wins 56.2%, White leads by 2.5, 64 visits\nalphago: E5 60.0 %, 34 visits"
    assert saved(again).count(told) == 1
    assert parse_sgf(text).players == ("Ada]", "alphago 9x9")


def test_other_programs_files() -> None:
    """Variations are kept; one that becomes illegal ends before that move; the result becomes a resignation."""
    tree = open_sgf(SGF, BASES)
    assert tree.view["names"] == ["a", "b"]
    assert moves(tree) == ["C7 G3 C3 G7", "C7 G3 G7 C3", "C7 G3 G7 E5"]
    assert {number: node["loser"] for number, node in enumerate(tree.nodes) if "loser" in node} == {4: 1}
    handicap = open_sgf("(;SZ[9]HA[2]AB[cg][gc]KM[0.5];W[ee])", BASES)
    assert link_head(handicap.start) == "game=go&board_size=9&komi=0.5&rules=Chinese&black=G7+C3&to_play=white"
    assert "HA[2]" in saved(handicap)


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        ("(;CA[UTF-8]HA[分先]SZ[9];B[ee];W[cc])", "the handicap must be a number of stones, got '分先'"),
        ("(;CA[UTF-8]KM[six]SZ[9];B[ee];W[cc])", "komi must be"),
        ("(;CA[UTF-8]KM[six]SZ[9:5];B[ee];W[cc])", "komi must be"),
        ("(;CA[UTF-8]SZ[9];B[E5];W[cc])", "two letters such as dp, got B[E5], which is read as people write it"),
    ],
)
def test_what_leaves_the_moves_as_they_are_refuses_no_game(text: str, remark: str) -> None:
    """It is told, and saved as it was."""
    tree = open_sgf(text, BASES)
    assert (len(tree.nodes), len(tree.view["remarks"])) == (3, 1)
    assert remark in tree.view["remarks"][0]
    assert saved(tree) == text + "\n"


@pytest.mark.parametrize(
    ("variation", "lines", "remark"),
    [
        (";AW[ee];B[bb];W[aa]", ["C7 D6"], "before stones that are set up after a move"),
        (";W[dc]AE[cc](;B[bb])(;B[aa])", ["C7 D6"], "before stones that are set up after a move"),
        (";AW[zz];B[bb]", ["C7 D6"], "before stones that are set up after a move"),
        (";W[bb];B[bb];W[aa]", ["C7 D6", "C7 B8"], "before an illegal move"),
        (";W[bb];B[zz];W[aa]", ["C7 D6", "C7 B8"], "before an illegal move"),
        (";AB[cc]AE[aa];W[bb]", ["C7 D6", "C7 B8"], ""),  # which changes nothing
        (";W[bb];AE[cc]", ["C7 D6", "C7 B8"], ""),  # after the last move
    ],
)
def test_what_is_not_shown_of_a_variation(variation: str, lines: list[str], remark: str) -> None:
    """A variation ends before what would make its boards wrong; that is told, and the file keeps it."""
    text = f"(;CA[UTF-8]SZ[9];B[cc](;W[dd])({variation}))"
    tree = open_sgf(text, BASES)
    assert moves(tree) == lines
    assert [remark in told for told in tree.view["remarks"]] == [True] * bool(remark)
    assert only_tree(saved(tree)) == only_tree(text)


def only_tree(text: str) -> SgfTree:
    (tree,) = trees(text)
    return replace(tree, end=0)


def test_who_begins_on_a_rectangular_board() -> None:
    stones = "SZ[5:4]AB[aa]AW[bb]"
    begins = {"PL[W]": -1, "PL[2]": -1, "PL[B]": 1, "": 1, "PL[B];W[cc]": -1}
    for text, side in begins.items():
        assert open_sgf(f"(;{stones}{text})", BASES).start.to_play == side, text
    assert open_sgf("(;GM[Go]SZ[5:4];B[cc])", BASES).env.plane_shape == (4, 5)


def test_a_node_of_two_moves_keeps_their_order() -> None:
    text = "(;CA[UTF-8]SZ[9];B[aa];W[bb]B[cc];C[so]W[dd])"
    tree = open_sgf(text, BASES)
    assert moves(tree) == ["A9 B8 C7 D6"]
    assert saved(tree) == text + "\n"
    assert parse_sgf(format_sgf(parse_sgf(text))).moves == tuple(tree.positions[4].moves)


def test_a_rectangular_board_there_and_back() -> None:
    """SZ[5:3] has five columns; stones are set up and taken; file and link keep what was played since."""
    text = "(;GM[1]SZ[5:3]KM[2.5]AB[ea][db]AW[ec]PB[Ada]PW[b]RE[W+R];W[eb];B[aa](;W[bb])(;W[])(;W[dc])(;B[bb]))"
    tree = open_sgf(text, BASES)
    assert [tree.view["names"][0], tree.env.plane_shape, tree.env.config["komi"]] == ["Ada", (3, 5), 2.5]
    assert moves(tree) == ["E2 A3 B2", "E2 A3 pass", "E2 A3 D1"]
    assert tree.positions[1].board.tolist() == [[0, 0, 0, 0, 1], [0, 0, 0, 1, -1], [0, 0, 0, 0, -1]]
    assert tree.nodes[3]["loser"] == 1
    tree.play(5, "D3")
    assert moves(open_sgf(saved(tree), BASES))[-1] == "E2 A3 D1 D3"


def test_a_link_restores_the_position() -> None:
    assert open_link("#game=go&board_size=9&komi=6.5&moves=C3.D4", {}).moves_text() == "B C3, W D4"
    assert open_link("game=connect-four&moves=D.D.C.A", {}).moves_text() == "D D C A"
    for link, sentence in (
        (5, "a link must be a text, got 5"),
        ("a=b", "a link must name a game"),
        ("game=go&moves=D4.D4", "illegal move D4"),
    ):
        with pytest.raises(ValueError, match=sentence):
            open_link(link, {})


def test_a_kept_game_is_checked() -> None:
    game = {"game": describe_start(GO.position())}
    for nodes, sentence in (
        ([{"parent": -1}, {"parent": 0}], "a node must be an object with a move"),
        ([{"parent": -1}, {"parent": 1, "move": "C3"}], "parent must be an integer from 0 to 0"),
        ([{"parent": -1}, *[{"parent": 0, "move": "C3"}] * 2], "the moves after a node must differ"),
        ([{"parent": -1}, *[{"parent": n, "move": "C3"} for n in (0, 1)]], "illegal move C3"),
    ):
        with pytest.raises(ValueError, match=sentence):
            read_game_tree({**game, "nodes": nodes}, BASES)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("hello", "a file must be an SGF game, got 'hello'"),
        ("(;SZ[9];B[zz])", "the SGF file: a move must be on a point"),
        ("(;SZ[99];B[aa])", "the SGF file: the board must be one from 2 to 25"),
        ("(;SZ[5:3];B[ea];B[eb])", "it must be the turn of Black, got that of White"),
        ("(;SZ[5:3];B[ea])(;SZ[5:3];B[eb])", "the SGF file: it must hold one game, got several"),
        ("(;SZ[5:3];B[ea];AW[ba];B[eb])", "stones must be set up in the first node of a game on a board that is not"),
        ("(;SZ[5:3];AB[aa])", "stones must be set up in the first node of a game on a board that is not"),
        ("(;SZ[5:3];B[ed])", "a move must be on a point of a board of 5 x 3"),
        ("(;SZ[3:2]AB[aa]AW[ab][ba];B[ca])", "the chain at A2 has no liberty"),
        ("(;SZ[9];B[aa];W[aa])", "the SGF file: move 2, White A9, is illegal"),
        ("(;SZ[9]", "the SGF file: "),
        ("(" * 100_000, "the SGF file: "),
    ],
)
def test_what_is_no_game_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}"):
        open_sgf(text, BASES)


@settings(max_examples=80)
@given(st.one_of(st.text(max_size=30), st.text('();BWCAEKMSZ[]abcij9.{}":,', max_size=60)))
def test_whatever_is_opened_is_a_game_or_an_error(text: str) -> None:
    for read in (
        lambda: open_sgf(text, BASES),
        lambda: open_sgf(f"(;SZ[5]{text})", BASES),
        lambda: open_link(f"game=go&board_size=3&{text}", {}),
    ):
        with contextlib.suppress(ValueError):
            read()


def test_a_tree_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("alphago.ui.web.new_game.MOST_NODES", 5)  # of which the main line has none left
    with pytest.raises(ValueError, match="at most 5 positions"):
        open_sgf(SGF, BASES)


def test_what_stands_behind_the_root_of_a_rectangular_board() -> None:
    tree = open_sgf("(;SZ[5:3]AB[aa]AW[bb];PL[W]KM[3.5]PB[Ann]RU[Japanese])", BASES)
    assert (tree.start.to_play, tree.env.komi, tree.view["names"][0]) == (-1, 3.5, "Ann")
    assert [remark for remark in tree.view["remarks"] if "scored by area, and not as the file says" in remark]


@pytest.mark.parametrize(
    ("moves", "remark"),
    [
        (";B[ee];W[gg];AB[cc]PL[W]", "set-up after move 2"),
        (";B[ee];PL[B]", "after the last move it is Black's turn in the file"),
        (";B[ee];PL[W]", ""),
        (";B[];W[];PL[W]", ""),
    ],
)
def test_what_a_file_sets_after_the_last_move_is_told(moves: str, remark: str) -> None:
    remarks = open_sgf(f"(;SZ[9]{moves})", BASES).view["remarks"]
    assert any(remark in told for told in remarks) if remark else not remarks
