"""Players in files of their own, such as those that a class hands in: a function `choose(position)` in each."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from alphago.arena.engine import Engine, EngineProcess
from alphago.arena.engine_player import ProgramPlayer
from alphago.arena.line_process import EngineError
from alphago.env.game import GameEnv
from alphago.env.games import importable_name
from alphago.system.children import child_environment, python_command
from alphago.system.files import user_path
from alphago.system.validation import check_positive, checks_keywords

START_SECONDS = 60.0  # until a file is imported: torch alone takes some seconds
MOVE_SECONDS = 5.0


@checks_keywords()
@dataclass(frozen=True)
class Submission:
    """A Python file with a function `choose(position)`, which returns a move as an action or as text.

    The file runs in a process of its own, in a temporary folder, and may import anything.  It is imported once for many
    games, and each call of `choose` finds Python's and numpy's random generators seeded anew.

    Attributes:
        file: the path.
        move_seconds: time for a move, by the clock; who exceeds it forfeits the game.
    """

    file: str
    move_seconds: float = MOVE_SECONDS

    def __post_init__(self) -> None:
        check_positive("move_seconds", self.move_seconds)

    @property
    def path(self) -> Path:
        """The absolute path of the file."""
        return user_path(self.file).resolve()


def find_submission(name: str) -> Submission | None:
    """Return the submission in the file called `name`; None if this is no Python file."""
    return Submission(name) if name.endswith(".py") and user_path(name).is_file() else None


def game_text(env: GameEnv) -> str:
    """Return a game's class and config as text, from which a submission's process makes the game.

    Raises:
        ValueError: for a game that another process cannot import.
    """
    try:
        # In hexadecimal digits the text has no blanks, and is one word of the command "begin".
        return json.dumps([importable_name(env, who="submissions"), dict(env.config)]).encode().hex()
    except TypeError as error:
        raise ValueError(f"submissions must be able to make the game from its config: {error}, got {env}") from None


class SubmissionProcess(EngineProcess):
    """The process of a submission, see `alphago.arena.submission_process`; it has a temporary folder of its own.

    A failure reply means an exception in the submission; the process goes on.

    Args:
        game_text: what the function `game_text` returns.
    """

    farewell = b""  # the process ends when its input does
    refusal = "{name}: {text}"  # an exception says enough: the command that was sent is left out

    def __init__(self, submission: Submission, game_text: str) -> None:
        self.folder = TemporaryDirectory(prefix="submission-", ignore_cleanup_errors=True)
        command = python_command("-B", "-m", "alphago.arena.submission_process", str(submission.path))
        environment = {**child_environment(), "TMPDIR": self.folder.name, "OMP_NUM_THREADS": "1"}
        engine = Engine(submission.file, tuple(command), START_SECONDS, submission.move_seconds)
        super().__init__(engine, command, cwd=self.folder.name, env=environment)
        try:
            self.ask(f"begin {game_text}")  # not on the command line, which may be too short for it
        except BaseException:
            self.close()
            raise

    def close(self, patience: float = 1.0) -> None:
        """End the process as `LineProcess.close` does, and remove the temporary folder."""
        super().close(patience)
        self.folder.cleanup()


class SubmissionPlayer(ProgramPlayer):
    """A submission as one side of many games, which one process plays; if the process ends, a new one is started.

    Args:
        seeds: the random seed of each game.

    Raises:
        ValueError: for a game that another process cannot import.
    """

    question = "choose"

    def __init__(self, env: GameEnv, submission: Submission, seeds: Sequence[int]) -> None:
        super().__init__(env, submission.file, len(seeds))
        self.submission, self.seeds = submission, seeds
        self.game_text = game_text(env)
        self.process: SubmissionProcess | None = None
        self.import_error = ""  # why the file cannot be imported; "" if it is not known to fail

    def ask_move(self, game: int) -> int:
        """Return the move that the submission's `choose` returns in a game; the process is started if none runs."""
        seed = self.seeds[game] + len(self.moves[game])  # another seed for each move
        words = ["choose", str(seed), *map(self.env.to_text, self.moves[game])]
        return self.read_move(game, self._start().ask(" ".join(words)))

    def _start(self) -> SubmissionProcess:
        """Return the process, started if it does not run; raise EngineError if it cannot import the file."""
        if self.import_error:
            raise EngineError(self.import_error)
        if self.process is None or self.process.closed:
            try:
                self.process = SubmissionProcess(self.submission, self.game_text)
            except EngineError as error:
                self.import_error = str(error)
                raise
        return self.process

    def close(self) -> None:
        if self.process is not None:
            self.process.close()
