"""A stage of a run: the game of one board, the source of its games, its memory, and its threshold of resignation."""

from collections.abc import Mapping
from typing import Any

import torch

from alphago.env.game import GameEnv
from alphago.nn.threads import Workers
from alphago.records.record import GameRecord
from alphago.system.cores import available_cores
from alphago.system.npz import npz_bytes, read_npz
from alphago.system.validation import qualified_name
from alphago.training.memory import Memory
from alphago.training.resignation import AdaptiveThreshold, calibrate, list_sides
from alphago.training.settings.run_settings import RunSettings
from alphago.training.settings.selfplay_settings import draw_start
from alphago.training.source import MakeSource
from alphago.training.targets import as_targets

GAMES = "selfplay.games"  # name, in a run's state, of the tensor with the games in progress
CALIBRATION_GAMES = 1000  # number of latest games on which the resignation threshold is calibrated


class Stage:
    """The parts of a run that belong to one board: the source of games, the memory, and the resignation threshold.

    Each board of the curriculum has a stage, and the game's own board has the last.

    Args:
        env: the game on this board.
        numbers: the numbers of the remaining games.
        workers: the threads that play.
        make_source: creates the source of games.
        device: "cpu" or a GPU such as "cuda", where the games are played.
    """

    def __init__(
        self,
        env: GameEnv,
        settings: RunSettings,
        numbers: range,
        workers: Workers,
        *,
        make_source: MakeSource,
        device: str,
    ) -> None:
        self.env = env
        self.variant = env if settings.exact_rules else env.selfplay_variant()  # the game of self-play
        self.settings = settings
        self.selfplay = settings.selfplay
        self.adaptive = AdaptiveThreshold() if settings.adaptive_resignation else None
        self.memory: Memory = settings.memory.make_memory(
            self.variant,
            targets=as_targets(settings.targets),
            masked=settings.learning.weights.masked,
            start=settings.start_training_after,
            seed=settings.seed,
            # Beside a GPU the cores have time for samples; on a CPU the learner needs them.
            threads=1 if device == "cpu" else max(1, min(8, available_cores() // 2)),
        )
        self.source = make_source(self.variant, self.selfplay, numbers, workers, seed=settings.seed, device=device)

    @property
    def source_class(self) -> str:
        """The class that defines the source's method `state`, as "module:name".

        A state can be restored by any class that inherits this method, so the source's own class does not matter.
        """
        return qualified_name(type(self.source).state).removesuffix(".state")

    def remember(self, records: list[GameRecord]) -> float:
        """Put finished games into memory; return the number of samples to train on that become due."""
        if self.adaptive is not None:
            self.adaptive.add([record for record in records if self._is_played_out(record)])
        return self.memory.remember(records)

    @property
    def resign_threshold(self) -> float | None:
        """The root value below which a player resigns in self-play; None if players never resign.

        This is the threshold fitted to the games if there is such a threshold, otherwise the settings' threshold.
        """
        fitted = None if self.adaptive is None else self.adaptive.threshold
        return self.selfplay.resign_threshold if fitted is None else fitted

    def _is_played_out(self, record: GameRecord) -> bool:
        """Return whether no player could resign in a finished game.

        That is so if there is no threshold, or if the game's random draw disabled resignation.
        """
        if self.resign_threshold is None:
            return True
        if record.seed is None:  # a source of the user's own: the draw is unknown
            return False
        return not draw_start(self.variant, self.selfplay, *record.seed).may_resign  # (run's seed, game's number)

    def notes(self) -> dict[str, str]:
        """Return the fitted resignation threshold with its errors as texts, for a checkpoint; {} if there is none.

        If the threshold is not adaptive, it is fitted now to the latest CALIBRATION_GAMES games in memory.
        """
        fit = self.adaptive.fit if self.adaptive else calibrate(list_sides(self.memory.latest(CALIBRATION_GAMES)))
        return {} if fit is None else fit.notes()

    def state(self) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
        """Return what `restore` needs beside the games in memory: tensors by name, and plain data."""
        games, source = self.source.state()
        data: dict[str, Any] = {
            "memory": self.memory.state(),
            "source": source,
            "source_class": self.source_class,
            "adaptive": None if self.adaptive is None else self.adaptive.state(),
        }
        packed = torch.frombuffer(bytearray(npz_bytes(games)), dtype=torch.uint8)  # torch wants memory that may change
        return {GAMES: packed}, data

    def restore(self, records: list[GameRecord], tensors: Mapping[str, torch.Tensor], data: Any) -> None:
        """Continue from a saved state.

        Args:
            records: the games that were in memory, oldest first.
            tensors, data: the results of `state`.

        Raises:
            ValueError: if the games in progress are from a source of another class (`source_class`) than this stage's.
        """
        saved_class, own_class = data["source_class"], self.source_class
        if own_class != saved_class:
            played = f"{saved_class}, which played the run's unfinished games"
            raise ValueError(f"source must make a {played}, got {own_class}")
        self.memory.restore(records, data["memory"])
        if self.adaptive is not None and data["adaptive"] is not None:
            self.adaptive.restore(data["adaptive"])
        self.source.restore(read_npz(tensors[GAMES].numpy().data), data["source"])
