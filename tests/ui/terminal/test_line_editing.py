"""What a typed line may become."""

import pytest

from alphago.ui.terminal.line_editing import completions, line_completer

WORDS, WITH_FILE = ["score", "save", "save!", "pass"], ("save", "save!")


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
    assert completions(line, WORDS, WITH_FILE) == lines
    complete = line_completer(WORDS, WITH_FILE)
    assert [complete(line, state) for state in range(len(lines) + 1)] == [*lines, None]
