"""The replay memory: recent games, from which training draws samples."""

from collections import deque
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from alphago.env.game import GameEnv
from alphago.records.record import POLICY_SCALE, GameRecord

_FIRST = np.zeros(1, np.int64)
REBUILT_AT_ONCE = 64  # positions, so that their rows stay in cache


class Sample(NamedTuple):
    """n training positions, each turned by a random symmetry; everything from the mover's view."""

    planes: np.ndarray  # float32 [n, planes, height, width]
    policy: np.ndarray  # float32 [n, A], what the search made of the position
    value: np.ndarray  # float32 [n], the game's result, -1 .. 1
    weight: np.ndarray  # float32 [n]


class ReplayMemory:
    """The positions of the latest games, at least `capacity` of them once so many have been played.

    Keeps records, not planes: a position is rebuilt from its game's moves, and its symmetry drawn,
    when it is sampled.  Whole games leave, the oldest first.
    """

    def __init__(self, env: GameEnv, capacity: int = 500_000) -> None:
        if capacity < 1:
            raise ValueError(f"capacity is 1 position or more, came {capacity!r}")
        self.env = env
        self.capacity = capacity
        self.records: deque[GameRecord] = deque()
        self.added = 0  # positions ever added
        self._positions = 0
        self._ends: np.ndarray | None = None  # positions up to and with each record

    def __len__(self) -> int:
        """Positions in memory."""
        return self._positions

    def add(self, records: Iterable[GameRecord]) -> None:
        """Appends games, and drops the oldest while `capacity` positions remain without them."""
        for record in records:
            if record.policies.shape != (len(record), self.env.action_space):
                raise ValueError(
                    f"a record with policies {record.policies.shape} was added to a memory of {self.env}, "
                    f"which has {self.env.action_space} actions"
                )
            self.records.append(record)
            self._positions += len(record)
            self.added += len(record)
        while self.records and self._positions - len(self.records[0]) >= self.capacity:
            self._positions -= len(self.records.popleft())
        self._ends = None

    def sample(self, count: int, generator: np.random.Generator) -> Sample:
        """`count` positions drawn uniformly (and independently) from all in memory."""
        if not self._positions:
            raise ValueError("the memory is empty: nothing to sample")
        if self._ends is None:
            self._ends = np.cumsum([len(record) for record in self.records])
        drawn = generator.integers(self._positions, size=count)
        symmetries = generator.integers(len(self.env.symmetries.points), size=count)
        games = np.searchsorted(self._ends, drawn, side="right")
        records = [self.records[game] for game in games]
        plies = drawn - self._ends[games] + [len(record) for record in records]
        planes = self._planes(records, plies)
        policy = np.stack([record.policies[ply] for record, ply in zip(records, plies, strict=True)])
        movers = np.array([record.movers[ply] for record, ply in zip(records, plies, strict=True)])
        policy = policy.astype(np.float32) / POLICY_SCALE
        self._turn(planes, policy, symmetries)
        return Sample(
            planes,
            policy / policy.sum(axis=1, keepdims=True),
            (movers * [record.outcome for record in records]).astype(np.float32),
            np.array([record.weights[ply] for record, ply in zip(records, plies, strict=True)], np.float32),
        )

    def _planes(self, records: list[GameRecord], plies: np.ndarray) -> np.ndarray:
        """Planes [n, planes, height, width] of each record's position before a ply."""
        count = len(records)
        out = np.empty((count, self.env.planes, *self.env.plane_shape), np.float32)
        setups: list[dict[str, Any]] = []
        roots = np.empty(count, np.int64)
        for i, record in enumerate(records):
            if record.setup not in setups:
                setups.append(record.setup)
            roots[i] = REBUILT_AT_ONCE + setups.index(record.setup)
        batch = self.env.new_batch(REBUILT_AT_ONCE + len(setups))
        for i, setup in enumerate(setups):
            batch.copy(_FIRST, np.array([REBUILT_AT_ONCE + i]), of=self.env.position(**setup).batch)
        lengths = plies.astype(np.int32)
        paths = np.zeros((count, int(lengths.max()) + 1), np.int32)
        for path, record, length in zip(paths, records, lengths, strict=True):
            path[:length] = record.moves[:length]
        for begin in range(0, count, REBUILT_AT_ONCE):
            part = slice(begin, begin + REBUILT_AT_ONCE)
            slots = np.arange(len(roots[part]))
            batch.replay(roots[part], paths[part], lengths[part], slots)
            batch.planes(slots, out[part])
        return out

    def _turn(self, planes: np.ndarray, policy: np.ndarray, symmetries: np.ndarray) -> None:
        """Applies symmetry `symmetries[i]` to row i of both, in place."""
        flat = planes.reshape(len(planes), self.env.planes, -1)
        for symmetry in range(1, len(self.env.symmetries.points)):
            rows = np.flatnonzero(symmetries == symmetry)
            if len(rows):
                flat[rows] = flat[rows][:, :, self.env.symmetries.points[symmetry]]
                policy[rows] = policy[rows][:, self.env.symmetries.actions[symmetry]]
