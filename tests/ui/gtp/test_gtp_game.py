"""Moves of any colour at any time."""

from pathlib import Path

import pytest

from alphago import GoEnv, IllegalMove
from alphago.ui.gtp.game_commands import GoEngine
from alphago.ui.gtp.gtp_game import GtpGame
from tests.diagrams import draw, tidy
from tests.networks import prefers
from tests.ui.gtp.engine import BLACK, WHITE, ask, engine, turns_until_resignation


def test_stones_of_one_colour() -> None:
    gtp = engine()
    assert ask(gtp, "play w c3", "play w d3", "play w d2", "play b c2") == [""] * 4
    assert draw(gtp.game.position) == tidy("""
        . . . . .
        . . . . .
        . . O O .
        . . X O .
        . . . . .
    """)
    assert gtp.game.position.to_play == WHITE


def test_a_network_sees_the_boards_before() -> None:
    gtp = GoEngine(GoEnv(5, planes=9), readouts=4)
    ask(gtp, "play b c3", "play b d3", "play w b2")
    planes = gtp.game.position.planes()
    boards = [planes[2 * age] + planes[2 * age + 1] for age in range(4)]
    assert [int(board.sum()) for board in boards] == [3, 2, 1, 0]  # of a skipped turn there is none


def test_white_begins() -> None:
    """No pass of Black's, on which White could end the game."""
    gtp = engine()
    assert ask(gtp, "genmove w")[0] != "pass"
    ask(gtp, "clear_board", "play w c3")
    assert gtp.game.position.moves_text() == "W C3"


def test_passes_of_one_colour_end_no_game() -> None:
    gtp = engine()
    ask(gtp, "play b c3", "play b pass", "play b pass")
    assert gtp.game.position.moves_text() == "B C3, B pass, B pass"
    assert not gtp.game.position.is_over
    assert ask(gtp, "genmove w")[0] not in ("pass", "C3")
    assert ask(gtp, "undo", "undo", "undo", "undo", "undo") == [""] * 4 + ["? cannot undo"]


HANDICAP = ("play b B2", "play b D4")


@pytest.mark.parametrize("moves", [HANDICAP, (*HANDICAP, "play w C3", "play b D2")])
def test_handicap_stones_that_are_played(moves: tuple[str, ...]) -> None:
    """The measured threshold is one of even games; what was not played is in no file."""
    network = prefers(value=0.95)
    network.resign_threshold = -0.9
    gtp = engine(network=network, readouts=8)
    ask(gtp, *moves)
    assert turns_until_resignation(gtp, 11) is None
    ask(gtp, *["undo"] * 11)
    (text,) = ask(gtp, "printsgf")
    assert ";B[bd];B[db]" in text
    assert "[]" not in text.split("SZ[5]")[1]
    ask(gtp, "clear_board", "play b D4")
    assert turns_until_resignation(gtp) == 10


def test_a_file_is_printed_as_it_was_loaded(tmp_path: Path) -> None:
    """What was not touched; then its moves go on, as the main line."""
    text = "(;FF[4]CA[UTF-8]DT[1999]KM[6.5]PB[Ann]RE[W+T]SZ[5]XX[mine];B[aa]C[so];W[bb](;B[cc])(;B[dd]LB[aa:x]))"
    (tmp_path / "game.sgf").write_text(text)
    gtp = engine(network=prefers("D3"), readouts=0)
    assert ask(gtp, f"loadsgf {tmp_path}/game.sgf", "printsgf")[1].replace("\n", "") == text
    assert ask(gtp, "genmove w", "printsgf")[1].replace("\n", "") == text.replace("RE[W+T]", "").replace(
        ";B[cc]", ";B[cc];W[dc]"
    )
    assert "XX" not in ask(gtp, "clear_board", "printsgf")[1]


def test_nothing_of_a_loaded_file_is_counted_or_filled_in(tmp_path: Path) -> None:
    """Neither a finished game's result, nor the komi and rules of the file before."""
    files = {
        "before": "(;CA[UTF-8]KM[0.5]RU[Japanese]SZ[5];B[aa])",
        "finished": "(;CA[UTF-8]HA[分先]RE[B+1]SZ[5];B[aa];W[cc];B[];W[])",
        "unclear": "(;CA[UTF-8]KM[six]RE[]SZ[5];B[aa];W[cc];B[];W[])",
    }
    gtp = engine(network=prefers("D3"), readouts=0)
    for name, text in files.items():
        (tmp_path / f"{name}.sgf").write_text(text, encoding="utf-8")
        assert ask(gtp, f"loadsgf {tmp_path}/{name}.sgf", "printsgf")[1].replace("\n", "") == text
    assert "KM[3.5]" in ask(gtp, "komi 3.5", "printsgf")[1]


def test_play_goes_on_after_two_passes() -> None:
    gtp = engine(network=prefers("C3", "D3", "B3"), readouts=0)
    assert ask(gtp, "play b c3", "play w pass", "play b pass") == [""] * 3
    assert ask(gtp, "genmove w", "genmove b", "play w pass") == ["pass", "pass", ""]
    assert ask(gtp, "play b d4", "genmove w") == ["", "D3"]
    assert ask(gtp, "play b a1", "final_score") == ["", "W+5.5"]  # Black 3 stones, White 1


def test_games_longer_than_the_limit() -> None:
    """The controller's game has no limit: the board is set up anew."""
    env = GoEnv(3, max_moves=4)
    game = GtpGame(env, env.komi)
    for colour, point in ((BLACK, "B2"), (WHITE, "B1"), (BLACK, "A1"), (WHITE, "C3"), (BLACK, "C1"), (BLACK, "A3")):
        game.play(colour, env.from_text(point))
    assert draw(game.position) == tidy("X.O\n.X.\nX.X")
    assert game.ready(BLACK).to_play == BLACK
    assert not game.ready(WHITE).is_over


def test_an_illegal_move_leaves_everything_as_it_was() -> None:
    env = GoEnv(3)
    game = GtpGame(env, env.komi)
    game.play(BLACK, 4)
    before = game.position
    with pytest.raises(IllegalMove):
        game.play(BLACK, 4)
    assert game.position is before
    assert game.plays == [(BLACK, 4)]


def test_who_is_to_move_after_a_file(tmp_path: Path) -> None:
    """PL behind the root and after the moves; stones after the last move are another position, so the command fails."""
    path, gtp = tmp_path / "game.sgf", engine()
    for text, side in ((";AB[bb]PL[W]", -1), (";B[bb];PL[B]", 1), (";B[bb];W[cc]", 1)):
        path.write_text(f"(;SZ[5]{text})")
        assert ask(gtp, f"loadsgf {path}") == [""]
        assert gtp.game.to_play == side
    ask(gtp, f"loadsgf {path} 2", "play w D4")
    assert gtp.game.to_play == 1
    path.write_text("(;SZ[5];B[bb];W[cc];AB[dd])")
    assert ask(gtp, f"loadsgf {path}", f"loadsgf {path} 2") == ["? cannot load file", ""]
