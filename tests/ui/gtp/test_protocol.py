"""The protocol itself: requests, replies, and what reaches standard output."""

import io
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alphago import GoEnv, NeuralNet, __version__
from alphago.mcts.evaluator import UniformEvaluator
from alphago.ui.gtp.game_commands import GoEngine
from alphago.ui.gtp.protocol import GtpFailure, GtpRequest, converse, parse, reply
from tests.ui.gtp.engine import COMMANDS

ROOT = Path(__file__).parents[3]
WORD = st.one_of(
    st.sampled_from([name for name in COMMANDS.split() if name != "printsgf"]),
    st.sampled_from(["b", "w", "A1", "C3", "pass", "3", "0", "-1", "1e9", "nan", "aga", "#"]),
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
            *((line, ()) for line in ("", "\n", "\r\n", " \t \n", "# name", "\x00\x07\r\n", "  # 5 name\n")),
        ],
    )
    def test_requests(self, line: str, request_: tuple) -> None:
        assert parse(line) == (GtpRequest(*request_) if request_ else None)


class TestConverse:
    def test_no_empty_line_before_the_end(self) -> None:
        assert reply(GtpRequest("", "x", []), "\na\n\n \n  b\n\n") == "= \na\n  b\n\n"

    def test_failures_and_surprises(self, capsys: pytest.CaptureFixture) -> None:
        def fails(arguments: list[str]) -> str:
            raise GtpFailure("not today")

        def breaks(arguments: list[str]) -> str:
            raise ZeroDivisionError("it was\n\nzero")

        output = io.StringIO()
        converse({"fail": fails, "break": breaks}, ["1 fail", "2 break", "3 known_command break"], output)
        told = "?1 not today\n\n?2 internal error: ZeroDivisionError: it was\nzero\n\n=3 true\n\n"
        assert output.getvalue() == told
        assert "Traceback" in capsys.readouterr().err

    def test_each_reply_is_sent_while_no_line_follows(self) -> None:
        output = io.StringIO()
        sent: list[str] = []

        def lines():
            for replies in ("= 2\n\n", "= 2\n\n= 2\n\n"):
                yield "protocol_version"
                end = time.monotonic() + 60
                while output.getvalue() != replies and time.monotonic() < end:
                    time.sleep(0.001)
                sent.append(output.getvalue())

        converse({}, lines(), output)
        assert sent == ["= 2\n\n", "= 2\n\n= 2\n\n"]

    def test_an_error_of_the_input_is_the_callers(self) -> None:
        def lines():
            yield "protocol_version"
            raise OSError("the line is broken")

        with pytest.raises(OSError, match="the line is broken"):
            converse({}, lines(), io.StringIO())


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
        assert all(re.match(r"[=?][0-9]*( |$)", text) for text in replies)


def run(*arguments: str, sent: bytes = b"", code: str | None = None) -> subprocess.CompletedProcess:
    """`alphago` (or some code) as a process of its own."""
    command = ["-m", "alphago", *arguments] if code is None else ["-c", code]
    return subprocess.run([sys.executable, *command], input=sent, capture_output=True, timeout=600, cwd=ROOT)


class TestProcess:
    def test_session(self, tmp_path: Path) -> None:
        """A transcript, byte by byte: ids, comments, empty lines, CRLF, tabs, junk, and every command."""
        even = NeuralNet(GoEnv(3), tower_height=0, channels=4)
        for parameter in even.parameters():
            parameter.data.zero_()  # all moves alike: the first legal one is played
        even.save(tmp_path / "even.safetensors")
        sent = (
            b"\xef\xbb\xbf# a session\r\n\r\n1 protocol_version\r\n2\tname\r\n3 version # which?\r\n"
            b"\xff\xfe\x00\n4 foo\n\x01na\x02me\n5\n"
            b"known_command genmove\nknown_command analyze\n6 list_commands\n"
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
            "   move 2: Black (X) to play, komi 0.5\n   captures: X 0, O 0\n\n"
            "=18 W+0.5\n\n"
            "=19 \n\n=20 \n\n?21 cannot undo\n\n=22 \n\n=23 \n\n?24 syntax error\n\n"
            "= \n\n= \n\n=25 pass\n\n=26 W+0.5\n\n=27 \n\n"
        )
        done = run("gtp", str(tmp_path / "even.safetensors"), "--readouts", "0", sent=sent)
        assert done.stdout.decode() == wanted
        assert done.returncode == 0
        assert b"Traceback" not in done.stderr

    @pytest.mark.slow
    def test_long_lines_and_texts_of_any_script(self, tmp_path: Path) -> None:
        """A line that is too long fails, whole, and the next one is answered; texts are as they were read, in UTF-8."""
        text = "(;FF[4]CA[UTF-8]GM[1]HA[分先]PB[Łukasz]PW[이세돌]SZ[5];B[aa])"
        (tmp_path / "棋.sgf").write_text(text, encoding="utf-8")
        between = f"\n4 name\nloadsgf {tmp_path}/棋.sgf\nprintsgf\nquit ".encode()
        done = run("gtp", "--policy", "random", sent=b"3 name " + b"x" * 10_000_000 + between + b"x" * 70_000)
        told = f"?3 line too long\n\n=4 alphago\n\n= \n\n= {text}\n\n? line too long\n\n"
        assert (done.returncode, done.stdout.decode()) == (0, told)

    @pytest.mark.slow
    def test_stdout_carries_protocol_only(self) -> None:
        """Whoever prints, from Python or past it, prints to stderr; warnings too."""
        code = """
import os, sys, warnings
from alphago.env.go import GoEnv
from alphago.ui.gtp.game_commands import serve
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

    @pytest.mark.slow
    @pytest.mark.skipif(os.name == "nt", reason="POSIX pipes")
    def test_a_controller_that_goes_away(self) -> None:
        """The engine ends without a traceback when nobody reads its replies any more."""
        command = [sys.executable, "-m", "alphago", "gtp", "--policy", "random"]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
        ) as process:
            process.stdout.close()
            process.stdin.write(b"name\n")
            process.stdin.flush()
            assert process.wait(60) == 1
            assert b"Traceback" not in process.stderr.read()
