"""Games at the terminal: lines typed, text shown, results announced."""

import io
import re
import time
from typing import Any

import numpy as np
import pytest

from alphago import ConnectFourEnv, GoEnv, NeuralNet, Position, play
from alphago.env.go import DEAD_STONES
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.mcts.analyst import Analyst
from alphago.mcts.evaluator import UniformEvaluator
from alphago.mcts.questions import Limit
from alphago.ui.teacher import Teacher
from alphago.ui.terminal.estimate import estimate
from alphago.ui.terminal.screen import Screen
from alphago.ui.terminal.terminal_game import TerminalGame
from tests.networks import prefers
from tests.ui.own_games import LeaningEnv, NimEnv, OwnedByBlack, RingEnv
from tests.ui.terminal.test_saved_games import talk

BLACK, WHITE = 0, 1


def go(human: int, *lines: Any, engine: str = "C3", value: float = 0.0, **options: Any) -> tuple[str, str]:
    """The moves and the text of a game on 5x5 against an engine that plays the first of its moves that is legal."""
    network: Any = prefers(*engine.split(), value=value)
    network.resign_threshold = options.pop("resign_threshold", -1)
    position, text = talk(options.pop("env", GoEnv(5)), *lines, network=network, readouts=0, mode=human, **options)
    return position.moves_text(), text.rstrip()


class StrictTeacher(Teacher):
    """A teacher who finds fault with C3."""

    def lesson(self, position: Position, action: int) -> Any:
        return "C3 loses 9.0 points." if action == position.env.from_text("C3") else None

    def summary(self, position: Position) -> str:
        return f"{len(position.moves)} moves"


def test_a_teacher_lets_take_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("alphago.ui.terminal.play_call.Teacher", StrictTeacher)
    moves, text = go(BLACK, "c3", "", "c3", "y", "pass", "", engine="D4 pass", teach=1)
    assert moves == "B C3, W D4, B pass, W pass"
    assert text.count("C3 loses 9.0 points.") == 2
    assert "4 moves" in text


@pytest.mark.parametrize(
    ("human", "lines", "options", "result"),
    [
        # Black owns all of the board after one stone, White wins an empty one.
        (BLACK, ["c3", "pass", ""], {"engine": "pass"}, "B+17.5: Black wins.\nYou win!"),
        (WHITE, ["pass", ""], {"engine": "C3 pass"}, "B+17.5: Black wins.\nThe engine wins."),
        (WHITE, ["pass", ""], {"engine": "pass"}, "W+7.5: White wins.\nYou win!"),
        (BLACK, ["pass", ""], {"engine": "pass"}, "W+7.5: White wins.\nThe engine wins."),
        (BLACK, ["c3", "pass", ""], {"engine": "pass", "env": GoEnv(5, komi=25)}, "draw: nobody wins."),
        (BLACK, ["resign"], {}, "You resign.\nW+R: White wins.\nThe engine wins."),
        (WHITE, ["resign"], {}, "You resign.\nB+R: Black wins.\nThe engine wins."),
        (BLACK, ["c3"], {"resign_threshold": 0.9}, "The engine resigns.\nB+R: Black wins.\nYou win!"),
        (WHITE, [], {"resign_threshold": 0.9}, "The engine resigns.\nW+R: White wins.\nYou win!"),
    ],
)
def test_results(human: int, lines: list[str], options: Any, result: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("alphago.mcts.lost_turns.LOST_TURNS", 1)
    monkeypatch.setattr("alphago.mcts.lost_turns.LEAST_PLIES", 0)
    assert go(human, *lines, **options)[1].endswith(result)


# Who the person is, what is typed, what the engine likes, the moves, and what is told among other things.
TYPED = """
Black | D4, b2 | C3 E5 | B D4, W C3, B B2, W E5 | played C3; it expects to win with ≈ 25 %.\\nBest line: C3.
Black | d4, d4, c3 | C3 | B D4, W C3 | illegal move D4: Black has a stone there, in GoEnv(5) after B D4, W C3.
Black | d4, c3 | C3 | B D4, W C3 | illegal move C3: White has a stone there
Black | hint, d4 | B2 C3 | B D4, W B2 | The engine would play B2 in your place; it expects you to win with ≈ 75 %.
Black | d4, b2, undo, b4 | C3 E5 | B D4, W C3, B B4, W E5 | played E5
Black | d4, b2, undo, undo, a1 | C3 E5 | B A1, W C3 | played C3
White | d4, undo, undo | C3 | B C3 | nothing to take back
"""


@pytest.mark.parametrize("row", TYPED.strip().splitlines())
def test_what_is_typed_and_told(row: str) -> None:
    person, lines, engine, moves, told = row.split(" | ")
    played, text = go(WHITE if person == "White" else BLACK, *lines.split(", "), engine=engine, value=0.5)
    assert played == moves
    assert told.replace("\\n", "\n") in text
    assert ("nothing to take back" in text) == (person == "White")  # the engine's first move stays


@pytest.mark.parametrize(
    ("env", "typed", "engine", "moves", "told"),
    [
        (LeaningEnv(), "a resign", "D", "A D", "You are Red; The engine (Yellow) played D; W+R: Yellow wins"),
        (RingEnv(), "r1 bell", "r2 r3", "r1 r2 bell r3", "You are First; The engine (Second) played r2"),
    ],
)
def test_games_of_ones_own(env: Any, typed: str, engine: str, moves: str, told: str) -> None:
    played, text = go(BLACK, *typed.split(), EOFError, env=env, engine=engine)
    assert played == moves
    assert [sentence for sentence in told.split("; ") if sentence not in text] == []


def test_levels_are_told() -> None:
    _, text = talk(GoEnv(5), "c3", "quit", level="even")
    assert "The engine plays at level even: follows your strength." in text
    assert "You have made 1 of 5 moves that tell your strength: level 5." in text


@pytest.mark.parametrize("typo", ["d", "z9", "i4", "d44", "D 4", "4d", "undoo", "?", "d４", "\x00", "-1"])
def test_typo(typo: str) -> None:
    moves, text = go(BLACK, typo, "d4")
    assert f"{typo!r} is not a point of GoEnv(5)" in text
    assert "`help` lists the commands" in text
    assert ("did you mean undo?" in text) == (typo == "undoo")
    assert moves == "B D4, W C3"


@pytest.mark.parametrize(("limit", "total"), [(Limit(40), " of 40"), (Limit(None, 1.0), "")])
def test_the_status_line_during_a_search(limit: Limit, total: str) -> None:
    """It is empty once it is removed."""
    even = prefers("C3", value=0.5)

    def slow(position: Position) -> Any:
        time.sleep(0.02)
        return even(position)

    screen, lines = Screen(lambda prompt: "quit", lambda text: None), list[str]()
    screen.status, screen.clear_status = lines.append, lambda: lines.append("")
    with Analyst(slow) as analyst:
        TerminalGame(analyst, GoEnv(5).position(), -1, screen, limit).think()
    *told, last = lines
    assert told
    form = rf"\d+{total} readouts, win rate of Black ≈ 75 %, best line C3( [A-E]\d| pass)*"
    assert all(re.fullmatch(form, line) for line in told)
    assert last == ""


def test_why() -> None:
    """Of the person's last move, of another move now, and of none."""
    position, text = talk(GoEnv(5), "why", "d4", "why", "why b2", "why d4", "why z9")
    assert "You have not moved yet: there is no move to explain." in text
    about = r"(^|The search .* |There is nothing to say about )%s\b.*\.$"
    assert re.search(about % "D4", text, re.MULTILINE)
    assert re.search(about % "B2", text, re.MULTILINE)
    assert "illegal move D4: Black has a stone there" in text
    assert "'z9' is not a point of GoEnv(5)" in text
    assert len(position.moves) == 2


def test_help_names_every_command() -> None:
    _, text = go(BLACK, "HELP")
    commands = TerminalGame(Analyst(UniformEvaluator()), GoEnv(5).position(), 1, Screen(), Limit(1)).commands
    assert all(f"\n  {name} " in text for name in [*commands, "pass", "A5"])
    assert text.count(DEAD_STONES) == 1


@pytest.mark.parametrize(("env", "has_count"), [(GoEnv(5), True), (TicTacToeEnv(), False)], ids=["go", "other"])
def test_help_and_hint_fit_the_game_and_the_search(env: Any, has_count: bool) -> None:
    """Stones are counted in Go alone; a win rate of few readouts is told as the rough figure it is."""
    for readouts, about in ((8, "≈ "), (64, "")):
        _, text = talk(env, "help", "hint", "quit", readouts=readouts)
        assert ("no stone is dead" in text) == has_count
        assert re.search(rf"it expects you to win with {about}\d+ %", text)


# A player hears of them before the game ends; after two passes they are agreed.
@pytest.mark.parametrize(
    ("lines", "engine"), [(["pass", "d4"], "C3 E5"), (["d4", "b2", "pass"], "C3 pass"), (["score"], "C3")]
)
def test_dead_stones_are_told_at_the_first_pass_and_with_the_score(lines: list[str], engine: str) -> None:
    assert go(BLACK, *lines, engine=engine)[1].count(DEAD_STONES) == 1


@pytest.mark.parametrize(
    ("lines", "count", "result"),
    [
        ([""], "B 1 + 0, W 1 + 7.5: W+7.5", "W+7.5: White wins."),
        (["b2", ""], "B 25 + 0, W 0 + 7.5: B+17.5", "B+17.5: Black wins."),
        (["b2", "d4", ""], "B 0 + 0, W 0 + 7.5: W+7.5", "W+7.5: White wins."),
        (["b2", "alive", "c3", ""], "B 1 + 0, W 1 + 7.5: W+7.5", "W+7.5: White wins."),
        (["b2"], "B 25 + 0, W 0 + 7.5: B+17.5", "B+17.5: Black wins."),  # the input ends
    ],
)
def test_dead_stones_are_agreed_after_two_passes(lines: list[str], count: str, result: str) -> None:
    _, text = go(BLACK, "d4", "pass", *lines, engine="b2 pass")
    assert [line for line in text.splitlines() if line.startswith("B ")][-1] == f"{count}."
    assert result in text
    assert ("a point with a stone must be named, got C3" in text) == ("c3" in lines)


@pytest.mark.parametrize("word", ["Quit", "exit", "q"])
def test_leaving_by_a_word(word: str) -> None:
    assert go(BLACK, "d4", word)[1].endswith("You left the game after 2 moves.")


@pytest.mark.parametrize("reason", [EOFError, KeyboardInterrupt])
@pytest.mark.parametrize("before", [[], ["d4"], ["d4", "undo"], ["z9"], ["hint"]])
def test_leaving_at_a_prompt(reason: type[BaseException], before: list[str]) -> None:
    _, text = go(BLACK, *before, reason)
    assert "You left the game after" in text
    assert "wins" not in text


@pytest.mark.parametrize("line", ["c3", "hint"])
def test_leaving_while_the_engine_thinks(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Analyst, "ask", interrupted)
    assert "You left the game after" in go(BLACK, line)[1].splitlines()[-1]


# Whole games, and what `play` refuses.
def test_a_plain_game() -> None:
    """Against a network that takes one match."""
    typed = ("pass", "d4", "2", "9" * 5000, "score", "1", "undo", "1", "1", "0", "")
    _, text = talk(NimEnv(), *typed, network=lambda position: (position.legal_mask * [1.0, 0.1], 0.0), readouts=0)
    assert "'pass' is not a move of NimEnv(): expected a number from 0 to 1" in text
    assert "999' is not a move" in text
    assert "If the game ended here: draw." in text
    assert text.rstrip().endswith("Black wins.\nYou win!")


@pytest.mark.parametrize(
    ("stdin", "text"),
    [
        (None, "You left the game after 0 moves."),  # it was closed before Python started
        (b"", "You left the game after 0 moves."),
        (b"\xff\xfe\nc3\nquit\n", "is not a point of GoEnv(5)"),
    ],
)
def test_input_that_is_closed_or_no_text(
    stdin: bytes | None, text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", None if stdin is None else io.TextIOWrapper(io.BytesIO(stdin), "utf-8"))
    play(GoEnv(5), UniformEvaluator(), 4)
    assert text in capsys.readouterr().out


def test_a_handicap() -> None:
    """White begins: the engine, where the person is Black."""
    position, text = talk(GoEnv(9), "undo", "quit", handicap=4)
    assert (position.setup, len(position.moves)) == ({"black": "C7 G7 C3 G3", "to_play": "white", "komi": 0.5}, 1)
    assert "You have not moved yet" in text


@pytest.mark.parametrize(
    ("env", "options", "sentence"),
    [
        (GoEnv(9), {"handicap": 10}, "handicap must be from 2 to 9 on 9x9, got 10"),
        (GoEnv(9), {"handicap": -1}, "handicap must be an integer >= 0, got -1"),
        (TicTacToeEnv(), {"handicap": 2}, "handicap must be 0 in tic-tac-toe, got 2"),
        (GoEnv(5), {"mode": 2}, "mode must be 0"),
        (GoEnv(5), {"mode": "black"}, "mode must be 0"),
        (GoEnv(5), {"level": 11}, "level must be"),
        (GoEnv(5), {"teach": 0}, "teach must be a number > 0, got 0"),
        (GoEnv(5), {"readouts": None}, "num_readouts or seconds must limit a move, got None for both"),
        # AlphaGo.jl's call has both a network and a height; another height than the network's is a mistake.
        (GoEnv(5), {"tower_height": 2}, "tower_height must be left out with a given network, got 2"),
    ],
)
def test_what_play_refuses(env: Any, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        talk(env, **options)


def test_the_tower_height_of_a_given_network() -> None:
    network: Any = UniformEvaluator()
    network.tower_height = 2
    _, text = talk(GoEnv(5), "quit", network=network, tower_height=2)
    assert text.endswith("You left the game after 0 moves.")
    with pytest.raises(ValueError, match="tower_height must be left out or 2, the given network's, got 3"):
        talk(GoEnv(5), network=network, tower_height=3)


def test_an_untrained_network_says_so() -> None:
    shown = list[str]()
    play(GoEnv(3), num_readouts=2, tower_height=1, read=lambda prompt: "quit", write=shown.append)
    assert "untrained" in shown[0]


# --- the end that a network expects ------------------------------------------------------------------


class Oracle(OwnedByBlack):
    """Black owns the left of a 5x5 board, White the right, neither the middle."""

    owners = np.tile([0.9, 0.6, 0.4, -0.6, -0.9], 5)
    score, value = -2.04, 0.462


def test_the_end_in_words_and_owners() -> None:
    with Analyst(Oracle()) as analyst:
        sentences, board = estimate(analyst, GoEnv(5).position(black="A1 D2 E5", white="B3 C3 E4"))
    assert sentences == (
        "The network expects W+2 in the end, and Black to win with 73%.\n"
        "Dead stones: Black E5 D2; White B3.\n"
        "Expected points of Black (X) and White (O):"
    )
    assert board.splitlines()[1] == " 5  X X . O O  5"


def test_only_some_networks_expect_an_end() -> None:
    """AlphaGo Zero's value head knows the winner alone."""
    for size_free, sentence in ((True, "The network expects "), (False, "this engine makes no forecast")):
        net = NeuralNet(GoEnv(5), tower_height=0, channels=4, size_free=size_free)
        assert sentence in talk(GoEnv(5), "c3", "score", "quit", network=net)[1]
    assert "forecast" not in talk(ConnectFourEnv(), "score", "quit")[1]
