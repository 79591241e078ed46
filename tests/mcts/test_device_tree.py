"""Trees and waves on a device are those of the CPU, word by word."""

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import pytest
from numpy.typing import DTypeLike

import alphago
from alphago import ConnectFourEnv, GameBatch, GameEnv, GoEnv, Gumbel, Puct, SearchSettings
from alphago.cuda.host import Host, HostKernels
from alphago.env.device_batch import DeviceBatch
from alphago.mcts.evaluator import HashEvaluator, WaveEvaluator
from alphago.mcts.kernels.nodes import NONE, ROOT
from alphago.mcts.puct import PuctRule
from alphago.mcts.search import Forbidden, Search
from alphago.mcts.tree_reading import read_analysis
from tests.devices import needs_compiler
from tests.mcts.trees import assert_same, random_position

GO = GoEnv(5, komi=0.5, max_moves=40)
GAMES = [GO, alphago.ReversiEnv(4), alphago.GomokuEnv(5, 4), ConnectFourEnv(), alphago.OwareEnv(max_moves=60)]
ROUNDS = Gumbel(considered=8, leaves=8, rounds=True)
RULES = {
    "puct": Puct(),
    "puct-8": Puct(leaves=8, virtual_loss=2, parent_value_weight=0.0),
    "gumbel": Gumbel(considered=4),
    "gumbel-8": Gumbel(considered=8, leaves=8),
    "rounds": ROUNDS,
}


class DeviceHash(HashEvaluator, WaveEvaluator):
    """The hash evaluator for a device; coarse: priors and values are multiples of 1 / 256."""

    def __init__(self, device: str, coarse: bool = False) -> None:
        self.device, self.coarse = device, coarse
        self.sizes: list[int] = []  # of its batches

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        self.sizes.append(len(slots))
        own = np.empty(priors.shape, np.float32), np.empty(values.shape, np.float32)
        super().evaluate(batch, slots, *own)
        if self.coarse:
            for array in own:
                array[...] = np.rint(array * 256) / 256
            own[0][np.arange(len(slots)), own[0].argmax(axis=1)] += 1 / 256  # never without a prior
        for array, result in zip((priors, values), own, strict=True):
            array[...] = batch.backend.upload(result, np.float32) if isinstance(batch, DeviceBatch) else result


class Far(np.ndarray):
    """An array of which NumPy computes nothing, as if it were a GPU's."""

    __array_ufunc__ = None


class FarHost(Host):
    """The host build, whose arrays share no memory with NumPy's."""

    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray:
        return super().zeros(shape, dtype).view(Far)

    def upload(self, values: object, dtype: DTypeLike) -> np.ndarray:
        is_there = isinstance(values, Far) and values.dtype == dtype and values.flags.c_contiguous
        return values if is_there else np.array(values, dtype, order="C").view(Far)  # type: ignore[return-value]

    def download(self, array: Any) -> np.ndarray:
        assert isinstance(array, Far)
        return np.array(array)

    def reachable(self, out: Any) -> np.ndarray | None:
        return out if isinstance(out, Far) else None


class Broken(DeviceHash):
    """Its values are no numbers after some waves."""

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        super().evaluate(batch, slots, priors, values)
        if len(self.sizes) > 3:
            values[:1] = np.nan


def searches(env: GameEnv, settings: SearchSettings, device: str, games: int) -> list[Search]:
    """On the CPU and on the device. On a GPU, exp and log are rounded otherwise, which coarse priors do not show."""
    return [Search(env, DeviceHash(where, device == "cuda"), games, settings) for where in ("cpu", device)]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("env", [GAMES[0], *(pytest.param(env, marks=pytest.mark.slow) for env in GAMES[1:])], ids=repr)
def test_self_play(env: GameEnv, rule: str, device: str) -> None:
    """With noise, kept trees, and games that begin anew."""
    count, games = 6, np.arange(6)
    both = searches(env, RULES[rule], device, count)
    assert both[1].batch.device == device
    random = np.random.default_rng(1)
    for move in range(40):
        readouts, early = random.integers(0, 40, count).astype(np.int32), random.random(count) < 0.5
        answers = []
        for search in both:
            generators = [np.random.default_rng([move, game]) for game in range(count)]
            search.begin_move(games)
            search.expand_roots(games)
            search.add_noise(games, generators)
            search.run(readouts)
            found = search.selfplay_moves(games, early, generators)
            answers.append([*found, search.visits(games), search.priors(games), search.root_values(games)])
        assert_same(*both)
        for one, other in zip(*answers, strict=True):
            assert np.array_equal(one, other)
        masks = both[0].batch.legal_mask(games, np.empty((count, env.action_space), np.bool_))
        actions = np.where(masks[games, answers[0][1]], answers[0][1], masks.argmax(axis=1)).astype(np.int32)
        for search in both:
            search.advance(games, actions)
            over = games[search.batch.is_over(games, np.empty(count, np.bool_))]
            search.batch.reset(over)
            search.forget(over)


@needs_compiler
@pytest.mark.parametrize("rule", ["puct-8", "rounds"])
def test_no_memory_is_shared(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what is on a device, as on a GPU."""
    monkeypatch.setattr("alphago.env.packed_batch.find_backend", lambda device: FarHost())
    test_self_play(ConnectFourEnv(), rule, "host")
    test_analyses(ConnectFourEnv(), rule, "host")


@pytest.mark.parametrize("rule", ["puct-8", "rounds"])
@pytest.mark.parametrize("env", [GAMES[0], *(pytest.param(env, marks=pytest.mark.slow) for env in GAMES[1:])], ids=repr)
def test_analyses(env: GameEnv, rule: str, device: str) -> None:
    """Of positions with forbidden moves, in waves of several sizes, ended early, and in trees that were kept."""
    both, random, games = searches(env, RULES[rule], device, 2), np.random.default_rng(2), np.arange(2)
    for plies in range(0, 20, 2):
        positions = [random_position(env, plies, random) for _ in games]
        saved = []
        for search in both:
            for game, position in enumerate(positions):
                first = frozenset([int(position.legal_mask.argmax())])
                others = [Forbidden(position.to_play, first, plies=2)] if position.legal_mask.sum() > 1 and game else []
                search.start(game, position, others)
            search.prepare(games, np.full(2, 90, np.int32))
            budget = np.array([90, 50], np.int32)
            for leaves in (1, 3, 8):
                search.wave(budget, leaves)
            search.run(np.maximum(budget - 20, 1), best_only=np.array([True, False]))
            saved.append([search.snapshot(game) for game in range(2)])
        assert_same(*both)
        for own, other in zip(*saved, strict=True):
            assert all(np.array_equal(*pair, equal_nan=True) for pair in zip(own, other, strict=True))
        ours, theirs = (read_analysis(search, games, positions=tuple(positions)) for search in both)
        for name in ("visits", "prior", "q", "lower_bound", "lines", "line_visits", "value", "raw_value", "to_play"):
            assert np.array_equal(getattr(ours, name), getattr(theirs, name), equal_nan=True), name
        for search, trees in zip(both, saved, strict=True):
            search.restore(0, positions[1], trees[1])
            search.run(np.array([30, 0], np.int32))
        assert_same(*both)


@pytest.mark.parametrize(
    ("settings", "readouts", "sizes"),
    [(ROUNDS, [16] * 4, [4 * 8, 4 * 4, 4 * 2, 4 * 2]), (Puct(), [8, 2, 0, 0], [2, 2, *[1] * 6])],
)
def test_batches_have_no_more_rows_than_leaves(
    settings: SearchSettings, readouts: list[int], sizes: list[int], device: str
) -> None:
    """When the sizes of the last move's waves are known; games that are done leave them."""
    evaluator = DeviceHash(device)
    search = Search(GO, evaluator, 4, settings)
    for _ in range(2):
        evaluator.sizes.clear()
        search.forget(np.arange(4))
        search.run(np.array(readouts, np.int32))
    assert evaluator.sizes == [np.count_nonzero(readouts), *sizes]


def test_a_broken_evaluator_leaves_empty_trees(device: str) -> None:
    search = Search(GO, Broken(device), 3, ROUNDS)
    with pytest.raises(ValueError, match=r"Broken returned no usable evaluation of \d+ positions: a legal"):
        search.run(np.full(3, 32, np.int32))
    assert search.tree.used.tolist() == [1, 1, 1]
    search.evaluator = DeviceHash(device)
    search.run(np.full(3, 32, np.int32))
    assert not search.tree.virtual.any()
    assert search.tree.at("visits", np.arange(3)).tolist() == [33] * 3


def test_roots_without_candidates(device: str) -> None:
    """Sequential halving has nothing to divide by."""
    both = searches(GO, RULES["gumbel"], device, 1)
    for search in both:
        search.prepare(np.arange(1), np.array([8], np.int32))
        getattr(search.tree, "arrays", search.tree).first_child[0, ROOT] = NONE
        search.wave(np.array([8], np.int32))
    assert_same(*both)


class OwnPuct(Puct):
    def new_rule(self, games: int, actions: int) -> PuctRule:
        return type("OwnRule", (PuctRule,), {})(self, games)  # which may have kernels of its own


def test_a_rule_of_ones_own_stays_on_the_cpu(device: str) -> None:
    """The network may still be on the device."""
    search = Search(GO, DeviceHash(device), 1, OwnPuct())
    assert search.batch.device == "cpu"
    search.run(np.array([8], np.int32))
    assert search.visits(np.arange(1)).sum() == 8


class Recorder(DeviceHash):
    """Repeats the kernels of a wave with the arguments of the first time, as a CUDA graph does."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        super().__init__("host")
        self.tape: list[Any] | None = None
        self.graphs = self.replays = 0
        self.keys: set[Hashable] = set()
        launch = HostKernels.launch

        def recorded(kernels: HostKernels, *arguments: Any) -> None:
            self.keep(lambda: launch(kernels, *arguments))
            launch(kernels, *arguments)

        patch.setattr(HostKernels, "launch", recorded)

    def keep(self, step: Callable[[], None]) -> None:
        if self.tape is not None:
            self.tape.append(step)

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        tape, self.tape = self.tape, None
        super().evaluate(batch, slots, priors, values)
        self.tape = tape
        self.keep(lambda: DeviceHash.evaluate(self, batch, slots, priors, values))

    def repeat(self, steps: Callable[[], None], graphs: dict[Any, Any], key: Hashable) -> None:
        if key in graphs:
            self.replays += 1
            for step in graphs[key]:
                step()
            return
        self.keys.add(key)
        self.graphs, self.tape = self.graphs + 1, []
        steps()
        graphs[key], self.tape = self.tape, None


@needs_compiler
@pytest.mark.parametrize("rule", RULES)
def test_waves_can_be_repeated_as_they_were(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that changes from wave to wave, with the budgets, or when trees grow, is in the arguments of kernels."""
    recorder = Recorder(monkeypatch)
    both = [Search(GO, evaluator, 3, RULES[rule]) for evaluator in (HashEvaluator(), recorder)]
    games, random = np.arange(3), np.random.default_rng(3)
    for move in range(10):
        budgets = np.full(3, (40, 40, 90)[move], np.int32) if move < 3 else random.integers(1, 100, 3).astype(np.int32)
        for search in both:
            search.begin_move(games)
            search.run(budgets)
        assert_same(*both)
        actions = both[0].visits(games).argmax(axis=1)
        for search in both:
            search.advance(games, actions)
            search.make_room(1000 if move >= 2 else 0)  # from here on nothing grows
        if move == 2:
            recorder.graphs, recorder.keys = 0, set()
    assert recorder.graphs == len(recorder.keys)  # one for each size of a wave, whatever the budgets
    assert recorder.replays > recorder.graphs > 0


@needs_compiler
def test_what_a_match_downloads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before each wave it looks at the roots, not at the priors of all nodes."""
    search, sizes = Search(GO, DeviceHash("host"), 4, Puct()), []
    download = Host.download

    def counted(host: Host, array: Any) -> np.ndarray:
        sizes.append(array.nbytes)
        return download(host, array)

    search.make_room(1000)
    monkeypatch.setattr(Host, "download", counted)
    search.run(np.full(4, 50, np.int32), np.full(4, True))
    assert max(sizes) < search.tree.arrays.visits.nbytes
