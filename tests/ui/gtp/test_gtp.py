"""GTP as a controller sees it: what is sent, what comes back, byte by byte."""

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import hypothesis
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alphago import __version__
from alphago.cli import main
from alphago.env.game import GameBatch, IllegalMove, Position
from alphago.env.go import GoEnv
from alphago.mcts.evaluator import HashEvaluator, UniformEvaluator
from alphago.ui.gtp.commands import GoEngine, serve
from alphago.ui.gtp.gtp_game import GtpGame
from alphago.ui.gtp.protocol import GtpFailure, Request, converse, parse, reply
from alphago.ui.gtp.time_control import Clock
from tests.diagrams import draw, tidy

ROOT = Path(__file__).parents[3]
BLACK, WHITE = 1, -1

COMMANDS = """\
protocol_version
known_command
list_commands
quit
name
version
boardsize
clear_board
komi
play
genmove
undo
showboard
final_score
fixed_handicap
place_free_handicap
set_free_handicap
kgs-rules
kata-set-rules
kata-get-rules
time_settings
time_left"""


def engine(size: int = 5, network=None, readouts: int = 8, **options) -> GoEngine:
    return GoEngine(GoEnv(size), network or UniformEvaluator(), readouts, **options)


def ask(who: GoEngine, *lines: str) -> list[str]:
    """The replies without their frames: 'A1', or '? illegal move'."""
    output = io.StringIO()
    converse(who.commands, lines, output)
    replies = output.getvalue().split("\n\n")
    assert replies.pop() == ""
    return [text if text[0] == "?" else text.removeprefix("= ") for text in replies]


def prefers(*points: str, value: float = 0.0):
    """A network that likes the first of these points that is legal best, and sees this value for Black."""

    def network(position: Position) -> tuple[np.ndarray, float]:
        policy = np.full(position.env.action_space, 1e-3)
        for rank, point in enumerate(points):
            policy[position.env.from_text(point)] = 1000.0 / (rank + 1)
        return policy, value

    return network


# Black takes nothing back but what White took: the third move repeats the board, with White to play.
SEND_TWO = "b B5, w A4, b D5, w B4, b C4, w E1, b A5, w C5, b B5"
WORD = st.one_of(
    st.sampled_from([*COMMANDS.split(), "b", "w", "A1", "C3", "pass", "3", "0", "-1", "1e9", "nan", "aga", "#"]),
    st.text(max_size=5),
)
LINE = st.lists(WORD, max_size=4).map(" ".join)
ANY_ENGINE = GoEngine(GoEnv(3), UniformEvaluator(), 0)


class TestParse:
    @pytest.mark.parametrize(
        ("line", "request_"),
        [
            ("name\n", ("", "name", [])),
            ("  12   play\tB  d4 \r\n", ("12", "play", ["B", "d4"])),
            ("007 name", ("007", "name", [])),
            ("3", ("3", "", [])),
            ("1 2 name", ("1", "2", ["name"])),
            ("-1 name", ("", "-1", ["name"])),
            ("1name", ("", "1name", [])),
            ("na\x00m\x07e\x7f x\x1b # komi 5", ("", "name", ["x"])),
            ("komi 5#5", ("", "komi", ["5"])),
            ("n\xe4me \xb2", ("", "n\xe4me", ["\xb2"])),
            ("\xb2 name", ("", "\xb2", ["name"])),
        ],
    )
    def test_requests(self, line: str, request_: tuple) -> None:
        assert parse(line) == Request(*request_)

    @pytest.mark.parametrize("line", ["", "\n", "\r\n", " \t \n", "# name", "\x00\x07\r\n", "  # 5 name\n"])
    def test_nothing(self, line: str) -> None:
        assert parse(line) is None


class TestReply:
    def test_frames(self) -> None:
        plain, numbered = Request("", "x", []), Request("17", "x", [])
        assert reply(plain, "D4") == "= D4\n\n"
        assert reply(plain, "") == "= \n\n"
        assert reply(numbered, "") == "=17 \n\n"
        assert reply(numbered, "illegal move", success=False) == "?17 illegal move\n\n"

    def test_no_empty_line_before_the_end(self) -> None:
        assert reply(Request("", "x", []), "\na\n\n \n  b\n\n") == "= \na\n  b\n\n"


class TestConverse:
    def test_failures_and_surprises(self, capsys: pytest.CaptureFixture) -> None:
        def fails(arguments: list[str]) -> str:
            raise GtpFailure("not today")

        def breaks(arguments: list[str]) -> str:
            raise ZeroDivisionError("it was\n\nzero")

        output = io.StringIO()
        converse({"fail": fails, "break": breaks}, ["1 fail", "2 break", "3 known_command break"], output)
        assert output.getvalue() == (
            "?1 not today\n\n?2 internal error: ZeroDivisionError: it was\nzero\n\n=3 true\n\n"
        )  # fmt: skip
        assert "Traceback" in capsys.readouterr().err

    def test_quit_ends_it(self) -> None:
        output = io.StringIO()
        converse({}, ["5 quit", "6 protocol_version"], output)
        assert output.getvalue() == "=5 \n\n"

    def test_each_reply_is_sent_before_the_next_line_is_read(self) -> None:
        output = io.StringIO()
        sent: list[str] = []

        def lines():
            for _ in range(2):
                yield "protocol_version"
                sent.append(output.getvalue())

        converse({}, lines(), output)
        assert sent == ["= 2\n\n", "= 2\n\n= 2\n\n"]


class TestAdministration:
    def test_what_there_is(self) -> None:
        who = engine()
        assert ask(who, "protocol_version", "name", "version") == ["2", "alphago", __version__]
        assert ask(who, "list_commands") == [COMMANDS]
        for command in COMMANDS.split():
            assert ask(who, f"known_command {command}") == ["true"]
        assert ask(who, "known_command loadsgf", "known_command", "loadsgf x") == [
            "false",
            "false",
            "? unknown command",
        ]

    def test_commands_are_written_small(self) -> None:
        assert ask(engine(), "NAME", "8") == ["? unknown command", "?8 unknown command"]


class TestSetup:
    def test_boardsize_with_a_network(self) -> None:
        who = engine(5)
        assert ask(who, "play b c3", "boardsize 5") == ["", ""]
        assert not who.game.position.board.any()
        assert ask(who, "boardsize 7", "boardsize 0", "boardsize -5") == ["? unacceptable size"] * 3
        assert ask(who, "boardsize", "boardsize x", "boardsize 5.0") == ["? syntax error"] * 3

    def test_boardsize_without_one(self, capsys: pytest.CaptureFixture) -> None:
        who = GoEngine(GoEnv(5), None, 4)
        assert capsys.readouterr().err == (
            "alphago gtp: no model was given: a search that knows only the rules is playing\n"
        )
        for size in (2, 7, 9):
            assert ask(who, f"boardsize {size}", "play b a1", "genmove w")[1] == ""
            assert who.game.position.board.shape == (size, size)
        assert ask(who, "boardsize 1", "boardsize 26") == ["? unacceptable size"] * 2
        assert who.game.env.N == 9

    def test_surplus_arguments_are_ignored(self) -> None:
        assert ask(engine(), "boardsize 5 7", "komi 5 x", "play b c3 d4", "name x") == ["", "", "", "alphago"]

    @pytest.mark.parametrize(("text", "komi"), [("6.5", 6.5), ("0", 0), ("-3.5", -3.5), (".5", 0.5), ("1e2", 100)])
    def test_komi(self, text: str, komi: float) -> None:
        who = engine()
        assert ask(who, f"komi {text}") == [""]
        assert who.game.position.komi == komi

    @pytest.mark.parametrize("text", ["", "x", "nan", "inf", "1_0", "5,5", "0x1"])
    def test_no_komi(self, text: str) -> None:
        assert ask(engine(), f"komi {text}") == ["? syntax error"]

    def test_a_komi_that_the_game_cannot_have(self) -> None:
        who = engine()
        assert ask(who, "komi 6.25") == ["? komi must be a multiple of 0.5 from -1000 to 1000, got 6.25"]
        assert who.game.position.komi == 7.5

    def test_komi_holds_from_then_on(self) -> None:
        who = GoEngine(GoEnv(5), None, 0)
        assert ask(who, "final_score") == ["W+7.5"]
        assert ask(who, "play b c3", "komi 0.5", "final_score") == ["", "", "B+24.5"]
        assert who.game.position.moves_text() == "B C3"
        assert ask(who, "clear_board", "final_score", "boardsize 7", "final_score") == ["", "W+0.5", "", "W+0.5"]

    def test_komi_of_the_environment(self) -> None:
        """It is of that board alone, as a network's that was trained with it."""
        who = GoEngine(GoEnv(5, komi=3.5), None, 0)
        assert ask(who, "final_score", "boardsize 7", "final_score") == ["W+3.5", "", "W+9"]
        assert ask(who, "boardsize 5", "final_score") == ["", "W+3.5"]

    def test_komi_that_was_given(self) -> None:
        """It holds for every board, also where it is the usual one of the first."""
        who = GoEngine(GoEnv(5, komi=7.5), None, 0, komi=7.5)
        assert GoEnv(5).komi == 7.5
        assert ask(who, "boardsize 7", "final_score", "komi 1", "boardsize 5", "final_score") == [
            "", "W+7.5", "", "", "W+1",
        ]  # fmt: skip

    def test_a_given_komi_that_the_game_cannot_have(self) -> None:
        with pytest.raises(ValueError, match=r"komi must be a multiple of 0\.5 from -1000 to 1000, got 6\.25"):
            GoEngine(GoEnv(5), None, 0, komi=6.25)


class TestPlay:
    def test_colours_and_points_in_any_case(self) -> None:
        who = engine()
        moves = ("play b c3", "play WHITE D3", "play Black pass", "play w PASS")
        assert ask(who, *moves) == [""] * 4
        assert who.game.position.moves_text() == "B C3, W D3, B pass, W pass"

    @pytest.mark.parametrize("line", ["play b", "play", "genmove", "undo_", "time_left b 5", "time_settings 1 2"])
    def test_too_little(self, line: str) -> None:
        assert ask(engine(), line) == ["? unknown command" if line == "undo_" else "? syntax error"]

    @pytest.mark.parametrize("move", ["x c3", "b i3", "b z9", "b f1", "b a0", "b a6", "b 33", "b resign", "b c33"])
    def test_no_colour_or_point(self, move: str) -> None:
        assert ask(engine(), f"play {move}") == ["? invalid color or coordinate"]

    def test_illegal_moves(self, capsys: pytest.CaptureFixture) -> None:
        who = engine()
        assert ask(who, "play b c3", "play w c3") == ["", "? illegal move"]
        assert ask(who, "play b a2", "play b b1", "play w a1") == ["", "", "? illegal move"]
        told = capsys.readouterr().err.splitlines()
        assert told[0].startswith("alphago gtp: illegal move C3: Black has a stone there, in GoEnv(5")
        assert "illegal move A1: suicide" in told[1]
        assert who.game.position.moves_text() == "B C3, W pass, B A2, W pass, B B1"

    def test_undo(self) -> None:
        who = engine()
        ask(who, "play b c3", "play w d3", "genmove b", "play w pass")
        assert ask(who, "undo", "undo", "undo", "undo", "undo") == [""] * 4 + ["? cannot undo"]
        assert who.game.position.moves == ()
        assert ask(who, "play w c3", "clear_board", "undo") == ["", "", "? cannot undo"]

    def test_undo_brings_captured_stones_back(self) -> None:
        who = engine(3)
        ask(who, "play b a1", "play w a2", "play b c3", "play w b1")
        assert draw(who.game.position) == tidy("..X\nO..\n.O.")
        ask(who, "undo")
        assert draw(who.game.position) == tidy("..X\nO..\nX..")

    def test_showboard(self) -> None:
        who = engine(3)
        ask(who, "play b b2")
        assert ask(who, "showboard") == [
            "\n    A B C\n 3  . . .  3\n 2  .(X).  2\n 1  . . .  1\n    A B C\n"
            "   move 1: White (O) to play, komi 7.5"
        ]  # fmt: skip

    @pytest.mark.parametrize(
        ("komi", "moves", "score"),
        [("7", "", "W+7"), ("9", "b b2", "0"), ("6.5", "b b2", "B+2.5"), ("9.5", "b b2", "W+0.5"), ("-2", "", "B+2")],
    )
    def test_final_score(self, komi: str, moves: str, score: str) -> None:
        who = engine(3)
        ask(who, f"komi {komi}", *([f"play {moves}"] if moves else []))
        assert ask(who, "final_score") == [score]


class TestOutOfTurn:
    """GoEnv alternates; a controller need not."""

    def test_stones_of_one_colour(self) -> None:
        who = engine()
        assert ask(who, "play w c3", "play w d3", "play w d2", "play b c2") == [""] * 4
        assert draw(who.game.position) == tidy("""
            . . . . .
            . . . . .
            . . O O .
            . . X O .
            . . . . .
        """)
        assert who.game.position.to_play == WHITE

    def test_superko_is_kept(self) -> None:
        """A ko told colour by colour: after Black took it at C3, White may not take back at once."""
        who = engine()
        ask(who, *(f"play b {point}" for point in ("b3", "c4", "c2")))
        ask(who, *(f"play w {point}" for point in ("d4", "d2", "e3", "c3")))
        before = draw(who.game.position)
        assert before == tidy("""
            . . . . .
            . . X O .
            . X O . O
            . . X O .
            . . . . .
        """)
        assert ask(who, "play b d3", "play w c3") == ["", "? illegal move"]
        assert ask(who, "play b a5", "play w c3") == ["", ""]  # not the same board: there is a stone at A5
        ask(who, "undo", "undo")
        assert ask(who, "play w a5", "play w c3") == ["", ""]  # nor here
        ask(who, "undo", "undo")
        assert ask(who, "play b pass", "play w c3") == ["", "? illegal move"]  # a pass is no ko threat

    def test_a_network_sees_the_boards_before(self) -> None:
        who = GoEngine(GoEnv(5, planes=9), readouts=4)
        ask(who, "play b c3", "play b d3", "play w b2")
        planes = who.game.position.planes()
        boards = [planes[2 * age] + planes[2 * age + 1] for age in range(4)]
        assert [int(board.sum()) for board in boards] == [3, 2, 1, 1]  # one is White's pass

    def test_white_begins(self) -> None:
        """No pass of Black's, on which White could end the game."""
        who = engine()
        assert ask(who, "genmove w")[0] != "pass"
        ask(who, "clear_board", "play w c3")
        assert who.game.position.moves_text() == "W C3"

    def test_a_pass_out_of_turn_changes_nothing(self) -> None:
        who = engine()
        ask(who, "play b c3", "play b pass", "play b pass")
        assert who.game.position.moves_text() == "B C3"
        assert ask(who, "genmove w")[0] not in ("pass", "C3")
        assert ask(who, "undo", "undo", "undo", "undo", "undo") == [""] * 4 + ["? cannot undo"]

    def test_genmove_twice_for_one_colour(self) -> None:
        who = engine(network=prefers("C3", "D3", "B3"), readouts=0)
        assert ask(who, "genmove b", "genmove b", "genmove w") == ["C3", "D3", "B3"]
        assert who.game.position.moves_text() == "B C3, W pass, B D3, W B3"

    def test_play_goes_on_after_two_passes(self) -> None:
        who = engine(network=prefers("C3", "D3", "B3"), readouts=0)
        assert ask(who, "play b c3", "play w pass", "play b pass") == [""] * 3
        assert ask(who, "genmove w", "genmove b", "play w pass") == ["pass", "pass", ""]
        assert ask(who, "play b d4", "genmove w") == ["", "D3"]
        assert ask(who, "play b a1", "final_score") == ["", "W+5.5"]  # Black 3 stones, White 1

    def test_a_pass_in_reply_to_a_pass_ends_the_game(self) -> None:
        who = engine(network=prefers("pass", "A1"), readouts=0)
        assert ask(who, "play b pass", "genmove w", "genmove b") == ["", "pass", "pass"]
        assert who.game.is_over

    def test_games_longer_than_the_limit(self) -> None:
        """The controller's game has no limit: the board is set up anew."""
        env = GoEnv(3, max_moves=4)
        game = GtpGame(env, env.komi)
        for colour, point in ((BLACK, "B2"), (WHITE, "B1"), (BLACK, "A1"), (WHITE, "C3"), (BLACK, "C1"), (BLACK, "A3")):
            game.play(colour, env.from_text(point))
        assert draw(game.position) == tidy("X.O\n.X.\nX.X")
        assert game.ready(BLACK).to_play == BLACK
        assert not game.ready(WHITE).is_over

    def test_an_illegal_move_leaves_everything_as_it_was(self) -> None:
        env = GoEnv(3)
        game = GtpGame(env, env.komi)
        game.play(BLACK, 4)
        before = game.position
        with pytest.raises(IllegalMove):
            game.play(BLACK, 4)
        assert game.position is before
        assert game.plays == [(BLACK, 4)]


class TestRules:
    def test_they_are_told(self) -> None:
        assert json.loads(ask(engine(), "kata-get-rules")[0]) == {
            "ko": "POSITIONAL", "scoring": "AREA", "suicide": False, "tax": "NONE",
        }  # fmt: skip
        game = GoEngine(GoEnv(5, ko="simple", suicide=True), UniformEvaluator(), 0)
        assert json.loads(ask(game, "kata-get-rules")[0])["ko"] == "SIMPLE"

    def test_they_are_taken_and_stay(self) -> None:
        """Sending two and returning one is legal under simple and situational ko."""
        who = engine()
        moves = [f"play {move}" for move in SEND_TWO.split(", ")]
        for rules, last in (("aga", ""), ("chinese", "? illegal move"), ("japanese", ""), ("new_zealand", "")):
            assert ask(who, "clear_board", f"kgs-rules {rules}", *moves)[-1] == last
        assert ask(who, "clear_board", *moves)[-1] == ""

    @pytest.mark.parametrize(
        ("line", "failure"),
        [("kgs-rules", "syntax error"), ("kgs-rules mine", "unknown rules"), ("kata-set-rules 7", "unknown rules")],
    )
    def test_no_rules(self, line: str, failure: str) -> None:
        assert ask(engine(), line, "name") == [f"? {failure}", "alphago"]

    def test_not_during_a_game(self) -> None:
        assert ask(engine(), "play b A1", "kgs-rules aga") == ["", "? board not empty"]

    def test_a_suicide(self) -> None:
        lines = ["play b A2", "play w C3", "play b B1", "play w C2", "play b B2", "play w A1"]
        assert ask(engine(3), *lines)[-1] == "? illegal move"
        assert ask(engine(3), "kgs-rules nz", *lines)[-1] == "? illegal move"  # a single stone's is none under any
        two = ["play w A1", "play b A2", "play b B2", "play b C1", "play w B1"]
        assert ask(engine(3), *two)[-1] == "? illegal move"
        who = engine(3)
        assert ask(who, "kata-set-rules tromp-taylor", *two)[-1] == ""
        assert draw(who.game.position) == tidy("...\nXX.\n..X")


class TestHandicap:
    def test_fixed(self) -> None:
        who = engine(9)
        assert ask(who, "fixed_handicap 3") == ["C3 G7 C7"]
        assert who.game.position.to_play == WHITE
        assert draw(who.game.position).count("X") == 3
        assert ask(who, "play w E5", "undo", "genmove w")[:2] == ["", ""]
        assert who.game.position.board[2, 2] == BLACK
        assert ask(who, "fixed_handicap 2") == ["? board not empty"]
        ask(who, "clear_board")
        assert not who.game.position.board.any()

    def test_free(self) -> None:
        who = engine(9)
        assert ask(who, "place_free_handicap 12") == ["C3 G7 C7 G3 C5 G5 E7 E3 E5"]
        assert ask(who, "clear_board", "set_free_handicap A1 b2 J9") == ["", ""]
        assert who.game.position.setup == {"black": "J9 B2 A1", "to_play": "white"}
        assert ask(who, "play b C3", "play w D4", "komi 0.5") == ["", "", ""]  # Black out of turn
        assert draw(who.game.position).count("X") == 4

    @pytest.mark.parametrize("readouts", [0, 8])
    def test_nobody_resigns_for_it(self, readouts: int) -> None:
        """What was measured in even games says nothing here; what the command line says holds everywhere."""
        network = prefers("C3", "D3", value=1.0)  # Black wins
        network.resign_threshold = -0.75
        who = engine(9, network, readouts)
        assert ask(who, "play b C3", "genmove w") == ["", "resign"]
        assert ask(who, "clear_board", "fixed_handicap 2", "genmove w")[2] != "resign"
        who = engine(9, network, readouts, resign_threshold=-0.9)
        assert ask(who, "fixed_handicap 2", "genmove w")[1] == "resign"

    @pytest.mark.parametrize(
        ("line", "failure"),
        [
            ("fixed_handicap", "syntax error"),
            ("fixed_handicap 1", "invalid number of stones"),
            ("fixed_handicap 10", "invalid number of stones"),
            ("place_free_handicap 1", "invalid number of stones"),
            ("set_free_handicap A1", "bad vertex list"),
            ("set_free_handicap A1 A1", "bad vertex list"),
            ("set_free_handicap A1 pass", "bad vertex list"),
            ("set_free_handicap A1 K9", "bad vertex list"),
        ],
    )
    def test_none(self, line: str, failure: str) -> None:
        who = engine(9)
        assert ask(who, line) == [f"? {failure}"]
        assert not who.game.position.board.any()

    def test_small_boards_have_no_places(self) -> None:
        assert ask(engine(5), "place_free_handicap 2") == ["? invalid number of stones"]


class TestAnyText:
    @hypothesis.settings(max_examples=100, deadline=None)
    @given(st.lists(LINE, max_size=6))
    def test_every_request_has_one_reply(self, lines: list[str]) -> None:
        """Whatever comes in, a reply in its frame goes out, and the engine lives on."""
        output = io.StringIO()
        converse(ANY_ENGINE.commands, [*lines, "42 name"], output)
        replies = output.getvalue().split("\n\n")
        assert replies.pop() == ""
        asked = [request for request in map(parse, lines) if request]
        if "quit" not in [request.name for request in asked]:
            assert len(replies) == len(asked) + 1
            assert replies[-1] == "=42 alphago"
        assert all(re.match(r"[=?][0-9]* ", text) for text in replies)


class TestGenmove:
    def test_the_move_is_played(self) -> None:
        who = engine()
        move = ask(who, "genmove b")[0]
        assert who.game.position.moves_text() == f"B {move}"
        assert ask(who, f"play w {move}") == ["? illegal move"]

    def test_the_tree_is_kept(self) -> None:
        who = engine(network=HashEvaluator(), readouts=40)
        ask(who, "genmove b", "play w a5", "genmove b")
        assert who.player.position.moves[:2] == who.game.position.moves[:2]
        assert who.player.root_visits > 40

    def test_raw_policy(self) -> None:
        """No search: the most probable legal action."""
        who = engine(network=prefers("C3", "D3", "pass"), readouts=0)
        assert ask(who, "genmove b", "genmove w", "genmove b") == ["C3", "D3", "pass"]

    def test_resign(self) -> None:
        for readouts in (0, 8):
            lost = engine(network=prefers("C3", value=-1.0), readouts=readouts, resign_threshold=-0.9)
            assert ask(lost, "genmove b") == ["resign"]
            assert lost.game.plays == []
            assert ask(lost, "genmove w") != ["resign"]  # White has won
            stubborn = engine(network=prefers("C3", value=-1.0), readouts=readouts)
            assert ask(stubborn, "genmove b") != ["resign"]

    def test_whole_games_are_legal(self) -> None:
        """Our engine against itself in one process, both colours, to the end."""
        who = engine(3, readouts=20, seed=1)
        for _ in range(3 * 9):
            if ask(who, "genmove b", "genmove w") == ["pass", "pass"]:
                break
        assert who.game.is_over

    def test_readouts(self) -> None:
        with pytest.raises(ValueError, match="readouts must be an integer >= 0, got -1"):
            engine(readouts=-1)


class TestClock:
    def test_no_limit(self) -> None:
        clock = Clock()
        for settings in ((0, 1, 0), (0, 0, 0), (60, 30, 0)):
            clock.settings(*settings)
            assert clock.share(BLACK, 10) == float("inf")

    def test_main_time(self) -> None:
        clock = Clock()
        clock.settings(100, 0, 0)
        assert clock.share(BLACK, 10) == pytest.approx(0.8 * 10 - 0.05)
        clock.spend(BLACK, 60)
        assert clock.share(BLACK, 10) == pytest.approx(0.8 * 4 - 0.05)
        assert clock.share(WHITE, 10) == pytest.approx(0.8 * 10 - 0.05)
        clock.spend(BLACK, 60)
        assert clock.share(BLACK, 10) == 0
        clock.reset()
        assert clock.share(BLACK, 10) == pytest.approx(0.8 * 10 - 0.05)

    def test_periods(self) -> None:
        """10 s, then 5 stones in 30 s again and again."""
        clock = Clock()
        clock.settings(10, 30, 5)
        assert clock.left[BLACK] == (10, 0)
        assert clock.share(BLACK, 1000) == pytest.approx(0.8 * 6 - 0.05)
        clock.spend(BLACK, 12)
        assert clock.left[BLACK] == (28, 4)
        for _ in range(3):
            clock.spend(BLACK, 5)
        assert clock.left[BLACK] == (13, 1)
        assert clock.share(BLACK, 1000) == pytest.approx(0.8 * 13 - 0.05)
        clock.spend(BLACK, 5)
        assert clock.left[BLACK] == (30, 5)

    def test_what_the_controller_says_counts(self) -> None:
        clock = Clock()
        clock.tell(WHITE, 12, 3)
        assert clock.share(WHITE, 99) == pytest.approx(0.8 * 4 - 0.05)

    def test_what_it_says_of_one_colour_is_of_that_one_in_that_game(self) -> None:
        """No settings came: the other colour, and the next game, have no limit."""
        clock = Clock()
        clock.tell(BLACK, 300, 0)
        assert clock.share(BLACK, 40) == pytest.approx(0.8 * 7.5 - 0.05)
        assert clock.share(WHITE, 40) == float("inf")
        clock.reset()
        assert clock.share(BLACK, 40) == float("inf")
        clock.settings(100, 0, 0)
        clock.tell(BLACK, 300, 0)
        assert clock.share(WHITE, 10) == pytest.approx(0.8 * 10 - 0.05)
        clock.reset()
        assert clock.share(BLACK, 10) == pytest.approx(0.8 * 10 - 0.05)

    @pytest.mark.parametrize(
        "line",
        ["time_settings 1 2 x", "time_settings -1 0 0", "time_left b x 0", "time_left b 1 x", "time_settings 1.5 0 0"],
    )
    def test_errors(self, line: str) -> None:
        assert ask(engine(), line) == ["? syntax error"]
        assert ask(engine(), "time_left x 1 0") == ["? invalid color or coordinate"]

    @pytest.mark.parametrize("cost", [0.001, 0.05, 1.0])
    def test_a_game_within_its_time(self, cost: float) -> None:
        """An evaluation costs `cost` seconds of a clock that only it moves on; 30 s for all of a game."""
        time = FakeTime(cost)
        who = GoEngine(GoEnv(5), time, 400, now=lambda: time.now)
        ask(who, "time_settings 30 0 0")
        begin, searched = time.now, []
        for _ in range(40):
            before = time.now
            ask(who, "genmove b", "play w pass")
            searched.append(time.now - before)
        assert time.now - begin <= 30 + 40 * cost  # the raw policy's one evaluation is the least there is
        if cost == 0.001:
            assert searched[0] == pytest.approx(0.4, abs=0.01)  # all readouts
        if cost == 0.05:
            assert 1 < searched[0] < 4  # fewer, and the time is used

    def test_less_time_left_means_fewer_readouts(self) -> None:
        time = FakeTime(0.01)
        who = GoEngine(GoEnv(5), time, 400, now=lambda: time.now)
        spent = []
        for seconds in (1000, 10, 1, 0):
            ask(who, f"time_left b {seconds} 0")
            before = time.evaluations
            ask(who, "genmove b")
            spent.append(time.evaluations - before)
            ask(who, "clear_board")
        assert spent[0] >= 350
        assert spent[0] > spent[1] > spent[2] > spent[3] == 1


class FakeTime(UniformEvaluator):
    """Time that goes on by `cost` seconds with every evaluation."""

    def __init__(self, cost: float) -> None:
        self.cost = cost
        self.evaluations = 0

    @property
    def now(self) -> float:
        return self.evaluations * self.cost

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        self.evaluations += len(slots)
        super().evaluate(batch, slots, priors, values)


class TestServe:
    def test_lines_and_a_text_file(self) -> None:
        output = io.StringIO()
        serve(GoEnv(3), UniformEvaluator(), 0, input=["1 genmove b\n", "2 final_score\n"], output=output)
        assert output.getvalue() == "=1 A3\n\n=2 B+1.5\n\n"

    def test_stdout_comes_back(self, capsys: pytest.CaptureFixture) -> None:
        serve(GoEnv(3), UniformEvaluator(), 0, input=["name"], output=sys.stdout)
        print("and then")
        assert capsys.readouterr().out == "= alphago\n\nand then\n"


def run(*arguments: str, sent: bytes = b"", code: str | None = None) -> subprocess.CompletedProcess:
    """`alphago` (or some code) as a process of its own."""
    command = ["-m", "alphago", *arguments] if code is None else ["-c", code]
    return subprocess.run([sys.executable, *command], input=sent, capture_output=True, timeout=120, cwd=ROOT)


class TestProcess:
    def test_session(self, tmp_path: Path) -> None:
        """A transcript, byte by byte: ids, comments, empty lines, CRLF, tabs, junk, and every command."""
        from alphago.nn.net import NeuralNet

        even = NeuralNet(GoEnv(3), tower_height=0, channels=4)
        for parameter in even.parameters():
            parameter.data.zero_()  # all moves alike: the first legal one is played
        even.save(tmp_path / "even.safetensors")
        sent = (
            b"# a session\r\n\r\n1 protocol_version\r\n2\tname\r\n3 version # which?\r\n"
            b"\xff\xfe\x00\n4 foo\n\x01na\x02me\n5\n"
            b"known_command genmove\nknown_command loadsgf\n6 list_commands\n"
            b"7 boardsize 99\n8 boardsize\n9 boardsize 3\nclear_board\n10 komi five\n11 komi 0.5\n"
            b"12 play b b2\n13 play w b2\n14 play w z9\n15 play w\n16 genmove w\n17 showboard\n18 final_score\n"
            b"19 undo\n20 undo\n21 undo\n22 time_settings 10 0 0\n23 time_left b 5 0\n24 time_left b five 0\n"
            b"play b pass\nplay w pass\n25 genmove b\n26 final_score\n27 quit\n28 name\n"
        )
        wanted = (
            f"=1 2\n\n=2 alphago\n\n=3 {__version__}\n\n"
            "? unknown command\n\n?4 unknown command\n\n= alphago\n\n?5 unknown command\n\n"
            f"= true\n\n= false\n\n=6 {COMMANDS}\n\n"
            "?7 unacceptable size\n\n?8 syntax error\n\n=9 \n\n= \n\n?10 syntax error\n\n=11 \n\n"
            "=12 \n\n?13 illegal move\n\n?14 invalid color or coordinate\n\n?15 syntax error\n\n=16 A3\n\n"
            "=17 \n    A B C\n 3 (O). .  3\n 2  . X .  2\n 1  . . .  1\n    A B C\n"
            "   move 2: Black (X) to play, komi 0.5\n\n"
            "=18 W+0.5\n\n"
            "=19 \n\n=20 \n\n?21 cannot undo\n\n=22 \n\n=23 \n\n?24 syntax error\n\n"
            "= \n\n= \n\n=25 pass\n\n=26 W+0.5\n\n=27 \n\n"
        )
        done = run("gtp", str(tmp_path / "even.safetensors"), "--readouts", "0", sent=sent)
        assert done.stdout.decode() == wanted
        assert done.returncode == 0
        assert b"Traceback" not in done.stderr

    def test_the_end_of_input(self) -> None:
        done = run("gtp", "--board-size", "3", "--readouts", "4", sent=b"1 genmove b\n2 name")
        assert done.stdout.startswith(b"=1 ")
        assert done.stdout.endswith(b"\n\n=2 alphago\n\n")
        assert done.returncode == 0

    def test_stdout_carries_protocol_only(self) -> None:
        """Whoever prints, from Python or past it, prints to stderr; warnings too."""
        code = """
import os, sys, warnings
from alphago.env.go import GoEnv
from alphago.ui.gtp.commands import serve
def network(position):
    print("chatter")
    sys.stdout.write("more\\n")
    os.write(1, b"from C\\n")
    warnings.warn("careful")
    return [1.0] * 10, 0.0
serve(GoEnv(3), network, 0)
print("afterwards")
"""
        done = run(code=code, sent=b"1 genmove b\nquit\n")
        assert done.stdout == b"=1 A3\n\n= \n\nafterwards\n"
        for text in (b"chatter", b"more", b"from C", b"careful"):
            assert text in done.stderr

    @pytest.mark.skipif(os.name == "nt", reason="POSIX pipes")
    def test_a_controller_that_goes_away(self) -> None:
        """The engine ends without a traceback when nobody reads its replies any more."""
        command = [sys.executable, "-m", "alphago", "gtp", "--board-size", "3", "--readouts", "0"]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
        ) as process:
            process.stdout.close()
            process.stdin.write(b"name\n")
            process.stdin.flush()
            assert process.wait(60) == 1
            assert b"Traceback" not in process.stderr.read()


class TestCommandLine:
    def test_help(self, capsys: pytest.CaptureFixture) -> None:
        with pytest.raises(SystemExit) as end:
            main(["gtp", "--help"])
        assert end.value.code == 0
        assert "MODEL" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            (["nowhere.safetensors"], "there is no file nowhere.safetensors"),
            (["--board-size", "26"], "board_size must be an integer from 2 to 25, got 26"),
            (["--komi", "6.25"], "komi must be a multiple of 0.5 from -1000 to 1000, got 6.25"),
            (["--readouts", "-1"], "--readouts must be an integer >= 0, got -1"),
            (["--readouts", "5000000000"], "--readouts must be an integer from 0 to 10000000, got 5000000000"),
            (["--seed", "-1"], "--seed must be an integer >= 0, got -1"),
            (["--resign", "2"], "--resign is -1 to 1, got 2.0"),
        ],
    )
    def test_one_sentence(self, arguments: list[str], sentence: str, capsys: pytest.CaptureFixture) -> None:
        assert main(["gtp", *arguments]) == 2
        assert capsys.readouterr() == ("", f"alphago gtp: {sentence}\n")

    def test_files_that_are_no_model(self, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
        (tmp_path / "x").write_bytes(b"PK\x03\x04")
        for path in (tmp_path, tmp_path / "x"):
            assert main(["gtp", str(path)]) == 2
            out, err = capsys.readouterr()
            assert out == ""
            assert err.startswith(f"alphago gtp: {path} is a ")
            assert err.count("\n") == 1

    def test_unknown_commands(self, capsys: pytest.CaptureFixture) -> None:
        assert main([]) == 2
        assert main(["gpt"]) == 2
        with pytest.raises(SystemExit) as end:
            main(["gtp", "--nonsense"])
        assert end.value.code == 2
        assert capsys.readouterr().out == ""

    def test_a_model(self, tmp_path: Path, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
        from alphago.nn.net import NeuralNet

        path = str(tmp_path / "net.safetensors")
        env = GoEnv(4, komi=3.5, planes=5)
        NeuralNet(env, tower_height=1, channels=4, size_free=False).save(path)

        def session(*arguments: str, lines: str = "boardsize 5\nboardsize 4\nfinal_score\ngenmove b\n") -> str:
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines.encode())))
            assert main(["gtp", path, "--readouts", "4", *arguments]) == 0
            return capsys.readouterr().out

        assert session().startswith("? unacceptable size\n\n= \n\n= W+3.5\n\n= ")
        assert session("--komi", "1", "--board-size", "4").startswith("? unacceptable size\n\n= \n\n= W+1\n\n= ")
        assert main(["gtp", path, "--board-size", "5"]) == 2
        assert "holds a network for GoEnv(4" in capsys.readouterr().err
        NeuralNet(env, tower_height=1, channels=4).save(path)  # for any board
        assert session().startswith("= \n\n= \n\n= W+3.5\n\n= ")
        assert session("--board-size", "5").startswith("= \n\n= \n\n= W+7.5\n\n= ")  # the usual komi of others
        larger = "boardsize 7\nfinal_score\n"  # usually 9
        assert session("--komi", "7.5", lines=larger) == "= \n\n= W+7.5\n\n"
        assert session(lines=larger) == "= \n\n= W+9\n\n"
