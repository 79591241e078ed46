"""The pool: a memory that merges positions with equal network inputs, and from which a run learns in generations.

The method is the sampler and training loop of CGZero (marchete 2020, github.com/marchete/CGZero), without two defects:
here a merged sample keeps its count when positions are added to it, and the policy of an old sample still sums to 1.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from alphago.env.game import GameEnv
from alphago.records.record import GameRecord
from alphago.system.validation import check_float, check_int, check_ranges, setting, settings
from alphago.training.cgzero.merged import Means, MergedSamples, merged
from alphago.training.columns import Entry
from alphago.training.memory import ReplayMemory, Sample, turn
from alphago.training.targets import Targets

TOP_SHARE = 0.2  # share of a subset that goes to the inputs with the highest counts
NEXT_SHARE, NEXT_OF = 0.2, 0.4  # share of a subset drawn from the 40 % of inputs with the highest counts
MERGED_AT_ONCE = 256  # number of positions that are merged together
ENDLESS = 2**40  # capacity of the memory of games, which the pool itself limits
STREAM = 4_000_000_007  # the pool's generators are seeded with (seed, STREAM, generation, …); game numbers are smaller

Rates = tuple[tuple[int, float], ...]  # (first generation, factor from this generation on), by rising generation


@settings
class Pool:
    """Settings of a SamplePool and of the generations in which a run learns from it.  The defaults are CGZero's."""

    positions: int = setting("new positions of self-play in each generation", default=100_000, least=1, structural=True)
    subset: int | None = setting(
        "different inputs from which a generation learns; None for three times `positions` (CGZero: 350 000)",
        default=None,
        least=1,
        structural=True,
    )
    size: int | None = setting(
        "largest number of merged samples in the pool, summed over its generations; a larger pool drops its oldest "
        "generations; None for ten times `subset` (CGZero: 3 500 000)",
        default=None,
        least=1,
        structural=True,
    )
    epochs: int = setting(
        "passes over the subset; generation g, counted from 0, makes at most g + 1 passes",
        default=20,
        least=1,
        structural=True,
    )
    decay: float = setting(
        "how much a sample's weight falls per generation of its age", default=0.02, least=0, structural=True
    )
    least_weight: float = setting("weight of the oldest samples", default=0.65, positive=True, most=1, structural=True)
    first_until: int | None = setting(
        "generation in which the pool drops the games of the first generation, whose network was untrained; None for "
        "never",
        default=5,
        least=1,
        structural=True,
    )
    rates: Rates = setting(
        "factors of the learning rate, as pairs (first generation, factor): ((0, 8), (1, 6), (5, 2), (10, 1)); the "
        "run's `schedule` applies as well",
        default=((0, 8.0), (1, 6.0), (5, 2.0), (10, 1.0)),
        structural=True,
    )

    def __post_init__(self) -> None:
        check_ranges(self, "a pool's ")
        object.__setattr__(self, "rates", check_rates(self.rates))

    def make_memory(
        self, env: GameEnv, *, targets: Targets, masked: bool, start: int, seed: int, threads: int = 1
    ) -> "SamplePool":
        """Return an empty memory of games of `env`; see `MemorySettings.make_memory`."""
        games = ReplayMemory(env, ENDLESS, targets=targets, masked=masked, threads=threads)
        return SamplePool(games, self, start=start, seed=seed)

    @property
    def learned(self) -> int:
        """The number of merged samples in the subset that a run learns from in one generation."""
        return self.subset or 3 * self.positions

    @property
    def most(self) -> int:
        """The largest number of merged samples in the pool; the newest generation is kept even if it has more."""
        return self.size or 10 * self.learned

    def weight(self, age: int) -> float:
        """Return the weight of a sample that is `age` generations old."""
        return max(self.least_weight, 1 - self.decay * age)

    def passes(self, generation: int) -> int:
        """Return the number of passes over the subset in a generation, counted from 0."""
        return min(generation + 1, self.epochs)

    def rate(self, generation: int) -> float:
        """Return the factor of the learning rate in a generation, counted from 0."""
        return next(factor for first, factor in reversed(self.rates) if generation >= first)


def check_rates(given: Any) -> Rates:
    """Return the setting `rates`, pairs of a generation and a factor, as tuples.

    Raises ValueError unless the generations rise from 0 on.
    """
    try:
        rates = tuple((check_int("", generation, 0), check_float("", factor, 0)) for generation, factor in given)
    except (TypeError, ValueError):
        rates = ()  # refused below, by a message about all pairs
    numbers = [generation for generation, _ in rates]
    if not rates or numbers[0] != 0 or numbers != sorted(set(numbers)):
        raise ValueError(
            "a pool's rates must be pairs (generation, factor >= 0) with rising generations from 0 on, such as "
            f"((0, 8), (10, 1)), got {given!r}"
        )
    return rates


class Layer(NamedTuple):
    """The games of one generation of self-play, and their merged samples."""

    generation: int
    entries: list[Entry]
    samples: MergedSamples

    @property
    def positions(self) -> int:
        """The number of searched positions in the generation's games, before equal inputs are merged."""
        return sum(len(entry.plies) for entry in self.entries)


class SamplePool:
    """A memory of merged samples, with one layer for each generation.

    A run plays a generation until it has `Pool.positions` new positions, and then learns from the pool.  The method
    `begin_generation` closes the generation's layer, merges the samples of all layers with lower weights for older
    layers, and draws a subset of the merged samples.  `batch` goes through this subset epoch by epoch.  Positions with
    equal inputs, up to a symmetry of the game, become one merged sample.  Its targets are the means of the positions'
    targets, and its weight is 1 for any number of positions.

    A saved run keeps only the games; a resumed run merges them again in the same order.

    records: stores the games, and computes the targets before merging; it is empty and has no limit.
    start: the number of positions from which training may begin.
    seed: seed of the random generators that draw the subsets and their orders.
    """

    keeps_games = True

    def __init__(self, records: ReplayMemory, settings: Pool, *, start: int = 0, seed: int = 0) -> None:
        self.env = records.env
        self.settings = settings
        self.start = start
        self.seed = seed
        self.records = records
        self.new = 0  # number of positions that the last `remember` added
        self.layers: list[Layer] = []  # the closed layers, the oldest first
        self.open = self._layer(0)
        self._subset: Means | None = None  # None until it is needed
        self._order: tuple[int, np.ndarray] | None = None  # an epoch, and the order of the subset's rows, int64 [n]

    def _layer(self, generation: int) -> Layer:
        return Layer(generation, [], MergedSamples(self.env))

    def __len__(self) -> int:
        """Return the number of positions in the pool, before equal inputs are merged."""
        return len(self.records)

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
        """Whether the generation that is being played has at least `Pool.positions` positions, and so is complete."""
        return self.open.positions >= self.settings.positions

    @property
    def generation(self) -> int:
        """The generation that the network learns from, counted from 0; -1 before the first."""
        return self.open.generation - 1

    @property
    def rate(self) -> float:
        """The factor of the learning rate in the present generation."""
        return self.settings.rate(max(0, self.generation))

    @property
    def samples_per_position(self) -> float:
        """The largest number of samples to learn per new position of the generation that is being played.

        Fewer are learned if the subset has fewer than `Pool.learned` merged samples.
        """
        return self.settings.passes(self.open.generation) * self.settings.learned / self.settings.positions

    def remember(self, records: Sequence[GameRecord]) -> float:
        """Add games; return the number of samples in all epochs of a generation that they complete, else 0."""
        before = self.records.added
        self.add(records)
        self.new = self.records.added - before
        return float(self.begin_generation()) if self.is_due and len(self) >= self.start else 0.0

    def add(self, records: Iterable[GameRecord]) -> None:
        """Add games to the generation that is being played."""
        before = len(self.records.entries)
        self.records.add(records)
        new = list(self.records.entries)[before:]
        self.open.entries.extend(new)
        positions = [(entry, int(ply)) for entry in new for ply in entry.plies]
        for begin in range(0, len(positions), MERGED_AT_ONCE):
            part = positions[begin : begin + MERGED_AT_ONCE]
            entries, plies = [entry for entry, _ in part], [ply for _, ply in part]
            identity = np.zeros(len(part), np.int64)  # the symmetry that changes nothing
            self.open.samples.add(entries, plies, self.records.rebuild(entries, plies, identity))

    def begin_generation(self) -> int:
        """Close the generation that was played and draw the subset to learn from.

        Returns the number of samples to learn: the subset's size times the number of passes over it.
        """
        self.layers.append(self.open)
        self.open = self._layer(self.open.generation + 1)
        self._drop_layers()
        self._subset = None
        return self.settings.passes(self.generation) * len(self.subset.value)

    def _drop_layers(self) -> None:
        """Drop old generations while the pool has more than `Pool.most` merged samples.

        From generation `Pool.first_until` on, also drop the first generation.  The newest generation is always kept.
        """
        first_until = self.settings.first_until
        room = self.settings.most
        kept: list[Layer] = []  # the newest first
        for layer in reversed(self.layers):
            room -= len(layer.samples)
            expired = layer.generation == 0 and first_until is not None and self.generation >= first_until
            if kept and (room < 0 or expired):
                break
            kept.append(layer)
        self.layers = kept[::-1]
        self.records.capacity = max(1, sum(layer.positions for layer in self.layers))
        self.records.add([])  # drops the games of the dropped layers
        self.records.capacity = ENDLESS

    @property
    def subset(self) -> Means:
        """The merged samples from which the present generation learns."""
        if self._subset is None:
            newest, generator = self.generation, self._generator(0)
            layers = [(layer.samples, self.settings.weight(newest - layer.generation)) for layer in self.layers]
            self._subset = merged(layers, lambda counts: draw_subset(counts, self.settings.learned, generator))
            self._order = None
        return self._subset

    def _generator(self, *which: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, STREAM, self.generation, *which])

    def fresh(self, count: int, generator: np.random.Generator) -> Sample | None:
        """Return single positions of the latest games, without merging equal inputs; see `Memory.fresh`."""
        return self.records.sample(count, generator, newest=self.new) if self.new else None

    def latest(self, count: int) -> list[GameRecord]:
        """Return the latest `count` games, newest first."""
        return self.records.latest(count)

    def batch(self, number: int, count: int, generator: np.random.Generator) -> Sample:
        """Return batch `number` of the present generation: `count` merged samples under random symmetries.

        The batches go through the subset once per epoch, each time in another random order.  A batch may contain the
        end of one epoch and the beginning of the next.  All weights are 1.

        generator: draws the symmetries.
        """
        means = self.subset
        rows = np.array([self._row(place) for place in range(number * count, (number + 1) * count)])
        places = means.places
        found = self.records.rebuild(
            [places.entries[row] for row in rows],
            [places.plies[row] for row in rows],
            np.array([places.symmetries[row] for row in rows]),
        )
        sample = Sample(
            planes=found.planes,
            policy=np.where(found.policy < 0, found.policy, means.policy[rows]),  # below 0: marks of illegal actions
            value=means.value[rows],
            weight=np.ones(count, np.float32),
            score=means.score[rows],
            ownership=means.ownership[rows],
            ended=means.ended[rows],
        )
        turn(self.env, sample, generator.integers(len(self.env.symmetries.points), size=count))
        return sample

    def _row(self, place: int) -> int:
        """Return the subset's row for sample number `place` of the generation, counted through all epochs."""
        epoch, within = divmod(place, len(self.subset.value))
        if self._order is None or self._order[0] != epoch:
            self._order = epoch, self._generator(1, epoch).permutation(len(self.subset.value))
        return int(self._order[1][within])

    def metrics(self) -> dict[str, float]:
        """Return the present `generation` and the number of `merged_samples`, summed over the layers."""
        return {"generation": self.generation, "merged_samples": sum(len(layer.samples) for layer in self.layers)}

    def state(self) -> dict[str, Any]:
        """Return plain data: "games", the number of games in the pool, and what else `restore` needs.

        "layers" has a pair (generation, number of games) for each layer, the oldest first.
        """
        layers = [[layer.generation, len(layer.entries)] for layer in (*self.layers, self.open)]
        return {"games": sum(count for _, count in layers), "added": self.added, "layers": layers}

    def restore(self, records: Iterable[GameRecord], state: Mapping[str, Any]) -> None:
        """Fill an empty pool with the games of a saved pool, oldest first.

        state: the saved pool's.  If there are fewer games than it says, the oldest generations lack games.
        """
        rest = list(records)
        parts: list[tuple[int, list[GameRecord]]] = []  # each generation's games, the newest generation first
        for generation, games in reversed(state["layers"]):
            begin = max(0, len(rest) - games)
            parts.append((generation, rest[begin:]))
            rest = rest[:begin]
        for generation, part in reversed(parts):
            if self.open.entries:  # neither the layer of an empty pool, nor one that has lost all its games
                self.layers.append(self.open)
            self.open = self._layer(generation)
            self.add(part)
        self.records.added = state["added"]


def draw_subset(counts: np.ndarray, size: int, generator: np.random.Generator) -> np.ndarray:
    """Return the indices of the inputs to learn from, int64 [min(n, size)], ascending.

    A fifth of the subset is the inputs with the highest counts.  A fifth is drawn from the 40 % of inputs with the
    highest counts, and the rest is drawn from all remaining inputs.

    counts: float64 [n], the number of times that each input was seen, weighted by age.
    """
    if len(counts) <= size:
        return np.arange(len(counts))
    order = np.argsort(-counts, kind="stable")  # the highest count first
    top_size, next_size = int(TOP_SHARE * size), int(NEXT_SHARE * size)
    end = max(top_size + next_size, int(NEXT_OF * len(counts)))  # of those from which the second fifth is drawn
    top, next_ones = order[:top_size], generator.choice(order[top_size:end], next_size, replace=False)
    remaining = np.setdiff1d(order[top_size:], next_ones)
    others = generator.choice(remaining, size - top_size - next_size, replace=False)
    return np.sort(np.concatenate([top, next_ones, others]))
