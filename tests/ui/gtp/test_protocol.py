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
def test_what_is_parsed(line: str, request_: tuple) -> None:
    assert parse(line) == (GtpRequest(*request_) if request_ else None)


def test_a_reply_has_no_empty_line_before_its_end() -> None:
    assert reply(GtpRequest("", "x", []), "\na\n\n \n  b\n\n") == "= \na\n  b\n\n"


def test_failures_and_surprises(capsys: pytest.CaptureFixture) -> None:
    def fails(arguments: list[str]) -> str:
        raise GtpFailure("not today")

    def breaks(arguments: list[str]) -> str:
        raise ZeroDivisionError("it was\n\nzero")

    output = io.StringIO()
    converse({"fail": fails, "break": breaks}, ["1 fail", "2 break", "3 known_command break"], output)
    assert output.getvalue() == "?1 not today\n\n?2 internal error: ZeroDivisionError: it was\nzero\n\n=3 true\n\n"
    assert "Traceback" in capsys.readouterr().err


def test_each_reply_is_sent_while_no_line_follows() -> None:
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


def test_an_error_of_the_input_is_the_callers() -> None:
    def lines():
        yield "protocol_version"
        raise OSError("the line is broken")

    with pytest.raises(OSError, match="the line is broken"):
        converse({}, lines(), io.StringIO())


@hypothesis.settings(max_examples=100, deadline=None)
@given(st.lists(LINE, max_size=6))
def test_every_request_has_one_reply(lines: list[str]) -> None:
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


def test_a_session(tmp_path: Path) -> None:
    """A transcript, byte by byte: ids, comments, empty lines, CRLF, tabs, junk, and every command."""
    even = NeuralNet(GoEnv(3), tower_height=0, channels=4)
    for parameter in even.parameters():
        parameter.data.zero_()  # all moves alike: the first legal one is played
    even.save(tmp_path / "even.safetensors")
    sent = (
        b"\xef\xbb\xbf# a session\r\n\r\n1 protocol_version\r\n2\tname\r\n3 version # which?\r\n"
        b"\xff\xfe\x00\n4 foo\n\x01na\x02me\n5\n"
        b"known_command genmove\nknown_command analyze\n6 list_commands\n"
        b"7 boardsize\n8 boardsize 3\nclear_board\n9 komi 0.5\n10 play b b2\n11 play w b2\n12 genmove w\n"
        b"13 showboard\nplay b pass\nplay w pass\n14 genmove b\n15 final_score\n16 quit\n17 name\n"
    )
    wanted = (
        f"=1 2\n\n=2 alphago\n\n=3 {__version__}\n\n"
        "? unknown command\n\n?4 unknown command\n\n= alphago\n\n?5 unknown command\n\n"
        f"= true\n\n= false\n\n=6 {COMMANDS}\n\n"
        "?7 syntax error\n\n=8 \n\n= \n\n=9 \n\n=10 \n\n?11 illegal move\n\n=12 A3\n\n"
        "=13 \n    A B C\n 3 (O). .  3\n 2  . X .  2\n 1  . . .  1\n    A B C\n"
        "   move 2: Black (X) to play, komi 0.5\n   captures: X 0, O 0\n\n"
        "= \n\n= \n\n=14 pass\n\n=15 W+0.5\n\n=16 \n\n"
    )
    done = run("gtp", str(tmp_path / "even.safetensors"), "--readouts", "0", sent=sent)
    assert done.stdout.decode() == wanted
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr


@pytest.mark.slow
def test_long_lines_and_texts_of_any_script(tmp_path: Path) -> None:
    """A line that is too long fails, whole, and the next one is answered; texts are as they were read, in UTF-8."""
    text = "(;FF[4]CA[UTF-8]GM[1]HA[分先]PB[Łukasz]PW[이세돌]SZ[5];B[aa])"
    (tmp_path / "棋.sgf").write_text(text, encoding="utf-8")
    between = f"\n4 name\nloadsgf {tmp_path}/棋.sgf\nprintsgf\nquit ".encode()
    done = run("gtp", "--policy", "random", sent=b"3 name " + b"x" * 10_000_000 + between + b"x" * 70_000)
    told = f"?3 line too long\n\n=4 alphago\n\n= \n\n= {text}\n\n? line too long\n\n"
    assert (done.returncode, done.stdout.decode()) == (0, told)


@pytest.mark.slow
def test_stdout_carries_protocol_only() -> None:
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
def test_a_controller_that_goes_away() -> None:
    """The engine ends without a traceback when its replies are not read any more."""
    command = [sys.executable, "-m", "alphago", "gtp", "--policy", "random"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
    ) as process:
        process.stdout.close()
        process.stdin.write(b"name\n")
        process.stdin.flush()
        assert process.wait(60) == 1
        assert b"Traceback" not in process.stderr.read()
