"""Programs that answer on their standard output what is written to their standard input, line by line."""

import contextlib
import os
import queue
import shlex
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Any, Self

from alphago.system.validation import shown

LONGEST_LINE = 10_000  # bytes of a line; longer ones come in pieces
MOST_LINES = 10_000  # lines that wait to be read; a program that writes more is not read any further
POLL_SECONDS = 0.5  # while a line is awaited: time between two checks that the process still runs


class EngineError(RuntimeError):
    """An engine failed; the message has what was sent, the reply, and the end of stderr."""


class LineProcess:
    """A running program that reads lines and writes lines; call `close` at the end, or use it in a `with` statement.

    Args:
        command: program and arguments.
        name: the program's name in messages; None for its file's name.
        longest: bytes of a line of stdout; longer lines come in pieces.
        options: further options of `subprocess.Popen`.

    Raises:
        EngineError: if the program cannot be started.
    """

    farewell = b""  # what is written to the program to end it

    def __init__(
        self, command: Sequence[str], *, name: str | None = None, longest: int = LONGEST_LINE, **options: Any
    ) -> None:
        self.name = name or os.path.basename(command[0])
        self._longest = longest
        self._sent = ""  # the last line that was written, for messages
        self._since = 0.0  # the reading of `time.monotonic()` when something was last sent or read
        self.closed = False
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()  # stdout; None at its end
        self._errors: deque[str] = deque(maxlen=10)  # the last lines of stderr
        try:
            options |= dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
            # In a session of its own the program does not get Ctrl-C, and can be killed together with its children.
            self.process: Any = subprocess.Popen(command, start_new_session=True, **options)  # has all three pipes
        except OSError as error:
            raise EngineError(f"{self.name} cannot be started: {error.strerror} ({command[0]})") from error
        targets = self._read_stdout, self._read_stderr
        self._readers = [threading.Thread(target=target, daemon=True) for target in targets]
        for reader in self._readers:
            reader.start()

    def write_line(self, line: str) -> None:
        """Send a line; raise EngineError if the program has ended."""
        self._sent, self._since = line, time.monotonic()
        try:
            self.process.stdin.write(f"{line}\n".encode())
            self.process.stdin.flush()
        except (OSError, ValueError):  # it has exited, or was closed
            raise self.abort("the process has ended", has_exited=True) from None

    def read_line(self, limit: float) -> str:
        """Return the next line of stdout.

        Raises:
            EngineError: if the process has ended, or if no line comes within `limit` seconds after the last one was
                sent or read.  The process is ended then.
        """
        while True:
            has_ended = self.process.poll() is not None  # asked before reading, so that its last line is not missed
            seconds_left = self._since + limit - time.monotonic()
            with contextlib.suppress(queue.Empty):  # raised if no line comes for now
                line = self._lines.get(timeout=min(POLL_SECONDS, max(0.0, seconds_left)))
                if line is not None:
                    self._since = time.monotonic()
                    return line.decode("utf-8", "replace")
                has_ended = True  # None: its stdout has ended
            if has_ended:
                raise self.abort("the process has ended", has_exited=True)
            if seconds_left <= 0:
                raise self.abort(f"no reply within {limit:g} s")

    def close(self, patience: float = 1.0) -> None:
        """End the process and its children.

        First `farewell` is sent.  If the process still runs then, it gets SIGTERM.  At last all that is left of the
        process and its children gets SIGKILL.

        Args:
            patience: seconds to wait for the process before SIGTERM.
        """
        if self.closed:  # the process id may have been reused
            return
        process = self.process
        with contextlib.suppress(OSError, ValueError), process.stdin:  # `with` closes it; ValueError: it is closed
            process.stdin.write(self.farewell)
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            self._signal("SIGTERM")
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(1.0)
        self._signal("SIGKILL")  # children may outlive the process
        process.wait()
        for reader, pipe in zip(self._readers, (process.stdout, process.stderr), strict=True):
            reader.join(1.0)
            if not reader.is_alive():  # an alive reader: a child still holds the other end
                pipe.close()
        self.closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def abort(self, what: str, *, has_exited: bool = False) -> EngineError:
        """End the process and return an EngineError that says `what` went wrong, with the end of stderr.

        Args:
            has_exited: whether the process has ended by itself; only then its exit status says something.
        """
        self.close(patience=0.1)
        errors = " | ".join(self._errors)
        status = f" (exit status {self.process.returncode})" if has_exited else ""
        told = f"the end of its stderr: {errors}" if errors else "nothing on stderr"
        return EngineError(f"{self.name}: {shown(self._sent)} was sent, {what}{status}; {told}")

    def _signal(self, name: str) -> None:
        """Send the signal called `name` to the process and its children."""
        if hasattr(os, "killpg"):  # not on Windows, where `signal` has no SIGKILL either
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, getattr(signal, name))
        else:
            self.process.kill()

    def _read_stdout(self) -> None:
        """Put the lines of stdout into a queue, until it ends or too many lines wait; runs in a thread."""
        while (line := self.process.stdout.readline(self._longest)) and self._lines.qsize() < MOST_LINES:
            self._lines.put(line)
        self._lines.put(None)

    def _read_stderr(self) -> None:
        """Keep the last lines of stderr; runs in a thread."""
        while line := self.process.stderr.readline(LONGEST_LINE):
            self._errors.append(line.decode("utf-8", "replace").strip()[:300])  # enough for a message


def split_command(command: str, message: str) -> list[str]:
    """Return program and arguments, split as a shell does, but without pipes and variables.

    Raises:
        ValueError: whose text begins with `message`, for an empty command and for an open quotation mark.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ValueError(f"{message}: {error}") from None
    if not words:
        raise ValueError(message)
    return [os.path.expanduser(words[0]), *words[1:]]
