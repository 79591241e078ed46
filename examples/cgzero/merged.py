"""Merged samples: sums and means of the targets of training samples with equal inputs.

Two inputs are equal if a symmetry of the game turns one into the other.  They are compared by 128-bit digests of all
their numbers, so that different inputs are never merged in practice.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from alphago.env.game import GameEnv
from alphago.training.memory import Columns, Sample, apply_symmetries

FIRST_ROWS = 256  # number of rows allocated at first; the arrays grow


class Sums(NamedTuple):
    """Sums of the targets of the samples merged in each row, weighted by the samples' weights; R rows, A actions."""

    seen: np.ndarray  # float64 [R], sum of the weights of all samples
    policy: np.ndarray  # float32 [R, A]
    value: np.ndarray  # float64 [R], from the view of the player to move
    ended: np.ndarray  # float64 [R], sum of the weights of samples whose score and ownership are known
    score: np.ndarray  # float64 [R], sum over the samples whose score is known, from the view of the player to move
    ownership: np.ndarray  # float32 [R, points], sum over the same samples as `score`; [R, 0] without ownership

    def scaled(self, rows: np.ndarray, factor: float) -> "Sums":
        """Return copies of the rows with indices `rows` (int64 [n]), with all sums multiplied by `factor`."""
        return Sums(*(array[rows] * array.dtype.type(factor) for array in self))


def new_sums(env: GameEnv, rows: int) -> Sums:
    """Return Sums with `rows` rows of zeros."""
    points = env.plane_shape[0] * env.plane_shape[1] if env.has_ownership else 0
    numbers = {name: np.zeros(rows) for name in ("seen", "value", "ended", "score")}
    policy, ownership = np.zeros((rows, env.action_space), np.float32), np.zeros((rows, points), np.float32)
    return Sums(**numbers, policy=policy, ownership=ownership)


class Places(NamedTuple):
    """Where to find each row's input: in which game, before which ply, and the symmetry to apply to that position."""

    entries: list[Columns]  # the game of each row
    plies: list[int]  # the ply before which the input occurs
    symmetries: list[int]  # the symmetry to apply, an index into `env.symmetries`

    def add(self, entry: Columns, ply: int, symmetry: int) -> None:
        self.entries.append(entry)
        self.plies.append(ply)
        self.symmetries.append(symmetry)


class MergedSamples:
    """Training samples merged by input, with one row for each different input in the order of first occurrence."""

    def __init__(self, env: GameEnv) -> None:
        self.env = env
        self.places = Places([], [], [])  # the place of each row's first sample
        self._rows: dict[bytes, int] = {}
        self._sums = new_sums(env, FIRST_ROWS)

    def __len__(self) -> int:
        """Return the number of different inputs."""
        return len(self._rows)

    @property
    def sums(self) -> Sums:
        """The sums of all rows, not copied."""
        return Sums(*(array[: len(self)] for array in self._sums))

    @property
    def keys(self) -> np.ndarray:
        """The digests of the rows' inputs, uint64 [R, 2]."""
        return np.frombuffer(b"".join(self._rows), np.uint64).reshape(-1, 2)

    def add(self, entries: Sequence[Columns], plies: Sequence[int], sample: Sample) -> None:
        """Add n samples.

        Args:
            entries, plies: for each sample its game and its ply.
            sample: the samples, to which no symmetry has been applied.  This method changes them in place: it applies
                to each sample the symmetry that brings its input to the canonical form.
        """
        symmetries, keys = canonical_inputs(self.env, sample.planes)
        rows = np.empty(len(keys), np.int64)
        for i, key in enumerate(keys):
            rows[i] = row = self._rows.setdefault(key, len(self._rows))
            is_new = row == len(self.places.plies)
            if is_new:
                self.places.add(entries[i], int(plies[i]), int(symmetries[i]))
        self._make_room()
        apply_symmetries(self.env, sample, symmetries)
        weight, known = sample.weight, sample.weight * sample.ended
        policy = np.maximum(sample.policy, 0)  # numbers below 0 mark illegal actions
        added = Sums(
            seen=weight,
            policy=weight[:, None] * policy,
            value=weight * sample.value,
            ended=known,
            score=known * sample.score,
            ownership=known[:, None] * sample.ownership,
        )
        for sums, addends in zip(self._sums, added, strict=True):
            # In order, so that the sums are the same however the samples are split into calls.
            np.add.at(sums, rows, addends)

    def _make_room(self) -> None:
        """Enlarge the arrays of the sums if there are more inputs than rows."""
        room = len(self._sums.seen)
        if len(self) > room:
            smaller = self._sums
            self._sums = new_sums(self.env, max(len(self), 2 * room))
            for old, new in zip(smaller, self._sums, strict=True):
                new[:room] = old


class Means(NamedTuple):
    """Merged samples to learn from: for each of n inputs, the means of its samples' targets, in the mover's view."""

    places: Places
    seen: np.ndarray  # float64 [n], the number of samples, weighted by age
    policy: np.ndarray  # float32 [n, A], probabilities that sum to 1
    value: np.ndarray  # float32 [n]
    ended: np.ndarray  # float32 [n], the share of the samples whose score and ownership are known
    score: np.ndarray  # float32 [n], the mean over the samples whose score is known
    ownership: np.ndarray  # float32 [n, points], the mean over the same samples as `score`


def merge_layers(layers: Sequence[tuple[MergedSamples, float]], choose: Callable[[np.ndarray], np.ndarray]) -> Means:
    """Merge layers of samples, and return the means of the inputs that `choose` selects.

    Args:
        layers: pairs of samples and their weight, the oldest first.  If an input is in several layers, its place is the
            one in the newest layer.
        choose: function of the weighted number of samples of each different input, float64 [n], that returns the
            indices of the selected inputs, int64, ascending.
    """
    inputs_by_layer, counts = group_inputs(layers)
    chosen = choose(counts)
    result_rows = np.full(len(counts), -1)  # the result's row of each input; -1 for an input that is not chosen
    result_rows[chosen] = np.arange(len(chosen))
    sums = new_sums(layers[0][0].env, len(chosen))
    places: dict[int, tuple[Columns, int, int]] = {}  # by row of the result
    for (samples, weight), inputs in zip(layers, inputs_by_layer, strict=True):
        rows = np.flatnonzero(result_rows[inputs] >= 0)  # rows of the layer whose inputs are chosen
        targets = result_rows[inputs[rows]]  # for each of these rows, its row in the result
        for total, addends in zip(sums, samples.sums.scaled(rows, weight), strict=True):
            total[targets] += addends  # no target occurs twice, since a layer has each input once
        layer_places = samples.places
        for row, target in zip(rows.tolist(), targets.tolist(), strict=True):
            places[target] = layer_places.entries[row], layer_places.plies[row], layer_places.symmetries[row]
    in_order = [places[row] for row in range(len(chosen))]
    return means_of(sums, Places(*(list(column) for column in zip(*in_order, strict=True))))


def means_of(sums: Sums, places: Places) -> Means:
    """Return the means of each input's targets from their sums; places: where the inputs are found."""
    known = np.maximum(sums.ended, 1e-12)  # avoids a division by 0
    return Means(
        places=places,
        seen=sums.seen,
        policy=sums.policy / np.maximum(sums.policy.sum(axis=1, keepdims=True), 1e-12),
        value=(sums.value / sums.seen).astype(np.float32),
        ended=(sums.ended / sums.seen).astype(np.float32),
        score=(sums.score / known).astype(np.float32),
        ownership=sums.ownership / known[:, None].astype(np.float32),
    )


def group_inputs(layers: Sequence[tuple[MergedSamples, float]]) -> tuple[list[np.ndarray], np.ndarray]:
    """Number the different inputs of all layers, from 0, so that equal inputs get equal numbers.

    Args:
        layers: pairs of samples and their weight.

    Returns:
        For each layer the input numbers of its rows, int64 [R], and the weighted number of samples of each input,
        float64 [n].
    """
    keys = np.concatenate([samples.keys for samples, _ in layers])
    counts = np.concatenate([samples.sums.seen * weight for samples, weight in layers])
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    ordered = keys[order]  # equal keys side by side
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    inputs = np.empty(len(order), np.int64)  # the input number of each row, layer after layer
    inputs[order] = np.cumsum(is_first) - 1
    ends = np.cumsum([len(samples) for samples, _ in layers])
    return np.split(inputs, ends[:-1]), np.bincount(inputs, weights=counts)


def canonical_inputs(env: GameEnv, planes: np.ndarray) -> tuple[np.ndarray, list[bytes]]:
    """Return the symmetry, int64 [n], that brings each input to its canonical form, and a digest of that form.

    The canonical form of an input is, among its images under the game's symmetries, the image with the least
    fingerprint.  So an input and its mirror image have the same canonical form.

    Args:
        planes: float32 [n, planes, height, width].
    """
    flat = planes.reshape(len(planes), env.planes, -1)
    images = [np.ascontiguousarray(flat[:, :, points]) for points in env.symmetries.points]  # by symmetry
    symmetries = np.stack([fingerprints(image) for image in images]).argmin(axis=0)
    forms = [images[symmetry][i] for i, symmetry in enumerate(symmetries)]
    return symmetries, [hashlib.blake2b(form.data, digest_size=16).digest() for form in forms]


def fingerprints(planes: np.ndarray) -> np.ndarray:
    """Return a hash of each row of `planes`, uint64 [n]: the sum of its 32-bit words times random odd weights."""
    words = planes.reshape(len(planes), -1).view(np.uint32).astype(np.uint64)
    return words @ odd_weights(words.shape[1])


@cache
def odd_weights(count: int) -> np.ndarray:
    """Return random odd numbers, uint64 [count], the same on every call."""
    return np.random.default_rng(1).integers(0, 2**64, size=count, dtype=np.uint64) | np.uint64(1)
