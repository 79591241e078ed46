"""Engines: processes that speak the Go Text Protocol."""

import contextlib
import os
import queue
import re
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

LONGEST_REPLY = 1000  # lines
GLANCE = 0.5  # seconds between two looks at a process whose answer is awaited


class EngineError(RuntimeError):
    """An engine did not do what it should; the text says what was sent, what came, and what was on stderr."""


class EngineRefusal(EngineError):
    """The engine answered a command with a failure; it goes on."""


@checks_keywords()
@dataclass(frozen=True)
class GtpProgram:
    """How to run an engine.

    command: program and arguments; "{seed}" in an argument becomes a number that differs between games.
    start_timeout: seconds until the first answer.
    timeout: seconds for any later one.
    at_once: processes of one side of a match that run at the same time, 1 or more.
    rule_options: further arguments for a match by such rules of ko and suicide.  Without it the program plays by the
        rules that it has, whatever the match's are.

    ValueError that names what cannot be, a command in one text among it.
    """

    name: str
    command: tuple[str, ...]
    start_timeout: float = 60.0
    timeout: float = 120.0
    at_once: int = 32
    rule_options: Callable[[Rules], tuple[str, ...]] | None = None

    def __post_init__(self) -> None:
        texts = isinstance(self.command, (tuple, list)) and all(isinstance(word, str) for word in self.command)
        if not texts or not self.command:
            raise ValueError(f'command is a tuple of texts such as ("gnugo", "--mode", "gtp"), got {self.command!r}')
        check_positive("start_timeout", self.start_timeout)
        check_positive("timeout", self.timeout)
        check_int("at_once", self.at_once, 1)

    def start(self, seed: int, rules: Rules) -> "GtpEngine":
        """A process for one game by such rules."""
        command = [argument.replace("{seed}", str(seed)) for argument in self.command]
        if self.rule_options is not None:
            command += self.rule_options(rules)
        return GtpEngine(command, name=self.name, start_timeout=self.start_timeout, timeout=self.timeout)


def gnugo(level: int = 10) -> GtpProgram:
    """GNU Go, made to play games out under the match's rules, so that the board as it stands can be counted.

    Raises EngineError with a sentence where it is not installed.
    """
    places = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/games", "/usr/local/games"])
    path = shutil.which("gnugo", path=places)
    if path is None:
        raise EngineError(
            "GNU Go is not installed: there is no program gnugo on PATH or in /usr/games "
            "(`apt install gnugo`, or `brew install gnu-go`, brings it)"
        )
    options = "--chinese-rules --capture-all-dead --play-out-aftermath --never-resign"
    command = (path, "--mode", "gtp", *options.split(), "--level", str(level), "--seed", "{seed}")
    return GtpProgram(f"gnugo:{level}", command, rule_options=gnugo_rules)


def gnugo_rules(rules: Rules) -> tuple[str, ...]:
    """GNU Go's arguments for rules of ko and suicide; its suicide is ours, of several stones only."""
    ko = "--simple-ko" if rules.ko == "simple" else f"--{rules.ko}-superko"
    return ko, "--allow-suicide" if rules.suicide else "--forbid-suicide"


def named_program(name: str) -> GtpProgram | None:
    """The program called "gnugo" or "gnugo:LEVEL"; None for another name."""
    match = re.fullmatch(r"gnugo(?::([0-9]{1,2}))?", name)
    return gnugo(int(match[1] or 10)) if match else None


class GtpEngine:
    """One engine process; `ask` it, and `close` it (or use `with`).

    Whatever goes wrong ends the process and raises EngineError, except a command that it refuses.
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
        self._limit = start_timeout  # seconds for the next answer
        self._sent = ""
        self._due = 0.0
        self._closed = False
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()  # stdout; None at its end
        self._last_words: deque[str] = deque(maxlen=10)  # of stderr
        try:
            # A session of its own: Ctrl-C reaches us alone, and we end it together with its children.
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
        """Sends a command and returns the text of the answer."""
        self.send(command)
        return self.receive()

    def send(self, command: str) -> None:
        """Sends a command; `receive` its answer before the next one."""
        self._sent = command
        self._due = time.monotonic() + self._limit
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(f"{command}\n".encode())
            self.process.stdin.flush()
        except (OSError, ValueError):  # it has gone, or was closed by us
            raise self._failed("the process has ended") from None

    def receive(self) -> str:
        """The text of the answer to the command sent last."""
        lines: list[str] = []
        while not lines or lines[-1]:
            raw = self._next_line()
            if raw is None:
                came = f" after {lines[0]!r}" if lines else ""
                raise self._failed(f"the process has ended{came}")
            line = raw.decode("utf-8", "replace").strip()
            if not lines and line and line[0] not in "=?":
                raise self._failed(f"{line[:200]!r} came, which is no answer in GTP")
            if len(lines) > LONGEST_REPLY:
                raise self._failed(f"an answer of more than {LONGEST_REPLY} lines came")
            if lines or line:
                lines.append(line)
        self._limit = self.timeout
        text = "\n".join([lines[0][1:].strip(), *lines[1:-1]])
        if lines[0][0] == "?":
            raise EngineRefusal(f"{self.name} refused {self._sent!r}: {text}")
        return text

    def close(self, patience: float = 1.0) -> None:
        """Ends the process and those it started: by asking, after `patience` seconds by force.

        Does nothing the second time.
        """
        if self._closed:  # by now its number may be another process's
            return
        process = self.process
        if process.stdin is not None and not process.stdin.closed:
            with contextlib.suppress(OSError, ValueError):
                process.stdin.write(b"quit\n")
            with contextlib.suppress(OSError):
                process.stdin.close()
        if not self._gone_after(patience):
            self._signal("SIGTERM")
            self._gone_after(1.0)
        self._signal("SIGKILL")  # also those it started, which may live on without it
        process.wait()
        for reader, pipe in zip(self._readers, (process.stdout, process.stderr), strict=True):
            reader.join(1.0)
            if pipe is not None and not reader.is_alive():  # else somebody it started holds the other end
                pipe.close()
        self._closed = True

    def __enter__(self) -> "GtpEngine":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _next_line(self) -> bytes | None:
        """A line of stdout; None at its end, or where the process has gone and whoever else holds it is silent."""
        while True:
            gone = self.process.poll() is not None
            with contextlib.suppress(queue.Empty):
                return self._lines.get(timeout=min(GLANCE, max(0.0, self._due - time.monotonic())))
            if gone:
                return None
            if time.monotonic() >= self._due:
                raise self._failed(f"no answer came in {self._limit:g} s")

    def _failed(self, what: str) -> EngineError:
        """The error for a broken engine, which is ended first: then its last words are complete."""
        self.close(patience=0.1)
        words = " | ".join(self._last_words)
        status = self.process.returncode
        exited = f" (exit status {status})" if "ended" in what else ""
        return EngineError(
            f"{self.name}: {self._sent!r} was sent, {what}{exited}"
            + (f"; the end of its stderr: {words}" if words else "; nothing on stderr")
        )

    def _gone_after(self, seconds: float) -> bool:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        return self.process.returncode is not None

    def _signal(self, name: str) -> None:
        """Signals the process and those it started."""
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
            self._last_words.append(line.decode("utf-8", "replace").strip()[:300])
