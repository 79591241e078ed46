"""The games of `alphago selfplay` on disk."""

import io
import threading
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from alphago.env.game import GameEnv
from alphago.nn.weights import write_whole
from alphago.records import sgf
from alphago.records.record import GameRecord, save_records
from alphago.records.sgf_game import SgfGame
from alphago.training.checkpoint import default_folder


class GameFolder:
    """Keeps games as they end, behind a progress bar; a context, which tells in the end what is where."""

    def __init__(self, path: str | None, env: GameEnv, games: int, as_records: bool) -> None:
        """FileExistsError for a folder that holds anything, ImportError for SGF without sgfmill.

        as_records: one file of records, instead of an SGF file for each game.
        """
        if games < 1:
            raise ValueError(f"--games is 1 or more, came {games}")
        if not as_records:
            sgf.load_grammar()  # an ImportError before anything is played
        self.path = default_folder(f"selfplay-{env.name}{env.N}") if path is None else Path(path)
        if self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
            raise FileExistsError(f"{self.path} is no empty folder: choose another one")
        self.env, self.games, self.as_records = env, games, as_records
        self.records: dict[int, GameRecord] = {}
        self.lock = threading.Lock()

    def __enter__(self) -> "GameFolder":
        self.bar = tqdm(total=self.games, unit="game", desc="self-play", dynamic_ncols=True)
        return self

    def add(self, number: int, record: GameRecord) -> None:
        """One game is over; called from several threads."""
        with self.lock:
            self.path.mkdir(parents=True, exist_ok=True)
            self.records[number] = record
            if not self.as_records:
                game = SgfGame.from_record(record, self.env, players=("alphago", "alphago"))
                write_whole(self.path / f"{number:0{len(str(self.games))}d}.sgf", sgf.format_sgf(game))
            self.bar.update()

    def __exit__(self, kind: Any, *_: Any) -> None:
        """Writes the records, also those of a run that was interrupted, and tells the results."""
        self.bar.close()
        records = [self.records[number] for number in sorted(self.records)]
        if records and self.as_records:
            data = io.BytesIO()
            save_records(data, records)
            write_whole(self.path / "games.npz", data.getvalue())
        if records or kind is None:
            black = sum(record.outcome > 0 for record in records)
            white = sum(record.outcome < 0 for record in records)
            drawn = len(records) - black - white
            print(f"{len(records)} games in {self.path}: Black won {black}, White {white}, drawn {drawn}")
