"""GTP engines: programs that speak the Go Text Protocol, and the processes that run them."""

import contextlib
import os
import queue
import re
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from alphago.env.go_rules import Rules
from alphago.system.validation import check_int, check_positive, checks_keywords

COMMAND = "gtp:"  # prefix of the name of an engine given by its command
LEVELS = (0, 10)  # GNU Go's lowest and highest level
LONGEST_REPLY = 1000  # most lines of a reply
POLL_SECONDS = 0.5  # while waiting for a reply: time between two checks that the process still runs


class EngineError(RuntimeError):
    """An engine failed; the message has the command sent, the reply, and the end of stderr."""


class EngineRefusal(EngineError):
    """An engine sent a GTP failure reply ("? ..."); its process keeps running."""


@checks_keywords()
@dataclass(frozen=True)
class Engine:
    """A program that speaks GTP, and how to start it.

    command: program and arguments; "{seed}" in an argument is replaced by a number that differs between games.
    start_timeout: seconds until the first reply.
    timeout: seconds until any later reply.
    at_once: how many processes one side of a match may run at the same time, at least 1.
    rule_options: function from the match's rules of ko and suicide to further arguments of the program; None for a
        program that always plays by its own rules.

    Raises ValueError for an invalid value, such as a command in one string.
    """

    name: str
    command: tuple[str, ...]
    start_timeout: float = 60.0
    timeout: float = 120.0
    at_once: int = 32
    rule_options: Callable[[Rules], tuple[str, ...]] | None = None

    def __post_init__(self) -> None:
        words = self.command if isinstance(self.command, (tuple, list)) else ()
        if not words or not all(isinstance(word, str) for word in words):
            raise ValueError(f'command must be strings such as ("gnugo", "--mode", "gtp"), got {self.command!r}')
        check_positive("start_timeout", self.start_timeout)
        check_positive("timeout", self.timeout)
        check_int("at_once", self.at_once, 1)

    def start(self, seed: int, rules: Rules) -> "EngineProcess":
        """Start a process for one game under these rules."""
        command = [argument.replace("{seed}", str(seed)) for argument in self.command]
        if self.rule_options is not None:
            command += self.rule_options(rules)
        return EngineProcess(command, name=self.name, start_timeout=self.start_timeout, timeout=self.timeout)


def gnugo(level: int = 10) -> Engine:
    """Return GNU Go as an Engine, at a level.

    Raises ValueError for a level outside 0 .. 10, EngineError if GNU Go is not installed.
    """
    check_int("GNU Go's level", level, *LEVELS)
    places = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/games", "/usr/local/games"])
    path = shutil.which("gnugo", path=places)
    if path is None:
        raise EngineError(
            "GNU Go is not installed: there is no program gnugo on PATH or in /usr/games "
            "(`apt install gnugo` or `brew install gnu-go` installs it)"
        )
    options = "--chinese-rules --capture-all-dead --play-out-aftermath --never-resign"
    command = (path, "--mode", "gtp", *options.split(), "--level", str(level), "--seed", "{seed}")
    return Engine(f"gnugo:{level}", command, rule_options=gnugo_rules)


def gnugo_rules(rules: Rules) -> tuple[str, ...]:
    """Return GNU Go's command-line arguments for rules of ko and suicide.

    In GNU Go, as in `Rules`, suicide means the suicide of several stones, never of a single stone.
    """
    ko = "--simple-ko" if rules.ko == "simple" else f"--{rules.ko}-superko"
    return ko, "--allow-suicide" if rules.suicide else "--forbid-suicide"


def find_engine(name: str) -> Engine | None:
    """Return the engine called "gnugo", "gnugo:LEVEL" or "gtp:COMMAND"; None for any other name.

    Raises ValueError for an invalid level or command, EngineError if the program does not exist.
    """
    if name.startswith(COMMAND):
        return engine_of_command(name)
    match = re.fullmatch(r"gnugo(?::([0-9]{1,9}))?", name)
    return gnugo(int(match[1] or 10)) if match else None


def engine_of_command(name: str) -> Engine:
    """Return the engine called "gtp:COMMAND".

    COMMAND is split into arguments as a shell does, but without pipes and variables.
    """
    words: list[str] = []
    why = ""
    try:
        words = shlex.split(name.removeprefix(COMMAND))
    except ValueError as error:  # an open quotation mark
        why = f": {error}"
    if not words:
        example = "'gtp:./engine --argument'"
        raise ValueError(f"after {COMMAND} must come a command such as {example}, got {name!r}{why}")
    program, arguments = os.path.expanduser(words[0]), words[1:]
    if shutil.which(program) is None:
        raise EngineError(f"{name} cannot be started: there is no program {program}")
    return Engine(name, (program, *arguments))


class EngineProcess:
    """A running GTP engine; call `close` at the end, or use it in a `with` statement.

    command: program and arguments.  name: the engine's name in messages.  start_timeout, timeout: as in `Engine`.
    `send`, `receive` and `ask` raise EngineError if the engine crashes, hangs or does not speak GTP; the process is
    then ended.  They raise EngineRefusal for a failure reply; the process then keeps running.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        name: str | None = None,
        start_timeout: float = 60.0,
        timeout: float = 120.0,
    ) -> None:
        self.name = name or os.path.basename(command[0])
        self.timeout = timeout
        self._limit = start_timeout  # seconds for the next reply
        self._sent = ""
        self._due = 0.0
        self._closed = False
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()  # stdout; None at its end
        self._errors: deque[str] = deque(maxlen=10)  # the last lines of stderr
        try:
            # In a session of its own it does not get Ctrl-C, and can be killed together with its children.
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise EngineError(f"{self.name} cannot be started: {error.strerror} ({command[0]})") from error
        self._readers = [
            threading.Thread(target=self._read_stdout, daemon=True),
            threading.Thread(target=self._read_stderr, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def ask(self, command: str) -> str:
        """Send a command and return the text of the reply."""
        self.send(command)
        return self.receive()

    def send(self, command: str) -> None:
        """Send a command; call `receive` for its reply before the next command."""
        self._sent = command
        self._due = time.monotonic() + self._limit
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(f"{command}\n".encode())
            self.process.stdin.flush()
        except (OSError, ValueError):  # it has exited, or was closed
            raise self._failed("the process has ended") from None

    def receive(self) -> str:
        """Return the text of the reply to the last command."""
        lines: list[str] = []
        while not lines or lines[-1]:
            raw = self._next_line()
            if raw is None:
                after = f" after {lines[0]!r}" if lines else ""
                raise self._failed(f"the process has ended{after}")
            line = raw.decode("utf-8", "replace").strip()
            if not lines and line and line[0] not in "=?":
                raise self._failed(f"the reply {line[:200]!r} is not GTP")
            if len(lines) > LONGEST_REPLY:
                raise self._failed(f"the reply has more than {LONGEST_REPLY} lines")
            if lines or line:
                lines.append(line)
        self._limit = self.timeout
        text = "\n".join([lines[0][1:].strip(), *lines[1:-1]])
        if lines[0][0] == "?":
            raise EngineRefusal(f"{self.name} refused {self._sent!r}: {text}")
        return text

    def close(self, patience: float = 1.0) -> None:
        """End the process and its children: send `quit`, and signals after `patience` seconds. May be called twice."""
        if self._closed:  # the process id may have been reused
            return
        process = self.process
        if process.stdin is not None and not process.stdin.closed:
            with contextlib.suppress(OSError, ValueError):
                process.stdin.write(b"quit\n")
            with contextlib.suppress(OSError):
                process.stdin.close()
        if not self._exits_within(patience):
            self._signal("SIGTERM")
            self._exits_within(1.0)
        self._signal("SIGKILL")  # children may outlive the process
        process.wait()
        for reader, pipe in zip(self._readers, (process.stdout, process.stderr), strict=True):
            reader.join(1.0)
            if pipe is not None and not reader.is_alive():  # an alive reader: a child still holds the other end
                pipe.close()
        self._closed = True

    def __enter__(self) -> "EngineProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _next_line(self) -> bytes | None:
        """Return the next line of stdout; None at its end, or if the process has exited and no more lines come."""
        while True:
            exited = self.process.poll() is not None
            with contextlib.suppress(queue.Empty):
                return self._lines.get(timeout=min(POLL_SECONDS, max(0.0, self._due - time.monotonic())))
            if exited:
                return None
            if time.monotonic() >= self._due:
                raise self._failed(f"no reply within {self._limit:g} s")

    def _failed(self, what: str) -> EngineError:
        """End the process and return an EngineError that says `what` went wrong, with the end of stderr."""
        self.close(patience=0.1)
        errors = " | ".join(self._errors)
        status = self.process.returncode
        exited = f" (exit status {status})" if "ended" in what else ""
        return EngineError(
            f"{self.name}: {self._sent!r} was sent, {what}{exited}"
            + (f"; the end of its stderr: {errors}" if errors else "; nothing on stderr")
        )

    def _exits_within(self, seconds: float) -> bool:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        return self.process.returncode is not None

    def _signal(self, name: str) -> None:
        """Send a signal to the process and its children."""
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, getattr(signal, name))
        else:
            self.process.kill()

    def _read_stdout(self) -> None:
        assert self.process.stdout is not None
        while (line := self.process.stdout.readline(10_000)) and self._lines.qsize() < 10 * LONGEST_REPLY:
            self._lines.put(line)
        self._lines.put(None)

    def _read_stderr(self) -> None:
        assert self.process.stderr is not None
        while line := self.process.stderr.readline(10_000):
            self._errors.append(line.decode("utf-8", "replace").strip()[:300])
