"""The memory that a run learns from, and the usual one: a window of the latest games, which grows with the run."""

import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, islice
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from alphago.env.batch import FIRST_SLOT, GameBatch
from alphago.env.game import GameEnv
from alphago.nn.loss import ILLEGAL
from alphago.records.record import GameRecord
from alphago.system.validation import check_float, check_int, checks_keywords
from alphago.training.kernels.samples import find_drawn, gather_paths, turn_rows
from alphago.training.targets import LambdaReturns, Targets, Values, as_targets, policy_targets, value_targets

ArrayT = TypeVar("ArrayT")
OtherT = TypeVar("OtherT")
REBUILT_AT_ONCE = 64  # positions that are rebuilt together, few enough for the processor's cache


class Sample(NamedTuple, Generic[ArrayT]):
    """n training positions, each with a random symmetry applied, in the view of the player to move.

    The entries are NumPy arrays, or torch tensors.  A memory may merge equal positions of several games.  Then
    `ownership` and `ended` are means over these games, float32.  To add a target, add an entry, which is None where
    there is no target.  Only the target's loss (in alphago/nn/loss.py) and the head that predicts it use the entry.
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
        """Return a sample with `function(entry)` in place of each entry; None stays None."""
        return Sample(*(None if array is None else function(array) for array in self))  # type: ignore[arg-type]


class Memory(Protocol):
    """The memory that a run learns from: it takes the games of a board, and says how many samples to learn from.

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

    def remember(self, records: Sequence[GameRecord]) -> float:
        """Add finished games; return the number of samples to learn that become due."""

    def fresh(self, count: int, generator: np.random.Generator) -> Sample | None:
        """Return `count` positions of the games that the last `remember` added; None if it added no positions."""

    def batch(self, number: int, count: int, generator: np.random.Generator) -> Sample:
        """Return the next `count` positions to learn.

        Args:
            number: how many batches were learned since `remember` last made samples due: 0 for the first after that.
            generator: draws the positions and symmetries.
        """

    def latest(self, count: int) -> list[GameRecord]:
        """Return the latest `count` games in memory, newest first."""
        return []

    def metrics(self) -> dict[str, float]:
        """Return metrics of the memory for a row of metrics.jsonl, by name."""
        return {}

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs beside the games, as plain data.

        The entry "games" is the number of games that `restore` needs.  They are the latest that `remember` was given.
        """

    def restore(self, records: Iterable[GameRecord], state: Mapping[str, Any]) -> None:
        """Fill an empty memory as a saved memory was.

        Args:
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

        Args:
            targets: the rule that makes value and policy targets.
            masked: whether illegal actions have `alphago.nn.loss.ILLEGAL` in the policy targets.
            start: the number of positions from which training may begin.
            seed: the run's seed.
            threads: as in ReplayMemory.
        """


class Columns(NamedTuple):
    """G games in memory as arrays, one for each kind of number.

    The games have P plies in all, of which S were searched and can be sampled.
    """

    records: list[GameRecord]  # G
    start_slots: np.ndarray  # int64 [G], the slot of each game's start position in ReplayMemory.start_positions
    lengths: np.ndarray  # int64 [G], number of plies
    counts: np.ndarray  # int64 [G], number of plies that can be sampled
    scores: np.ndarray  # float32 [G], Black's margin in points
    ended: np.ndarray  # float32 [G], 0 if the game ended by resignation, else 1
    ownership: np.ndarray  # int8 [G, points], owners in the final position: 1 Black, -1 White, 0 neither
    steps: np.ndarray  # int32 [P], the moves as `GameBatch.replay` takes them
    values: np.ndarray  # float32 [P], value targets in the movers' view
    weights: np.ndarray  # float32 [P]
    movers: np.ndarray  # int8 [P]
    plies: np.ndarray  # int32 [S], the searched plies, counted from 0 in each game
    cumulative: np.ndarray  # float64 [S], cumulative sums of `sampling_weights`, which begin anew with each game

    @classmethod
    def join(cls, parts: Iterable[Self]) -> Self:
        """Return the games of all parts, of which there must be one or more, in order."""
        records, *arrays = zip(*parts, strict=True)  # for each field the entries of all parts
        return cls(list(chain(*records)), *map(np.concatenate, arrays))


def window(positions: int, first: int = 30_000, growth: float = 0.4, exponent: float = 0.75) -> int:
    """Return the number of latest positions to train on after a run has made `positions` positions.

    The number is `first` until the run has made that many, then
    first (1 + growth ((positions / first)^exponent - 1) / exponent).  The formula is that of Wu 2019, "Accelerating
    Self-Play Learning in Go", appendix C, with a smaller `first`.
    """
    if positions <= first:
        return first
    return int(first * (1 + growth * ((positions / first) ** exponent - 1) / exponent))


@checks_keywords()
class ReplayMemory(Memory):
    """The searched positions of the latest games: a Memory of a run, and of a loop of your own.

    The memory stores game records.  Sampling rebuilds the planes of a position by replaying its game, and applies a
    random symmetry.  Old games are dropped as a whole, as long as at least `capacity` positions remain.  A loop of your
    own calls `add` and `sample`.  A run calls `remember`, for which the capacity is a `window` that grows.

    Args:
        env: the game.
        capacity: the least number of positions that remain when old games are dropped; with `remember`, the largest
            window.
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
        start: the number of positions from which a run trains; the window is never smaller.
        samples_per_position: the number of samples that each new position makes due in `remember`.
    """

    added: int = 0  # positions ever added

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
        start: int = 1,
        samples_per_position: float = 8.0,
    ) -> None:
        self.env = env
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        # `remember` lowers `capacity` to the size of a window, which grows to `largest_capacity`.
        self.capacity = self.largest_capacity = check_int("capacity", capacity, 1)
        self.targets = LambdaReturns(search_share) if targets is None else as_targets(targets)
        self.masked = masked
        self.surprise_share = check_float("surprise_share", surprise_share, 0, 1)
        self.least_positions = max(1, start)  # from which a run trains; an empty memory has nothing to train on
        self.samples_per_position = samples_per_position
        self.has_learned = False  # whether a run learns from the memory by now: `remember` has made samples due
        self.newly_added = 0  # positions that the last `remember` added
        self.entries: deque[Columns] = deque()  # one game each
        self._positions = 0  # number of positions of the entries
        self._joined_entries: Columns | None = None  # None until needed
        self.start_positions = env.new_batch(1)  # a position for each set-up with which games have begun
        self._slot_by_setup: dict[str, int] = {}  # the slot in `start_positions` by set-up, as JSON

    def __len__(self) -> int:
        """Return the number of positions in memory."""
        return self._positions

    @property
    def can_learn(self) -> bool:
        """Whether training may begin: the memory has `least_positions` positions or more."""
        return self._positions >= self.least_positions

    # --- games ---

    def remember(self, records: Sequence[GameRecord]) -> float:
        """Add finished games; return the number of samples to learn that become due.

        No samples become due until the memory has `least_positions` positions.  With the call that reaches this number,
        samples of all positions ever added become due.  With each later call, samples of its new positions become due.
        """
        before = self.added
        self.capacity = max(min(window(before), self.largest_capacity), self.least_positions)
        self.add(records)
        self.newly_added = self.added - before
        if not self.can_learn:
            return 0.0
        positions = self.newly_added if self.has_learned else self.added
        self.has_learned = True
        return positions * self.samples_per_position

    def add(self, records: Iterable[GameRecord]) -> None:
        """Append games, and drop the oldest games as long as at least `capacity` positions remain.

        Raises:
            ValueError: if a record's policies do not have the shape [plies, actions of the game].
        """
        for record in records:
            entry = self.entry(record)
            self.entries.append(entry)
            self._positions += len(entry.plies)
            self.added += len(entry.plies)
        while self.entries and self._positions - len(self.entries[0].plies) >= self.capacity:
            self._positions -= len(self.entries.popleft().plies)
        self._joined_entries = None  # `sample` joins the new entries

    def latest(self, count: int) -> list[GameRecord]:
        """Return the latest `count` games, newest first."""
        return [entry.records[0] for entry in islice(reversed(self.entries), count)]

    def entry(self, record: GameRecord) -> Columns:
        """Return the columns of one game."""
        shape = (len(record), self.env.action_space)
        if record.policies.shape != shape:
            raise ValueError(f"policies of a record of {self.env} must have shape {shape}, got {record.policies.shape}")
        plies = np.flatnonzero(record.weights > 0).astype(np.int32)
        steps = record.steps(self.env)
        start_slot = np.array([self._start_slot(record.setup)])
        return Columns(
            records=[record],
            start_slots=start_slot,
            lengths=np.array([len(record)]),
            counts=np.array([len(plies)]),
            scores=np.array([record.score], np.float32),
            ended=np.array([not record.resigned], np.float32),
            ownership=self._final_ownership(record, steps, start_slot),
            steps=steps,
            values=value_targets(self.targets, record),
            weights=record.weights,
            movers=record.movers,
            plies=plies,
            cumulative=np.cumsum(sampling_weights(record.surprises[plies], self.surprise_share)),
        )

    def _start_slot(self, setup: Mapping[str, Any]) -> int:
        """Return the slot of `start_positions` with this set-up's position; fill a slot if there is none."""
        key = json.dumps(setup, sort_keys=True)
        if key not in self._slot_by_setup:
            slot = self._slot_by_setup[key] = len(self._slot_by_setup)
            if slot.bit_count() == 1:  # the batch, which has 1, 2, 4, … slots, is full
                larger = self.env.new_batch(2 * slot)
                larger.copy(np.arange(slot), np.arange(slot), of=self.start_positions)
                self.start_positions = larger
            # A position is the only one of its batch, in the slot 0 (FIRST_SLOT).
            self.start_positions.copy(FIRST_SLOT, np.array([slot]), of=self.env.position(**setup).batch)
        return self._slot_by_setup[key]

    def _final_ownership(self, record: GameRecord, steps: np.ndarray, start_slot: np.ndarray) -> np.ndarray:
        """Return the owners in a game's final position, int8 [1, points]: 1 Black, -1 White, 0 neither.

        If the game ended by resignation, all owners are 0.  In games without ownership the array is empty.

        Args:
            steps: as in Columns.
            start_slot: int64 [1], the slot of the game's start position in `start_positions`.
        """
        points = self.env.plane_shape[0] * self.env.plane_shape[1] if self.env.has_ownership else 0
        owners = np.zeros((1, points), np.int8)
        if record.resigned or not points:
            return owners
        batch = self.env.new_batch(1)
        batch.copy(start_slot, FIRST_SLOT, of=self.start_positions)
        batch.replay(FIRST_SLOT, steps[None, :], np.array([len(record)], np.int32), FIRST_SLOT)
        mover = batch.to_play(FIRST_SLOT, np.empty(1, np.int8))[0]
        return batch.ownership(FIRST_SLOT, owners) * mover  # `ownership` is in the view of the player to move

    # --- samples ---

    def sample(self, count: int, generator: np.random.Generator, newest: int | None = None) -> Sample:
        """Return `count` random positions, drawn independently of each other by the `sampling_weights`.

        Only searched positions are drawn and counted here.

        Args:
            newest: the number of latest positions to draw from; None for all.

        Raises:
            ValueError: if the memory is empty.
        """
        if not self._positions:
            raise ValueError("the memory must have positions to sample from, got an empty one")
        if self._joined_entries is None:
            self._joined_entries = Columns.join(self.entries)
        columns = self._joined_entries
        # The number of oldest positions, which are not drawn; `newest` may be more than the memory has.
        skipped = max(0, self._positions - (newest or self._positions))
        symmetries = generator.integers(len(self.env.symmetries.points), size=count)
        # Each game has an interval as long as the number of its positions, one after the other.  A random number
        # selects the game whose interval it is in.  By its distance from the interval's beginning it selects the ply:
        # a game's sampling weights have mean 1, so they sum to the length of its interval.
        drawn = skipped + generator.random(count) * (self._positions - skipped)
        ends = np.cumsum(columns.counts)
        games = np.searchsorted(ends, drawn, side="right")
        counts = columns.counts[games]
        # The columns `plies` and `cumulative` have one entry for each searched position, game after game.  So a game's
        # entries begin at the index where its interval begins.
        begins = ends[games] - counts
        # This is `drawn - begins`.  The order of the terms decides the last bit, and a repeated run must draw the same.
        distances = drawn - ends[games] + counts
        indices = np.empty(count, np.int64)  # in the columns of searched plies
        find_drawn(columns.cumulative, begins, counts, distances, indices)
        return self._rebuild(columns, games, columns.plies[indices], symmetries)

    def batch(self, number: int, count: int, generator: np.random.Generator) -> Sample:
        """Return `count` positions to learn; the batch's `number` does not matter here."""
        return self.sample(count, generator)

    def fresh(self, count: int, generator: np.random.Generator) -> Sample | None:
        """Return `count` positions of the games that the last `remember` added; None if it added none."""
        return self.sample(count, generator, newest=self.newly_added) if self.newly_added else None

    def rebuild(self, entries: Sequence[Columns], plies: Sequence[int], symmetries: np.ndarray) -> Sample:
        """Return the position before ply `plies[i]` of game `entries[i]`, for each i, with its targets.

        Args:
            entries: games, one each, from this memory's method `entry`.
            symmetries: int64 [n], the symmetry to apply to each position.
        """
        return self._rebuild(Columns.join(entries), np.arange(len(entries)), np.array(plies, np.int32), symmetries)

    def _rebuild(self, columns: Columns, games: np.ndarray, plies: np.ndarray, symmetries: np.ndarray) -> Sample:
        """Return the position before ply `plies[i]` of the columns' game `games[i]` (int64 [n]), for each i.

        symmetries: as in `rebuild`.
        """
        begins = (np.cumsum(columns.lengths) - columns.lengths)[games]  # the columns' index of each game's first ply
        rows = begins + plies
        movers = columns.movers[rows]
        sample = Sample(  # to which `complete`, below, adds planes, marks of illegal actions, and symmetries
            planes=np.empty((len(games), self.env.planes, *self.env.plane_shape), np.float32),
            policy=policy_targets(self.targets, [columns.records[game] for game in games], plies.tolist()),
            value=columns.values[rows],
            weight=columns.weights[rows],
            score=movers * columns.scores[games],
            ownership=columns.ownership[games] * movers[:, None],
            ended=columns.ended[games],
        )

        def complete(first: int) -> None:
            """Complete REBUILT_AT_ONCE rows of `sample` from row `first` on: planes, illegal actions and symmetries."""
            part = slice(first, first + REBUILT_AT_ONCE)
            batch = self._replayed(columns, games[part], begins[part], plies[part])
            slots = np.arange(len(plies[part]))
            batch.give_turn(slots, movers[part])
            rows_of_part = sample.map(lambda array: array[part])  # views of `sample`, which are changed in place
            batch.planes(slots, rows_of_part.planes)
            if self.masked:
                mark_illegal(batch, slots, rows_of_part.policy)
            apply_symmetries(self.env, rows_of_part, symmetries[part])

        firsts = range(0, len(games), REBUILT_AT_ONCE)
        parts_done = map(complete, firsts) if self._pool is None else self._pool.map(complete, firsts)
        list(parts_done)  # calls or awaits `complete` for each part, and raises what it raised in a thread
        return sample

    def _replayed(self, columns: Columns, games: np.ndarray, begins: np.ndarray, plies: np.ndarray) -> GameBatch:
        """Return a batch whose slot i has the position before ply `plies[i]` of the columns' game `games[i]`.

        begins: int64 [n], the columns' index of the first ply of each of these games.
        """
        slots = np.arange(len(plies))
        paths = np.zeros((len(plies), int(plies.max()) + 1), np.int32)  # + 1: at least one column
        gather_paths(columns.steps, begins, plies, paths)  # a ply's number is the number of moves before it
        batch = self.env.new_batch(len(plies))
        batch.copy(columns.start_slots[games], slots, of=self.start_positions)
        batch.replay(slots, paths, plies, slots)  # from the start position in each slot, and in the same slot
        return batch

    # --- saved state ---

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs beside the games, as plain data."""
        counts = {"games": len(self.entries), "capacity": self.capacity, "added": self.added}
        return {**counts, "has_learned": self.has_learned}

    def restore(self, records: Iterable[GameRecord], state: Mapping[str, Any]) -> None:
        """Fill the empty memory as a saved memory was; records: its games, oldest first."""
        self.capacity = state["capacity"]
        self.add(records)
        self.added = state["added"]
        self.has_learned = state["has_learned"]


def apply_symmetries(env: GameEnv, sample: Sample, symmetries: np.ndarray) -> None:
    """Apply symmetry `symmetries[i]` of the game to row i of a sample, in place."""
    points, actions = env.symmetries
    planes = sample.planes.reshape(len(sample.planes), env.planes, -1)  # a view
    # Views [n, m, entries], and for each symmetry where the new entries come from.
    arrays = [(planes, points), (sample.policy[:, None], actions)]
    if sample.ownership.shape[1]:
        arrays.append((sample.ownership[:, None], points))
    for rows, indices in arrays:
        turn_rows(rows, symmetries, indices, np.empty(rows.shape[2], rows.dtype))  # the last: scratch space


def mark_illegal(batch: GameBatch, slots: np.ndarray, policy: np.ndarray) -> None:
    """Set the targets of illegal actions to ILLEGAL, in place.

    Args:
        batch: the batch that holds the n positions.
        slots: int64 [n], the positions' slots.
        policy: float32 [n, A], the positions' policy targets.
    """
    policy[~batch.legal_mask(slots, np.empty(policy.shape, np.bool_))] = ILLEGAL


def sampling_weights(surprises: np.ndarray, surprise_share: float) -> np.ndarray:
    """Return the sampling weights of a game's positions, float64 [k] with mean 1.

    Args:
        surprises: [k], each position's surprise.
        surprise_share: see ReplayMemory.
    """
    total = surprises.sum(dtype=np.float64)
    if total <= 0:  # nothing surprises, so there is nothing to be in proportion to
        return np.ones(len(surprises))
    return 1 - surprise_share + surprise_share * len(surprises) * surprises / total
