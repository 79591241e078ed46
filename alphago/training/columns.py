"""Games in memory as columns: one array for each kind of number, from which samples are gathered at once."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from alphago.env.batch import GameBatch
from alphago.records.record import GameRecord
from alphago.training.kernels.gathering import find_drawn, gather_paths


class Entry(NamedTuple):
    """A game in memory, and data computed from its record.  Of its T plies, k were searched and can be sampled."""

    record: GameRecord
    steps: np.ndarray  # int32 [T], the record's moves as `GameBatch.replay` takes them
    plies: np.ndarray  # int32 [k], the searched plies
    cumulative: np.ndarray  # float64 [k], cumulative sums of `sampling_weights`
    values: np.ndarray  # float32 [T], value targets in the movers' view
    ownership: np.ndarray  # int8 [points], owners in the final position: 1 Black, -1 White, 0 neither
    start: GameBatch  # the start position, in slot 0


class Columns(NamedTuple):
    """G games, with P plies in all, of which S can be sampled; see Entry."""

    records: list[GameRecord]
    starts: GameBatch  # the different start positions
    start: np.ndarray  # int64 [G], the slot of each game's start position
    first: np.ndarray  # int64 [G], the index of each game's first ply
    steps: np.ndarray  # int32 [P]
    values: np.ndarray  # float32 [P]
    weights: np.ndarray  # float32 [P]
    movers: np.ndarray  # int8 [P]
    ends: np.ndarray  # int64 [G], the cumulative sums of `counts`
    counts: np.ndarray  # int64 [G], number of the game's plies that can be sampled
    plies: np.ndarray  # int32 [S]
    cumulative: np.ndarray  # float64 [S]
    scores: np.ndarray  # float32 [G]
    ended: np.ndarray  # float32 [G]
    ownership: np.ndarray  # int8 [G, points]

    @classmethod
    def of(cls, entries: Sequence[Entry]) -> Self:
        """Return the columns of at least one game."""
        records = [entry.record for entry in entries]
        different = {id(entry.start): entry.start for entry in entries}  # many games share a start position
        starts = entries[0].start.env.new_batch(len(different))
        starts.gather(list(different.values()))
        slot_of_start = {start_id: slot for slot, start_id in enumerate(different)}
        lengths = np.array([len(record) for record in records])
        counts = np.array([len(entry.plies) for entry in entries])

        def joined(arrays: Sequence[np.ndarray], dtype: Any) -> np.ndarray:
            return np.concatenate(arrays, dtype=dtype, casting="unsafe")

        return cls(
            records=records,
            starts=starts,
            start=np.array([slot_of_start[id(entry.start)] for entry in entries]),
            first=np.cumsum(lengths) - lengths,
            steps=joined([entry.steps for entry in entries], np.int32),
            values=joined([entry.values for entry in entries], np.float32),
            weights=joined([record.weights for record in records], np.float32),
            movers=joined([record.movers for record in records], np.int8),
            ends=np.cumsum(counts),
            counts=counts,
            plies=joined([entry.plies for entry in entries], np.int32),
            cumulative=joined([entry.cumulative for entry in entries], np.float64),
            scores=np.array([record.score for record in records], np.float32),
            ended=np.array([not record.resigned for record in records], np.float32),
            ownership=np.stack([entry.ownership for entry in entries]),
        )

    def plies_at(self, games: np.ndarray, drawn: np.ndarray) -> np.ndarray:
        """Return the ply that `drawn[i]` selects by the sampling weights of game `games[i]`, int32 [n].

        games: int64 [n].  drawn: float64 [n], uniform random numbers, each from 0 to the number of the game's plies
            that can be sampled.
        """
        counts = self.counts[games]
        begins = self.ends[games] - counts
        places = np.empty(len(games), np.int64)
        find_drawn(self.cumulative, begins, counts, drawn, places)
        return self.plies[places]

    def paths(self, games: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """Return the first `lengths[i]` steps of game `games[i]`, int32 [n, longest + 1]; the rest of a row is 0."""
        paths = np.zeros((len(games), int(lengths.max()) + 1), np.int32)
        gather_paths(self.steps, self.first[games], lengths, paths)
        return paths
