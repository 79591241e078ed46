"""Games saved and loaded at the terminal, with the real player."""

import contextlib

import pytest

from alphago import ConnectFourEnv, GameEnv, GoEnv, Position, play
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.mcts.evaluator import UniformEvaluator
from alphago.records.record import RecordBuilder, records_to_bytes
from alphago.records.sgf import read_sgf
from alphago.ui.terminal.saved_games import GameFiles
from alphago.ui.terminal.screen import Screen


def talk(env: GameEnv, *typed, readouts: int = 4, network=None, **options) -> tuple[Position, str]:
    """The last position of a game in which these lines are typed, and all that was shown; options: of `play`.

    An exception's class among the lines is raised.
    """
    answers, shown = iter(typed), list[str]()

    def read(prompt: str) -> str:
        answer = next(answers, EOFError)
        if isinstance(answer, str):
            return answer
        raise answer

    position = play(env, network or UniformEvaluator(), readouts, read=read, write=shown.append, **options)
    assert next(answers, None) is None, "the game ended before everything was typed"
    return position, "\n".join(shown)


def test_go(tmp_path):
    path = tmp_path / "a game.sgf"
    position, text = talk(GoEnv(5, komi=2.5), "c3", "b2", f"save {path}", "quit")
    assert f"Saved in {path}." in text
    game = read_sgf(path)
    assert (game.moves, game.komi, game.result, game.players) == (position.moves, 2.5, "", ("you", "alphago"))
    again, _ = talk(GoEnv(5, komi=2.5), f"load {path}", "undo", "quit")
    assert again.moves == position.moves[:2]
    assert again.komi == 2.5


def test_a_resignation_is_saved_and_taken_back(tmp_path):
    path = tmp_path / "game.sgf"
    typed = ("c3", "SAVE", "resign", "c2", "hint", "resign", f"save {path}", "undo", "b1", "quit")
    position, text = talk(GoEnv(5), *typed)
    assert read_sgf(path).result == "W+R"
    assert "Not saved: a file name is missing, as in `save game.sgf`." in text
    assert "the game is over by resignation" in text
    assert text.count("The game is over:") == text.count("The game is over already") == 1  # hint and resign
    assert text.count("You resign.") == 1
    assert position.env.to_text(position.moves[2]) == "B1"


def test_another_game(tmp_path):
    path = tmp_path / "game.npz"
    position, _ = talk(TicTacToeEnv(), "b2", f"save {path}", "quit")
    again, _ = talk(TicTacToeEnv(), f"load {path}", "quit")
    assert again.moves == position.moves
    assert str(again) == str(position)


# A game, a command, and the sentence about it.
REFUSED = """
go | load ~no-such-user/x.sgf | loaded: ~no-such-user/x.sgf cannot be read: No such file or directory.
go | load | loaded: a file name is missing, as in `load game.sgf`.
go | load none.sgf | loaded: none.sgf cannot be read: No such file or directory.
go | load game.npz | loaded: games of go are saved as .sgf, not .npz: use game.sgf.
go | load nine.sgf | loaded: nine.sgf: the board must be 5x5, got 9x9.
go | load text | loaded: text: no SGF data found.
go | load first.sgf | loaded: first.sgf, node 1: a move must be
go | save folder | saved: folder
go | save no/a.sgf | saved: there is no folder no.
go | save ~no-such-user/x.sgf | saved: there is no folder ~no-such-user.
go | save a.npz | saved: games of go are saved as .sgf, not .npz
four | save x.sgf | saved: games of connect-four are saved as .npz, not .sgf: use x.npz.
four | load first.sgf | loaded: games of connect-four are saved as .npz, not .sgf
four | load text | loaded: text holds no game records (not an .npz archive).
four | load go.npz | loaded: go.npz must hold a game of ConnectFourEnv(
"""


@pytest.mark.parametrize("row", REFUSED.strip().splitlines())
def test_files_that_cannot_be_loaded_or_saved(tmp_path, monkeypatch, row):
    game, command, sentence = row.split(" | ")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    for name, text in (("nine.sgf", "(;SZ[9];B[aa])"), ("text", "nothing"), ("first.sgf", "(;SZ[5];B[zz];W[ba])")):
        (tmp_path / name).write_text(text)
    record = RecordBuilder({"komi": 2.5}).finish(1.0, 1.0, False, 7)  # Connect Four has no komi
    (tmp_path / "go.npz").write_bytes(records_to_bytes([record]))
    before = sorted(tmp_path.iterdir())
    position, shown = talk(GoEnv(5) if game == "go" else ConnectFourEnv(), command, "quit")
    assert f"Not {sentence}" in shown
    assert position.moves == ()
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("text", "moves", "sentence"),
    [
        ("(;SZ[5];B[aa];W[ba];B[ca];W[da];B[ea])", 3, ", node 4: move 4, White D5, is illegal: the game ends after"),
        ("(;SZ[5];B[aa];W[b", 1, ": the file ends within the game."),
        ("(;SZ[5];B[aa])(;SZ[5])", 1, " holds several games; this is the first."),
    ],
)
def test_the_legal_beginning_is_loaded(tmp_path, text, moves, sentence):
    """What is wrong is said, and the damaged file is not replaced without a question."""
    path = tmp_path / "game.sgf"
    path.write_text(text)
    position, shown = talk(GoEnv(5, max_moves=3), "e1", f"load {path}", f"save {path}", "quit", mode=1)
    assert f"{path}{sentence}" in shown
    assert "Not loaded" not in shown
    assert position.moves[:moves] == tuple(range(moves))
    assert f"Not saved: {path} exists" in shown
    assert path.read_text() == text


def test_another_file_is_not_replaced(tmp_path):
    """Not without a word; a file of this game is, as often as it is saved."""
    path, own = tmp_path / "precious.sgf", tmp_path / "own.sgf"
    path.write_text("precious")
    _, text = talk(GoEnv(5), "c3", f"save {path}", f"save {own}", "b2", f"save {own}", "quit")
    assert f"Not saved: {path} exists and is not of this game; `save! {path}` replaces it." in text
    assert text.count(f"Saved in {own}.") == 2
    assert path.read_text() == "precious"
    _, text = talk(GoEnv(5), f"load {own}", f"save {own}", f"save! {path}", "quit")
    assert (text.count("Saved in "), text.count("Not saved")) == (2, 0)
    assert path.read_bytes() == own.read_bytes()


def test_a_person_is_asked(tmp_path):
    path, questions, answers = tmp_path / "game.sgf", [], iter(["no", "YES"])
    screen = Screen(lambda question: questions.append(question) or next(answers), lambda text: None)
    screen.interactive = True
    for before, after in (("precious", "precious"), ("precious", "(;FF[4]")):
        path.write_text(before)
        with contextlib.suppress(FileExistsError):
            GameFiles(GoEnv(5), screen).save(str(path), b"(;FF[4]", False)
        assert path.read_text().startswith(after)
    assert questions == [f"{path} exists and is not of this game.  Replace it? (yes or no) "] * 2


FILED = "(;FF[4]CA[UTF-8]KM[6.5]MN[7]PB[Ann]RE[W+T]SZ[5]XX[mine];B[aa]C[so];B[bb](;W[cc])(;LB[aa:x]W[dd]))"
AREA = "".join(f"[{column}{row}]" for row in "abcde" for column in "abcde" if column + row != "cc")
FINISHED = "(;FF[4]CA[UTF-8]KM[6.5]RE[B+1]SZ[5];B[cc];W[];B[])"


@pytest.mark.parametrize(
    ("filed", "typed", "now"),
    [
        (FILED, (), FILED),
        (FILED, ("pass",), FILED.replace(";W[cc]", ";W[cc];B[];W[ba]").replace("RE[W+T]", "")),
        (FILED, ("undo", "b4"), FILED.replace("(;W[cc])", "(;W[ba])(;W[cc])").replace("RE[W+T]", "")),
        (FINISHED, (), FINISHED),
        (FINISHED, ("",), FINISHED.replace("B+1]", "B+18.5]")[:-1] + f"TB{AREA})"),
    ],
)
def test_what_was_not_touched_is_saved_as_it_was_loaded(tmp_path, filed, typed, now):
    """A finished game's result too, until the count that is proposed is agreed, as by an empty line."""
    path = tmp_path / "game.sgf"
    path.write_text(filed)
    talk(GoEnv(5), f"load {path}", *typed, f"save {path}", "quit", readouts=0)
    assert path.read_text().replace("\n", "") == now
