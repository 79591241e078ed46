"""Write a labelled dataset, part by part, so that a call that is stopped goes on where it was."""

import datetime
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from alphago.env.go import GoEnv
from alphago.records.begun import check_begun
from alphago.records.dataset import RESULT, rules_code
from alphago.records.dataset_writer import Collector, DatasetWriter, game_hash

PER_PART = 1000  # labels that are written together


class LabelWriter(DatasetWriter):
    """A labelled dataset opened for writing; a context manager that locks its folder.

    Each part has the number of the position that was drawn last, so that a later call can go on after it.

    path: the folder, new or begun by the same call.  env: the game.
    teacher: the entry `teacher` of the index, plain data.
    Raises ValueError if the folder has another dataset, or was begun with other games, settings or another teacher.
    """

    def __init__(self, path: str | Path, env: GoEnv, teacher: Mapping[str, Any]) -> None:
        super().__init__(path)
        self.env = env
        self.collector, self.labels = Collector(), list[np.ndarray]()  # of what is not yet written
        # The number of the position that was drawn last, -1 before the first.
        self.drawn = max((int(part["drawn"]) for part in self.index["parts"]), default=-1)
        try:
            self.check_begun(teacher)
        except ValueError:
            self.__exit__()
            raise
        self.index.setdefault("teacher", {**teacher, "date": datetime.date.today().isoformat()})

    def check_begun(self, teacher: Mapping[str, Any]) -> None:
        """Raise ValueError unless the dataset is new, or was begun with the same teacher."""
        if "teacher" not in self.index and (self.index["parts"] or self.index["imports"]):
            raise ValueError(f"{self.path} must be a new or a labelled dataset, got one of games")
        check_begun(self.path, self.index.get("teacher", teacher), teacher)

    @property
    def count(self) -> int:
        """The number of labels, including those not yet written."""
        return self.games + len(self.labels)

    def label(self, moves: np.ndarray, ply: int, komi: float, label: np.ndarray, drawn: int) -> None:
        """Add the position before a ply of a game from the empty board.

        moves: all moves of the game, without skipped turns; they determine the split of the position.
        label: of `label_dtype`.  drawn: the number of the position, larger than those of all earlier calls.
        """
        black_moves = ply % 2 == 0
        mover_wins = label["win"] > 0.5
        row = {
            "hash": game_hash(self.env.N, first=1, stones=0, words=moves.astype(np.uint16)),
            "length": ply + 1,
            "size": self.env.N,
            "first": 1,
            "outcome": 1 if mover_wins == black_moves else -1,
            "flags": RESULT,
            "komi2": round(2 * komi),
            "rules": rules_code(self.env.rules),
        }
        self.collector.add(row, moves[: ply + 1].astype("<u2"))
        self.labels.append(label)
        self.drawn = drawn
        if len(self.labels) >= PER_PART:
            self.flush()

    def flush(self) -> None:
        """Write the waiting labels as a part, then the index."""
        if self.labels:
            batch = self.collector.batch()
            arrays = {"games": batch.games, "moves": batch.moves, "labels": np.stack(self.labels)}
            self.write_part(arrays, drawn=self.drawn)
            self.collector, self.labels = Collector(), []
        self.write_index()
