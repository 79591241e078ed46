"""A stage of a run: the game of one board, the source of its games, its memory, and its threshold of resignation."""

from collections.abc import Mapping
from itertools import islice
from typing import Any

import numpy as np
import torch

from alphago.env.game import GameEnv
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers
from alphago.records.record import GameRecord
from alphago.system.validation import qualified_name
from alphago.training.beginning import draw_beginning
from alphago.training.lineup import Lineup
from alphago.training.memory import MakeMemory, ReplayMemory, Sample, window
from alphago.training.pool import SamplePool
from alphago.training.resignation import AdaptiveThreshold, Resignation, calibrate
from alphago.training.runs.state import pack_arrays, tensor_name, unpack_arrays
from alphago.training.settings import TrainingSettings
from alphago.training.source import GameSource, MakeSource

CALIBRATION_GAMES = 1000  # number of latest games on which the resignation threshold is calibrated


class Stage:
    """What a run has on one board of its curriculum, and in the end on the game's own.

    env: the game on this board.
    numbers: the numbers of the remaining games.
    workers: the threads that play.
    make_source, make_memory: create the source of games and the memory.
    memory: the previous stage's memory, if that had the same board; None for a new one.
    device: where games are played.
    """

    def __init__(
        self,
        env: GameEnv,
        settings: TrainingSettings,
        numbers: range,
        workers: Workers,
        *,
        make_source: MakeSource,
        make_memory: MakeMemory = ReplayMemory,
        memory: ReplayMemory | SamplePool | None = None,
        device: str = "cpu",
    ) -> None:
        self.env = env
        self.settings = settings
        self.selfplay = settings.selfplay(device)
        self.adaptive = AdaptiveThreshold() if settings.adaptive_resignation else None
        variant = env if settings.exact_rules else env.training_variant()
        self.memory = memory or make_memory(
            variant, targets=settings.targets, surprise_share=settings.surprise_share, masked=settings.losses.masked
        )
        self.pool = self.memory if isinstance(self.memory, SamplePool) else None
        self.source: GameSource = make_source(
            variant, self.selfplay, numbers, workers, seed=settings.seed, device=device
        )
        self.needed = max(1, settings.start_training_after)
        self.has_learned = self.may_learn  # whether training on this board has begun

    @property
    def source_class(self) -> str:
        """The class that defines the source's method `state`, as "module:name"; the source may be of a subclass."""
        return qualified_name(type(self.source).state).removesuffix(".state")

    @property
    def may_learn(self) -> bool:
        """Whether training on this board may begin.

        For a ReplayMemory: whether it has at least `needed` positions.  For a pool: whether its first generation of
        games is complete.
        """
        return len(self.memory) >= self.needed if self.pool is None else self.pool.can_learn

    def remember(self, records: list[GameRecord]) -> tuple[int, float]:
        """Put finished games into memory; return the number of new positions, and the number of samples to train on.

        The number of samples is 0 until the memory has `needed` positions.  The call that reaches `needed` returns
        `samples_per_position` times the number of positions added so far, and each later call `samples_per_position`
        times the number of its new positions.  For a pool, a call that completes a generation returns the number of
        samples in all epochs of that generation, and every other call returns 0 samples.

        The memory keeps as many positions as `window` says, at most `memory_size`.
        """
        if self.adaptive is not None:
            self.adaptive.add([record for record in records if self._is_played_out(record)])
        before = self.memory.added
        self.memory.capacity = max(min(window(before), self.settings.memory_size), self.needed)
        self.memory.add(records)
        new = self.memory.added - before
        if self.pool is not None:
            ready = self.pool.is_due and len(self.pool) >= self.needed
            return new, float(self.pool.begin_generation()) if ready else 0.0
        if not self.may_learn:
            return new, 0.0
        due = new if self.has_learned else self.memory.added
        self.has_learned = True
        return new, due * self.settings.samples_per_position

    @property
    def resign_threshold(self) -> float | None:
        """The root value below which a player resigns in self-play; None if players never resign.

        It is the threshold fitted to the games if there is one, otherwise the settings' threshold.
        """
        fitted = None if self.adaptive is None else self.adaptive.threshold
        return self.selfplay.resign_threshold if fitted is None else fitted

    def _is_played_out(self, record: GameRecord) -> bool:
        """Return whether no player could resign in a finished game.

        That is so if there is no threshold, or if the game's random draw disabled resignation.
        """
        if self.resign_threshold is None:
            return True
        return record.seed is not None and not draw_beginning(self.memory.env, self.selfplay, *record.seed).may_resign

    def resignation(self) -> Resignation | None:
        """Return the fitted resignation threshold with its errors, for a checkpoint; None if no threshold was found.

        If the threshold is not adaptive, it is fitted now to the latest CALIBRATION_GAMES games in memory.
        """
        if self.adaptive is not None:
            return self.adaptive.found
        return calibrate([entry.record for entry in islice(reversed(self.memory.entries), CALIBRATION_GAMES)])

    def state(self) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
        """Return what `restore` needs, except the games in memory: tensors by name, and plain data."""
        games, source = self.source.state()
        data = {
            "memory": self.memory.state(),
            "has_learned": self.has_learned,
            "source": source,
            "source_class": self.source_class,
        }
        data["adaptive"] = None if self.adaptive is None else self.adaptive.state()
        return {tensor_name(self.env.N): pack_arrays(games)}, data

    def restore(self, records: list[GameRecord], tensors: Mapping[str, torch.Tensor], data: Any) -> None:
        """Continue from the `tensors` and `data` that `state` returned.

        records: the games that were in memory, oldest first.
        Raises ValueError if the games in progress were played by another class of source.
        """
        was, now = data["source_class"], self.source_class
        if was != now:
            raise ValueError(
                f"source must make what played the run's unfinished games, {was}, got {now}: a supervised run is "
                "resumed by `alphago supervised DATASET --folder RUN`, others by `alphago train --folder RUN`"
            )
        self.memory.restore(records, **{name: value for name, value in data["memory"].items() if name != "games"})
        self.has_learned = data["has_learned"]
        if self.adaptive is not None and data["adaptive"] is not None:
            self.adaptive.restore(data["adaptive"])
        self.source.restore(unpack_arrays(tensors[tensor_name(self.env.N)]), data["source"])

    def publish(self, net: NeuralNet, lineup: Lineup | None = None) -> None:
        """Let the next iterations be played with snapshots of a network and of a lineup's networks.

        net: the network, which is resized to this board.
        lineup: the networks that play beside `net`; None if `net` plays alone.
        """
        others = {} if lineup is None else {"lineup": lineup.resized(self.env)}
        self.source.publish(net.resized(self.env), self.settings.selfplay_dtype, **others)

    def begin(self, readouts: int, side_by_side: int) -> None:
        """Begin an iteration of self-play; readouts: simulations per move.  side_by_side: number of parallel games."""
        self.source.begin(self.settings.plies_per_iteration, readouts, side_by_side, self.resign_threshold)

    def batch(self, number: int, generator: np.random.Generator) -> Sample:
        """Return a batch of `batch_size` positions; for a pool, batch `number` of the present generation.

        generator: draws the positions and symmetries.
        """
        if self.pool is not None:
            return self.pool.batch(number, self.settings.batch_size, generator)
        return self.memory.sample(self.settings.batch_size, generator)
