"""Save and load games at the terminal: SGF for Go, records (.npz) for other games."""

from pathlib import Path
from typing import Any, NamedTuple

from alphago.env.game import GameEnv
from alphago.env.games import require_go
from alphago.env.go_count import GoCount
from alphago.env.position import Position
from alphago.records.record import GameRecord, load_records, records_to_bytes
from alphago.records.sgf import SgfGame, salvage_sgf
from alphago.records.sgf.document import Additions, with_additions
from alphago.records.sgf.faults import TOLD
from alphago.system.files import explain_os_error, write_named
from alphago.ui.terminal.screen import Screen


class GameFiles:
    """Saves and loads one game.

    The files that the game was saved in or loaded from are the game's own (`own`): they are replaced without asking.
    """

    def __init__(self, env: GameEnv, screen: Screen) -> None:
        self.env = env
        self.screen = screen
        self.own: set[Path] = set()
        self.loaded: SgfGame | None = None  # the game of the SGF file that was loaded last

    def save(self, name: str, game: "GameToSave", replace: bool) -> Path:
        """Write the game as `save_game` does, add the file to `own`, and return its path.

        name: as typed. replace: whether to replace any file without asking.
        Raises FileExistsError if the file exists and may not be replaced.
        """
        path = file_path(name, "save")
        check_kind(path, self.env)
        if not replace and path.exists() and path.resolve() not in self.own:
            self.expect_consent(path)
        save_game(path, self.env, game._replace(loaded=self.loaded))
        self.own.add(path.resolve())
        return path

    def expect_consent(self, path: Path) -> None:
        """Ask whether to replace a file that is not the game's own; raise FileExistsError unless the answer is yes."""
        if not self.screen.interactive:
            raise FileExistsError(f"{path} exists and is not of this game; `save! {path}` replaces it")
        answer = self.screen.read(f"{path} exists and is not of this game.  Replace it? (yes or no) ")
        if answer.strip().lower() not in ("y", "yes"):
            raise FileExistsError(f"{path} stays as it is")

    def load(self, name: str) -> list[Position]:
        """Return the positions of a file as `load_game` does; the file becomes the game's only own file.

        Tells what is wrong with the file.  A faulty file does not become the game's own.
        """
        path = file_path(name, "load")
        faults: list[str] = []
        game, positions = load_game(path, self.env, faults)
        for fault in faults:
            self.screen.say(f"{fault}.")
        self.own = set() if faults else {path.resolve()}
        self.loaded = game if isinstance(game, SgfGame) else None
        if self.loaded is not None and self.loaded.scoring:
            self.screen.say(f"{path}: {self.loaded.scoring}.")
        return positions


class GameToSave(NamedTuple):
    """A game, and what else goes into its file.

    over: whether the game has ended; the SGF file of an unfinished game has no result.
    players: names of Black and White.
    counted: the count of a finished game, from which its file has the result and the territory.
    loaded: the game as it was loaded from a file; what was not changed since is written as it was.
    agreed: whether the player has agreed to the count.  Until then, a loaded game without further moves keeps the
        result of its file.
    """

    record: GameRecord
    over: bool = True
    players: tuple[str, str] = ("", "")
    counted: GoCount | None = None
    loaded: SgfGame | None = None
    agreed: bool = True

    def sgf(self, env: GameEnv) -> bytes:
        """Return the game, which was played in `env`, as SGF."""
        counted, loaded = self.counted, self.loaded
        result: dict[str, Any] = {} if self.over else {"result": ""}  # by default the record's
        if counted is not None:
            result = {"result": counted.result}
        game = SgfGame.from_record(self.record, env, players=self.players, **result)
        if loaded is not None and loaded.setup == game.setup:
            has_loaded_moves = (game.moves, game.movers) == (loaded.moves, loaded.movers)
            if has_loaded_moves and not self.agreed:  # the file's result stands until then
                counted = None
            keeps_result = has_loaded_moves and counted is None and not self.record.resigned
            game = loaded.with_moves(game, result=loaded.result if keeps_result else game.result)
        territory = {} if counted is None else counted.territory()
        return with_additions(game, Additions(territory=territory))


def save_game(path: Path, env: GameEnv, game: GameToSave) -> None:
    """Write a game atomically, replacing an existing file.

    Raises ValueError for a wrong suffix (see `check_kind`), OSError if the file cannot be written.
    """
    check_kind(path, env)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent}")
    write_named(path, game.sgf(env) if env.has_sgf else records_to_bytes([game.record]))


def load_game(path: Path, env: GameEnv, faults: list[str] | None = None) -> tuple[SgfGame | GameRecord, list[Position]]:
    """Return a saved game, and all of its positions in order; an SGF game ends before its first illegal move.

    faults: a list to which a message is added for each fault of an SGF file; None to raise ValueError for a fault.
    Raises ValueError for a file without a game of `env`, OSError for one that cannot be read.
    """
    check_kind(path, env)
    with explain_os_error(f"{path} cannot be read"):
        game: Any = first_game(path, env, faults) if env.has_sgf else only_record(path)
    try:
        positions = list(game.position(env).replay())
    except (TypeError, ValueError, IndexError) as error:  # set-up or moves of another game
        raise ValueError(f"{path} must hold a game of {env}: {error}") from None
    return game, positions


def first_game(path: Path, env: GameEnv, faults: list[str] | None) -> SgfGame:
    """Return the first game in an SGF file up to its first illegal move; the arguments are those of `load_game`.

    Raises ValueError for a fault that leaves no moves; if `faults` is None, for any fault.
    """
    games = salvage_sgf(path, env=require_go(env, "SGF files"))
    game = next(games)
    messages = [fault.of(str(path)) for fault in game.faults]
    if next(games, None) is not None:
        messages.append(f"{path} holds several games; this is the first")
    is_faulty = any(fault.kind not in TOLD for fault in game.faults)  # faults of TOLD kinds are only told
    leaves_no_moves = is_faulty and not game.moves
    if messages and (faults is None or leaves_no_moves):
        raise ValueError(messages[0])
    if faults is not None:
        faults += messages
    return game


def check_kind(path: Path, env: GameEnv) -> None:
    """Raise ValueError for the suffix .npz if the game is saved as SGF, or .sgf if it is saved as records."""
    kind, other = (".sgf", ".npz") if env.has_sgf else (".npz", ".sgf")
    if path.suffix.lower() == other:
        raise ValueError(f"games of {env.name} are saved as {kind}, not {other}: use {path.with_suffix(kind)}")


def only_record(path: Path) -> GameRecord:
    """Return the only record in a file; raise ValueError if there is not exactly one."""
    records = load_records(path)
    if len(records) != 1:
        raise ValueError(f"{path} must hold one game, got {len(records)}")
    return records[0]


def file_path(name: str, command: str) -> Path:
    """Return a typed path with "~" expanded; raise ValueError for an empty name or an unknown home folder."""
    if not name:
        raise ValueError(f"a file name is missing, as in `{command} game.sgf`")
    try:
        return Path(name).expanduser()
    except RuntimeError:
        raise ValueError(f"there is no home folder {Path(name).parts[0]}") from None
