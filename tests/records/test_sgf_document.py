"""What was read is written as it was read, but for what was changed."""

from dataclasses import replace

import pytest

from alphago.records.sgf import MoveNote, SgfGame, format_sgf, parse_sgf

HEAD = "FF[4]CA[UTF-8]BR[9p]GM[1]KM[750]MN[3]PB[A\\]b]RE[W+T]SZ[5]TM[60]XX[one][two]"
TEXT = f"(;{HEAD}C[on the game];B[aa]C[so]TR[aa];LB[aa:1];B[bb](;W[cc]BL[3])(;W[aa]C[illegal])(;AW[ee];W[dd]))"


def written(game: SgfGame) -> str:
    return format_sgf(game).decode().replace("\n", "")


def test_nothing_is_lost() -> None:
    assert "".join(sorted(written(parse_sgf(TEXT)))) == "".join(sorted(TEXT))
    assert parse_sgf(written(parse_sgf(TEXT))) == parse_sgf(TEXT)


@pytest.mark.parametrize(
    ("change", "before", "after"),
    [
        ({"result": "B+1"}, "RE[W+T]", "RE[B+1]"),
        ({"result": ""}, "RE[W+T]", ""),
        ({"komi": 7.0}, "KM[750]", "KM[7]"),
        ({"players": ("Ann", "")}, "PB[A\\]b]", "PB[Ann]"),
        ({"comment": ""}, "C[on the game]", ""),
        ({"comments": {0: "no"}}, "C[so]", "C[no]"),
        ({"comments": {}}, "C[so]", ""),
        ({"moves": (0, 6, 12, 24), "movers": (1, 1, -1, 1)}, ";BL[3]W[cc]", ";BL[3]W[cc];B[ee]"),
        ({"moves": (0, 6), "movers": (1, 1)}, "(;BL[3]W[cc])(;C[illegal]W[aa])", "(;C[illegal]W[aa])"),
        ({"moves": (0, 6, 24), "movers": (1, 1, -1)}, "(;BL[3]W[cc])", "(;W[ee])(;BL[3]W[cc])"),
    ],
)
def test_only_what_was_changed_is_written_anew(change: dict, before: str, after: str) -> None:
    game = parse_sgf(TEXT)
    text = written(game)
    assert before in text
    assert written(replace(game, **change)) == text.replace(before, after, 1)


def test_notes_leave_comments_as_they_are() -> None:
    game = replace(parse_sgf(TEXT), notes={1: MoveNote(0.5)})
    again = parse_sgf(format_sgf(game))
    assert (again.notes, again.comments, again.comment) == (game.notes, game.comments, game.comment)


def test_another_set_up_is_a_new_file() -> None:
    game = replace(parse_sgf(TEXT), setup={"black": "E1"})
    assert "XX" not in written(game)
