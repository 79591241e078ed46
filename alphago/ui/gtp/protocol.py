"""The Go Text Protocol, version 2: requests come in, replies go out.  Knows no Go.

Source: "Specification of the Go Text Protocol, version 2, draft 2" (Farnebäck 2002); where it leaves
something open, as GNU Go does, which it names as the reference.
"""

import contextlib
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, TextIO

Command = Callable[[list[str]], str]  # arguments in, text of the reply out; GtpFailure for a failure

CONTROL = {code: None for code in (*range(32), 127) if chr(code) not in "\t\n"}


class GtpFailure(Exception):
    """A command that fails; the text goes into the reply."""


class Request(NamedTuple):
    id: str  # digits as they came, or ""
    name: str
    arguments: list[str]


def parse(line: str) -> Request | None:
    """One line as a request; None if it holds nothing but space, comment or control characters."""
    words = line.translate(CONTROL).partition("#")[0].split()
    if not words:
        return None
    number = words.pop(0) if re.fullmatch("[0-9]+", words[0]) else ""
    return Request(number, words[0] if words else "", words[1:])


def reply(request: Request, text: str, success: bool = True) -> str:
    """The reply as it is sent.  An empty line would end it, so empty lines in the text are left out."""
    body = re.sub(r"\n\s*\n", "\n", text.rstrip())
    return f"{'=' if success else '?'}{request.id} {body}\n\n"


def converse(commands: Mapping[str, Command], lines: Iterable[str], output: TextIO) -> None:
    """Answers requests until `quit` or the last line.

    An unforeseen error in a command becomes a failure in one sentence, with the traceback on stderr:
    a program that plays on is worth more to its controller than one that is gone.
    """
    known = {**administration(commands), **commands}
    for line in lines:
        request = parse(line)
        if request is None:
            continue
        output.write(answer(known, request))
        output.flush()
        if request.name == "quit":
            return


def answer(commands: Mapping[str, Command], request: Request) -> str:
    """The reply to one request."""
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
    """The commands that speak of the protocol itself."""
    own: dict[str, Command] = {
        "protocol_version": lambda arguments: "2",
        "known_command": lambda arguments: str(bool(arguments) and arguments[0] in {*own, *commands}).lower(),
        "list_commands": lambda arguments: "\n".join([*own, *(name for name in commands if name not in own)]),
        "quit": lambda arguments: "",
    }
    return own


def lines_of_stdin() -> Iterator[str]:
    """The lines of standard input, ended by LF alone; any byte is a character, so none is an error."""
    if sys.stdin is not None:  # None: it was closed before Python started
        for line in sys.stdin.buffer:
            yield line.decode("latin-1")


@contextlib.contextmanager
def reserved_stdout() -> Iterator[TextIO]:
    """Standard output for the protocol alone.

    Meanwhile what anybody else prints goes to stderr, also from libraries that write to the descriptor
    past Python.
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
            stack.callback(quietly_close, output)
            os.dup2(other, number)
            stack.callback(os.dup2, own, number)
        with contextlib.redirect_stdout(sys.stderr):
            yield output


def quietly_close(file: TextIO) -> None:
    """Closes a file whose reader may be gone."""
    with contextlib.suppress(OSError):
        file.close()
