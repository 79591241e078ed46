"""Pictures of games: one position with numbers, sheets, and games that move."""

import io
from pathlib import Path

import pytest

from alphago.env.go import GoEnv
from alphago.mcts.player import MCTSPlayer, make_record
from alphago.records.record import GameRecord, load_records, records_to_bytes
from alphago.records.sgf import parse_sgf
from tests.drawing.reading import SPACE, shapes, texts

GO = GoEnv(5, komi=0.5)


def record() -> GameRecord:
    return make_record(GO, GO.position().after(["C3", "B2", "D2", "C4", "D4", "pass", "pass"]), {})


def bare(svg: str) -> str:
    """The texts of a board without the names around it."""
    return " ".join([text for text in texts(svg) if text not in list("ABCDE")][10:])


def test_one_position_of_a_game() -> None:
    game = record()
    assert bare(game.svg(3)) == "move 3: White to play; komi 0.5 1 2 3"
    assert bare(game.svg()) == f"7 moves: {game.result_string} 1 2 3 4 5"
    assert bare(game.svg(3, numbers=False, caption="")) == ""
    assert game.svg(7) == game.svg()


def test_a_ply_that_is_not_there() -> None:
    for ply in (-1, 8):
        with pytest.raises(ValueError, match=rf"ply must be an integer from 0 to 7, got {ply}"):
            record().svg(ply)


def test_a_record_from_a_file_needs_its_game(tmp_path: Path) -> None:
    (tmp_path / "games.npz").write_bytes(records_to_bytes([record()]))
    (game,) = load_records(tmp_path / "games.npz")
    assert game._repr_svg_() is None
    with pytest.raises(ValueError, match=r"env must be the game of a record that was read from a file"):
        game.svg()
    assert game.svg(env=GO) == record().svg()


def test_records_know_their_game_where_they_are_made() -> None:
    assert record()._repr_svg_() == record().svg()
    player = MCTSPlayer(GO, lambda position: (position.legal_mask / 26, 0.0), num_readouts=2)
    player.play_move("C3")
    assert player.game_record().env == GO
    assert parse_sgf(b"(;SZ[5]KM[0.5]RE[B+R];B[cc];W[dd])").to_record().svg().count("<circle") == 2


def test_a_moving_picture_shows_every_position() -> None:
    svg = record().animation(seconds=0.5)
    captions = [text for text in shapes(svg, "text") if (text.text or "").startswith(("move", "7 moves"))]
    expected = [*(f"move {ply} of 7" for ply in range(7)), f"7 moves: {record().result_string}"]
    assert [text.text for text in captions] == expected
    moves = [text.find(f"{SPACE}animate") for text in captions]
    assert {move.get("dur") for move in moves if move is not None} == {"6.5s"}  # seven of 0.5 s, and 3 s for the end
    stones = shapes(svg, "circle", fill="#161616", stroke="#161616")
    assert len(stones) == 3  # each is written once


def test_a_gif_shows_every_position() -> None:
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    gif = image.open(io.BytesIO(record().gif(size=120)))
    assert (gif.n_frames, gif.size[0]) == (8, 120)


def test_a_sheet_begins_with_the_start_and_ends_with_the_end() -> None:
    assert texts(record().sheet(most=3)) == ["move 0", "move 4", f"7 moves: {record().result_string}"]
    assert len(texts(record().sheet())) == 8


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="seconds must be"):
        record().animation(seconds=0)
    with pytest.raises(ValueError, match="columns must be"):
        record().sheet(columns=0)
