"""The files of a run: settings, weights, games, metrics."""

import io
import json
import time
from pathlib import Path
from typing import Any

from alphago.nn.net import NeuralNet
from alphago.nn.weights import write_whole
from alphago.records.record import GameRecord, save_records


class RunFolder:
    """What training leaves on disk.

    config.json               game, network and settings
    weights.safetensors       the latest network; `load_model` reads it
    weights/games-N.safetensors   the network after N games
    games/games-M-N.npz       the records of games M to N - 1 (`load_records` reads them)
    metrics.jsonl             one line per iteration

    Every file appears whole, under its final name, or not at all; metrics are appended line by line.
    """

    def __init__(self, path: Path, config: dict[str, Any]) -> None:
        """Makes the folder; FileExistsError if it holds anything."""
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise FileExistsError(f"the run folder {path} cannot be made: a file is there") from None
        except OSError as error:
            raise type(error)(error.errno, f"the run folder cannot be made: {error.strerror}", str(path)) from error
        if any(path.iterdir()):
            raise FileExistsError(f"the run folder {path} is not empty: choose another folder for a new run")
        (path / "weights").mkdir()
        (path / "games").mkdir()
        write_whole(path / "config.json", (json.dumps(config, indent=2) + "\n").encode())
        self._saved_games = 0
        self._unsaved: list[GameRecord] = []

    def add_games(self, records: list[GameRecord]) -> None:
        """Keeps finished games for the next checkpoint's file."""
        self._unsaved += records

    def add_metrics(self, metrics: dict[str, Any]) -> None:
        """Appends one line to metrics.jsonl."""
        with open(self.path / "metrics.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps(metrics) + "\n")

    def checkpoint(self, net: NeuralNet, games: int, **notes: str) -> Path:
        """Saves the network after `games` games and the games since the last checkpoint; returns the weights' path.

        notes: what else is kept with the weights.
        """
        if self._unsaved:
            end = self._saved_games + len(self._unsaved)
            data = io.BytesIO()
            save_records(data, self._unsaved)
            write_whole(self.path / "games" / f"games-{self._saved_games:07d}-{end:07d}.npz", data.getvalue())
            self._saved_games, self._unsaved = end, []
        extra = {"games": str(games), **notes}
        net.save(self.path / "weights" / f"games-{games:07d}.safetensors", extra)
        latest = self.path / "weights.safetensors"
        net.save(latest, extra)
        return latest


def default_folder(name: str) -> Path:
    """runs/<name>-<date>-<time>, made unique by a number if it exists."""
    stem = f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"
    path, number = Path("runs") / stem, 1
    while path.exists():
        number += 1
        path = Path("runs") / f"{stem}-{number}"
    return path
