"""Other programs as players: processes that speak the Go Text Protocol."""

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
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from alphago.env.game import GameBatch, IllegalMove
from alphago.env.go import GoEnv, result_text

GIVES_UP = -1  # in place of an action: the player has lost this game
LONGEST_REPLY = 1000  # lines
COLOURS = {1: "b", -1: "w"}


class EngineError(RuntimeError):
    """An engine did not do what it should; the text says what was sent, what came, and what was on stderr."""


class EngineRefusal(EngineError):
    """The engine answered a command with a failure; it goes on."""


@dataclass(frozen=True)
class GtpProgram:
    """How to run an engine.

    command: program and arguments; "{seed}" in an argument becomes a number that differs between games.
    start_timeout: seconds until the first answer.
    timeout: seconds for any later one.
    at_once: processes that run side by side in a match.
    """

    name: str
    command: tuple[str, ...]
    start_timeout: float = 60.0
    timeout: float = 120.0
    at_once: int = 32

    def start(self, seed: int) -> "GtpEngine":
        command = [argument.replace("{seed}", str(seed)) for argument in self.command]
        return GtpEngine(command, name=self.name, start_timeout=self.start_timeout, timeout=self.timeout)


def gnugo(level: int = 10) -> GtpProgram:
    """GNU Go, made to play games out under our rules, so that the board as it stands can be counted.

    Raises EngineError with a sentence where it is not installed.
    """
    places = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/games", "/usr/local/games"])
    path = shutil.which("gnugo", path=places)
    if path is None:
        raise EngineError(
            "GNU Go is not installed: there is no program gnugo on PATH or in /usr/games "
            "(`apt install gnugo`, or `brew install gnu-go`, brings it)"
        )
    options = "--chinese-rules --capture-all-dead --play-out-aftermath --positional-superko --never-resign"
    command = (path, "--mode", "gtp", *options.split(), "--level", str(level), "--seed", "{seed}")
    return GtpProgram(f"gnugo:{level}", command)


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
            try:
                raw = self._lines.get(timeout=max(0.0, self._due - time.monotonic()))
            except queue.Empty:
                raise self._failed(f"no answer came in {self._limit:g} s") from None
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
        """Ends the process: by asking, after `patience` seconds by force.  Does nothing the second time."""
        process = self.process
        if process.stdin is not None and not process.stdin.closed:
            with contextlib.suppress(OSError, ValueError):
                process.stdin.write(b"quit\n")
            with contextlib.suppress(OSError):
                process.stdin.close()
        if not self._gone_after(patience):
            self._signal("SIGTERM")
            self._gone_after(1.0)
            self._signal("SIGKILL")  # also what it started itself
            process.wait()
        for reader, pipe in zip(self._readers, (process.stdout, process.stderr), strict=True):
            reader.join(1.0)
            if pipe is not None and not reader.is_alive():  # else somebody it started holds the other end
                pipe.close()

    def __enter__(self) -> "GtpEngine":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

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


class GtpPlayer:
    """A program as one side of many games, with a process for each; `close` it when the games are over.

    seeds: one for each game.
    parallel: how many engines think at the same time.

    Its moves follow from the engine and its seed alone: `by_chance` is ignored.  Raises EngineError
    if an engine cannot be set up for the game; later, an engine that crashes, hangs, talks nonsense or
    plays an illegal move gives that game up, and `faults` says why.
    """

    def __init__(self, env: GoEnv, program: GtpProgram, seeds: Sequence[int], *, parallel: int = 1) -> None:
        self.env = env
        self.name = program.name
        self.parallel = max(1, parallel)
        self.batch: GameBatch = env.new_batch(len(seeds))
        self.moves: list[list[int]] = [[] for _ in seeds]
        self.faults: dict[int, str] = {}  # games it lost by a fault of its own
        self.scores: dict[int, str] = {}  # its `final_score` of finished games
        self._broken: dict[int, str] = {}  # engines that will give up when it is their turn
        self._own: dict[int, int] = {}  # moves that are on the engine's board, but not yet followed
        self.engines: list[GtpEngine] = []
        try:
            for seed in seeds:  # all start before one is waited for
                self.engines.append(program.start(seed))
            for engine in self.engines:
                for command in (f"boardsize {env.N}", "clear_board", f"komi {env.komi:g}"):
                    engine.ask(command)
        except BaseException:
            self.close()
            raise

    def choose(self, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        """Actions int32 [n], GIVES_UP where the engine failed or resigned."""
        actions = np.full(len(games), GIVES_UP, np.int32)
        movers = self.batch.to_play(games, np.empty(len(games), np.int8))
        for begin in range(0, len(games), self.parallel):
            part = range(begin, min(begin + self.parallel, len(games)))
            for i in part:
                self._attempt(int(games[i]), "genmove", COLOURS[int(movers[i])])
            for i in part:
                actions[i] = self._received(int(games[i]))
        return actions

    def follow(self, games: np.ndarray, actions: np.ndarray) -> None:
        movers = self.batch.to_play(games, np.empty(len(games), np.int8))
        for game, action, mover in zip(games.tolist(), actions.tolist(), movers.tolist(), strict=True):
            if self._own.pop(game, None) != action:
                self._tell(game, COLOURS[mover], self.env.to_text(action))
            self.moves[game].append(action)
        self.batch.play(games, actions)
        for game in games[self.batch.is_over(games, np.empty(len(games), np.bool_))].tolist():
            self._ask_score(game)

    def disagreement(self, game: int) -> str | None:
        """Both results, if the engine's count of the final board differs from Tromp and Taylor's."""
        if game not in self.scores:
            return None
        ours, said = self._position(game).score(), self.scores[game]
        return None if margin(said) == ours else f"{result_text(ours)} on the board, {said} says {self.name}"

    def close(self) -> None:
        """Ends all engines."""
        for engine in self.engines:
            engine.close()

    def _attempt(self, game: int, *words: str) -> None:
        """Sends a command; an engine that cannot take it is broken."""
        if game not in self._broken:
            try:
                self.engines[game].send(" ".join(words))
            except EngineError as error:
                self._broken[game] = str(error)

    def _tell(self, game: int, colour: str, move: str) -> None:
        """Tells a move, of which an engine may have its own opinion: then it loses the game."""
        self._attempt(game, "play", colour, move)
        if game not in self._broken:
            try:
                self.engines[game].receive()
            except EngineError as error:
                self._broken[game] = str(error)

    def _received(self, game: int) -> int:
        """The action that the engine answered, or GIVES_UP."""
        try:
            if game in self._broken:
                raise EngineError(self._broken[game])
            text = self.engines[game].receive()
            action = GIVES_UP if text.lower() == "resign" else self._position(game).check_action(self._read(text))
        except (EngineError, IllegalMove) as error:
            broken = isinstance(error, EngineError)
            self.faults[game] = str(error) if broken else f"{self.name} answered {text!r} to genmove: {error}"
            action = GIVES_UP
        if action == GIVES_UP:
            self.engines[game].close()
        else:
            self._own[game] = action
        return action

    def _read(self, text: str) -> int:
        try:
            return self.env.from_text(text)
        except ValueError as error:
            raise EngineError(f"{self.name} answered {text!r} to genmove: {error}") from None

    def _position(self, game: int):  # type: ignore[no-untyped-def]
        position = self.env.position()
        for action in self.moves[game]:
            position = position.play(action)
        return position

    def _ask_score(self, game: int) -> None:
        """Asks for the result of a finished game, which an engine need not know, and ends the engine."""
        if game not in self._broken:
            with contextlib.suppress(EngineError):
                score = self.engines[game].ask("final_score")
                if margin(score) is not None:
                    self.scores[game] = score
        self.engines[game].close()


def margin(text: str) -> float | None:
    """Black's margin in a `final_score` such as "B+3.5" or "0"; None if there is none in it."""
    match = re.fullmatch(r"([BbWw])\+([0-9]+(?:\.[0-9]*)?)", text.strip())
    if match:
        return float(match[2]) * (1 if match[1] in "Bb" else -1)
    return 0.0 if text.strip().lower() in ("0", "draw", "jigo") else None
