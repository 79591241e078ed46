"""Submissions: players in files of their own, whose faults lose a game and are told."""

import os
import random
import zlib
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from alphago.arena.engine_player import RESIGN
from alphago.arena.entrant import find_player
from alphago.arena.submission import Submission, SubmissionPlayer
from alphago.cli import main
from alphago.env.go import GoEnv
from alphago.examples.tic_tac_toe import TicTacToeEnv

# What it does depends on the number of moves.
FILE = """
import os, random
import numpy as np

def choose(position):
    print("move", 4)
    plies = len(position.moves)
    if plies == 0:
        open("notes.txt", "w").write(os.getcwd())
        return int(random.random() * 9)
    if plies == 1:
        return np.int64(position.legal_mask.argmax())
    if plies == 2:
        return 1 // (plies - 2)
    if plies == 3:
        return "a3"
    if plies == 4:
        return input()
    os._exit(3)
"""


def player(tmp_path: Path, text: str, games: int = 1, **settings: float) -> SubmissionPlayer:
    path = tmp_path / "ada.py"
    path.write_text(text)
    return SubmissionPlayer(TicTacToeEnv(), Submission(str(path), **settings), list(range(7, 7 + games)))


def drawn(seed: int) -> int:
    return int(random.Random(zlib.crc32(f"ada.py {seed}".encode())).random() * 9)


def ask(player: SubmissionPlayer, game: int = 0) -> int:
    return int(player.choose(np.array([game]), np.zeros(1, bool), np.zeros(1))[0])


def test_its_moves_and_its_faults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with closing(player(tmp_path, FILE, games=2, move_seconds=60)) as ada:
        first = ask(ada)
        assert first == ask(ada) == drawn(7)  # the seed is the game's
        assert ask(ada, 1) == drawn(8)
        processes = {ada.process.process.pid}
        assert sorted(os.listdir(tmp_path)) == ["ada.py"]
        assert os.listdir(ada.process.folder.name) == ["notes.txt"]
        told = []
        for action in (0, 1, 2, 4):
            ada.follow(np.array([0]), np.array([action], np.int32))
            told.append((ask(ada), ada.faults.pop(0, "")))
            processes.add(ada.process.process.pid)
        assert told[0] == (1, "")
        assert [action for action, _ in told[1:]] == [RESIGN] * 3
        assert ": line 14: ZeroDivisionError: " in told[1][1]
        assert "ada.py answered 'a3' to choose: illegal move A3: " in told[2][1]
        assert "line 18: EOFError" in told[3][1]
        assert len(processes) == 1
        folder = ada.process.folder.name
        ada.follow(np.array([0]), np.array([5], np.int32))
        assert ask(ada) == RESIGN
        assert "the process has ended (exit status 3)" in ada.faults[0]
        assert ask(ada, 1) >= 0  # another process goes on
    assert not os.path.exists(folder)
    assert not os.path.exists(ada.process.folder.name)


def test_a_large_game_travels(tmp_path: Path) -> None:
    env = GoEnv(19)
    env.noted = "x" * 200_000  # what a game keeps stays here
    path = tmp_path / "ada.py"
    path.write_text("def choose(position):\n    return position.env.N\n")
    with closing(SubmissionPlayer(env, Submission(str(path), move_seconds=60), [7])) as ada:
        assert ask(ada) == 19


def test_a_game_that_cannot_travel(tmp_path: Path) -> None:
    class LocalEnv(TicTacToeEnv):
        pass

    with pytest.raises(ValueError, match=r"its class must be a module's, got .*<locals>.LocalEnv"):
        SubmissionPlayer(LocalEnv(), Submission("ada.py"), [7])
    LocalEnv.__module__, LocalEnv.__qualname__ = "__main__", "LocalEnv"
    with pytest.raises(ValueError, match="submissions must be able to import the game"):
        SubmissionPlayer(LocalEnv(), Submission("ada.py"), [7])


WRITES = """import os
    for descriptor in range(3, 10):
        try:
            os.write(descriptor, b"move " + b"4" * 20_000)
        except OSError:
            pass"""


@pytest.mark.parametrize(
    ("body", "seconds", "why", "ends"),
    [
        ('return "9" * 30_000', 60, "ada.py answered '9999", False),
        ('raise ValueError("no " * 10_000)', 60, "ValueError: no no", False),
        (WRITES, 60, "is not GTP", True),  # to a descriptor that it has found
        ("import time; time.sleep(600)", 0.2, "ada.py: 'choose 7' was sent, no reply within 0.2 s", True),
    ],
)
def test_a_fault_is_told_in_short(tmp_path: Path, body: str, seconds: float, why: str, ends: bool) -> None:
    """The process goes on, and answers the next question, or is ended."""
    text = f"def choose(position):\n    if position.moves:\n        return 5\n    {body}\n"
    with closing(player(tmp_path, text, move_seconds=seconds)) as ada:
        assert ask(ada) == RESIGN
        assert why in ada.faults[0]
        assert len(ada.faults[0]) < 1000
        assert ada.process.closed == ends
        if not ends:
            ada.follow(np.array([0]), np.array([0], np.int32))
            assert ask(ada) == 5


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("def choose(position)\n", ": SyntaxError: expected ':'"),
        ("import sys\nsys.exit()", ": line 2: SystemExit:"),
        ("import numpy\nnumpy.nothing", ": line 2: AttributeError"),
        ("def chose(position): ...", ": TypeError: choose must be a function of this file, got None"),
    ],
)
@pytest.mark.usefixtures("no_engine_is_left")
def test_a_file_that_cannot_be_used_is_started_once(tmp_path: Path, text: str, why: str) -> None:
    ada = player(tmp_path, text, games=2)
    assert ask(ada) == ask(ada, 1) == RESIGN
    assert why in ada.faults[0]
    assert ada.faults[0] == ada.faults[1]
    assert ada.process is None


def test_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    """A crash loses, a page has the table, and the same command plays nothing again; another file is refused."""
    monkeypatch.chdir(tmp_path)
    Path("ada.py").write_text("def choose(position):\n    return int(position.legal_mask.nonzero()[0][0])\n")
    Path("bob.py").write_text("def choose(position):\n    return position.nothing\n")
    options = {"board-size": 3, "games": 2, "folder": "out", "move-seconds": 60}
    command = ["evaluate", "ada.py", "bob.py", *(f"--{name}={value}" for name, value in options.items())]
    assert main(command) == 0
    text = capsys.readouterr().out
    assert "bob.py: games lost by a fault of its own: 2\n  1-2-0001: bob.py: line 2: AttributeError: " in text
    page = Path("out/standings.html").read_text()
    assert page.count("<svg") == 1
    assert ": line 2: AttributeError" in page
    lines = Path("out/games.jsonl").read_bytes()
    assert main(command) == 0
    assert Path("out/games.jsonl").read_bytes() == lines
    assert main([*command, "--move-seconds=30"]) == 2
    assert "move_seconds 30.0, where it was begun with 60.0" in capsys.readouterr().err
    Path("bob.py").write_text("def choose(position):\n    return 0\n")
    assert main(command) == 2
    assert "got file or version of bob.py " in capsys.readouterr().err


def test_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ada.py").touch()
    assert find_player("ada.py") == Submission("ada.py")
    with pytest.raises(ValueError, match=r"no player is called 'bob\.py'"):
        find_player("bob.py")
    with pytest.raises(ValueError, match="move_seconds must be a number > 0, got 0"):
        Submission("ada.py", move_seconds=0)
