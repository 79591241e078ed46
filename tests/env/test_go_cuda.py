"""Batches of a back end beside those of the CPU: how they are made, copied and asked."""

import numpy as np
import pytest
from plain_connect_four import PlainConnectFourEnv

from alphago import ConnectFourEnv, GoEnv, GomokuEnv, OwareEnv, ReversiEnv
from alphago.cuda.contract import Backend
from alphago.cuda.host import Host
from alphago.env.devices import choose_device
from alphago.env.go_cuda import CudaGoBatch
from tests.cuda.boards import Twins
from tests.devices import needs_compiler


def played(backend: Backend) -> Twins:
    """Six games after 12 random moves."""
    twins = Twins(GoEnv(5), 6, backend)
    twins.play_on(np.random.default_rng(3), 12, every=12)
    return twins


def test_bfloat16_is_torchs(backend: Backend) -> None:
    """Every komi is rounded to the nearest, as torch does."""
    torch = pytest.importorskip("torch")
    env = GoEnv(2)
    komis = np.arange(-400, 401) / 2
    batch = CudaGoBatch(env, len(komis), backend)
    for slot, komi in enumerate(komis):
        batch.reset(np.array([slot]), komi=komi)
    slots, shape = np.arange(len(komis)), (len(komis), env.planes, 2, 2)
    exact = torch.from_numpy(batch.planes(slots, np.empty(shape, np.float32)))
    ours = torch.zeros(shape, dtype=torch.bfloat16)
    batch.planes(slots, ours.view(torch.int16).numpy())
    assert torch.equal(ours, exact.bfloat16())


def test_answers_go_where_they_fit(backend: Backend) -> None:
    """Steps between the numbers, or another type: what numba's kernels take is taken here too."""
    twins = played(backend)
    wide = np.zeros((6, 2), np.int64)
    twins.theirs.hash(twins.slots, wide[:, 1])
    assert np.array_equal(wide[:, 1], twins.ours.hash(twins.slots, np.empty(6, np.int64)))
    assert not wide[:, 0].any()
    scores = twins.theirs.score(twins.slots, np.empty(6, np.float64))
    assert np.array_equal(scores, twins.ours.score(twins.slots, np.empty(6)))


def test_what_does_not_fit_is_refused(backend: Backend) -> None:
    twins = played(backend)
    batch, slots = twins.theirs, twins.slots
    with pytest.raises(ValueError, match=r"out must have shape \[6, 26\], got \[6, 25\]"):
        batch.legal_mask(slots, np.empty((6, 25), np.bool_))
    with pytest.raises(ValueError, match=r"planes must be float32, .*, got float64"):
        batch.planes(slots, np.empty((6, 16, 5, 5)))
    with pytest.raises(ValueError, match="follow each other evenly, got steps of 8 and 1"):
        batch.planes(slots, backend.zeros((6, 16, 5, 8), np.float32)[..., :5])
    with pytest.raises(ValueError, match=r"stones must be \[5, 5\] points of 1, -1 and 0, got \[3, 3\]"):
        batch.reset(slots, stones=np.zeros((3, 3)))
    for number in (2, 256, 0.9, np.nan):
        with pytest.raises(ValueError, match=r"stones must be .* points of 1, -1 and 0"):
            batch.reset(slots, stones=np.full((5, 5), number))
    with pytest.raises(ValueError, match="the chain at A5 has no liberty"):
        batch.reset(slots, stones=np.array([[1, -1, 0, 0, 0], [-1, 0, 0, 0, 0], *[[0] * 5] * 3]))
    assert np.array_equal(batch.legal_mask(slots[:0], np.empty((0, 26), np.bool_)), np.empty((0, 26)))


class OnDevice:
    """An array as CuPy's: kernels reach it, and NumPy's cannot be copied into it."""

    def __init__(self, array: np.ndarray) -> None:
        self.array, self.shape, self.dtype = array, array.shape, array.dtype


class Reaching(Host):
    def reachable(self, out: object) -> np.ndarray | None:
        return out.array if isinstance(out, OnDevice) else super().reachable(out)


@needs_compiler
def test_arrays_on_the_device_fit_or_are_refused() -> None:
    twins = played(Reaching())
    batch, slots = twins.theirs, twins.slots
    score, owner = OnDevice(np.empty(6, np.float32)), OnDevice(np.empty((6, 25), np.int8))
    assert batch.score(slots, score) is score
    batch.ownership(slots, owner)
    assert np.array_equal(score.array, twins.ours.score(slots, np.empty(6, np.float32)))
    assert np.array_equal(owner.array, twins.ours.ownership(slots, np.empty((6, 25), np.int8)))
    refused = r"NumPy array, or a C-contiguous {} array that 'host' kernels reach, got a OnDevice of {}$"
    with pytest.raises(ValueError, match=refused.format("float32", "float64")):
        batch.score(slots, OnDevice(np.empty(6)))
    with pytest.raises(ValueError, match=refused.format("float32", "float32")):
        batch.outcome(slots, OnDevice(np.empty((6, 2), np.float32)[:, 1]))
    before = batch.rows.copy()
    with pytest.raises(ValueError, match=refused.format("int64", "int32")):
        batch.playout(slots, OnDevice(np.zeros(6, np.int32)))
    assert np.array_equal(batch.rows, before)
    states = OnDevice(np.arange(6))
    batch.playout(slots, states)
    assert (states.array != np.arange(6)).all()


@needs_compiler
def test_the_device_is_the_callers_choice() -> None:
    for env in (GoEnv(5), ReversiEnv(4), GomokuEnv(3, 3), ConnectFourEnv(), OwareEnv()):
        assert [env.new_batch(2).device, env.new_batch(2, device="host").device] == ["cpu", "host"]
        assert (choose_device(env, "host"), choose_device(PlainConnectFourEnv())) == ("host", "cpu")
        with pytest.raises(ValueError, match="device must be one of 'cpu', 'cuda', 'auto', 'host', got 'tpu'"):
            choose_device(env, "tpu")
        with pytest.raises(ValueError, match=r"device must be 'cuda' or 'host' .*, got 'tpu'"):
            env.new_batch(2, device="tpu")
    plain = PlainConnectFourEnv()
    for make in (plain.new_batch, lambda count, device: choose_device(plain, device)):
        with pytest.raises(ValueError, match=r"PlainConnectFourEnv\(\), which has no CUDA kernels, got 'cuda'"):
            make(3, "cuda")
