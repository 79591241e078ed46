"""GTP engines: programs that speak the Go Text Protocol, and the processes that run them."""

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from alphago.arena.line_process import EngineError, LineProcess, split_command
from alphago.env.go_rules import Rules
from alphago.system.validation import check_int, check_positive, checks_keywords, printable, shown

COMMAND_PREFIX = "gtp:"  # begins the name of an engine that is given by its command
LONGEST_REPLY = 1000  # most lines of a reply


@checks_keywords()
@dataclass(frozen=True)
class Engine:
    """A program that speaks GTP, and how to start it.

    Attributes:
        name: the engine's name in results and messages.
        command: program and arguments; "{seed}" in an argument is replaced by a number that differs between games.
        start_timeout: seconds until the first reply.
        timeout: seconds until any later reply, and between two lines of a reply.
        at_once: how many processes one side of a match may run at the same time, at least 1.
        rule_options: function from the match's rules of ko and suicide to further arguments of the program; None for a
            program that always plays by its own rules.

    Raises:
        ValueError: for an invalid value, such as a command in one string.
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
        return EngineProcess(self, command)


def gnugo(level: int = 10) -> Engine:
    """Return GNU Go as an Engine, at a level.

    Raises:
        ValueError: for a level outside 0 .. 10.
        EngineError: if GNU Go is not installed.
    """
    check_int("GNU Go's level", level, 0, 10)
    search_path = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/games", "/usr/local/games"])
    path = shutil.which("gnugo", path=search_path)
    if path is None:
        advice = "`apt install gnugo` or `brew install gnu-go` installs it"
        raise EngineError(f"GNU Go is not installed: there is no program gnugo on PATH or in /usr/games ({advice})")
    options = "--chinese-rules --capture-all-dead --play-out-aftermath --never-resign"
    command = (path, "--mode", "gtp", *options.split(), "--level", str(level), "--seed", "{seed}")
    return Engine(f"gnugo:{level}", command, rule_options=gnugo_rules)


def gnugo_rules(rules: Rules) -> tuple[str, ...]:
    """Return GNU Go's command-line arguments for rules of ko and suicide.

    In GNU Go, as in `Rules`, suicide means the suicide of several stones, never of a single stone.
    """
    ko = "--simple-ko" if rules.ko == "simple" else f"--{rules.ko}-superko"
    suicide = "--allow-suicide" if rules.suicide else "--forbid-suicide"
    return ko, suicide


def engine_of_command(name: str) -> Engine:
    """Return the engine called "gtp:COMMAND".

    Args:
        name: "gtp:" and a command, which is split as by `split_command`.

    Raises:
        ValueError: for an invalid command.
        EngineError: if the program does not exist.
    """
    message = f"after {COMMAND_PREFIX} must come a command such as 'gtp:./engine --argument', got {name!r}"
    program, *arguments = split_command(name.removeprefix(COMMAND_PREFIX), message)
    if shutil.which(program) is None:
        raise EngineError(f"{name} cannot be started: there is no program {program}")
    return Engine(name, (program, *arguments))


class EngineProcess(LineProcess):
    """A running GTP engine; call `close` at the end, or use it in a `with` statement.

    Args:
        engine: gives the name in messages, and the time for replies.
        command: program and arguments.
        options: further options of `LineProcess`.
    """

    farewell = b"quit\n"
    refusal = "{name} refused {command}: {text}"  # message for a failure reply; text: the reply without its ?

    def __init__(self, engine: Engine, command: Sequence[str], **options: Any) -> None:
        super().__init__(command, name=engine.name, **options)
        self.timeout = engine.timeout
        self._limit = engine.start_timeout  # seconds for the next reply

    def ask(self, command: str) -> str:
        """Send a command and return the text of the reply.

        Raises:
            EngineError: for a failure reply ("? ..."); then the process keeps running.  Also if the engine crashes,
                hangs or does not speak GTP; then the process is ended.
        """
        self.write_line(command)
        while not (line := self.read_line(self._limit).strip()):
            pass  # empty lines before the reply are skipped
        if line[0] not in "=?":
            raise self.abort(f"the reply {line[:200]!r} is not GTP")
        lines = [line]
        while lines[-1]:  # an empty line ends the reply
            if len(lines) > LONGEST_REPLY:
                raise self.abort(f"the reply has more than {LONGEST_REPLY} lines")
            lines.append(self.read_line(self._limit).strip())
        self._limit = self.timeout  # only the first reply may take longer, since the engine starts
        text = "\n".join([lines[0][1:].strip(), *lines[1:-1]])  # without the = or ?, and the empty line at the end
        if lines[0][0] == "?":
            raise EngineError(self.refusal.format(name=self.name, command=shown(command), text=printable(text)))
        return text
