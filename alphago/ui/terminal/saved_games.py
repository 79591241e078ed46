"""Save and load games at the terminal: SGF for Go, records (.npz) for other games."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from alphago.env.game import GameEnv
from alphago.env.games import require_go
from alphago.env.go_count import GoCount
from alphago.env.position import Position
from alphago.records.record import GameRecord, load_records, records_to_bytes
from alphago.records.sgf import SgfGame, salvage_sgf
from alphago.records.sgf.document import format_continued
from alphago.records.sgf.faults import ACCEPTED
from alphago.system.files import explain_os_error, user_path, write_named
from alphago.ui.terminal.screen import Screen


class GameFiles:
    """Saves and loads one game.

    Files that the game was saved in or loaded from (`own_files`) are replaced without asking.
    """

    def __init__(self, env: GameEnv, screen: Screen) -> None:
        self.env, self.screen = env, screen
        self.own_files: set[Path] = set()
        self.loaded: SgfGame | None = None  # the game of the SGF file that was loaded last

    def check_path(self, name: str, command: str) -> Path:
        """Return the path of a file's name as typed, with "~" expanded.

        Args:
            command: "save" or "load", for the message about a missing name.

        Raises:
            ValueError: for an empty name, a name that no file can have, and the suffix of another kind of file: .npz if
                games are saved as SGF, .sgf if they are saved as records.
        """
        if not name:
            raise ValueError(f"a file name is missing, as in `{command} game.sgf`")
        path = user_path(name)
        kind, other = (".sgf", ".npz") if self.env.has_sgf else (".npz", ".sgf")
        if path.suffix.lower() == other:
            raise ValueError(f"games of {self.env.name} are saved as {kind}, not {other}: use {path.with_suffix(kind)}")
        return path

    def contents(
        self, record: GameRecord, is_over: bool, players: tuple[str, str], count: GoCount | None, is_agreed: bool
    ) -> bytes:
        """Return the bytes of the game's file.  What was not changed since the game was loaded is written as it was.

        Args:
            record: the game.
            is_over: whether the game has ended; the SGF file of an unfinished game has no result.
            players: names of Black and White.
            count: the count of a finished game, which gives the result and the territory in its file; None without one.
            is_agreed: whether the player has agreed to the count.  Until then, a loaded game without further moves
                keeps the result of its file.
        """
        if not self.env.has_sgf:
            return records_to_bytes([record])
        game = SgfGame.from_record(record, self.env, players=players)
        if count is not None:
            game = replace(game, result=count.result)
        elif not is_over:
            game = replace(game, result="")
        # Without a new result, `format_continued` puts back the result of the loaded file if no move was added.
        replaces_result = record.resigned or (is_agreed and count is not None)
        return format_continued(game, self.loaded, count, decided=replaces_result)

    def save(self, name: str, contents: bytes, overwrites: bool) -> Path:
        """Write the game atomically, add the file to `own_files`, and return its path.

        Args:
            name: the file's name as typed.
            contents: the bytes of the file.
            overwrites: whether to replace any file without asking.

        Raises:
            ValueError: for an invalid name, see `check_path`.
            FileExistsError: if the file exists and may not be replaced.
            OSError: if it cannot be written.
        """
        path = self.check_path(name, "save")
        if not overwrites and path.exists() and path.resolve() not in self.own_files:
            self.ask_consent(path)
        if not path.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {path.parent}")
        write_named(path, contents)
        self.own_files.add(path.resolve())
        return path

    def ask_consent(self, path: Path) -> None:
        """Ask whether to replace a file that is not the game's own; raise FileExistsError unless the answer is yes."""
        if not self.screen.interactive:
            raise FileExistsError(f"{path} exists and is not of this game; `save! {path}` replaces it")
        answer = self.screen.read(f"{path} exists and is not of this game.  Replace it? (yes or no) ")
        if answer.strip().lower() not in ("y", "yes"):
            raise FileExistsError(f"{path} stays as it is")

    def load(self, name: str) -> list[Position]:
        """Return all positions of a saved game in order; the file becomes the only one of `own_files`.

        Before each move its player is to move, also where the other side's turn was skipped.
        An SGF game ends before its first illegal move.  Faults of the file are printed, and a faulty file does not
        become one of `own_files`, so that it is not replaced without asking.

        Raises:
            ValueError: for a file without a game of `env`.
            OSError: for one that cannot be read.
        """
        path = self.check_path(name, "load")
        faults: list[str] = []
        with explain_os_error(f"{path} cannot be read"):
            games: list[Any] = [first_game(path, self.env, faults)] if self.env.has_sgf else [*load_records(path)]
        if len(games) != 1:
            raise ValueError(f"{path} must hold one game, got {len(games)}")
        try:
            positions = games[0].position(self.env).positions_to_move()
        except (TypeError, ValueError, IndexError) as error:  # set-up or moves of another game
            raise ValueError(f"{path} must hold a game of {self.env}: {error}") from None
        self.own_files = set() if faults else {path.resolve()}
        self.loaded = games[0] if self.env.has_sgf else None
        for fault in faults:
            self.screen.say(f"{fault}.")
        if self.loaded is not None and self.loaded.scoring_notice:  # a sentence, about no fault of the file
            self.screen.say(f"{path}: {self.loaded.scoring_notice}.")
        return positions


def first_game(path: Path, env: GameEnv, faults: list[str]) -> SgfGame:
    """Return the first game in an SGF file up to its first illegal move.

    Args:
        faults: messages about the file are added to this list.

    Raises:
        ValueError: for a fault that leaves no moves.
    """
    games = salvage_sgf(path, env=require_go(env, "SGF files"))
    game = next(games)
    faults += [fault.of(str(path)) for fault in game.faults]
    # A file without moves holds a game all the same if its only faults are of the kinds ACCEPTED, which cost no moves.
    if not game.moves and any(fault.kind not in ACCEPTED for fault in game.faults):
        raise ValueError(faults[0])
    if next(games, None) is not None:
        faults.append(f"{path} holds several games; this is the first")
    return game
