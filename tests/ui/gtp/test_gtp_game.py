"""Moves of any colour at any time."""

from pathlib import Path

from alphago import GoEnv
from alphago.ui.gtp.gtp_game import GtpGame
from tests.diagrams import draw, tidy
from tests.networks import prefers
from tests.ui.gtp.engine import BLACK, WHITE, ask, engine


def test_a_file_is_printed_as_it_was_loaded(tmp_path: Path) -> None:
    """What was not touched; then its moves go on, as the main line."""
    text = "(;FF[4]CA[UTF-8]DT[1999]KM[6.5]PB[Ann]RE[W+T]SZ[5]XX[mine];B[aa]C[so];W[bb](;B[cc])(;B[dd]LB[aa:x]))"
    (tmp_path / "game.sgf").write_text(text)
    gtp = engine(network=prefers("D3"), readouts=0)
    assert ask(gtp, f"loadsgf {tmp_path}/game.sgf", "printsgf")[1].replace("\n", "") == text
    played = text.replace("RE[W+T]", "").replace(";B[cc]", ";B[cc];W[dc]")
    assert ask(gtp, "genmove w", "printsgf")[1].replace("\n", "") == played
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


def test_games_longer_than_the_limit() -> None:
    """The controller's game has no limit: the board is set up anew."""
    env = GoEnv(3, max_moves=4)
    game = GtpGame(env, env.komi)
    for colour, point in ((BLACK, "B2"), (WHITE, "B1"), (BLACK, "A1"), (WHITE, "C3"), (BLACK, "C1"), (BLACK, "A3")):
        game.play(colour, env.from_text(point))
    assert draw(game.position) == tidy("X.O\n.X.\nX.X")
    assert game.position_for(BLACK).to_play == BLACK
    assert not game.position_for(WHITE).is_over


def test_who_is_to_move_after_a_file(tmp_path: Path) -> None:
    """PL behind the root and after the moves; stones after the last move are another position, so the command fails.

    Neither another komi nor other rules change who it is.
    """
    path, gtp = tmp_path / "game.sgf", engine()
    for text, side in ((";B[bb];PL[B]", 1), (";AB[bb]PL[W]", -1), (";B[bb];W[cc]", 1)):
        path.write_text(f"(;SZ[5]{text})")
        assert ask(gtp, f"loadsgf {path}", "komi 4", "kgs-rules aga") == [""] * 3
        assert gtp.game.to_play == side
    ask(gtp, f"loadsgf {path} 2", "play w D4")
    assert gtp.game.to_play == 1
    path.write_text("(;SZ[5];B[bb];W[cc];AB[dd])")
    assert ask(gtp, f"loadsgf {path}", f"loadsgf {path} 2") == ["? cannot load file", ""]
