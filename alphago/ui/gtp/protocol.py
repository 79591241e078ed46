"""The Go Text Protocol, version 2: read requests and write replies; other files have the commands.

Source: "Specification of the Go Text Protocol, version 2, draft 2" (Farnebäck 2002).  Where the specification leaves
something open, this follows its reference implementation, GNU Go.
"""

import contextlib
import os
import queue
import re
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TextIO

from alphago.env.board import check_player
from alphago.system.validation import shortened

# A reply that is written line by line: `stream(write, wait)` is called once, and the reply ends when it returns.
# `write(line)` writes a line, given without its newline; any thread may call it, and after the end it does nothing.
# `wait()` waits for the controller's next request.
Stream = Callable[[Callable[[str], None], Callable[[], None]], None]
# Arguments in, reply out, None for an empty one; GtpFailure for a failure.
Command = Callable[[list[str]], str | Stream | None]

LONGEST_FAILURE = 400  # most letters of a failure's message
LINES_AHEAD = 1024  # lines read in advance
READ_BYTES = 65_536  # bytes of input read at once
JSON_HINT = "this is GTP, the Go Text Protocol; `alphago analysis` speaks JSON"
BOM = b"\xef\xbb\xbf"  # some programs on Windows begin with it
LONGEST_LINE = 65_536  # characters: many times the length of a request with every point of the largest board
CONTROL = {code: None for code in (*range(32), 127) if chr(code) not in "\t\n"}  # to delete control characters


class GtpFailure(Exception):
    """The failure of a command; its message goes into the reply."""


class GtpRequest(NamedTuple):
    """A request of the controller: its number, the command's name and the arguments."""

    id: str  # digits, or ""
    name: str
    arguments: list[str]


class Inbox:
    """Reads lines in advance on a thread, so that a running command can notice the next one."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines: queue.Queue[str | BaseException | None] = queue.Queue(LINES_AHEAD)
        self._fetched: list[str | BaseException | None] = []  # what `wait` has fetched from the queue: one item or none
        threading.Thread(target=self._read, args=(lines,), name="gtp input", daemon=True).start()

    def _read(self, lines: Iterable[str]) -> None:
        """Put the lines into the queue, and after them None for the end of input, or the error that ended it."""
        try:
            for line in lines:
                self._lines.put(line)
        except BaseException as error:  # `take` raises it
            self._lines.put(error)
        else:
            self._lines.put(None)

    def wait(self) -> None:
        """Wait for the next line or the end of input, which the next call of `take` returns."""
        if not self._fetched:
            self._fetched.append(self._lines.get())

    def must_wait(self) -> bool:
        """Return whether `take` would have to wait for input."""
        return not self._fetched and self._lines.empty()

    def take(self) -> str | None:
        """Wait for the next line and return it; None at the end of input, in this call and all later ones."""
        self.wait()
        [line] = self._fetched  # by `wait`
        if line is not None:  # the None at the end stays, for later calls
            self._fetched.clear()
        if isinstance(line, BaseException):
            raise line
        return line


def parse(line: str) -> GtpRequest | None:
    """Return a line as a request; None for a blank line or a comment."""
    words = line.translate(CONTROL).partition("#")[0].split()
    if not words:
        return None
    number = words.pop(0) if re.fullmatch("[0-9]+", words[0]) else ""
    return GtpRequest(number, words[0] if words else "", words[1:])


def reply(request: GtpRequest, text: str, success: bool = True) -> str:
    """Return the text of a reply; empty lines in `text`, which would end the reply, are removed."""
    body = re.sub(r"\n\s*\n", "\n", text.rstrip())
    return f"{'=' if success else '?'}{request.id} {body}\n\n"


def converse(
    commands: Mapping[str, Command],
    lines: Iterable[str],
    output: TextIO,
    *,
    on_idle: Callable[[], None] = lambda: None,
    on_line: Callable[[], None] = lambda: None,
) -> None:
    """Answer requests until `quit` or the last line.

    An unexpected exception in a command becomes a failure reply, with the traceback on stderr, so that the engine
    keeps running.

    Args:
        commands: the commands by name, besides those of the protocol itself (`administration`).
        on_idle: called before waiting for a line, if none has arrived yet.
        on_line: called when a line arrives, and once more at the end, to stop what `on_idle` has begun.
    """
    commands = {**administration(commands), **commands}
    inbox = Inbox(lines)
    try:
        while True:
            if inbox.must_wait():
                on_idle()
            line = inbox.take()
            on_line()
            if line is None:
                return
            request = parse(line)
            if request is None:  # a blank line or a comment, which has no reply
                continue
            if len(line) > LONGEST_LINE:
                output.write(reply(request, "line too long", success=False))
            else:
                answer(commands, request, output, inbox)
            output.flush()
            if request.name == "quit":
                return
    finally:
        on_line()


def answer(commands: Mapping[str, Command], request: GtpRequest, output: TextIO, inbox: Inbox) -> None:
    """Write the reply to one request."""
    command = commands.get(request.name)
    if command is None:
        # A "{" begins a query of KataGo's analysis protocol, which `alphago analysis` answers.
        text = JSON_HINT if request.name.startswith("{") else "unknown command"
        output.write(reply(request, text, success=False))
        return
    try:
        result = command(request.arguments)
    except GtpFailure as failure:
        output.write(reply(request, shortened(failure, LONGEST_FAILURE), success=False))
    except Exception as error:
        traceback.print_exc()
        output.write(reply(request, f"internal error: {type(error).__name__}: {error}", success=False))
    else:
        if callable(result):
            write_stream(request, result, output, inbox)
        else:
            output.write(reply(request, result or ""))


def write_stream(request: GtpRequest, stream: Stream, output: TextIO, inbox: Inbox) -> None:
    """Write a reply line by line; an exception of the stream is printed on stderr, and ends the reply.

    The caller flushes the end of the reply.
    """
    lock = threading.Lock()  # the search's thread writes too, perhaps while the reply ends
    is_over = False

    def write(line: str) -> None:
        with lock:
            if not is_over:
                output.write(f"{line}\n")
                output.flush()

    write(f"={request.id}")
    try:
        stream(write, inbox.wait)  # the stream calls `wait` to go on until the next line arrives
    except Exception:
        traceback.print_exc()
    with lock:
        is_over = True
        output.write("\n")


def administration(commands: Mapping[str, Command]) -> dict[str, Command]:
    """Return the commands about the protocol itself, by name.

    Args:
        commands: all other commands, for `list_commands` and `known_command`.
    """
    own: dict[str, Command] = {
        "protocol_version": lambda arguments: "2",
        "known_command": lambda arguments: str(bool(arguments) and arguments[0] in {*own, *commands}).lower(),
        "list_commands": lambda arguments: "\n".join([*own, *(name for name in commands if name not in own)]),
        "quit": lambda arguments: "",
    }
    return own


@contextlib.contextmanager
def as_failure(text: str = "") -> Iterator[None]:
    """Convert a ValueError in the block to a GtpFailure with the message `text`; "" for the error's own message."""
    try:
        yield
    except ValueError as error:
        raise GtpFailure(text or str(error)) from None


def argument(arguments: list[str], i: int) -> str:
    """Return argument i; raise GtpFailure if it is missing. Surplus arguments are ignored, as in GNU Go."""
    if i >= len(arguments):
        raise GtpFailure("syntax error")
    return arguments[i]


def integer(text: str) -> int:
    """Return a text as an integer of at most nine digits; raise GtpFailure if it is none."""
    if not re.fullmatch("[+-]?[0-9]{1,9}", text):
        raise GtpFailure("syntax error")
    return int(text)


def number(text: str) -> float:
    """Return a text as a number; raise GtpFailure if it is none, or has more digits than a float may need."""
    if not re.fullmatch(r"[+-]?([0-9]{1,99}\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,2})?", text):
        raise GtpFailure("syntax error")
    return float(text)


def boolean(text: str, name: str = "the value") -> bool:
    """Return True for "true" and False for "false", in any case; raise GtpFailure for another text."""
    if text.lower() not in ("true", "false"):
        raise GtpFailure(f"{name} must be true or false, got {text}")
    return text.lower() == "true"


def check_colour(text: str) -> int:
    """Return +1 for "b" or "black", -1 for "w" or "white", in any case; raise GtpFailure for another text."""
    with as_failure("invalid color or coordinate"):
        return check_player(text)


def lines_of_stdin() -> Iterator[str]:
    """Yield the lines of standard input, separated by LF and decoded as UTF-8.

    Bytes that are not UTF-8 become lone surrogates, so that a file's name may have any encoding.
    Of a line with more than LONGEST_LINE bytes only the first LONGEST_LINE + 1 are kept, so that `converse` sees that
    it is too long.
    """
    for line in byte_lines(LONGEST_LINE):
        is_too_long = len(line) > LONGEST_LINE  # only its length matters then, and in Latin-1 each byte is a character
        yield line.decode("latin-1") if is_too_long else line.decode("utf-8", "surrogateescape")


def byte_lines(longest: int) -> Iterator[bytes]:
    """Yield the lines of standard input, without a byte order mark at their beginning; none if it is closed.

    Each is cut after `longest` + 1 bytes, so that the caller sees which are too long.  The input is read without its
    buffer: a thread that waits for input would hold the buffer's lock when Python exits.
    """
    if sys.stdin is None:  # it was closed before Python started, as in a program without a console
        return
    raw: Any = getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)
    rest = b""  # the beginning of a line whose end was not read yet
    while data := raw.read(READ_BYTES):
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            yield line.removeprefix(BOM)[: longest + 1]
        rest = rest[: longest + 1 + len(BOM)]  # more would be cut off at the line's end
    if rest:
        yield rest.removeprefix(BOM)[: longest + 1]


@contextlib.contextmanager
def reserved_stdout() -> Iterator[TextIO]:
    """Reserve standard output for the protocol within the block, and yield it as a text file.

    All other output goes to stderr, including that of libraries which write to the file descriptor.
    """
    with contextlib.ExitStack() as stack:
        try:
            stdout, stderr = sys.stdout.fileno(), sys.stderr.fileno()
            sys.stdout.flush()
            reserved = os.dup(stdout)
        except (AttributeError, OSError, ValueError):  # no real file: a notebook, a test
            output = sys.stdout
        else:
            output = os.fdopen(reserved, "w", encoding="utf-8", errors="replace", newline="\n")
            stack.callback(close_quietly, output)
            os.dup2(stderr, stdout)  # what is written to standard output goes to stderr
            stack.callback(os.dup2, reserved, stdout)  # called before `close_quietly`: the last callback first
        with contextlib.redirect_stdout(sys.stderr):
            yield output


def close_quietly(file: TextIO) -> None:
    """Close a file; ignore an error, as when the program that reads it has exited."""
    with contextlib.suppress(OSError):
        file.close()
