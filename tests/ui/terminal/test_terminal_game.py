"""Scripted games at the terminal: lines typed, text shown, results announced."""

import io
import math
import re
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from alphago import GameEnv, GoEnv, Position, play
from alphago.env.board import result_text
from alphago.env.go import DEAD_STONES
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.mcts.evaluator import UniformEvaluator
from alphago.mcts.questions import Answer, Limit
from alphago.ui.teacher import Teacher
from alphago.ui.terminal.screen import Screen
from alphago.ui.terminal.terminal_game import TerminalGame
from tests.ui.own_games import LeaningEnv, NimEnv, RingEnv
from tests.ui.terminal.test_saved_games import talk

BLACK, WHITE = 1, -1


class ScriptedAnalysis(NamedTuple):
    """What a game reads of an `Analysis`."""

    env: GameEnv
    action: int
    value: np.ndarray
    root_visits: tuple[int, ...] = (48,)
    root_score: tuple[float, ...] = (math.nan,)  # no score is forecast

    @property
    def root_readings(self) -> tuple[np.ndarray, list[float]]:
        return self.value, [0.0]

    @property
    def visits(self) -> np.ndarray:
        return np.eye(self.env.action_space, dtype=np.int32)[[self.action]]

    def best(self) -> int:
        return self.action

    def line_text(self, action: int) -> str:
        return f"{self.env.to_text(action)} A1"


class ScriptedAnswers(list[Answer]):
    """The answers to a question."""

    def stop(self) -> None:
        pass


class ScriptedAnalyst:
    """A stand-in for `Analyst` that answers with the moves of a list and sees one value everywhere."""

    def __init__(self, env: GameEnv, moves: str = "", value: float = 0.0, resigns: bool = False) -> None:
        self.env, self.network = env, SimpleNamespace(resign_threshold=0.9 if resigns else -1, measured_in=env)
        self.moves, self.value = iter(moves.split()), value
        self.waves: Sequence[int] = ()  # readouts of growing answers
        self.interrupted = False
        self.next: tuple[tuple[int, ...], int] | None = None  # a position's moves, and the answer there

    def ask(self, position: Position, limit: Limit, **options: Any) -> ScriptedAnswers:
        if self.interrupted:
            raise KeyboardInterrupt
        if self.next is None or self.next[0] != position.moves:
            self.next = position.moves, self.env.from_text(next(self.moves))
        action = self.next[1]
        found: Any = ScriptedAnalysis(self.env, action, np.array([self.value]))
        growing = [Answer(position, found, is_last=False, readouts=done) for done in self.waves]
        return ScriptedAnswers([*growing, Answer(position, found, is_last=True, action=action)])


class Transcript(NamedTuple):
    text: str
    position: Position
    prompts: list[str]

    def moves(self) -> str:
        return self.position.moves_text()


def converse(analyst: ScriptedAnalyst, human: int, *lines: str | type[BaseException]) -> Transcript:
    """Type the lines one by one (an exception class is raised instead), then end the input."""
    shown: list[str] = []
    prompts: list[str] = []
    typed = iter(lines)

    def read(prompt: str) -> str:
        prompts.append(prompt)
        line = next(typed, EOFError)
        if isinstance(line, str):
            return line
        raise line

    position = TerminalGame(analyst, analyst.env.position(), human, Screen(read, shown.append), Limit(16)).run()
    assert next(typed, None) is None, "the game ended before everything was typed"
    return Transcript("\n".join(shown).rstrip(), position, prompts)


def go(human: int, *lines: str | type[BaseException], engine: str = "", **options) -> Transcript:
    return converse(ScriptedAnalyst(GoEnv(5), engine, **options), human, *lines)


class StrictTeacher(Teacher):
    """A teacher who finds fault with C3."""

    def __init__(self) -> None:
        super().__init__(None, 1)

    def lesson(self, position: Position, action: int) -> Any:
        return "C3 loses 9.0 points." if action == position.env.from_text("C3") else None

    def summary(self, positions: Sequence[Position]) -> str:
        return f"{len(positions)} positions"


def test_a_teacher_lets_take_back() -> None:
    typed, shown = iter(["c3", "", "c3", "y", "pass"]), []
    screen = Screen(lambda prompt: next(typed), shown.append)
    analyst = ScriptedAnalyst(GoEnv(5), "D4 pass")
    game = TerminalGame(analyst, GoEnv(5).position(), BLACK, screen, Limit(16), teacher=StrictTeacher())
    with pytest.raises(StopIteration):
        game.run()
    assert game.position.moves_text() == "B C3, W D4, B pass, W pass"
    assert shown.count("C3 loses 9.0 points.") == 2


def test_levels_are_told() -> None:
    _, text = talk(GoEnv(5), "c3", "quit", level="even")
    assert "The engine plays at level even: follows your strength." in text
    assert "You have made 1 of 5 moves that tell your strength: level 5." in text
    with pytest.raises(ValueError, match="level must be"):
        talk(GoEnv(5), "quit", level=11)


class TestResult:
    """Black owns all of a 5x5 board after one stone (B+17.5), White wins an empty one (W+7.5)."""

    @pytest.mark.parametrize(
        ("human", "lines", "engine", "result"),
        [
            (BLACK, ["c3", "pass"], "pass", "B+17.5: Black wins.\nYou win!"),
            (WHITE, ["pass"], "C3 pass", "B+17.5: Black wins.\nThe engine wins."),
            (WHITE, ["pass"], "pass", "W+7.5: White wins.\nYou win!"),
            (BLACK, ["pass"], "pass", "W+7.5: White wins.\nThe engine wins."),
        ],
    )
    def test_a_winner(self, human, lines, engine, result):
        end = go(human, *lines, engine=engine)
        assert end.position.is_over
        assert end.text.endswith(result)

    def test_draw(self):
        player = ScriptedAnalyst(GoEnv(5, komi=25), "pass")
        assert converse(player, BLACK, "c3", "pass").text.endswith("draw: nobody wins.")

    @pytest.mark.parametrize(("human", "result"), [(BLACK, "W+R: White wins.\n"), (WHITE, "B+R: Black wins.\n")])
    def test_human_resigns(self, human, result):
        end = go(human, "resign", engine="C3")
        assert end.text.endswith(f"You resign.\n{result}The engine wins.")

    @pytest.mark.parametrize(
        ("human", "lines", "result"), [(BLACK, ["c3"], "B+R: Black wins.\n"), (WHITE, [], "W+R: White wins.\n")]
    )
    def test_engine_resigns(self, human, lines, result, monkeypatch):
        monkeypatch.setattr("alphago.mcts.lost_turns.LOST_TURNS", 1)
        monkeypatch.setattr("alphago.mcts.lost_turns.LEAST_PLIES", 0)
        end = go(human, *lines, engine="D4", resigns=True)
        assert end.text.endswith(f"The engine resigns.\n{result}You win!")
        assert "D4" not in end.moves()


class TestMoves:
    def test_both_cases_and_blanks(self):
        assert go(BLACK, "D4", " b2 ", engine="C3 E5").moves() == "B D4, W C3, B B2, W E5"

    def test_the_engines_move_and_chance_are_announced(self):
        assert (
            "The engine (White) played C3; it expects to win with ≈ 75 %."
            in go(BLACK, "d4", engine="C3", value=0.5).text
        )

    @pytest.mark.parametrize("typo", ["d", "z9", "i4", "d44", "D 4", "4d", "undoo", "?", "d４", "\x00", "-1"])
    def test_typo(self, typo):
        end = go(BLACK, typo, "d4", engine="C3")
        assert f"{typo!r} is not a point of GoEnv(5)" in end.text
        assert "`help` lists the commands" in end.text
        assert ("did you mean undo?" in end.text) == (typo == "undoo")
        assert end.moves() == "B D4, W C3"

    def test_illegal(self):
        end = go(BLACK, "d4", "d4", "c3", engine="C3")
        assert "illegal move D4: Black has a stone there, in GoEnv(5) after B D4, W C3." in end.text
        assert "illegal move C3: White has a stone there" in end.text
        assert len(end.prompts) == 4


class TestThinking:
    """The status line during a search."""

    @pytest.mark.parametrize(("limit", "total"), [(Limit(40), " of 40"), (Limit(None, 1.0), "")])
    def test_readouts(self, limit: Limit, total: str) -> None:
        """The status line during a search, empty once it is removed."""
        screen = Screen(lambda prompt: "quit", lambda text: None)
        lines: list[str] = []
        screen.status, screen.clear_status = lines.append, lambda: lines.append("")
        analyst = ScriptedAnalyst(GoEnv(5), "C3", value=0.5)
        analyst.waves = (16, 32)
        TerminalGame(analyst, GoEnv(5).position(), WHITE, screen, limit).think()
        told = [f"{done}{total} readouts, win rate of Black ≈ 75 %, best line C3 A1" for done in (16, 32)]
        assert lines == [*told, ""]


class TestUndo:
    def test_takes_back_move_and_reply(self):
        end = go(BLACK, "d4", "b2", "undo", "b4", engine="C3 E5 A1")
        assert end.moves() == "B D4, W C3, B B4, W A1"

    def test_all_the_way(self):
        assert go(BLACK, "d4", "b2", "undo", "undo", "a1", engine="C3 E5 A2").moves() == "B A1, W A2"

    def test_as_white_the_engines_first_move_stays(self):
        end = go(WHITE, "d4", "undo", "undo", engine="C3 E5")
        assert end.moves() == "B C3"
        assert end.text.count("nothing to take back") == 1


class TestOtherCommands:
    def test_hint_does_not_move(self):
        end = go(BLACK, "hint", "d4", engine="B2 C3", value=-0.5)
        assert "The engine would play B2 in your place; it expects you to win with ≈ 25 %." in end.text
        assert end.moves() == "B D4, W C3"

    def test_why(self):
        """Of the person's last move, of another move now, and of none."""
        player = ScriptedAnalyst(GoEnv(5), "C3")
        player.network = UniformEvaluator()
        end = converse(player, BLACK, "why", "d4", "why", "why b2", "why c3", "why z9")
        assert "You have not moved yet: there is no move to explain." in end.text
        about = r"(^|The search .* |There is nothing to say about )%s\b.*\.$"
        assert re.search(about % "D4", end.text, re.MULTILINE)
        assert re.search(about % "B2", end.text, re.MULTILINE)
        assert "illegal move C3: White has a stone there" in end.text
        assert "'z9' is not a point of GoEnv(5)" in end.text
        assert end.moves() == "B D4, W C3"

    def test_help_names_every_command(self):
        player = ScriptedAnalyst(GoEnv(5))
        text = converse(player, BLACK, "HELP").text
        commands = TerminalGame(player, GoEnv(5).position(), BLACK, Screen(), Limit(1)).commands
        assert all(f"\n  {name} " in text for name in [*commands, "pass", "A5"])
        assert text.count(DEAD_STONES) == 1

    @pytest.mark.parametrize("word", ["Quit", "exit", "q"])
    def test_quit(self, word):
        end = go(BLACK, "d4", word, engine="C3")
        assert end.text.endswith("You left the game after 2 moves.")
        assert not end.position.is_over


class TestDeadStones:
    """A player hears of them before the game ends; after two passes they are agreed."""

    @pytest.mark.parametrize(("lines", "engine"), [(["pass", "d4"], "C3 E5"), (["d4", "b2", "b4"], "pass C3 pass")])
    def test_at_the_first_pass(self, lines, engine):
        text = go(BLACK, *lines, engine=engine).text
        assert text.count(DEAD_STONES) == 1

    def test_with_the_score(self):
        text = go(BLACK, "score").text
        assert f"W+7.5.  {DEAD_STONES}" in text

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
    def test_after_two_passes(self, lines, count, result):
        text = go(BLACK, "d4", "pass", *lines, engine="b2 pass").text
        assert [line for line in text.splitlines() if line.startswith("B ")][-1] == f"{count}."
        assert result in text
        assert ("a point with a stone must be named, got C3" in text) == ("c3" in lines)


class TestLeaving:
    @pytest.mark.parametrize("reason", [EOFError, KeyboardInterrupt])
    @pytest.mark.parametrize("before", [[], ["d4"], ["d4", "undo"], ["z9"], ["hint"]])
    def test_at_a_prompt(self, reason, before):
        end = go(BLACK, *before, reason, engine="C3 E5")
        assert "You left the game after" in end.text
        assert "wins" not in end.text

    @pytest.mark.parametrize("lines", [["c3"], ["hint"]])
    def test_while_the_engine_thinks(self, lines):
        player = ScriptedAnalyst(GoEnv(5))
        player.interrupted = True
        end = converse(player, BLACK, *lines)
        assert "You left the game after" in end.text.splitlines()[-1]


class TestAnyGame:
    def test_a_plain_game(self):
        end = converse(
            ScriptedAnalyst(NimEnv(), "0 0 0"), BLACK, *["pass", "d4", "2", "score", "1", "undo", "1", "1", "0"]
        )
        assert "'pass' is not a move of NimEnv(): expected a number from 0 to 1" in end.text
        assert "If the game ended here: draw." in end.text
        assert end.text.endswith("Black wins.\nYou win!")


class TestPlay:
    """`play` itself, over the real search."""

    @pytest.mark.parametrize("mode", [0, 1])
    def test_a_whole_game(self, mode):
        typed = ("hint", "undo", "score", "pass", "b2", "pass", "pass", "pass", "")
        position, text = talk(GoEnv(3, max_moves=6), *typed, mode=mode)
        assert position.is_over
        winner = "Black" if position.score() > 0 else "White"
        assert f"{result_text(position.score())}: {winner} wins." in text
        assert ("You win!" in text) == ((winner == "White") == (mode == 1))

    @pytest.mark.parametrize(
        ("env", "moves", "sides"),
        [(LeaningEnv(), "a c e", "Red Yellow"), (RingEnv(), "r1 bell r2 r3", "First Second")],
    )
    def test_games_of_ones_own(self, env, moves, sides):
        """They name the sides and the moves; the rest is as in any game."""
        shown, prompts = [], []

        def read(prompt: str) -> str:
            prompts.append(prompt)
            return words.pop(0)

        words = [*moves.split(), "resign", ""]
        play(env, UniformEvaluator(), 4, read=read, write=shown.append)
        first, second = sides.split()
        assert prompts[0] == f"Your move ({first}): "
        assert shown[0] == f"You are {first}.  `help` lists what you can type."
        assert any(text.startswith(f"The engine ({second}) played ") for text in shown)
        assert f"W+R: {second} wins." in shown

    @pytest.mark.parametrize(
        ("stdin", "text"),
        [
            (None, "You left the game after 0 moves."),  # it was closed before Python started
            (b"", "You left the game after 0 moves."),
            (b"\xff\xfe\nc3\nquit\n", "is not a point of GoEnv(5)"),
        ],
    )
    def test_input_that_is_closed_or_no_text(self, stdin, text, monkeypatch, capsys):
        lines = None if stdin is None else io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
        monkeypatch.setattr("sys.stdin", lines)
        play(GoEnv(5), UniformEvaluator(), 4)
        assert text in capsys.readouterr().out

    @pytest.mark.parametrize("mode", [2, -1, "black", None])
    def test_unknown_mode(self, mode):
        with pytest.raises(ValueError, match="mode must be 0"):
            play(GoEnv(5), UniformEvaluator(), mode=mode)

    def test_the_tower_height_of_a_given_network(self):
        """AlphaGo.jl's call has both; another height than the network's is a mistake."""
        with pytest.raises(ValueError, match="tower_height must be left out with a given network, got 2"):
            talk(GoEnv(5), tower_height=2)
        network = UniformEvaluator()
        network.tower_height = 2
        _, text = talk(GoEnv(5), "quit", network=network, tower_height=2)
        assert text.endswith("You left the game after 0 moves.")
        with pytest.raises(ValueError, match="tower_height must be left out or 2, the given network's, got 3"):
            talk(GoEnv(5), network=network, tower_height=3)

    def test_a_handicap(self):
        """White begins: the engine, where the person is Black."""
        position, text = talk(GoEnv(9), "undo", "quit", handicap=4)
        expected = {"black": "C7 G7 C3 G3", "to_play": "white", "komi": 0.5}
        assert (position.setup, len(position.moves)) == (expected, 1)
        assert "You have not moved yet" in text

    @pytest.mark.parametrize(
        ("env", "handicap", "sentence"),
        [
            (GoEnv(9), 10, "handicap must be from 2 to 9 on 9x9, got 10"),
            (GoEnv(9), -1, "handicap must be an integer >= 0, got -1"),
            (TicTacToeEnv(), 2, "handicap must be 0 in tic-tac-toe, got 2"),
        ],
    )
    def test_an_impossible_handicap(self, env, handicap, sentence):
        with pytest.raises(ValueError, match=sentence):
            talk(env, handicap=handicap)

    def test_an_untrained_network_says_so(self):
        shown = []
        play(GoEnv(3), num_readouts=2, tower_height=1, read=lambda prompt: "quit", write=shown.append)
        assert "untrained" in shown[0]


@pytest.mark.parametrize(("env", "has_count"), [(GoEnv(5), True), (TicTacToeEnv(), False)], ids=["go", "other"])
def test_help_and_hint_fit_the_game_and_the_search(env, has_count) -> None:
    """Stones are counted in Go alone; a win rate of few readouts is told as the rough figure it is."""
    for readouts, about in ((8, "≈ "), (64, "")):
        _, text = talk(env, "help", "hint", "quit", readouts=readouts)
        assert ("no stone is dead" in text) == has_count
        assert re.search(rf"it expects you to win with {about}\d+ %", text)
