"""A stage of a run: the game of one board, the source of its games, its memory, and its threshold of resignation."""

from collections.abc import Mapping
from typing import Any

import torch

from alphago.env.game import GameEnv
from alphago.env.games import selfplay_game
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers
from alphago.records.record import GameRecord
from alphago.system.cores import available_cores
from alphago.system.validation import qualified_name
from alphago.training.beginning import draw_beginning
from alphago.training.memory import Memory
from alphago.training.resignation import AdaptiveThreshold, Resignation, calibrate
from alphago.training.runs.state import pack_arrays, tensor_name, unpack_arrays
from alphago.training.settings.run_settings import RunSettings
from alphago.training.source import GameSource, MakeSource

CALIBRATION_GAMES = 1000  # number of latest games on which the resignation threshold is calibrated


class Stage:
    """The parts of a run that belong to one board: the source of games, the memory, and the resignation threshold.

    Each board of the curriculum has a stage, and the game's own board has the last.

    env: the game on this board.
    numbers: the numbers of the remaining games.
    workers: the threads that play.
    make_source: creates the source of games.
    kept: the memory of the previous stage, if that stage had the same board; None to make a new memory.
    device: where games are played.
    """

    def __init__(
        self,
        env: GameEnv,
        settings: RunSettings,
        numbers: range,
        workers: Workers,
        *,
        make_source: MakeSource,
        kept: Memory | None = None,
        device: str = "cpu",
    ) -> None:
        self.env = env
        self.variant = env if settings.exact_rules else selfplay_game(env).variant()  # the game of self-play
        self.settings = settings
        self.selfplay = settings.selfplay
        self.adaptive = AdaptiveThreshold() if settings.adaptive_resignation else None
        self.memory = kept or settings.memory.make_memory(
            self.variant,
            targets=settings.target_rule,
            masked=settings.learning.weights.masked,
            start=settings.start_training_after,
            seed=settings.seed,
            # Beside a GPU the cores have time for samples; on a CPU the learner needs them.
            threads=1 if device == "cpu" else max(1, min(8, available_cores() // 2)),
        )
        self.source: GameSource = make_source(
            self.variant, self.selfplay, numbers, workers, seed=settings.seed, device=device
        )

    @property
    def source_class(self) -> str:
        """The class that defines the source's method `state`, as "module:name"; the source may be of a subclass."""
        return qualified_name(type(self.source).state).removesuffix(".state")

    def publish(self, net: NeuralNet) -> None:
        """Let the next iterations be played with a snapshot of a network, which is resized to this board."""
        self.source.publish(net.resized(self.env), self.settings.selfplay_dtype)

    def begin(self, readouts: int, side_by_side: int) -> None:
        """Begin an iteration of self-play; readouts: simulations per move.  side_by_side: number of parallel games."""
        self.source.begin(
            self.settings.plies_per_iteration,
            readouts=readouts,
            side_by_side=side_by_side,
            resign_threshold=self.resign_threshold,
        )

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

        No player could resign if there is no threshold, or if the game's random draw disabled resignation.
        """
        if self.resign_threshold is None:
            return True
        if record.seed is None:  # a source of the user's own: the draw is unknown
            return False
        seed, number = record.seed
        return not draw_beginning(self.variant, self.selfplay, seed, number).may_resign

    def resignation(self) -> Resignation | None:
        """Return the fitted resignation threshold with its errors, for a checkpoint; None if no threshold was found.

        If the threshold is not adaptive, it is fitted now to the latest CALIBRATION_GAMES games in memory.
        """
        if self.adaptive is not None:
            return self.adaptive.found
        return calibrate(self.memory.latest(CALIBRATION_GAMES))

    def state(self) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
        """Return what `restore` needs beside the games in memory: tensors by name, and plain data."""
        games, source = self.source.state()
        data: dict[str, Any] = {
            "memory": self.memory.state(),
            "source": source,
            "source_class": self.source_class,
            "adaptive": None if self.adaptive is None else self.adaptive.state(),
        }
        return {tensor_name(self.env.N): pack_arrays(games)}, data

    def restore(self, records: list[GameRecord], tensors: Mapping[str, torch.Tensor], data: Any) -> None:
        """Continue from the `tensors` and `data` that `state` returned.

        records: the games that were in memory, oldest first.
        Raises ValueError if the games in progress were played by another class of source.
        """
        was, now = data["source_class"], self.source_class
        if was != now:
            raise ValueError(f"source must make what played the run's unfinished games, {was}, got {now}")
        self.memory.restore(records, data["memory"])
        if self.adaptive is not None and data["adaptive"] is not None:
            self.adaptive.restore(data["adaptive"])
        self.source.restore(unpack_arrays(tensors[tensor_name(self.env.N)]), data["source"])
