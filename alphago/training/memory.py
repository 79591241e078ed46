"""The replay memory: the latest games, from which training draws its samples."""

import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from alphago.env.batch import GameBatch
from alphago.env.game import GameEnv
from alphago.nn.loss import ILLEGAL
from alphago.records.record import GameRecord
from alphago.system.validation import check_float, check_int, checks_keywords
from alphago.training.targets import LambdaReturns, Targets, Values, as_targets

ArrayT = TypeVar("ArrayT")
OtherT = TypeVar("OtherT")
_FIRST = np.zeros(1, np.int64)
REBUILT_AT_ONCE = 64  # positions that are rebuilt together, few enough for the processor's cache


class Sample(NamedTuple, Generic[ArrayT]):
    """n training positions, each with a random symmetry applied, in the view of the player to move.

    The entries are NumPy arrays, or torch tensors.  In a sample from a pool, `ownership` and `ended` are means over
    several games, float32.  A further target is a further entry, None where there is none; only its loss (in
    alphago/nn/loss.py) and what predicts it have to know it.
    """

    planes: ArrayT  # float32 [n, planes, height, width]
    policy: ArrayT  # float32 [n, A], the policy targets; ILLEGAL marks actions that the loss must leave out
    value: ArrayT  # float32 [n], the game's result mixed with search values, -1 .. 1
    weight: ArrayT  # float32 [n], the positions' weights in the loss
    score: ArrayT  # float32 [n], the final margin in points
    # int8 [n, height * width], the owners of the points at the end: 1 the player to move, -1 the opponent, 0 neither;
    # [n, 0] in games without ownership
    ownership: ArrayT
    # float32 [n], 0 if the game ended by resignation, so that score and ownership are unknown, else 1
    ended: ArrayT

    def map(self, function: Callable[[ArrayT], OtherT]) -> "Sample[OtherT]":
        """Return a sample with the results of a function of each entry; None stays None."""
        return Sample(*(None if array is None else function(array) for array in self))  # type: ignore[arg-type]


class Entry(NamedTuple):
    """A game in memory, with data computed from it once.  Of its T plies, k were searched and can be sampled."""

    record: GameRecord
    steps: np.ndarray  # int32 [T], the record's moves as `GameBatch.replay` takes them
    plies: np.ndarray  # int32 [k], the searched plies
    cumulative: np.ndarray  # float64 [k], cumulative sums of `sampling_weights`
    values: np.ndarray  # float32 [T], value targets in the movers' view
    ownership: np.ndarray  # int8 [points], owners in the final position: 1 Black, -1 White, 0 neither
    start: GameBatch  # the start position, in slot 0


class Memory(Protocol):
    """What a run learns from: it takes the games of a board, and says when to learn, and from how many samples.

    Each board of a run's curriculum has a memory of its own.
    """

    keeps_games: bool  # whether the run's folder must keep the games, since they are stored nowhere else

    def __len__(self) -> int:
        """Return the number of positions in memory."""

    @property
    def added(self) -> int:
        """The number of positions ever added."""

    @property
    def can_learn(self) -> bool:
        """Whether training on this board may begin."""

    @property
    def rate(self) -> float:
        """The factor of the learning rate at present."""

    @property
    def samples_per_position(self) -> float:
        """The mean number of samples to learn per new position, at present."""

    def remember(self, records: Sequence[GameRecord]) -> float:
        """Add finished games; return the number of samples to learn that become due."""

    def fresh(self, count: int, generator: np.random.Generator) -> Sample | None:
        """Return `count` positions from the games that the last `remember` added; None if these have none."""

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
        """Return what `restore` needs except the games, as plain data.

        "games" is how many games `restore` needs: the latest of all that `remember` was given.
        """

    def restore(self, records: Iterable[GameRecord], state: Mapping[str, Any]) -> None:
        """Fill an empty memory from a saved one's `state` and the latest games that `remember` was given, oldest first.

        There may be fewer games than `state` says, if files are damaged.
        """


class MemorySettings(Protocol):
    """The settings of a memory, a frozen dataclass, which make it."""

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
        self._ends: np.ndarray | None = None  # int64 [entries], cumulative numbers of positions; None until needed
        self._starts: dict[str, GameBatch] = {}  # start positions, by set-up as JSON

    def __len__(self) -> int:
        """Return the number of positions in memory."""
        return self._positions

    def add(self, records: Iterable[GameRecord]) -> None:
        """Append games, and drop the oldest ones as long as at least `capacity` positions remain.

        Raises ValueError if a record's policies do not have the shape [plies, actions of the game].
        """
        for record in records:
            if record.policies.shape != (len(record), self.env.action_space):
                raise ValueError(
                    f"policies of a record of {self.env} must have shape {(len(record), self.env.action_space)}, "
                    f"got {record.policies.shape}"
                )
            plies = np.flatnonzero(record.weights > 0).astype(np.int32)
            values = self.targets.values(record)
            cumulative = np.cumsum(sampling_weights(record.surprises[plies], self.surprise_share))
            steps, start = record.steps(self.env), self._start(record)
            ownership = self._final_ownership(record, steps, start)
            self.entries.append(Entry(record, steps, plies, cumulative, values, ownership, start))
            self._positions += len(plies)
            self.added += len(plies)
        while self.entries and self._positions - len(self.entries[0].plies) >= self.capacity:
            self._positions -= len(self.entries.popleft().plies)
        self._ends = None

    def retarget(self, targets: Targets) -> None:
        """Make the value and policy targets of all games anew, by another rule."""
        self.targets = targets
        self.entries = deque(entry._replace(values=targets.values(entry.record)) for entry in self.entries)

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
        if self._ends is None:
            self._ends = np.cumsum([len(entry.plies) for entry in self.entries])
        oldest = max(0, self._positions - (newest or self._positions))
        symmetries = generator.integers(len(self.env.symmetries.points), size=count)
        drawn = oldest + generator.random(count) * (self._positions - oldest)
        games = np.searchsorted(self._ends, drawn, side="right")
        entries = [self.entries[game] for game in games]
        return self.rebuild(entries, plies_at(entries, drawn - self._ends[games]), symmetries)

    def rebuild(self, entries: list[Entry], plies: list[int], symmetries: np.ndarray) -> Sample:
        """Return the position before ply `plies[i]` of game `entries[i]`, for each i, with its targets.

        symmetries: int64 [n], the symmetry to apply to each position.
        """
        pairs = list(zip(entries, plies, strict=True))
        movers = np.array([entry.record.movers[ply] for entry, ply in pairs], np.int8)
        policy = self.targets.policies([entry.record for entry in entries], plies)
        sample = Sample(
            planes=self._planes(entries, plies, policy if self.masked else None),
            policy=policy,
            value=np.array([entry.values[ply] for entry, ply in pairs], np.float32),
            weight=np.array([entry.record.weights[ply] for entry, ply in pairs], np.float32),
            score=movers * np.array([entry.record.score for entry in entries], np.float32),
            ownership=np.stack([entry.ownership for entry in entries]) * movers[:, None],
            ended=np.array([not entry.record.resigned for entry in entries], np.float32),
        )
        turn(self.env, sample, symmetries)
        return sample

    def _start(self, record: GameRecord) -> GameBatch:
        """Return a batch with the start position of a record in slot 0, from the cache if possible."""
        key = json.dumps(record.setup, sort_keys=True) if record.setup else ""
        if key not in self._starts:
            self._starts[key] = self.env.position(**record.setup).batch
        return self._starts[key]

    def _planes(self, entries: list[Entry], plies: list[int], policy: np.ndarray | None) -> np.ndarray:
        """Return the planes of the position before ply `plies[i]` of game `entries[i]`, for each i.

        The planes are float32 [n, planes, height, width].

        policy: float32 [n, A], policy targets, in which this method sets illegal actions to ILLEGAL; None if there are
            no targets to change.
        """
        count = len(entries)
        out = np.empty((count, self.env.planes, *self.env.plane_shape), np.float32)
        rebuild = partial(self._planes_of, entries, plies, out, policy)
        parts = [slice(begin, begin + REBUILT_AT_ONCE) for begin in range(0, count, REBUILT_AT_ONCE)]
        list(map(rebuild, parts) if self._pool is None else self._pool.map(rebuild, parts))
        return out

    def _planes_of(
        self, entries: list[Entry], plies: list[int], out: np.ndarray, policy: np.ndarray | None, part: slice
    ) -> None:
        """Do the work of `_planes` for a part of the rows, and write the planes to `out`."""
        games, lengths = entries[part], np.array(plies[part], np.int32)
        slots, batch = np.arange(len(games)), self.env.new_batch(len(games))
        paths = np.zeros((len(games), int(lengths.max()) + 1), np.int32)
        for path, entry, length in zip(paths, games, lengths, strict=True):
            path[:length] = entry.steps[:length]
        for start in {id(entry.start): entry.start for entry in games}.values():
            same = np.array([slot for slot, entry in enumerate(games) if entry.start is start])
            batch.copy(np.zeros(len(same), np.int64), same, of=start)
        batch.replay(slots, paths, lengths, slots)
        movers = [entry.record.movers[ply] for entry, ply in zip(games, lengths, strict=True)]
        batch.give_turn(slots, np.array(movers, np.int8))
        batch.planes(slots, out[part])
        if policy is not None:
            mark_illegal(batch, slots, policy[part])

    def _final_ownership(self, record: GameRecord, steps: np.ndarray, start: GameBatch) -> np.ndarray:
        """Return the owners in a game's final position, int8 [points]: 1 Black, -1 White, 0 neither.

        All are 0 if the game ended by resignation.  The array is empty for games without ownership.
        """
        if not self.env.has_ownership:
            return np.zeros(0, np.int8)
        points = self.env.plane_shape[0] * self.env.plane_shape[1]
        if record.resigned:
            return np.zeros(points, np.int8)
        batch = self.env.new_batch(1)
        batch.copy(_FIRST, _FIRST, of=start)
        batch.replay(_FIRST, steps[None, :], np.array([len(record)], np.int32), _FIRST)
        mover = batch.to_play(_FIRST, np.empty(1, np.int8))
        return batch.ownership(_FIRST, np.empty((1, points), np.int8))[0] * mover[0]


def plies_at(entries: Sequence[Entry], drawn: np.ndarray) -> list[int]:
    """Return the ply that `drawn[i]` selects by the sampling weights of game `entries[i]`, for each i.

    drawn: float64 [n], uniform random numbers, each from -k to 0 for a game of k plies that can be sampled.
    """
    counts = np.array([len(entry.plies) for entry in entries])
    starts = np.cumsum(counts) - counts
    passed = np.concatenate([entry.cumulative for entry in entries]) <= np.repeat(drawn + counts, counts)
    places = np.minimum(np.add.reduceat(passed, starts, dtype=np.int64), counts - 1)
    chosen: list[int] = np.concatenate([entry.plies for entry in entries])[starts + places].tolist()
    return chosen


def turn(env: GameEnv, sample: Sample, symmetries: np.ndarray) -> None:
    """Apply symmetry `symmetries[i]` of the game to row i of a sample, in place."""
    flat = sample.planes.reshape(len(sample.planes), env.planes, -1)
    for symmetry in range(1, len(env.symmetries.points)):
        rows = np.flatnonzero(symmetries == symmetry)
        if len(rows):
            points, actions = env.symmetries.points[symmetry], env.symmetries.actions[symmetry]
            flat[rows] = flat[rows][:, :, points]
            sample.policy[rows] = sample.policy[rows][:, actions]
            if sample.ownership.shape[1]:
                sample.ownership[rows] = sample.ownership[rows][:, points]


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
    if total <= 0:
        return np.ones(len(surprises))
    return 1 - surprise_share + surprise_share * len(surprises) * surprises / total
