"""The games of `alphago selfplay` on disk."""

import contextlib
import io
import threading
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from alphago.env.game import GameEnv
from alphago.records import sgf
from alphago.records.record import GameRecord, save_records
from alphago.records.sgf_game import SgfGame
from alphago.system.files import LOCK, lock, write_atomic
from alphago.training.runs.folder import default_folder, new_folder


class GameFolder:
    """Keeps games as they end, behind a progress bar; a context, which tells in the end what is where."""

    def __init__(self, path: str | None, env: GameEnv, games: int, as_records: bool) -> None:
        """FileExistsError for a folder that holds anything, ImportError for SGF without sgfmill.

        path: the folder; None for a new one in `runs`.  It is made, and nobody else's, where the context begins.
        as_records: one file of records, instead of an SGF file for each game.
        """
        if games < 1:
            raise ValueError(f"--games is 1 or more, got {games}")
        if not as_records:
            sgf.load_grammar()  # an ImportError before anything is played
        self.given = path is not None
        self.path = Path(path) if path is not None else default_folder(f"selfplay-{env.name}{env.N}")
        self.expect_empty()
        self.env, self.games, self.as_records = env, games, as_records
        self.records: dict[int, GameRecord] = {}
        self.lock = threading.Lock()

    def expect_empty(self) -> None:
        if self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
            raise FileExistsError(f"{self.path} is no empty folder: choose another one")

    def __enter__(self) -> "GameFolder":
        """Takes the folder; FileExistsError or BlockingIOError if somebody else did meanwhile."""
        self.made = not self.given or not self.path.exists()
        if self.given:
            self.path.mkdir(parents=True, exist_ok=True)
            self.expect_empty()
        else:
            self.path = new_folder(f"selfplay-{self.env.name}{self.env.N}")
        self.taken = lock(self.path)
        self.bar = tqdm(total=self.games, unit="game", desc="self-play", dynamic_ncols=True)
        return self

    def add(self, number: int, record: GameRecord) -> None:
        """One game is over; called from several threads."""
        with self.lock:
            self.records[number] = record
            if not self.as_records:
                game = SgfGame.from_record(record, self.env, players=("alphago", "alphago"))
                write_atomic(self.path / f"{number:0{len(str(self.games))}d}.sgf", sgf.format_sgf(game))
            self.bar.update()

    def __exit__(self, kind: Any, *_: Any) -> None:
        """Writes the records, also those of a run that was interrupted, and tells the results."""
        self.bar.close()
        self.taken.close()
        (self.path / LOCK).unlink(missing_ok=True)
        records = [self.records[number] for number in sorted(self.records)]
        if records and self.as_records:
            data = io.BytesIO()
            save_records(data, records)
            write_atomic(self.path / "games.npz", data.getvalue())
        elif self.made and not self.records:
            with contextlib.suppress(OSError):  # something else is in it
                self.path.rmdir()
        if records or kind is None:
            black = sum(record.outcome > 0 for record in records)
            white = sum(record.outcome < 0 for record in records)
            drawn = len(records) - black - white
            print(f"{len(records)} games in {self.path}: Black won {black}, White {white}, drawn {drawn}")
