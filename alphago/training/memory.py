"""The replay memory: the latest games, from which training draws its samples."""

import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from alphago.env.batch import GameBatch
from alphago.env.game import GameEnv
from alphago.env.kernels.turned import turn_rows
from alphago.nn.loss import ILLEGAL
from alphago.records.record import GameRecord
from alphago.system.validation import check_float, check_int, checks_keywords
from alphago.training.columns import Columns, Entry
from alphago.training.targets import LambdaReturns, Targets, Values, as_targets, policies_of, values_of

ArrayT = TypeVar("ArrayT")
OtherT = TypeVar("OtherT")
_SLOT_0 = np.zeros(1, np.int64)  # the slots of a batch of one position
REBUILT_AT_ONCE = 64  # positions that are rebuilt together, few enough for the processor's cache


class Sample(NamedTuple, Generic[ArrayT]):
    """n training positions, each with a random symmetry applied, in the view of the player to move.

    The entries are NumPy arrays, or torch tensors.  In a sample of merged positions, `ownership` and `ended` are
    means over several games, float32.  To add a target, add an entry, which is None where there is no target; only its
    loss (in alphago/nn/loss.py) and the head that predicts it use the entry.
    """

    planes: ArrayT  # float32 [n, planes, height, width]
    policy: ArrayT  # float32 [n, A], the policy targets; ILLEGAL marks actions that the loss must leave out
    value: ArrayT  # float32 [n], the game's result mixed with search values, -1 .. 1
    weight: ArrayT  # float32 [n], the positions' weights in the loss
    score: ArrayT  # float32 [n], the final margin in points
    # int8 [n, height * width], the owners of the points at the end: 1 the player to move, -1 the opponent, 0 neither;
    # int8 [n, 0] in games without ownership
    ownership: ArrayT
    # float32 [n], 1, or 0 if the game ended by resignation, so that score and ownership are unknown
    ended: ArrayT

    def map(self, function: Callable[[ArrayT], OtherT]) -> "Sample[OtherT]":
        """Return a sample with the results of a function of each entry; None stays None."""
        return Sample(*(None if array is None else function(array) for array in self))  # type: ignore[arg-type]


class Memory(Protocol):
    """The memory that a run learns from: it takes the games of a board, and says when to learn from how many samples.

    Each board of a run's curriculum has a memory of its own.
    """

    def __len__(self) -> int:
        """Return the number of positions in memory."""

    @property
    def added(self) -> int:
        """The number of positions ever added."""

    @property
    def can_learn(self) -> bool:
        """Whether training on this board may begin."""

    @property
    def samples_per_position(self) -> float:
        """The mean number of samples to learn per new position, at present."""

    def remember(self, records: Sequence[GameRecord]) -> float:
        """Add finished games; return the number of samples to learn that become due."""

    def fresh(self, count: int, generator: np.random.Generator) -> Sample | None:
        """Return `count` positions of the games that the last `remember` added; None if it added no positions."""

    def batch(self, number: int, count: int, generator: np.random.Generator) -> Sample:
        """Return the next `count` positions to learn.

        number: the number of the batch, counted from 0 since samples last became due.
        generator: draws the positions and symmetries.
        """

    def latest(self, count: int) -> list[GameRecord]:
        """Return the latest `count` games in memory, newest first."""

    def metrics(self) -> dict[str, float]:
        """Return metrics of the memory for a row of metrics.jsonl, by name."""

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs beside the games, as plain data.

        "games" is the number of games that `restore` needs: the latest of all games that `remember` was given.
        """

    def restore(self, records: Iterable[GameRecord], state: Mapping[str, Any]) -> None:
        """Fill an empty memory as a saved memory was.

        records: the latest games that the saved memory's `remember` was given, oldest first.  If files are damaged,
            there may be fewer games than `state` says.
        state: the result of the saved memory's `state`.
        """


class MemorySettings(Protocol):
    """The settings of a memory, a frozen dataclass, whose `make_memory` makes the memory."""

    def make_memory(
        self, env: GameEnv, *, targets: Targets, masked: bool, start: int, seed: int, threads: int = 1
    ) -> Memory:
        """Return an empty memory of games of `env`.

        targets: the rule that makes value and policy targets.
        masked: whether illegal actions have `alphago.nn.loss.ILLEGAL` in the policy targets.
        start: the number of positions from which training may begin.
        seed: the run's seed.
        threads: as in ReplayMemory.
        """


@checks_keywords()
class ReplayMemory:
    """The searched positions of the latest games.

    The memory stores game records.  Sampling rebuilds the planes of a position by replaying its game, and applies a
    random symmetry.  Old games are dropped as a whole, as long as at least `capacity` positions remain.

    Args:
        env: the game.
        capacity: the least number of positions that remain when old games are dropped.
        search_share: the share of later search values in the value targets, which are lambda-returns with lambda =
            1 - search_share (see `alphago.training.targets.lambda_returns`).  With 0 the value target is the game's
            result, as in AlphaGo Zero.
        surprise_share: the share of samples that are drawn in proportion to the surprise at a position, the
            Kullback-Leibler divergence of the search's policy from the network's policy.  The other samples are drawn
            uniformly (Wu, KataGoMethods.md, "Policy Surprise Weighting").
        targets: the rule for value and policy targets, or a function that returns a record's value targets; it replaces
            `search_share`.  None for lambda-returns and the search's policies.
        masked: whether illegal actions have `alphago.nn.loss.ILLEGAL` in the policy targets, for losses that leave
            them out.
        threads: the number of threads that rebuild the planes of a sample; samples do not depend on it.
    """

    def __init__(
        self,
        env: GameEnv,
        capacity: int = 500_000,
        search_share: float = 0.0,
        surprise_share: float = 0.0,
        *,
        targets: Targets | Values | None = None,
        masked: bool = False,
        threads: int = 1,
    ) -> None:
        self.env = env
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self.capacity = check_int("capacity", capacity, 1)
        self.targets = LambdaReturns(search_share) if targets is None else as_targets(targets)
        self.masked = masked
        self.surprise_share = check_float("surprise_share", surprise_share, 0, 1)
        self.entries: deque[Entry] = deque()
        self.added = 0  # positions ever added
        self._positions = 0
        self._columns: Columns | None = None  # of the entries; None until needed
        self._starts: dict[str, GameBatch] = {}  # start positions, by set-up as JSON

    def __len__(self) -> int:
        """Return the number of positions in memory."""
        return self._positions

    def add(self, records: Iterable[GameRecord]) -> None:
        """Append games, and drop the oldest games as long as at least `capacity` positions remain.

        Raises ValueError if a record's policies do not have the shape [plies, actions of the game].
        """
        for record in records:
            shape = (len(record), self.env.action_space)
            if record.policies.shape != shape:
                raise ValueError(
                    f"policies of a record of {self.env} must have shape {shape}, got {record.policies.shape}"
                )
            plies = np.flatnonzero(record.weights > 0).astype(np.int32)
            values = values_of(self.targets, record)
            cumulative = np.cumsum(sampling_weights(record.surprises[plies], self.surprise_share))
            steps = record.steps(self.env)
            start = self._start(record)
            ownership = self._final_ownership(record, steps, start)
            self.entries.append(
                Entry(
                    record,
                    steps=steps,
                    plies=plies,
                    cumulative=cumulative,
                    values=values,
                    ownership=ownership,
                    start=start,
                )
            )
            self._positions += len(plies)
            self.added += len(plies)
        while self.entries and self._positions - len(self.entries[0].plies) >= self.capacity:
            self._positions -= len(self.entries.popleft().plies)
        self._columns = None

    def retarget(self, targets: Targets) -> None:
        """Make the value and policy targets of all games anew, by another rule."""
        self.targets = targets
        self.entries = deque(entry._replace(values=values_of(targets, entry.record)) for entry in self.entries)
        self._columns = None

    def latest(self, count: int) -> list[GameRecord]:
        """Return the latest `count` games, newest first."""
        return [entry.record for entry in islice(reversed(self.entries), count)]

    def sample(self, count: int, generator: np.random.Generator, newest: int | None = None) -> Sample:
        """Return `count` random positions, drawn independently of each other by the `sampling_weights`.

        newest: the number of latest positions to draw from; None for all.
        Raises ValueError if the memory is empty.
        """
        if not self._positions:
            raise ValueError("the memory must have positions to sample from, got an empty one")
        if self._columns is None:
            self._columns = Columns.of(self.entries)
        skipped = max(0, self._positions - (newest or self._positions))
        symmetries = generator.integers(len(self.env.symmetries.points), size=count)
        # A drawn number selects a game, which has an interval as long as the number of its positions.  The place of the
        # number in this interval selects the ply.
        drawn = skipped + generator.random(count) * (self._positions - skipped)
        ends, counts = self._columns.ends, self._columns.counts
        games = np.searchsorted(ends, drawn, side="right")
        places = drawn - ends[games] + counts[games]  # a game's interval is from ends - counts to ends
        plies = self._columns.plies_at(games, places)
        return self._rebuild(self._columns, games, plies, symmetries)

    def rebuild(self, entries: Sequence[Entry], plies: Sequence[int], symmetries: np.ndarray) -> Sample:
        """Return the position before ply `plies[i]` of game `entries[i]`, for each i, with its targets.

        symmetries: int64 [n], the symmetry to apply to each position.
        """
        return self._rebuild(Columns.of(entries), np.arange(len(entries)), np.array(plies, np.int32), symmetries)

    def _rebuild(self, columns: Columns, games: np.ndarray, plies: np.ndarray, symmetries: np.ndarray) -> Sample:
        """Return the position before ply `plies[i]` of the columns' game `games[i]` (int64 [n]), for each i.

        symmetries: as in `rebuild`.
        """
        rows = columns.first[games] + plies
        movers = columns.movers[rows]
        sample = Sample(  # `finish` then writes the planes, marks illegal actions and applies the symmetries
            planes=np.empty((len(games), self.env.planes, *self.env.plane_shape), np.float32),
            policy=policies_of(self.targets, [columns.records[game] for game in games], plies.tolist()),
            value=columns.values[rows],
            weight=columns.weights[rows],
            score=movers * columns.scores[games],
            ownership=columns.ownership[games] * movers[:, None],
            ended=columns.ended[games],
        )

        def finish(begin: int) -> None:
            part = slice(begin, begin + REBUILT_AT_ONCE)
            rows_of_part = sample.map(lambda array: array[part])  # views of `sample`, which are changed in place
            self._write_planes(columns, games[part], plies[part], movers[part], rows_of_part)
            apply_symmetries(self.env, rows_of_part, symmetries[part])

        begins = range(0, len(games), REBUILT_AT_ONCE)
        parts_done = map(finish, begins) if self._pool is None else self._pool.map(finish, begins)
        list(parts_done)  # does the work, and raises what `finish` raised in a thread
        return sample

    def _start(self, record: GameRecord) -> GameBatch:
        """Return a batch with the start position of a record in slot 0, from the cache if possible."""
        key = json.dumps(record.setup, sort_keys=True) if record.setup else ""
        if key not in self._starts:
            self._starts[key] = self.env.position(**record.setup).batch
        return self._starts[key]

    def _write_planes(
        self, columns: Columns, games: np.ndarray, plies: np.ndarray, movers: np.ndarray, sample: Sample
    ) -> None:
        """Write the planes of positions to a sample; if `masked`, mark illegal actions in its policies.

        games, plies, movers: int64, int32 and int8 [n], the game of each position as its index in `columns`, the ply
            before which the position occurs, and the player to move.
        """
        slots = np.arange(len(games))
        batch = self.env.new_batch(len(games))
        batch.copy(columns.start[games], slots, of=columns.starts)
        batch.replay(slots, columns.paths(games, plies), plies, slots)
        batch.give_turn(slots, movers)
        batch.planes(slots, sample.planes)
        if self.masked:
            mark_illegal(batch, slots, sample.policy)

    def _final_ownership(self, record: GameRecord, steps: np.ndarray, start: GameBatch) -> np.ndarray:
        """Return the owners in a game's final position, int8 [points]: 1 Black, -1 White, 0 neither.

        If the game ended by resignation, all owners are 0.  In games without ownership the array is empty.
        steps, start: as in Entry.
        """
        if not self.env.has_ownership:
            return np.zeros(0, np.int8)
        points = self.env.plane_shape[0] * self.env.plane_shape[1]
        if record.resigned:
            return np.zeros(points, np.int8)
        batch = self.env.new_batch(1)
        batch.copy(_SLOT_0, _SLOT_0, of=start)
        batch.replay(_SLOT_0, steps[None, :], np.array([len(record)], np.int32), _SLOT_0)
        mover = batch.to_play(_SLOT_0, np.empty(1, np.int8))[0]
        owners = batch.ownership(_SLOT_0, np.empty((1, points), np.int8))[0]  # in the view of the player to move
        return owners * mover


def apply_symmetries(env: GameEnv, sample: Sample, symmetries: np.ndarray) -> None:
    """Apply symmetry `symmetries[i]` of the game to row i of a sample, in place."""
    points, actions = env.symmetries
    planes = sample.planes.reshape(len(sample.planes), env.planes, -1)
    arrays = [(planes, points), (sample.policy[:, None], actions)]
    if sample.ownership.shape[1]:
        arrays.append((sample.ownership[:, None], points))
    for rows, indices in arrays:
        turn_rows(rows, symmetries, indices, np.empty(rows.shape[2], rows.dtype))  # the last array is scratch space


def mark_illegal(batch: GameBatch, slots: np.ndarray, policy: np.ndarray) -> None:
    """Set the targets of illegal actions to ILLEGAL, in place.

    batch, slots: the positions, in slots (int64 [n]) of a batch.  policy: float32 [n, A], their policy targets.
    """
    policy[~batch.legal_mask(slots, np.empty(policy.shape, np.bool_))] = ILLEGAL


def sampling_weights(surprises: np.ndarray, surprise_share: float) -> np.ndarray:
    """Return the sampling weights of a game's positions, float64 [k] with mean 1.

    surprises: [k], each position's surprise.  surprise_share: see ReplayMemory.
    """
    total = surprises.sum(dtype=np.float64)
    if total <= 0:  # no surprise to be in proportion to
        return np.ones(len(surprises))
    return 1 - surprise_share + surprise_share * len(surprises) * surprises / total
