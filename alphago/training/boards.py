"""The boards that a stage of a run plays in parallel: they share the network, but each has its own games and memory."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import torch

from alphago.env.game import GameEnv
from alphago.env.games import selfplay_game
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers
from alphago.records.record import GameRecord
from alphago.system.validation import qualified_name
from alphago.training.batches import apportion
from alphago.training.beginning import draw_beginning
from alphago.training.curriculum import Stage
from alphago.training.judges.resignation import AdaptiveThreshold, Resignation, calibrate
from alphago.training.lineup import Lineup
from alphago.training.memory import MakeMemory, ReplayMemory, Sample, window
from alphago.training.pool import SamplePool
from alphago.training.runs.shards import Shards
from alphago.training.runs.state import pack_arrays, unpack_arrays
from alphago.training.selfplay import GameSource, MakeSource
from alphago.training.settings import SelfPlaySettings, TrainingSettings

CALIBRATION_GAMES = 1000  # number of latest games on which the resignation threshold is calibrated


class BoardTraining:
    """One board of a run: the source of its games, its memory, and its share of the moves and batches.

    env: the game on this board.
    share: the board's share of the moves and batches, 0 .. 1.
    needed: number of positions in memory from which training on this board begins.
    selfplay: the settings of its games.
    adapts: whether to fit the resignation threshold to the games.
    """

    def __init__(
        self,
        env: GameEnv,
        share: float,
        memory: ReplayMemory | SamplePool,
        source: GameSource,
        needed: int,
        *,
        selfplay: SelfPlaySettings,
        adapts: bool,
    ) -> None:
        self.env = env
        self.selfplay = selfplay
        self.adaptive = AdaptiveThreshold() if adapts else None
        self.share = share
        self.memory = memory
        self.pool = memory if isinstance(memory, SamplePool) else None
        self.source = source
        self.needed = max(needed, 1)
        self.has_learned = self.may_learn  # whether training on this board has begun

    @property
    def size(self) -> str:
        """The board's size as it appears in names of metrics, such as "7x7"."""
        return f"{self.env.N}x{self.env.N}"

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

    def remember(
        self, records: list[GameRecord], capacity: int, samples_per_position: float = 1.0
    ) -> tuple[int, float]:
        """Put finished games into memory; return the number of new positions, and the number of samples to train on.

        The number of samples is 0 until the memory has `needed` positions.  The call that reaches `needed` returns
        `samples_per_position` times the number of positions added so far, and each later call `samples_per_position`
        times the number of its new positions.  For a pool, a call that completes a generation returns the number of
        samples in all epochs of that generation, and every other call returns 0 samples.

        records: the games.
        capacity: the number of positions that the memory keeps; a pool ignores it.
        samples_per_position: how often a position is drawn for training on average; a pool ignores it.
        """
        if self.adaptive is not None:
            self.adaptive.add([record for record in records if self._is_played_out(record)])
        before = self.memory.added
        self.memory.capacity = max(capacity, self.needed)
        self.memory.add(records)
        new = self.memory.added - before
        if self.pool is not None:
            ready = self.pool.is_due and len(self.pool) >= self.needed
            return new, float(self.pool.begin_generation()) if ready else 0.0
        if not self.may_learn:
            return new, 0.0
        due = new if self.has_learned else self.memory.added
        self.has_learned = True
        return new, due * samples_per_position

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


def tensor_name(board: int) -> str:
    """Return the name, in a run's state, of the tensor with the games in progress on boards of size `board`."""
    return f"selfplay{board}.games"


class Boards:
    """All boards of one stage of a run.

    The remaining games are divided among the boards.  A board's share is the part of all moves that is played on it.
    Games on a larger board are longer, in proportion to its area, so a larger board gets fewer games, and all boards
    finish at about the same time.  With B boards, board b gets every B-th of `numbers`, starting at the b-th; so no two
    games of a run have the same number and random generator.

    stage: the boards and their shares.
    numbers: the numbers of the remaining games.
    memories: the memories of the previous stage's boards; a board that was among them keeps its memory.
    workers: the threads that play.
    make_source, make_memory: create each board's source of games and its memory.
    device: where games are played.
    """

    def __init__(
        self,
        stage: Stage,
        settings: TrainingSettings,
        numbers: range,
        memories: Mapping[GameEnv, ReplayMemory | SamplePool],
        *,
        workers: Workers,
        make_source: MakeSource,
        make_memory: MakeMemory = ReplayMemory,
        device: str = "cpu",
    ) -> None:
        self.settings = settings
        selfplay = settings.selfplay(device)
        assert selfplay.games_in_flight is not None
        in_flight = apportion(selfplay.games_in_flight, [share for _, share in stage.boards])
        counts = apportion(len(numbers), [share / env.N**2 for env, share in stage.boards])
        self.boards = []
        for place, (env, share) in enumerate(stage.boards):
            variant = env if settings.exact_rules else selfplay_game(env).variant()
            memory = memories.get(env) or make_memory(
                variant,
                targets=settings.targets,
                surprise_share=settings.surprise_share,
                masked=settings.losses.masked,
            )
            first = numbers.start + place
            own = range(first, first + len(counts) * counts[place], len(counts))
            own_settings = replace(selfplay, games_in_flight=in_flight[place])
            source = make_source(variant, own_settings, own, workers, seed=settings.seed, device=device)
            needed = round(share * settings.start_training_after)
            adapts = settings.adaptive_resignation
            self.boards.append(BoardTraining(env, share, memory, source, needed, selfplay=own_settings, adapts=adapts))

    def __iter__(self) -> Iterator[BoardTraining]:
        return iter(self.boards)

    def __len__(self) -> int:
        return len(self.boards)

    @property
    def sources(self) -> list[GameSource]:
        """The boards' sources of games."""
        return [board.source for board in self.boards]

    @property
    def memories(self) -> dict[GameEnv, ReplayMemory | SamplePool]:
        """The boards' memories."""
        return {board.env: board.memory for board in self.boards}

    @property
    def added(self) -> int:
        """The number of positions ever added to the memories."""
        return sum(board.memory.added for board in self.boards)

    @property
    def begun(self) -> int:
        """A number greater than the numbers of all games begun so far, on all boards."""
        return max(source.begun for source in self.sources)

    @property
    def capacity(self) -> int:
        """The number of positions that all memories together may hold at this point of the run."""
        return min(window(self.added), self.settings.memory_size)

    def main(self, goal: GameEnv) -> BoardTraining:
        """Return the board for which networks are saved: the board of `goal`, or if the stage lacks it, the largest."""
        return max(self.boards, key=lambda board: (board.env == goal, board.env.N))

    def publish(self, net: NeuralNet, lineup: Lineup | None = None) -> None:
        """Let all boards play the next iterations with snapshots of a network and of a lineup's networks.

        net: the network, which each board gets in its own size.
        lineup: the networks that play beside `net`; None if `net` plays alone.
        """
        for board in self.boards:
            others = {} if lineup is None else {"lineup": lineup.resized(board.env)}
            board.source.publish(net.resized(board.env), self.settings.selfplay_dtype, **others)

    def begin(self, readouts: int, side_by_side: int) -> None:
        """Begin an iteration of self-play on all boards.

        readouts: simulations per move.  side_by_side: number of games in parallel, summed over all boards.
        """
        counts = apportion(side_by_side, [board.share for board in self.boards])
        for board, count in zip(self.boards, counts, strict=True):
            board.source.begin(self.settings.plies_per_iteration, readouts, count, board.resign_threshold)

    def learning(self) -> list[BoardTraining]:
        """Return the boards that have enough positions in memory to train on."""
        return [board for board in self.boards if board.may_learn]

    @property
    def pool(self) -> SamplePool | None:
        """The pool of merged samples from which the run learns; None for a run without a pool."""
        return self.boards[0].pool  # a run with a pool has one board at a time

    def sample(self, generator: np.random.Generator, number: int = 0) -> list[Sample]:
        """Return one batch as a list with a Sample for each board that has enough positions.

        The samples' sizes are in proportion to the boards' shares, and sum to `batch_size`.  With a pool the list has
        one Sample, which is batch `number` of the present generation.

        generator: draws the positions and symmetries.  number: unused without a pool.
        """
        if self.pool is not None:
            return [self.pool.batch(number, self.settings.batch_size, generator)]
        boards = self.learning()
        counts = apportion(self.settings.batch_size, [board.share for board in boards])
        return [board.memory.sample(count, generator) for board, count in zip(boards, counts, strict=True)]

    def time_spent(self) -> dict[str, float]:
        """Return for each kind of work its seconds since the last call, summed over all self-play threads."""
        spent: dict[str, float] = {}
        for source in self.sources:
            for work, seconds in source.time_spent().items():
                spent[work] = spent.get(work, 0.0) + seconds
        return spent

    def state(self) -> tuple[dict[str, torch.Tensor], list[dict[str, Any]]]:
        """Return tensors by name, and a list with plain data for each board, from which `restore` continues."""
        states = [board.state() for board in self.boards]
        return {name: tensor for tensors, _ in states for name, tensor in tensors.items()}, [data for _, data in states]

    def restore(self, shards: Shards, tensors: Mapping[str, torch.Tensor], data: Any) -> list[str]:
        """Continue from the `tensors` and `data` that `state` returned; the caller must have called `publish` before.

        shards: the run's saved games, from which the memories are filled.
        Returns sentences about damaged files, for a report.
        """
        notes: list[str] = []
        for board, board_data in zip(self.boards, data, strict=True):
            records, lost = shards.latest(board_data["memory"]["games"], board.env.N)
            board.restore(records, tensors, board_data)
            notes += lost
        return notes
