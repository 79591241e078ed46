"""Networks on a device: the host build of the boards' kernels with torch on the CPU, and with -m gpu the GPU."""

import gc
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as functional

from alphago import GameBatch, GoEnv, Gumbel, NeuralNet, Puct, SearchSettings
from alphago.cuda.device import FREE_STREAMS
from alphago.cuda.host import Host
from alphago.mcts.search import Search
from alphago.nn.inference.cpu import NetEvaluator
from alphago.nn.inference.cpu_forms import ROUNDING
from alphago.nn.inference.frozen_net import example_planes, frozen_parts, outputs_agree
from alphago.nn.inference.fusion import REDUCTIONS
from alphago.nn.inference.gpu_forms import Unsupported, build_gpu_form, translate_out_of_memory
from alphago.nn.inference.gpu_stream import padded_size
from alphago.nn.inference.hardware import torch_device
from tests.devices import DEVICES, needs_compiler
from tests.nn.boards import evaluate, lived_in, random_batch

ENV = GoEnv(5, margin_weight=0.3)
COUNT = 40
NEAR = {"cpu": 1e-4, "host": 1e-5, "cuda": 1e-2}  # OpenVINO and GPUs add in another order


@pytest.fixture(scope="module")
def net() -> NeuralNet:
    return lived_in(NeuralNet(ENV, tower_height=2, channels=8), sharpness=3)


def played(device: str, count: int = COUNT, plies: int = 12) -> GameBatch:
    """Positions after random moves in the first `count` of twice as many slots, the same on each device."""
    batch, slots = ENV.new_batch(2 * count, device), np.arange(count)
    batch.copy(slots, slots, of=random_batch(ENV, count, seed=1, plies=plies))
    return batch


def by_cpu(net: NeuralNet, count: int = COUNT) -> tuple[np.ndarray, np.ndarray]:
    """Priors and values of the first positions."""
    return evaluate(net.evaluator("float32"), played("cpu"), np.arange(count))


def same(one: tuple[np.ndarray, np.ndarray], two: tuple[np.ndarray, np.ndarray], tolerance: float) -> None:
    for mine, right in zip(one, two, strict=True):
        np.testing.assert_allclose(mine, right, rtol=0, atol=tolerance)


def test_priors_and_values_are_those_of_the_cpu(device: str, net: NeuralNet) -> None:
    expected, evaluator = by_cpu(net), net.evaluator("float32", device)
    assert (evaluator.dtype, evaluator.device) == ("float32", device)
    for batch in (played(device), played("cpu")):
        for count in (COUNT, 1, 9):
            got = evaluate(evaluator, batch, np.arange(count))
            there = [torch.zeros(array.shape, device=torch_device(device)) for array in got]
            evaluator.evaluate(batch, np.arange(count), *there)
            same(got, tuple(tensor.cpu().numpy() for tensor in there), 0)
            same(got, (expected[0][:count], expected[1][:count]), NEAR[device])
            mask = batch.legal_mask(np.arange(count), np.empty(got[0].shape, np.bool_))
            assert np.array_equal(got[0] > 0, mask)


@pytest.mark.parametrize("settings", [Puct(leaves=2), Gumbel(leaves=2, considered=4)], ids=["puct", "gumbel"])
def test_a_search_finds_the_same_moves(device: str, net: NeuralNet, settings: SearchSettings) -> None:
    """Of games near their end, so that trees have finished games in them."""
    roots = played("cpu", plies=26)
    going = np.flatnonzero(~roots.is_over(np.arange(COUNT), np.empty(COUNT, np.bool_)))[:12]
    searches = []
    for evaluator in (net.evaluator("float32"), net.evaluator("float32", device)):
        search = Search(ENV, evaluator, len(going), settings)
        search.batch.copy(going, np.arange(len(going)), of=roots)
        search.run(np.full(len(going), 48, np.int32))
        searches.append(search)
    cpu, other = searches
    games = np.arange(len(going))
    assert other.batch.device == device
    assert (cpu.tree.state == 3).any()  # TERMINAL
    np.testing.assert_allclose(other.root_values(games), cpu.root_values(games), atol=0.05)
    agreeing = (other.visits(games) == cpu.visits(games)).all(axis=1).mean()
    assert agreeing >= {"host": 0.9, "cuda": 0.6}[device]  # all, where no two moves were as good as equal


@pytest.mark.parametrize("device", ["cpu", *DEVICES])
def test_groups_on_threads_do_not_disturb_each_other(device: str, net: NeuralNet) -> None:
    evaluator = net.evaluator("float32", device)
    expected = evaluate(evaluator, played(device), np.arange(COUNT))

    def work(number: int) -> list[tuple[np.ndarray, np.ndarray]]:
        batch = played(device)
        slots = np.arange(number, COUNT)
        return [evaluate(evaluator, batch, slots) for _ in range(10)]

    with ThreadPoolExecutor(4) as pool:
        for number, results in enumerate(pool.map(work, range(4))):
            for result in results:
                same(result, (expected[0][number:], expected[1][number:]), NEAR[device])


def test_new_weights_take_the_place_of_the_old(device: str, net: NeuralNet) -> None:
    """Those of a network in training, which stays as it is: they are compared in eval mode."""
    evaluator, batch = net.evaluator("float32", device, shared=False), played(device)
    before = evaluate(evaluator, batch, np.arange(COUNT))
    other = lived_in(NeuralNet(ENV, tower_height=2, channels=8), seed=5, sharpness=3).train()
    other.policy.eval()  # one part that its owner has frozen
    modes = [module.training for module in other.modules()]
    weights = {name: tensor.clone() for name, tensor in other.state_dict().items()}
    evaluator.load(other)
    assert [module.training for module in other.modules()] == modes
    assert all(torch.equal(tensor, weights[name]) for name, tensor in other.state_dict().items())
    after = evaluate(evaluator, batch, np.arange(COUNT))
    assert np.abs(after[0] - before[0]).max() > 0.1
    same(after, by_cpu(other), NEAR[device])
    with pytest.raises(ValueError, match="must have the names and shapes of the evaluator's network"):
        evaluator.load(NeuralNet(ENV, tower_height=1, channels=8))
    other.base_net.entry[0].weight.data[0] = torch.nan
    with pytest.raises(ValueError, match="NaN or infinite"):
        evaluator.load(other)
    same(evaluate(evaluator, batch, np.arange(COUNT)), after, 0)


def test_bfloat16_is_near(device: str, net: NeuralNet) -> None:
    """Of planes that the boards' kernels write in it."""
    evaluator = net.evaluator("bfloat16", device)
    assert evaluator.dtype == "bfloat16"
    expected = by_cpu(net)
    priors, values = evaluate(evaluator, played(device), np.arange(COUNT))
    assert np.abs(priors - expected[0]).sum(axis=1).max() / 2 < 0.15
    assert np.abs(values - expected[1]).max() < 0.1


@pytest.mark.parametrize("device", ["cpu", *DEVICES])
def test_what_is_broken_is_said(device: str) -> None:
    net = lived_in(NeuralNet(ENV, tower_height=1, channels=4))
    evaluator, batch = net.evaluator(device=device), played(device)
    with pytest.raises(ValueError, match=r"must be of GoEnv\(5, .* got one of GoEnv\(7\)"):
        evaluate(evaluator, GoEnv(7).new_batch(1), np.arange(1))
    evaluate(evaluator, ENV.replace(komi=0.5).new_batch(1, device), np.arange(1))
    with pytest.raises(ValueError, match=r"must have shapes \(1, 26\) .* for 1 slots .* got \(1, 3\) and \(1,\)"):
        evaluator.evaluate(batch, np.arange(1), np.empty((1, 3), np.float32), np.empty(1, np.float32))
    net.policy.points.weight.data[:] = 1e38
    evaluator = net.evaluator(device=device)
    with pytest.raises(ValueError, match="the network's output is not finite"):
        evaluate(evaluator, batch, np.arange(COUNT))
    if device != "cpu":
        where = torch_device(device)
        priors, values = torch.zeros(COUNT, ENV.action_space, device=where), torch.zeros(COUNT, device=where)
        evaluator.evaluate(batch, np.arange(COUNT), priors, values)  # what stays there is not waited for
        assert values.isnan().all()


class Stubborn(torch.nn.Module):
    """Its results depend on whether it is being traced: no fast form gives them."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Conv2d(ENV.planes, 4, 3, padding=1)

    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        return self.layer(planes) * (1 if type(planes) is torch.Tensor else 2)


def test_a_network_that_cannot_be_traced_runs_as_it_is(device: str) -> None:
    net = NeuralNet(ENV, Stubborn())
    evaluator = net.evaluator("float32", device)
    assert evaluator.form == "modules"
    same(evaluate(evaluator, played(device), np.arange(9)), by_cpu(net, 9), NEAR[device])


@pytest.mark.slow
def test_new_weights_are_looked_at_in_the_form_that_computes_them(device: str) -> None:
    """What is within rounding before a network has learned may be far off afterwards."""
    net = NeuralNet(ENV, Stubborn())
    evaluator = net.evaluator("bfloat16", device, shared=False)
    batch = played(device)
    evaluate(evaluator, batch, np.arange(COUNT))  # on a stream with the old form
    with torch.no_grad():
        for module in (net.policy, net.value):
            for parameter in module.parameters():
                parameter.mul_(8)
    evaluator.load(net)
    assert evaluator.form == "modules"
    expected, got = by_cpu(net), evaluate(evaluator, batch, np.arange(COUNT))
    assert np.abs(got[0] - expected[0]).sum(axis=1).max() / 2 < 0.15
    assert np.abs(got[1] - expected[1]).max() < 0.15


def evaluator_of_auto(net: NeuralNet, device: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the evaluator for "auto" on a machine where that is this device."""
    monkeypatch.setattr("alphago.nn.inference.gpu.find_device", lambda env, name: device)
    return net.evaluator(device="auto", shared=False)


def test_a_network_that_the_device_cannot_compute(device: str, net: NeuralNet, monkeypatch: pytest.MonkeyPatch) -> None:
    """In none of the forms are its results those of the CPU."""
    monkeypatch.setattr("alphago.nn.inference.gpu_forms.agrees_with", lambda *_: False)
    with pytest.raises(
        Unsupported, match=r"the network cannot be computed on .*: its modules fail there, or give other"
    ):
        net.evaluator(device=device, shared=False)
    assert isinstance(evaluator_of_auto(net, device, monkeypatch), NetEvaluator)


def test_fused_convolutions_are_the_modules(net: NeuralNet, monkeypatch: pytest.MonkeyPatch) -> None:
    """cuDNN's two calls, of which this machine has the meaning only, stand for bias, addition and relu."""
    calls = []

    def plain(inputs: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, *sizes: Any) -> torch.Tensor:
        calls.append("plain")
        return torch.relu(functional.conv2d(inputs, weight, bias, *sizes))

    def adding(
        inputs: torch.Tensor, weight: torch.Tensor, other: torch.Tensor, scale: float, bias: torch.Tensor, *sizes: Any
    ) -> torch.Tensor:
        calls.append("adding")
        return torch.relu(functional.conv2d(inputs, weight, bias, *sizes) + scale * other)

    monkeypatch.setattr(torch, "cudnn_convolution_relu", plain)
    monkeypatch.setattr(torch, "cudnn_convolution_add_relu", adding)
    frozen = frozen_parts(net.base_net, net.value, net.policy)
    with torch.no_grad():
        whole = build_gpu_form("fused", frozen, ENV, torch.float32, torch.device("cpu"))
        calls.clear()
        got, expected = whole(example_planes(ENV)), frozen(example_planes(ENV))
    assert outputs_agree(got, expected, ROUNDING[torch.float32])
    assert calls.count("plain") >= 4  # the entry, the blocks' first ones, the heads
    assert calls.count("adding") == 2  # the blocks' second ones
    left = {node.target for part in whole.children() for node in part.graph.nodes}  # type: ignore[union-attr]
    assert not left & set(REDUCTIONS)
    assert left & set(REDUCTIONS.values())


def test_other_errors_are_not_translated() -> None:
    with pytest.raises(RuntimeError, match="CUBLAS_STATUS_EXECUTION_FAILED"), translate_out_of_memory():
        raise RuntimeError("cuBLAS error: CUBLAS_STATUS_EXECUTION_FAILED")


class Lending(Host):
    """A back end that knows which streams are out."""

    def __init__(self) -> None:
        super().__init__()
        self.lent: list[Any] = []

    def new_stream(self) -> Any:
        self.lent.append(super().new_stream())
        return self.lent[-1]

    def keep_stream(self, stream: Any) -> None:
        self.lent.remove(stream)


@pytest.mark.slow
@needs_compiler
def test_a_stream_is_given_back_when_its_thread_or_evaluator_ends(net: NeuralNet) -> None:
    """Other threads may use it then."""
    evaluator = net.evaluator("float32", "host", shared=False)
    backend = evaluator._backend = Lending()
    batch = played("host")
    evaluate(evaluator, batch, np.arange(3))
    assert len(backend.lent) == 1
    with ThreadPoolExecutor(1) as pool:
        pool.submit(evaluate, evaluator, batch, np.arange(3)).result()
        assert len(backend.lent) == 2
    gc.collect()
    assert len(backend.lent) == 1
    del evaluator
    gc.collect()
    assert backend.lent == []


FULL = "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 139.80 GiB"


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize(
    ("error", "text"),
    [
        (torch.OutOfMemoryError(FULL), "20.00 MiB does not fit into the memory that is left on the GPU"),
        (RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"), "an allocation does not fit into the memory .*"),
    ],
)
def test_a_full_gpu_is_one_sentence(error: Exception, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And no network that gives other results, wherever it is noticed; "auto" takes the CPU."""
    problems: list[Exception] = []

    class Large(Stubborn):
        def forward(self, planes: torch.Tensor) -> torch.Tensor:
            if problems:
                raise problems.pop()
            return super().forward(planes)

    net = NeuralNet(ENV, Large())
    evaluator, batch = net.evaluator("float32", "host", shared=False), played("host")
    for ask in (
        lambda: evaluate(evaluator, batch, np.arange(3)),
        lambda: Search(ENV, evaluator, 1, Puct()).run(np.ones(1, np.int32)),
        lambda: net.evaluator(device="host", shared=False),
    ):
        problems.append(error)
        with pytest.raises(MemoryError, match=f"^{text}$"):
            ask()
    problems.append(error)
    assert isinstance(evaluator_of_auto(net, "host", monkeypatch), NetEvaluator)
    assert problems == []


@pytest.mark.gpu
def test_streams_are_lent_again(net: NeuralNet) -> None:
    """With pinned memory that was copied from on them."""

    def work() -> None:
        evaluator = net.evaluator(device="cuda")
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda count: evaluate(evaluator, played("cuda"), np.arange(count)), (3, 9)))

    before = len(FREE_STREAMS)
    for _ in range(4):
        work()
        gc.collect()
        torch.cuda.synchronize()
    assert len(FREE_STREAMS) <= before + 2


@pytest.mark.gpu
def test_a_gpu_takes_its_fastest_form(net: NeuralNet) -> None:
    evaluator = net.evaluator(device="cuda")
    assert (evaluator.form, evaluator.dtype) == ("fused", "bfloat16")
    assert net.evaluator(device="auto").device == "cuda"


@pytest.mark.parametrize("count", [1, 8, 9, 63, 64, 65, 80, 81, 128, 129, 1000, 1024, 4096, 5000])
def test_padded_sizes_waste_little(count: int) -> None:
    size = padded_size(count)
    assert count <= size
    assert size <= max(8, 2 * count - 1, 64) if count <= 64 else size < 1.25 * count
    assert padded_size(size) == size
