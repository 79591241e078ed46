"""The pool: a memory that merges positions with the same input, and is learned from in generations.

CGZero's sampler and training loop (marchete 2020, github.com/marchete/CGZero) as facts, without two of their losses: a
merged sample keeps its count when more is added to it, and one that is old, however rare, keeps policies of sum 1.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from alphago.env.game import GameEnv
from alphago.records.record import GameRecord
from alphago.system.validation import check_float, check_int, check_ranges, setting, settings
from alphago.training.memory import Entry, ReplayMemory, Sample, turn
from alphago.training.merged import Means, MergedSamples, merged

TOP_SHARE = 0.2  # of a subset: the inputs that came most often,
NEXT_SHARE, NEXT_OF = 0.2, 0.4  # and as many drawn from the first 40 % by count; the rest is drawn from all
MERGED_AT_ONCE = 256  # positions
ENDLESS = 2**40  # a capacity: the pool itself decides which games leave
STREAM = 4_000_000_007  # of the pool's random numbers, (seed, STREAM, generation, …); games have numbers below it

Rates = tuple[tuple[int, float], ...]  # (generation, factor from there on), in order


@settings
class Pool:
    """How a run learns from a pool of merged samples: see SamplePool.  The defaults are CGZero's."""

    positions: int = setting("new positions of self-play in each generation", default=100_000, least=1)
    subset: int | None = setting(
        "different inputs that a generation learns from; None for three times `positions` (CGZero: 350 000)",
        default=None,
        least=1,
    )
    size: int | None = setting(
        "merged samples in the pool, each generation's counted by themselves, beyond which the oldest generations "
        "leave; None for ten times `subset` (CGZero: 3 500 000)",
        default=None,
        least=1,
    )
    epochs: int = setting(
        "passes over the subset; generation g, counted from 0, takes at most g + 1 of them", default=20, least=1
    )
    decay: float = setting("how much less a sample counts with each generation of its age", default=0.02, least=0)
    least_weight: float = setting("what the oldest samples still count", default=0.65, positive=True, most=1)
    first_until: int | None = setting(
        "generation in which the games of the first one leave the pool, whose network knew nothing; None for never",
        default=5,
        least=1,
    )
    rates: Rates = setting(
        "factors of the learning rate, each from a generation on: ((0, 8), (1, 6), (5, 2), (10, 1)); they multiply "
        "the run's `schedule`",
        default=((0, 8.0), (1, 6.0), (5, 2.0), (10, 1.0)),
    )

    def __post_init__(self) -> None:
        check_ranges(self, "a pool's ")
        object.__setattr__(self, "rates", check_rates(self.rates))

    @property
    def learned(self) -> int:
        """The number of inputs in a subset."""
        return self.subset or 3 * self.positions

    @property
    def most(self) -> int:
        """The number of merged samples that the pool holds at most, beside those of the newest generation."""
        return self.size or 10 * self.learned

    def weight(self, age: int) -> float:
        """Return how much a sample counts that is `age` generations old."""
        return max(self.least_weight, 1 - self.decay * age)

    def passes(self, generation: int) -> int:
        """Return how often a generation, counted from 0, goes through its subset."""
        return min(generation + 1, self.epochs)

    def rate(self, generation: int) -> float:
        """Return the factor of the learning rate in a generation, counted from 0."""
        return next(factor for first, factor in reversed(self.rates) if generation >= first)


def check_rates(given: Any) -> Rates:
    """Return rates as tuples; raise ValueError unless they are pairs with rising generations, the first of them 0."""
    try:
        rates = tuple((check_int("", generation, 0), check_float("", factor, 0)) for generation, factor in given)
    except (TypeError, ValueError):
        rates = ()
    numbers = [generation for generation, _ in rates]
    if not rates or numbers[0] != 0 or numbers != sorted(set(numbers)):
        raise ValueError(
            "a pool's rates must be pairs (generation, factor >= 0) with rising generations from 0 on, such as "
            f"((0, 8), (10, 1)), got {given!r}"
        )
    return rates


class Layer(NamedTuple):
    """What one generation of self-play has brought."""

    generation: int
    entries: list[Entry]
    samples: MergedSamples

    @property
    def positions(self) -> int:
        """The number of its positions, those with the same input too."""
        return sum(len(entry.plies) for entry in self.entries)


class SamplePool:
    """A memory of merged samples, in layers of one generation each.

    A generation is played until it has `Pool.positions` new positions, and then learned from: `begin_generation` closes
    its layer, merges the layers' samples, the older ones counted less, and draws the subset that `batch` goes through
    epoch by epoch.  Positions whose inputs are the same, turned or mirrored too, are one sample there, whose targets
    are means over all of them, and count once however often they were seen.

    Beside that it is a memory like ReplayMemory, which computes the targets that are merged here (`targets`: its
    keywords), and whose state is the games it has: they are merged again when a run is resumed, in the same order.
    """

    keeps_games = True

    def __init__(self, env: GameEnv, settings: Pool, *, seed: int = 0, **targets: Any) -> None:
        """Make an empty pool in generation 0; `seed` is of the subsets and of their orders."""
        self.env = env
        self.settings = settings
        self.seed = seed
        self.records = ReplayMemory(env, ENDLESS, **targets)
        self.capacity = 0  # as other memories have it; Pool.size decides here
        self.layers: list[Layer] = []  # closed ones, the oldest first
        self.open = self._layer(0)
        self.taken = 0  # batches of the present subset that were learned
        self._subset: Means | None = None  # None until it is needed
        self._order: tuple[int, np.ndarray] | None = None  # an epoch, and its order, int64 [n]

    def _layer(self, generation: int) -> Layer:
        return Layer(generation, [], MergedSamples(self.env))

    def __len__(self) -> int:
        """Return the number of positions in the pool, those with the same input too."""
        return len(self.records)

    @property
    def entries(self) -> Sequence[Entry]:
        """The games in the pool, the oldest first."""
        return self.records.entries

    @property
    def added(self) -> int:
        """The number of positions ever added."""
        return self.records.added

    @property
    def can_learn(self) -> bool:
        """Whether there is a generation to learn from."""
        return bool(self.layers)

    @property
    def is_due(self) -> bool:
        """Whether the generation that is being played has its positions."""
        return self.open.positions >= self.settings.positions

    @property
    def generation(self) -> int:
        """The generation that is learned, counted from 0; -1 before the first."""
        return self.open.generation - 1

    @property
    def rate(self) -> float:
        """The factor of the learning rate."""
        return self.settings.rate(max(0, self.generation))

    @property
    def samples_per_position(self) -> float:
        """How many samples the generation that is being played will owe for each of its positions, at most."""
        return self.settings.passes(self.open.generation) * self.settings.learned / self.settings.positions

    def add(self, records: Iterable[GameRecord]) -> None:
        """Add games to the generation that is being played."""
        before = len(self.records.entries)
        self.records.add(records)
        new = [self.records.entries[i] for i in range(before - len(self.records.entries), 0)]
        self.open.entries.extend(new)
        places = [(entry, int(ply)) for entry in new for ply in entry.plies]
        for begin in range(0, len(places), MERGED_AT_ONCE):
            entries, plies = map(list, zip(*places[begin : begin + MERGED_AT_ONCE], strict=True))
            self.open.samples.add(entries, plies, self.records.rebuild(entries, plies, np.zeros(len(plies), np.int64)))

    def begin_generation(self) -> int:
        """Close the generation that was played, draw its subset, and return how many samples are to be learned."""
        self.layers.append(self.open)
        self.open = self._layer(self.open.generation + 1)
        self._drop_layers()
        self.taken, self._subset = 0, None
        return self.settings.passes(self.generation) * len(self.subset.value)

    def _drop_layers(self) -> None:
        """Drop the first generation in time, and the oldest ones of too large a pool, but never the newest."""
        first_until = self.settings.first_until
        left, kept = self.settings.most, list[Layer]()
        for layer in reversed(self.layers):
            left -= len(layer.samples)
            expired = layer.generation == 0 and first_until is not None and self.generation >= first_until
            if kept and (left < 0 or expired):
                break
            kept.append(layer)
        self.layers = kept[::-1]
        self.records.capacity = max(1, sum(layer.positions for layer in self.layers))
        self.records.add([])  # drops the games of the others
        self.records.capacity = ENDLESS

    @property
    def subset(self) -> Means:
        """What the present generation learns from."""
        if self._subset is None:
            newest, generator = self.generation, self._generator(0)
            layers = [(layer.samples, self.settings.weight(newest - layer.generation)) for layer in self.layers]
            self._subset = merged(layers, lambda counts: draw_subset(counts, self.settings.learned, generator))
            self._order = None
        return self._subset

    def _generator(self, *which: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, STREAM, self.generation, *which])

    def sample(self, count: int, generator: np.random.Generator, newest: int | None = None) -> Sample:
        """Return single positions, not merged, as ReplayMemory does."""
        return self.records.sample(count, generator, newest)

    def batch(self, number: int, count: int, generator: np.random.Generator) -> Sample:
        """Return batch `number` of the present generation: `count` samples, turned by random symmetries.

        Batches go through the subset again and again, each time in another order; one may end an epoch and begin the
        next.  All weights are 1.
        """
        means = self.subset
        rows = np.array([self._row(place) for place in range(number * count, (number + 1) * count)])
        at = means.places
        entries, plies = [at.entries[row] for row in rows], [at.plies[row] for row in rows]
        one = self.records.rebuild(entries, plies, np.array([at.symmetries[row] for row in rows]))
        sample = Sample(
            planes=one.planes,
            policy=np.where(one.policy < 0, one.policy, means.policy[rows]),  # below 0: marks of illegal actions
            value=means.value[rows],
            weight=np.ones(count, np.float32),
            score=means.score[rows],
            ownership=means.ownership[rows],
            ended=means.ended[rows],
        )
        turn(self.env, sample, generator.integers(len(self.env.symmetries.points), size=count))
        return sample

    def _row(self, place: int) -> int:
        """Return the row of the subset that comes at a place of all epochs together."""
        epoch, within = divmod(place, len(self.subset.value))
        if self._order is None or self._order[0] != epoch:
            self._order = epoch, self._generator(1, epoch).permutation(len(self.subset.value))
        return int(self._order[1][within])

    def metrics(self) -> dict[str, int]:
        """Return the generation that is learned, and how many merged samples the pool has, by generation and in all."""
        return {"generation": self.generation, "merged_samples": sum(len(layer.samples) for layer in self.layers)}

    def state(self) -> dict[str, Any]:
        """Return, as plain data, what the pool needs beside its games to continue."""
        layers = [[layer.generation, len(layer.entries)] for layer in (*self.layers, self.open)]
        games = sum(count for _, count in layers)
        return {"games": games, "capacity": self.capacity, "added": self.added, "layers": layers, "taken": self.taken}

    def restore(
        self,
        records: Iterable[GameRecord],
        capacity: int,
        added: int,
        layers: Sequence[Sequence[int]] = ((0, ENDLESS),),
        taken: int = 0,
    ) -> None:
        """Fill an empty pool from another one's games, oldest first, and its `state`.

        Where games are missing they are those of the oldest generations.
        """
        self.capacity, self.taken = capacity, taken
        left = list(records)
        parts: list[tuple[int, list[GameRecord]]] = []
        for generation, games in reversed(layers):
            cut = max(0, len(left) - games)
            parts.append((generation, left[cut:]))
            left = left[:cut]
        for generation, part in reversed(parts):
            if self.open.entries:
                self.layers.append(self.open)
            self.open = self._layer(generation)
            self.add(part)
        self.records.added = added


def draw_subset(counts: np.ndarray, size: int, generator: np.random.Generator) -> np.ndarray:
    """Return which inputs to learn from, int64 [at most size], ascending; all if there are no more than `size`.

    counts: float64 [n], how often each input was seen.  A fifth of the subset are those with the highest counts, a
    fifth is drawn from the first 40 % by count, the rest from all others.
    """
    if len(counts) <= size:
        return np.arange(len(counts))
    order = np.argsort(-counts, kind="stable")
    top, further = int(TOP_SHARE * size), int(NEXT_SHARE * size)
    of = max(top + further, int(NEXT_OF * len(counts)))
    drawn = generator.choice(order[top:of], further, replace=False)
    others = np.setdiff1d(order[top:], drawn)
    return np.sort(np.concatenate([order[:top], drawn, generator.choice(others, size - top - further, replace=False)]))
