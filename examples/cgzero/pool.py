"""The pool: a memory that merges positions with equal network inputs, and from which a run learns in generations.

The method is the sampler and training loop of CGZero (marchete 2020, github.com/marchete/CGZero), without two defects:
here a merged sample keeps its count when positions are added to it, and the policy of an old sample still sums to 1.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from merged import Means, MergedSamples, merge_layers

from alphago.env.game import GameEnv
from alphago.records.record import GameRecord
from alphago.system.validation import check_ranges, setting, settings
from alphago.training.memory import Columns, ReplayMemory, Sample, apply_symmetries
from alphago.training.targets import Targets

TOP_SHARE = 0.2  # share of a subset that goes to the inputs with the highest counts
NEXT_SHARE = 0.2  # share of a subset that is drawn from the inputs with high counts
HIGH_COUNTS = 0.4  # share of the inputs that have high counts
MERGED_AT_ONCE = 256  # number of positions that are merged together
ENDLESS = 2**40  # capacity of the ReplayMemory of games, so that only the pool drops old games
STREAM = 4_000_000_007  # the pool's generators are seeded with (seed, STREAM, generation, …); game numbers are smaller


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

    def __post_init__(self) -> None:
        check_ranges(self, "a pool's ")

    def make_memory(
        self, env: GameEnv, *, targets: Targets, masked: bool, start: int, seed: int, threads: int = 1
    ) -> "SamplePool":
        """Return an empty memory of games of `env`; see `MemorySettings.make_memory`."""
        games = ReplayMemory(env, ENDLESS, targets=targets, masked=masked, threads=threads)
        return SamplePool(games, self, start=start, seed=seed)

    @property
    def subset_size(self) -> int:
        """The number of merged samples in the subset that a run learns from in one generation."""
        return self.subset or 3 * self.positions

    @property
    def max_size(self) -> int:
        """The largest number of merged samples in the pool; the newest generation is kept even if it has more."""
        return self.size or 10 * self.subset_size

    def weight(self, age: int) -> float:
        """Return the weight of a sample that is `age` generations old."""
        return max(self.least_weight, 1 - self.decay * age)

    def passes(self, generation: int) -> int:
        """Return the number of passes over the subset in a generation, counted from 0."""
        return min(generation + 1, self.epochs)


class Layer(NamedTuple):
    """The games of one generation of self-play, and their merged samples."""

    generation: int
    entries: list[Columns]
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

    Args:
        records: stores the games, and computes the targets before merging; it is empty and has no limit.
        start: the number of positions from which training may begin.
        seed: seed of the random generators that draw the subsets and their orders.
    """

    def __init__(self, records: ReplayMemory, settings: Pool, *, start: int = 0, seed: int = 0) -> None:
        self.env = records.env
        self.settings = settings
        self.start = start
        self.seed = seed
        self.records = records
        self.newly_added = 0  # number of positions that the last `remember` added
        self.layers: list[Layer] = []  # the layers of complete generations, the oldest first
        self.current = self._new_layer(0)  # the layer of the generation that is being played
        self._subset: Means | None = None  # None until `subset` is called
        self._epoch_order: tuple[int, np.ndarray] | None = None  # the latest epoch, and its order of rows, int64 [n]

    def _new_layer(self, generation: int) -> Layer:
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
        """Whether the generation that is being played is complete: it has at least `Pool.positions` positions."""
        return self.current.positions >= self.settings.positions

    @property
    def generation(self) -> int:
        """The generation that the network learns from, counted from 0; -1 before the first."""
        return self.current.generation - 1

    def remember(self, records: Sequence[GameRecord]) -> float:
        """Add games, and if they complete a generation, begin to learn.

        Returns:
            The number of samples to learn now; 0 if the generation is not complete.
        """
        before = self.records.added
        self.add(records)
        self.newly_added = self.records.added - before
        if not self.is_due or len(self) < self.start:
            return 0.0
        return float(self.begin_generation())

    def add(self, records: Iterable[GameRecord]) -> None:
        """Add games to the generation that is being played."""
        before = len(self.records.entries)
        self.records.add(records)
        added = list(self.records.entries)[before:]
        self.current.entries.extend(added)
        positions = [(entry, int(ply)) for entry in added for ply in entry.plies]
        for begin in range(0, len(positions), MERGED_AT_ONCE):
            part = positions[begin : begin + MERGED_AT_ONCE]
            entries = [entry for entry, _ in part]
            plies = [ply for _, ply in part]
            identity = np.zeros(len(part), np.int64)  # the symmetry that changes nothing
            self.current.samples.add(entries, plies, self.records.rebuild(entries, plies, identity))

    def begin_generation(self) -> int:
        """Close the generation that was played and draw the subset to learn from.

        Returns:
            The number of samples to learn: the subset's size times the number of passes over it.
        """
        self.layers.append(self.current)
        self.current = self._new_layer(self.current.generation + 1)
        self._drop_layers()
        self._subset = None  # `subset` in the next line draws a new one
        return self.settings.passes(self.generation) * len(self.subset.value)

    def _drop_layers(self) -> None:
        """Drop old generations while the pool has more than `Pool.max_size` merged samples.

        From generation `Pool.first_until` on, also drop the first generation.  The newest generation is always kept.
        """
        first_until = self.settings.first_until
        drops_first = first_until is not None and self.generation >= first_until
        room = self.settings.max_size
        kept: list[Layer] = []  # the newest first
        for layer in reversed(self.layers):
            room -= len(layer.samples)
            should_drop = room < 0 or (drops_first and layer.generation == 0)
            if kept and should_drop:
                break
            kept.append(layer)
        self.layers = kept[::-1]
        # For a moment there is room only for the positions of the layers kept: `add` drops all older games.
        self.records.capacity = max(1, sum(layer.positions for layer in self.layers))
        self.records.add([])
        self.records.capacity = ENDLESS

    @property
    def subset(self) -> Means:
        """The merged samples from which the present generation learns."""
        if self._subset is None:
            generator = self._generator(0)
            weights = [self.settings.weight(self.generation - layer.generation) for layer in self.layers]
            layers = [(layer.samples, weight) for layer, weight in zip(self.layers, weights, strict=True)]
            self._subset = merge_layers(
                layers, lambda counts: draw_subset(counts, self.settings.subset_size, generator)
            )
            self._epoch_order = None
        return self._subset

    def _generator(self, *numbers: int) -> np.random.Generator:
        """Return a generator for the present generation.

        Args:
            numbers: (0,) for the draw of the subset, (1, epoch) for the order of an epoch.
        """
        return np.random.default_rng([self.seed, STREAM, self.generation, *numbers])

    def fresh(self, count: int, generator: np.random.Generator) -> Sample | None:
        """Return `count` positions of the games added last, without merging equal inputs; None without such games."""
        return self.records.sample(count, generator, newest=self.newly_added) if self.newly_added else None

    def latest(self, count: int) -> list[GameRecord]:
        """Return the latest `count` games, newest first."""
        return self.records.latest(count)

    def batch(self, number: int, count: int, generator: np.random.Generator) -> Sample:
        """Return batch `number` of the present generation: `count` merged samples under random symmetries.

        The batches go through the subset once per epoch, each time in another random order.  A batch may contain the
        end of one epoch and the beginning of the next.  All weights are 1.

        Args:
            number: counted from 0 since the generation began.
            generator: draws the symmetries.
        """
        means = self.subset
        rows = np.array([self._row(index) for index in range(number * count, (number + 1) * count)])
        places = means.places
        inputs = self.records.rebuild(
            [places.entries[row] for row in rows],
            [places.plies[row] for row in rows],
            np.array([places.symmetries[row] for row in rows]),
        )
        sample = Sample(
            planes=inputs.planes,
            policy=np.where(inputs.policy < 0, inputs.policy, means.policy[rows]),  # below 0: marks of illegal actions
            value=means.value[rows],
            weight=np.ones(count, np.float32),
            score=means.score[rows],
            ownership=means.ownership[rows],
            ended=means.ended[rows],
        )
        apply_symmetries(self.env, sample, generator.integers(len(self.env.symmetries.points), size=count))
        return sample

    def _row(self, index: int) -> int:
        """Return the subset's row for sample `index` of the generation, counted through all epochs."""
        size = len(self.subset.value)
        epoch, index_in_epoch = divmod(index, size)
        if self._epoch_order is None or self._epoch_order[0] != epoch:
            self._epoch_order = epoch, self._generator(1, epoch).permutation(size)
        _, order = self._epoch_order
        return int(order[index_in_epoch])

    def metrics(self) -> dict[str, float]:
        """Return the present `generation` and the number of `merged_samples`, summed over the layers."""
        return {"generation": self.generation, "merged_samples": sum(len(layer.samples) for layer in self.layers)}

    def state(self) -> dict[str, Any]:
        """Return plain data for `restore`.

        "games" is the number of games in the pool, "added" the number of positions ever added.  "layers" has a pair
        (generation, number of games) for each layer, the oldest first.
        """
        layers = [[layer.generation, len(layer.entries)] for layer in (*self.layers, self.current)]
        return {"games": sum(count for _, count in layers), "added": self.added, "layers": layers}

    def restore(self, records: Iterable[GameRecord], state: Mapping[str, Any]) -> None:
        """Fill an empty pool with the games of a saved pool, oldest first.

        Args:
            state: the result of the saved pool's `state`.  If there are fewer games than `state` says, the oldest
                generations lack games.
        """
        saved = list(records)
        sizes = [games for _, games in state["layers"]]
        missing = sum(sizes) - len(saved)
        ends = np.maximum(np.cumsum(sizes) - missing, 0)  # where each generation's games end in `saved`
        begin = max(0, -missing)  # if there are more games than `state` says, the oldest ones are left out
        for (generation, _), end in zip(state["layers"], ends.tolist(), strict=True):
            if self.current.entries:  # a layer without games is left out
                self.layers.append(self.current)
            self.current = self._new_layer(generation)
            self.add(saved[begin:end])
            begin = end
        self.records.added = state["added"]


def draw_subset(counts: np.ndarray, size: int, generator: np.random.Generator) -> np.ndarray:
    """Return the indices of the inputs to learn from, int64 [min(n, size)], ascending.

    A fifth of the subset is the inputs with the highest counts.  A fifth is drawn from the 40 % of inputs with the
    highest counts, and the rest is drawn from all remaining inputs.

    Args:
        counts: float64 [n], the number of times that each input was seen, weighted by age.
        size: the number of inputs to learn from.
    """
    if len(counts) <= size:
        return np.arange(len(counts))
    order = np.argsort(-counts, kind="stable")  # the highest count first
    top_size, next_size = int(TOP_SHARE * size), int(NEXT_SHARE * size)
    high_end = max(top_size + next_size, int(HIGH_COUNTS * len(counts)))  # where the high counts end in `order`
    top = order[:top_size]
    high = generator.choice(order[top_size:high_end], next_size, replace=False)
    remaining = np.setdiff1d(order[top_size:], high)
    others = generator.choice(remaining, size - top_size - next_size, replace=False)
    return np.sort(np.concatenate([top, high, others]))
