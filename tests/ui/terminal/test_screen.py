"""What a terminal is shown, and what is shown where there is none."""

import io
import re

import pytest

from alphago import ConnectFourEnv, GameEnv, GoEnv
from alphago.ui.terminal.screen import BLACK, LAST, WHITE, WOOD, Screen, colour_board, completions

WORDS, FILE_COMMANDS = ["score", "save", "save!", "pass"], ("save", "save!")


class Terminal(io.StringIO):
    """Standard output that is a terminal."""

    def isatty(self) -> bool:
        return True


def terminal(monkeypatch: pytest.MonkeyPatch, **environment: str) -> Terminal:
    """Makes standard output a terminal that knows colours; what the environment adds."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in {"TERM": "xterm-256color", **environment}.items():
        monkeypatch.setenv(name, value)
    out = Terminal()
    monkeypatch.setattr("sys.stdout", out)
    return out


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@pytest.mark.parametrize("env", [*map(GoEnv, (2, 5, 9, 10, 19)), ConnectFourEnv()], ids=str)
def test_a_board_in_colours_is_the_same_text(env: GameEnv) -> None:
    board = str(env.position().play(1).play(0))
    shown = colour_board(board)
    assert plain(shown) == board
    assert shown.count(WOOD) == env.plane_shape[0]  # every row, nothing else
    assert shown.count(f"{BLACK}X") == shown.count(f"{WHITE}O") == 1
    assert f"{LAST}({WHITE}O{LAST})" in shown
    assert max(map(len, board.split("\n"))) <= 80


@pytest.mark.parametrize("environment", [{}, {"NO_COLOR": ""}, {"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
def test_colours_on_a_terminal(monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]) -> None:
    """An empty NO_COLOR means nothing."""
    out = terminal(monkeypatch, **environment)
    Screen().draw(str(GoEnv(5).position()))
    is_plain = out.getvalue() == f"{GoEnv(5).position()}\n"
    assert (WOOD in out.getvalue(), is_plain) == ((False, True) if any(environment.values()) else (True, False))


def test_a_pipe_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    monkeypatch.setattr("sys.stdout", out)
    screen = Screen()
    screen.status("thinking")
    screen.clear_status()
    screen.draw(str(GoEnv(3).position()))
    assert out.getvalue() == f"{GoEnv(3).position()}\n"


def test_a_function_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    out = terminal(monkeypatch)
    shown: list[str] = []
    screen = Screen(write=shown.append)
    screen.status("thinking")
    screen.draw(str(GoEnv(3).position()))
    assert shown == [str(GoEnv(3).position())]
    assert out.getvalue() == ""


def test_the_line_that_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut to the terminal's width, not more often than every tenth of a second, and taken away in the end."""
    out = terminal(monkeypatch, COLUMNS="20")
    monkeypatch.setattr("time.monotonic", iter([10.0, 10.0, 10.05, 10.2, 10.2]).__next__)
    screen = Screen()
    for text in ("x" * 30, "too soon", "second"):
        screen.status(text)
    screen.clear_status()
    assert out.getvalue() == f"\r{'x' * 19}\x1b[K\rsecond\x1b[K\r\x1b[K"


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ("s", ["score", "save ", "save! "]),
        ("SC", ["score"]),
        ("d4", []),
        ("save a", ["save a game.sgf", "save as/"]),
        ("save! as/", ["save! as/x.sgf"]),
        ("pass a", []),
    ],
)
def test_completions(line, lines, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "as").mkdir()
    for name in ("a game.sgf", "b.sgf", "as/x.sgf"):
        (tmp_path / name).touch()
    assert completions(line, WORDS, FILE_COMMANDS) == lines
