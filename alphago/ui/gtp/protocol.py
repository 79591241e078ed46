"""The Go Text Protocol, version 2: reading requests and writing replies.  commands.py has the commands themselves.

Source: "Specification of the Go Text Protocol, version 2, draft 2" (Farnebäck 2002); what that leaves open is done as
in GNU Go, its reference implementation.
"""

import contextlib
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, TextIO

Command = Callable[[list[str]], str]  # arguments in, text of the reply out; GtpFailure for a failure

LONGEST_LINE = 65_536  # characters: many times a request with every point of the largest board
CONTROL = {code: None for code in (*range(32), 127) if chr(code) not in "\t\n"}


class GtpFailure(Exception):
    """The failure of a command; its message goes into the reply."""


class Request(NamedTuple):
    id: str  # digits, or ""
    name: str
    arguments: list[str]


def parse(line: str) -> Request | None:
    """Return a line as a request; None if it holds only spaces, a comment or control characters."""
    words = line.translate(CONTROL).partition("#")[0].split()
    if not words:
        return None
    number = words.pop(0) if re.fullmatch("[0-9]+", words[0]) else ""
    return Request(number, words[0] if words else "", words[1:])


def reply(request: Request, text: str, success: bool = True) -> str:
    """Return the text of a reply; empty lines in `text`, which would end the reply, are removed."""
    body = re.sub(r"\n\s*\n", "\n", text.rstrip())
    return f"{'=' if success else '?'}{request.id} {body}\n\n"


def converse(commands: Mapping[str, Command], lines: Iterable[str], output: TextIO) -> None:
    """Answer requests until `quit` or the last line.

    An unexpected error in a command becomes a failure reply, with the traceback on stderr: for a controller that is
    better than an engine that has ended.
    """
    commands = {**administration(commands), **commands}
    for line in lines:
        request = parse(line)
        if request is None:
            continue
        too_long = len(line) > LONGEST_LINE
        output.write(reply(request, "line too long", success=False) if too_long else answer(commands, request))
        output.flush()
        if request.name == "quit":
            return


def answer(commands: Mapping[str, Command], request: Request) -> str:
    """Return the reply to one request."""
    command = commands.get(request.name)
    if command is None:
        return reply(request, "unknown command", success=False)
    try:
        return reply(request, command(request.arguments))
    except GtpFailure as failure:
        return reply(request, str(failure), success=False)
    except Exception as error:
        traceback.print_exc()
        return reply(request, f"internal error: {type(error).__name__}: {error}", success=False)


def administration(commands: Mapping[str, Command]) -> dict[str, Command]:
    """Return the commands that are about the protocol itself."""
    own: dict[str, Command] = {
        "protocol_version": lambda arguments: "2",
        "known_command": lambda arguments: str(bool(arguments) and arguments[0] in {*own, *commands}).lower(),
        "list_commands": lambda arguments: "\n".join([*own, *(name for name in commands if name not in own)]),
        "quit": lambda arguments: "",
    }
    return own


@contextlib.contextmanager
def replying(text: str) -> Iterator[None]:
    """Turn a ValueError in the block into a GtpFailure with this text."""
    try:
        yield
    except ValueError:
        raise GtpFailure(text) from None


def argument(arguments: list[str], i: int) -> str:
    """Return argument i; raise GtpFailure if there are fewer. Further arguments are ignored, as in GNU Go."""
    if i >= len(arguments):
        raise GtpFailure("syntax error")
    return arguments[i]


def integer(text: str) -> int:
    if not re.fullmatch("[+-]?[0-9]{1,9}", text):
        raise GtpFailure("syntax error")
    return int(text)


def number(text: str) -> float:
    if not re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?", text):
        raise GtpFailure("syntax error")
    return float(text)


def lines_of_stdin() -> Iterator[str]:
    """Yield the lines of standard input, ended by LF alone; every byte is a character, so none is an error.

    Of a line that is too long only its begin comes, which is still too long.
    """
    if sys.stdin is None:  # it was closed before Python started
        return
    while line := sys.stdin.buffer.readline(LONGEST_LINE + 1):
        yield line.decode("latin-1")
        while len(line) > LONGEST_LINE and not line.endswith(b"\n"):
            line = sys.stdin.buffer.readline(LONGEST_LINE + 1)


@contextlib.contextmanager
def reserved_stdout() -> Iterator[TextIO]:
    """Reserve standard output for the protocol within the block, and yield it.

    All other output goes to stderr meanwhile, also that of libraries which write to the file descriptor.
    """
    with contextlib.ExitStack() as stack:
        try:
            number, other = sys.stdout.fileno(), sys.stderr.fileno()
            sys.stdout.flush()
            own = os.dup(number)
        except (AttributeError, OSError, ValueError):  # no real file: a notebook, a test
            output = sys.stdout
        else:
            output = os.fdopen(own, "w", encoding="ascii", errors="replace", newline="\n")
            stack.callback(close_quietly, output)
            os.dup2(other, number)
            stack.callback(os.dup2, own, number)
        with contextlib.redirect_stdout(sys.stderr):
            yield output


def close_quietly(file: TextIO) -> None:
    """Close a file whose reader may have exited."""
    with contextlib.suppress(OSError):
        file.close()
