"""Reviews: what moves lose, the SGF that comes out, and a picture."""

import base64
import gzip
import json
import struct
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sgfmill import sgf

from alphago import Explanation, GoEnv, NeuralNet, Position
from alphago.cli import main
from alphago.drawing.svg import to_svg
from alphago.records.sgf import SgfGame, parse_sgf, read_sgf, salvage_sgf, write_sgf
from alphago.records.sgf.document import with_additions
from alphago.ui.review import count_text, grade_move, review_game
from alphago.ui.web.game_files import open_sgf
from alphago.ui.why.facts import Captures, Loss, NamedChain
from tests.drawing.reading import texts

ENV = GoEnv(5, komi=0.5)
MOVES = tuple(map(ENV.from_text, ("C3", "C2", "A1", "D3", "E1")))
GAME = SgfGame.in_game(ENV, MOVES, players=("Anna", "Bert"), result="B+R")


def corner_hater(position: Position) -> tuple[np.ndarray, float]:
    """A network that sees Black ahead by 0.2 for each white stone in a corner, and behind for each black one."""
    policy = np.where(position.legal_mask, 1.0, 0)
    corners = [0, 4, 20, 24]
    policy[corners] *= 1e-3
    return policy + 1e-9, float(-0.4 * position.board.ravel()[corners].sum())


@pytest.mark.parametrize("readouts", [0, 40])
def test_what_moves_lose(readouts: int) -> None:
    """The moves into the corners are the faults, each named with a better move."""
    review = review_game(GAME, corner_hater, readouts, threads=1)
    assert [move.ply for move in review.mistakes] == [2, 4]
    for move in review.mistakes:
        assert move.rate_loss == pytest.approx(0.2, abs=0.05)
        assert move.grade == "mistake"
        assert move.best not in (0, 4, 20, 24)
        assert move.line[0] == move.best
    assert [move.colour for move in review.moves] == [1, -1, 1, -1, 1]
    assert "Black: 3 moves, 0 blunders, 2 mistakes, 0 inaccuracies" in review.summary()
    assert "White: 2 moves, 0 blunders, 0 mistakes, 0 inaccuracies" in review.summary()
    assert count_text(1, "move") == "1 move"
    assert "move 3, Black A1: mistake, loses 20% of winning; better" in review.summary()


def test_the_sgf() -> None:
    """It reads back as the same game, with notes, comments, marks and variations that are legal."""
    loss = Loss(1, 20, best=0, points=0.0, rate=0.2, share=1.0)
    why = Explanation(ENV, 20, (loss, Captures(1, 20, (NamedChain(-1, 15, 1),))))
    review = replace(review_game(GAME, corner_hater, 40, threads=1), why={2: why, 4: why})
    text = review.sgf(plies=3)
    again = parse_sgf(text)
    assert (again.moves, again.players, again.result) == (GAME.moves, GAME.players, GAME.result)
    assert [again.notes[ply].visits for ply in range(6)] == [41] * 6
    assert again.notes[3].value == pytest.approx(float(review.analysis.as_black().value[3]), abs=1e-3)
    assert again.comments[2].startswith("Black A1: mistake")
    assert again.comments[2].endswith("\nA1 captures White's stone at A2.")
    tree = open_sgf(text.decode(), {"go": ENV})  # which plays every variation
    assert tree.view["remarks"] == []
    children = Counter(node["parent"] for node in tree.nodes)
    branchings = [len(tree.positions[parent].moves) for parent, count in children.items() if count > 1]
    ends = [len(position.moves) for number, position in enumerate(tree.positions) if number not in children]
    assert (branchings, ends[0], text.count(b"BM[1]"), len(ends)) == ([2, 4], 5, 2, 3)
    assert all(2 < end <= 4 + 3 for end in ends[1:])


def katrain_analyses(text: bytes) -> list[dict[str, Any]]:
    """The analyses in the main line of a reviewed game, unpacked as KaTrain's load_analysis does it."""
    found = []
    for node in sgf.Sgf_game.from_bytes(text).get_main_sequence():
        owners, policy, main = (gzip.decompress(base64.b64decode(raw)) for raw in node.get_raw_list("KT"))
        halves = {"owners": owners, "policy": policy}
        numbers = {name: struct.unpack(f"<{len(data) // 2}e", data) for name, data in halves.items()}
        found.append({**json.loads(main), **numbers})
    return found


@pytest.mark.parametrize("readouts", [0, 40])
def test_what_katrain_shows(readouts: int) -> None:
    """All candidates with numbers of their own, the policy, and a place for the move that was played."""
    review = review_game(GAME, corner_hater, readouts, threads=1)
    text, black = review.sgf(), review.analysis.as_black()
    assert sgf.Sgf_game.from_bytes(text).get_root().get_raw("KTV") == b"1.0"
    analyses = katrain_analyses(text)
    assert len(analyses) == 6  # the last position too
    for ply, analysis in enumerate(analyses):
        assert analysis["root"]["winrate"] == pytest.approx(black.root_win_rate[ply], abs=1e-5)
        assert len(analysis["policy"]) == 26
        assert [p < 0 for p in analysis["policy"]] == [p == 0 for p in black.prior[ply]]
        best = [name for name, move in analysis["moves"].items() if move["order"] == 0]
        assert best == [ENV.to_text(review.analysis.best(ply))]
        for name, move in analysis["moves"].items():
            action = ENV.from_text(name)
            assert move["pv"][0] == move["move"] == name
            if move["order"] < 999 and readouts:
                assert move["visits"] == black.visits[ply, action] > 0
                assert move["winrate"] == pytest.approx(black.win_rate[ply, action], abs=1e-5)
        if ply < 5:
            played = analysis["moves"][ENV.to_text(GAME.moves[ply])]
            if played["order"] == 999:
                assert played["winrate"] == pytest.approx(black.root_win_rate[ply + 1], abs=1e-5)
    blunder = analyses[2]
    lost = blunder["root"]["winrate"] - blunder["moves"]["A1"]["winrate"]
    assert blunder["moves"]["A1"]["order"] > 0
    assert lost == pytest.approx(0.2, abs=0.05)


def test_the_ownership_for_katrain(tmp_path) -> None:
    """Row by row from the top, Black's points positive, in all positions; none after the end of a game has moves."""
    game = SgfGame.in_game(ENV, (12, 13, 25, 25))
    review = review_game(game, NeuralNet(ENV, tower_height=0, channels=4), 4, threads=1, device="cpu")
    analyses = katrain_analyses(review.sgf())
    own = review.analysis.as_black().ownership
    assert own is not None
    for ply, analysis in enumerate(analyses):
        assert analysis["owners"] == pytest.approx(own[ply].ravel(), abs=1e-3)
    assert (analyses[-1]["moves"], analyses[-1]["policy"]) == ({}, ())
    assert analyses[-1]["root"]["winrate"] == (1 + review.game.position().result) / 2


def test_turns_that_were_skipped() -> None:
    """Marks and variations stand at the right nodes where one colour moved twice."""
    game = parse_sgf("(;GM[1]SZ[5];B[aa];B[bb];W[cc])")
    assert game.movers[:2] == (1, 1)
    text = with_additions(game, {2: {"BM": ["1"]}, 3: {"TB": ["da"]}}, {1: [12]})
    assert text.replace(b"\n", b"") == b"(;CA[UTF-8]GM[1]SZ[5];B[aa](;B[bb]BM[1];TB[da]W[cc])(;B[cc]))"
    text = with_additions(game, {ply: {"X": [str(ply)]} for ply in range(4)})
    assert text.replace(b"\n", b"") == b"(;CA[UTF-8]GM[1]SZ[5]X[0];B[aa]X[1];B[bb]X[2];W[cc]X[3])"


@pytest.mark.parametrize(
    ("rate", "points", "grade"),
    [
        *((0.2, 7.0, "blunder"), (0.06, 7.0, "mistake"), (0.05, 1.6, "inaccuracy"), (0.35, 0.0, "blunder")),
        *((0.35, np.nan, "blunder"), (0.1, np.nan, "inaccuracy"), (-0.2, np.nan, "")),
        *((0.01, 20.0, ""), (0.0, 0.0, "")),
    ],
)
def test_grades(rate: float, points: float, grade: str) -> None:
    """In a decided game points alone are no fault, and a lost win rate is one without points."""
    assert grade_move(rate, points) == grade


def reviews(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.reviewed.*"))


def test_games_of_equal_names(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No review replaces another: subfolders are kept, and files of one name from several places get numbers."""
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(("a/game.sgf", "a/b/game.sgf", "c/game.SGF", "c/two.sgf")):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        write_sgf(name, SgfGame.in_game(GoEnv(7), (number, 40)))
    Path("c/two.sgf").write_text("(;GM[1]SZ[7];B[aa])(;GM[1]SZ[7];B[bb])")
    options = ["--readouts", "0", "--device", "cpu", "--no-graph", "--to"]
    assert main(["review", ".", *options, "out"]) == 0
    names = ["a/b/game", "a/game", "c/game", "c/two-1", "c/two-2"]
    assert reviews(Path("out")) == [f"{name}.reviewed.sgf" for name in names]
    assert main(["review", "a/game.sgf", "c/game.SGF", "a", "a/b/../game.sgf", *options, "flat"]) == 0
    assert reviews(Path("flat")) == ["b/game.reviewed.sgf", "game-2.reviewed.sgf", "game.reviewed.sgf"]
    assert [read_sgf(f"flat/{name}").moves[0] for name in reviews(Path("flat"))] == [1, 2, 0]


def test_the_legal_beginning_is_reviewed(tmp_path, capsys: pytest.CaptureFixture) -> None:
    """The fault that ends it is named, in the review too."""
    (tmp_path / "game.sgf").write_text("(;GM[1]SZ[7];B[aa];W[bb];B[bb];W[cc])")
    assert main(["review", str(tmp_path), "--readouts", "0", "--device", "cpu", "--no-graph"]) == 0
    shown = capsys.readouterr()
    assert "; 2 moves are reviewed" in shown.err
    reviewed = read_sgf(tmp_path / "game.reviewed.sgf")
    assert len(reviewed.moves) == 2
    for told in (shown.out, shown.err, reviewed.comment):
        assert "node 3: move 3, Black B6, is illegal" in told


def test_the_command(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder of games: reviews and pictures beside them, and reviews are not reviewed again.

    Files without a game, and boards without a network, are named, and stop no others.
    """
    folder = tmp_path / "games"
    folder.mkdir()
    write_sgf(folder / "one.sgf", SgfGame.in_game(GoEnv(7), (24, 25, 17)))
    bad = {"a": "nothing", "b": "(;GM[2]SZ[7])", "c": "(;GM[1]SZ[9];B[aa])", "d": "(;GM[1]SZ[7];B[zz];W[aa])"}
    for name, text in bad.items():
        (folder / f"{name}.sgf").write_text(text)
    NeuralNet(GoEnv(7), size_free=False, tower_height=0, channels=4).save(tmp_path / "net.safetensors")
    options = ["--device", "cpu", "--model", str(tmp_path / "net.safetensors")]
    for _ in range(2):
        assert main(["review", str(folder), "--readouts", "2", *options]) == 1
        told = capsys.readouterr()
        assert [line.split(".sgf")[0].split("/")[-1] for line in told.err.splitlines()] == list(bad)
    assert "Black: 2 moves" in told.out
    assert reviews(folder) == ["one.reviewed.png", "one.reviewed.sgf"]
    assert (folder / "one.reviewed.png").read_bytes().startswith(b"\x89PNG")
    reviewed = read_sgf(folder / "one.reviewed.sgf")
    assert reviewed.moves == (24, 25, 17)
    assert [note.visits for note in reviewed.notes.values()] == [3] * 4
    assert main(["review", str(folder / "one.sgf"), "--readouts", "0", "--to", str(tmp_path / "o"), "--no-graph"]) == 0
    assert reviews(tmp_path / "o") == ["one.reviewed.sgf"]
    assert main(["review", str(tmp_path / "none.sgf")]) == 2


@pytest.mark.filterwarnings("error")
def test_names_that_look_like_markup(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Dollar signs are drawn, and what moves a terminal's cursor is not printed."""
    text = "(;GM[1]SZ[7]PB[$$rich$$]PW[$\\\\frac{$ 王 \x1b[2J\\]]RE[B+R];B[dd];W[cc];B[x7])"
    (tmp_path / "one.sgf").write_text(text, encoding="utf-8")
    assert main(["review", str(tmp_path / "one.sgf"), "--readouts", "0", "--device", "cpu"]) == 0
    assert (tmp_path / "one.reviewed.png").read_bytes().startswith(b"\x89PNG")
    printed = capsys.readouterr()
    assert "\x1b" not in printed.out + printed.err
    graph = review_game(next(salvage_sgf(tmp_path / "one.sgf")), "7x7", 0, device="cpu").graph()
    assert any(text.startswith("$$rich$$ against $\\frac{$ 王 ") for text in texts(to_svg(graph)))
