"""8 bits: the ranges come from positions that are always the same, and rounding is all that they change."""

import importlib.util

import numpy as np
import pytest
import torch
from alphago.nn.inference.dtypes import dtype_name, has_int8_products, quick_float, wanted_dtype
from torch import nn

from alphago.env.connect_four import ConnectFourEnv
from alphago.env.go import GoEnv
from alphago.nn.base import DenseBase
from alphago.nn.inference import cpu as evaluators
from alphago.nn.inference import openvino
from alphago.nn.inference.cpu import NetEvaluator
from alphago.nn.inference.fusion import folded
from alphago.nn.inference.int8 import LEAST, ROOM, Range, input_ranges, random_planes
from alphago.nn.net import NeuralNet, load_model
from tests.nn.boards import ClaimingEnv, evaluate, lived_in, module_results, random_batch

needs_openvino = pytest.mark.skipif(importlib.util.find_spec("openvino") is None, reason="needs openvino")
needs_int8 = pytest.mark.skipif(
    importlib.util.find_spec("openvino") is None or not has_int8_products(), reason="needs openvino and VNNI"
)
ENV = GoEnv(5)


class Tower(nn.Module):
    """Convolutions that read planes, numbers from 0, numbers of any sign, one point each, and nothing but 0."""

    def __init__(self, planes: int = 3) -> None:
        super().__init__()
        self.entry = nn.Conv2d(planes, 8, 3, padding=1)
        self.rising = nn.Conv2d(8, 8, 3, padding=1)
        self.signed = nn.Conv2d(8, 8, 3, padding=1)
        self.point = nn.Conv2d(8, 8, 1)
        self.silent = nn.Conv2d(8, 4, 3, padding=1)

    def forward(self, planes):
        self.read = [torch.relu(self.entry(planes))]
        self.read.append(self.rising(self.read[-1]))
        return self.silent(0 * self.point(self.signed(self.read[-1])))


def tower() -> Tower:
    torch.manual_seed(1)
    return Tower().eval().requires_grad_(False)


class TestRandomPlanes:
    @pytest.mark.parametrize("env", [ENV, GoEnv(9, planes=17), ConnectFourEnv(), ClaimingEnv(4, 6, True)], ids=str)
    def test_they_are_of_different_positions_of_the_game(self, env) -> None:
        planes = random_planes(env)
        assert planes.shape[0] >= LEAST
        assert planes.shape[1:] == (env.planes, *env.plane_shape)
        different = {position.tobytes() for position in planes.numpy()}
        assert len(different) > 0.6 * len(planes)

    def test_always_the_same(self) -> None:
        first = random_planes(GoEnv(7)).clone()
        random_planes.cache_clear()
        assert random_planes(GoEnv(7)).equal(first)

    def test_large_boards_take_few(self) -> None:
        assert len(random_planes(GoEnv(19))) == LEAST < len(random_planes(GoEnv(7)))


class TestRanges:
    def test_of_all_that_read_more_than_a_point_of_what_another_made(self) -> None:
        base, planes = tower(), torch.randn(6, 3, 5, 5, generator=torch.Generator().manual_seed(1))
        found = input_ranges(folded(base), planes)
        base(planes)
        rising, signed = base.read
        assert found == {
            "rising": Range(ROOM * float(rising.max()), False),
            "signed": Range(ROOM * float(signed.abs().max()), True),
        }

    def test_of_all_calls_of_one(self) -> None:
        class Twice(Tower):
            def forward(self, planes):
                features = self.entry(planes)
                return (
                    self.rising(torch.relu(features)) + self.rising(10 * features) + self.rising(torch.relu(features))
                )

        base = Twice().eval().requires_grad_(False)
        planes = torch.randn(6, 3, 5, 5, generator=torch.Generator().manual_seed(1))
        most = 10 * ROOM * float(base.entry(planes).abs().max())
        assert input_ranges(folded(base), planes) == {"rising": Range(pytest.approx(most), True)}

    def test_norms_are_in_the_convolutions_by_then(self) -> None:
        net = lived_in(NeuralNet(ENV, tower_height=3, channels=8)).eval().requires_grad_(False)
        found = input_ranges(folded(net.base_net), random_planes(ENV))
        assert list(found) == [f"blocks.{block}.{conv}.0" for block in range(3) for conv in ("first", "second")]
        assert [span.negative for span in found.values()] == [False, False, False, True, False, False]  # pooled: a bias


def rounded(numbers: np.ndarray, step: float | np.ndarray, least: int, most: int) -> np.ndarray:
    return np.clip(np.round(numbers / step), least, most) * step


@needs_int8
@pytest.mark.parametrize("negative", [False, True])
def test_a_convolution_rounds_what_it_reads_and_its_kernel(negative: bool) -> None:
    """Against float64, from the definition."""
    torch.manual_seed(1)
    conv = nn.Conv2d(16, 8, 3, padding=1).requires_grad_(False)
    inputs = np.random.default_rng(1).normal(size=(openvino.ROWS, 16, 5, 5)).astype(np.float32)
    span = Range(2.0, negative)  # some of the numbers are beyond it
    ops = openvino.package().opset13
    given = ops.parameter(list(inputs.shape), np.float32)
    made = openvino.convolution_in_8_bits(ops, conv, given if negative else ops.relu(given), span)
    model = openvino.package().Model([ops.result(made)], [given], "one")
    compiled = openvino.core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    came = compiled(inputs)[0]

    kernel = conv.weight.numpy().astype(np.float64)
    steps = np.abs(kernel).max(axis=(1, 2, 3), keepdims=True) / 127
    read = rounded(inputs.astype(np.float64), 2 / 127, -128, 127) if negative else rounded(inputs, 2 / 255, 0, 255)
    wanted = nn.functional.conv2d(
        torch.from_numpy(read.astype(np.float64)), torch.from_numpy(rounded(kernel, steps, -127, 127)),
        conv.bias.double(), padding=1,
    )  # fmt: skip
    exact = conv(torch.from_numpy(inputs if negative else np.maximum(inputs, 0))).numpy()
    off = np.abs(came - wanted.numpy())
    assert off.mean() < 2e-4  # where a number lies between two steps, rounding may go either way
    assert off.mean() < np.abs(came - exact).mean() / 20


def check_close(net: NeuralNet, most: float, mean: float) -> None:
    batch, slots = random_batch(net.env, 150, seed=7), np.arange(150)
    evaluator = net.evaluator("int8")
    assert (evaluator.dtype, evaluator.form) == ("int8", "openvino")
    priors, values = evaluate(evaluator, batch, slots)
    wanted_priors, wanted_values = module_results(net, batch, slots)
    for distance in (np.abs(priors - wanted_priors).sum(axis=1) / 2, np.abs(values - wanted_values)):
        assert 1e-5 < distance.mean() < mean  # it is another computation
        assert distance.max() < most


@needs_int8
@pytest.mark.parametrize("options", [{}, {"size_free": False}], ids=["size-free", "dense"])
@pytest.mark.parametrize("env", [GoEnv(7), GoEnv(5, planes=17), ClaimingEnv(4, 6)], ids=str)
def test_agrees_with_the_module(env, options) -> None:
    check_close(lived_in(NeuralNet(env, tower_height=3, channels=16, **options), sharpness=0.5), 0.15, 0.03)


@needs_int8
@pytest.mark.parametrize("name", ["7x7", "9x9"])
def test_agrees_with_packaged_networks(name: str) -> None:
    check_close(load_model(name), 0.3, 0.03)


@needs_int8
def test_same_weights_give_the_same_bits() -> None:
    net = lived_in(NeuralNet(ENV, tower_height=2, channels=8))
    batch, slots = random_batch(ENV, 40), np.arange(40)
    first, second = (evaluate(net.evaluator("int8"), batch, slots) for _ in range(2))
    for a, b in zip(first, second, strict=True):
        assert np.array_equal(a, b)


@pytest.mark.parametrize(
    ("instructions", "wanted"),
    [
        ({"avx512_vnni", "avx512_bf16"}, torch.int8),
        ({"avx_vnni"}, torch.int8),
        ({"avx512_vnni", "amx_tile"}, torch.bfloat16),
        ({"avx512_bf16"}, torch.bfloat16),
        (set(), torch.float32),
    ],
)
@pytest.mark.parametrize("release", ["now", "before"])
def test_the_fastest_type_of_a_processor(
    instructions: set[str], wanted: torch.dtype, release: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ONEDNN_MAX_CPU_ISA", raising=False)
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: dict.fromkeys(instructions, True))
    if release == "before":  # which knows nothing of the second row's
        for name in ("avx512_bf16", "amx_tile", "vnni"):
            has = bool({name, f"avx512_{name}"} & instructions)
            monkeypatch.setattr(torch.cpu, f"_is_{name}_supported", lambda has=has: has)
        monkeypatch.delattr(torch.cpu, "get_capabilities")
        wanted = torch.float32 if instructions == {"avx_vnni"} else wanted
    assert wanted_dtype(None) == wanted


@pytest.mark.parametrize(
    ("most", "wanted"),
    [
        ("", torch.bfloat16),
        ("DEFAULT", torch.bfloat16),
        ("AVX512_CORE_AMX", torch.bfloat16),
        ("avx512_core_bf16", torch.int8),
        ("AVX512_CORE_VNNI", torch.int8),
        ("AVX2_VNNI", torch.int8),
        ("AVX512_CORE", torch.float32),
        ("AVX2", torch.float32),
    ],
)
def test_what_is_forbidden_is_not_there(most: str, wanted: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    everything = dict.fromkeys(("avx512_vnni", "avx_vnni", "avx512_bf16", "amx_tile", "amx_int8"), True)
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: everything)
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", most)
    assert wanted_dtype(None) == wanted


class TestWhereItCannotBe:
    """The network is computed in floating point."""

    def check(self, net: NeuralNet) -> None:
        batch, slots = random_batch(net.env, 20), np.arange(20)
        evaluator, usual = net.evaluator("int8"), net.evaluator(dtype_name(quick_float()))
        assert (evaluator.dtype, evaluator.form) == (usual.dtype, usual.form)
        for came, wanted in zip(*(evaluate(made, batch, slots) for made in (evaluator, usual)), strict=True):
            assert np.array_equal(came, wanted)

    def test_a_processor_without_instructions_for_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(evaluators, "has_int8_products", lambda: False)
        self.check(lived_in(NeuralNet(ENV, tower_height=1, channels=8)))

    def test_without_openvino(self, without_openvino: None) -> None:
        self.check(lived_in(NeuralNet(ENV, tower_height=1, channels=8)))

    def test_a_network_without_such_convolutions(self) -> None:
        base = DenseBase(ENV.planes, ENV.plane_shape, (32,))
        self.check(lived_in(NeuralNet(ENV, base_net=base)))

    @needs_openvino
    def test_a_network_that_8_bits_would_spoil(self) -> None:
        """One number a thousand times as great as the others, which all become 0 beside it."""
        base = nn.Sequential(
            nn.Conv2d(ENV.planes, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1), nn.ReLU()
        )
        net = lived_in(NeuralNet(ENV, base_net=base), sharpness=2.0)
        with torch.no_grad():
            base[0].bias[0] = 1e4
            base[2].weight[:, 0] = 0
        self.check(net)

    def test_another_form(self) -> None:
        net = lived_in(NeuralNet(ENV, tower_height=1, channels=8))
        evaluator = NetEvaluator(ENV, net.base_net, net.value, net.policy, dtype="int8", form="modules")
        assert (evaluator.dtype, evaluator.form) == (dtype_name(quick_float()), "modules")
