"""`--game FILE.py:CLASS` or `MODULE:CLASS`: a game of one's own on the command line."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from alphago.arena.entrant import parse_entrant
from alphago.cli import VERBS, main, make_parser
from alphago.cli.models import given_game_settings
from alphago.cli.own_games import import_own_classes
from alphago.env.games import GAMES
from alphago.nn.model_files import saved_game
from alphago.ui.web.server_options import make_offer

MODULE = '''
from alphago.env.go import GoEnv
from alphago.env.game import GameEnv
from alphago.examples.tic_tac_toe import TicTacToeEnv

class CornersEnv(TicTacToeEnv):
    """Tic-tac-toe.

    corners: whether they count.
    """
    name = "corners"
    config = {}
    def __init__(self, corners=True, seed=3, *rest, size=3, start: dict | None = None, board: list = ()):
        self.config = {"corners": corners, "seed": seed, "size": size}

class SizedEnv(TicTacToeEnv):
    name = "sized"
    def __init__(self, board_size): ...

class LikeGo(GoEnv): ...

class HalfEnv(GameEnv):
    name = "half"

class Unnamed(GameEnv):
    name = "bare"
    N, planes, plane_shape, action_space, max_moves = 3, 2, (3, 3), 9, 9
'''
FLAG, CLASS = "argument --game: ", "a class derived from GameEnv"  # in messages
SMALL = ["--games", "4", "--readouts", "2", "--tower-height", "0", "--channels", "4", "--batch-size", "8"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, games_as_before: None) -> Iterator[Path]:
    """The current folder, with a module; modules are as before after the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "my_game.py").write_text(MODULE)
    (tmp_path / "broken_game.py").write_text("import nothing_of_this_name")
    (tmp_path / "wrong_game.py").write_text("1 / 0")
    (tmp_path / "random.py").write_text("")
    yield tmp_path
    for name in ("my_game", "broken_game", "wrong_game"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "worker"])
def test_the_options_of_a_game_are_options_of_each_command_that_takes_it(verb: str) -> None:
    game = f"{Path(__file__).parents[2]}/examples/go_variants.py:OutlineGoEnv"
    words = import_own_classes(["--game", game, "--height", "4", "--missing", "B2"])
    parser = make_parser(verb)
    if "--game" not in parser._option_string_actions:
        return
    positional = [action for action in parser._actions if not action.option_strings and action.nargs != "*"]
    options = parser.parse_args(["c_puct"] * len(positional) + words)
    given = given_game_settings(options)
    assert given == {"height": 4, "missing": "B2"}
    first = next(iter(make_offer([], options.game, options.board_size, given).usual_games.values()))
    assert first.config["height"] == 4


@pytest.mark.parametrize("named", ["my_game:CornersEnv", "other/my_game.py:CornersEnv"])
def test_from_training_to_a_match(
    folder: Path, named: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each command knows the game by its class, and without it says which one that is."""
    if named.startswith("other"):
        (folder / "other").mkdir()
        (folder / "my_game.py").rename(folder / "other" / "my_game.py")
    game = ["--game", named]
    assert main(["train", *game, "--no-corners", *SMALL, "--folder", "run"]) == 0
    assert main(["train", *game, "--folder", "run", "--games", "5"]) == 0
    assert saved_game("run/weights.safetensors").config == {"corners": False, "seed": 3, "size": 3}
    assert main(["selfplay", "run", *game, "--games", "2", "--readouts", "2", "--folder", "games"]) == 0
    assert main(["evaluate", "run@2", "random", *game, "--games", "2", "--folder", "match"]) == 0
    monkeypatch.setattr("builtins.input", lambda prompt: "quit")
    assert main(["play", "run", *game, "--readouts", "2"]) == 0
    capsys.readouterr()
    del GAMES["corners"]
    for command in ("train --folder run", "selfplay run", "evaluate run@2 random", "play run"):
        assert main(command.split()) == 2
        assert f"--game {named}\n" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["gtp", "run", *game])
    assert capsys.readouterr().err == "alphago gtp: no option --game: the Go Text Protocol is for Go\n"


def test_a_search_of_ones_own(folder: Path) -> None:
    """After --search, or in a player's name; neither an address nor a password is imported."""
    words = ["worker", "--token", "p@wrong_game:word", "--token=p@wrong_game:word", "me@wrong_game:runs"]
    assert import_own_classes(words) == words
    (folder / "my_game.py").write_text("from alphago.mcts.puct import Puct\nclass Mine(Puct): ...")
    for words in (["exam", "9x9", "--search", "my_game.py:Mine"], ["train", "--search=my_game.py:Mine"]):
        assert import_own_classes(words) == [word.replace(".py", "") for word in words]
    for text in ("9x9@2,my_game.py:Mine", "9x9@my_game:Mine"):
        assert parse_entrant(text).name == text.replace(".py", "")


def test_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    """A flag for each keyword, with its help; not where the command has such an option itself."""
    with pytest.raises(SystemExit):
        main(["train", "--game=my_game:CornersEnv", "--help-all"])
    text = " ".join(capsys.readouterr().out.split())
    assert "--corners, --no-corners corners: whether they count (yes)" in text
    assert text.count("--seed ") == 1
    assert "--rest" not in text


@pytest.mark.parametrize(
    ("game", "sentence"),
    [
        ("chess", f"{FLAG}must be one of go, gomoku, connect-four, reversi, oware, or FILE.py:CLASS for"),
        ("no_game:X", f"{FLAG}there is no module no_game, neither in this folder nor installed\n"),
        ("no_game.py:X", f"{FLAG}there is no file no_game.py\n"),
        (f"{'b' * 300}.py:X", f"{FLAG}'{'b' * 99}"),
        ("my_game.py:X", f"{FLAG}my_game.py has no game 'X', {CLASS}: there are CornersEnv,"),
        ("random.py:X", f"{FLAG}random.py must have another name, since Python has a module random\n"),
        ("broken_game:X", f"{FLAG}broken_game cannot be imported: ModuleNotFoundError: No module named "),
        ("wrong_game:X", f"{FLAG}wrong_game cannot be imported: ZeroDivisionError: division by zero"),
        ("my_game:CornerEnv", f"{FLAG}my_game has no game 'CornerEnv', {CLASS}: did you mean CornersEnv?"),
        ("my_game:MODULE", f"{FLAG}my_game has no game 'MODULE', {CLASS}: there are CornersEnv,"),
        ("my_game:LikeGo", f"{FLAG}LikeGo must have a name of its own, got 'go', a game of the package"),
        ("my_game:SizedEnv", "--board-size must be given for sized\n"),
        ("my_game:HalfEnv", "HalfEnv must define N, planes, plane_shape, action_space, max_moves\n"),
        ("my_game:Unnamed", "Unnamed must have a config, the arguments that make it again\n"),
    ],
)
def test_what_is_no_game(game: str, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code: object = main(["train", "--game", game])
    except SystemExit as end:
        code = end.code
    assert code == 2
    assert capsys.readouterr().err.startswith(f"alphago train: {sentence}")


def test_a_game_without_a_network(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["play", "--game", "my_game:CornersEnv"]) == 2
    sentence = "no network for corners comes with the package: name one (alphago train --game my_game:CornersEnv)"
    assert capsys.readouterr().err == f"alphago play: {sentence}\n"
