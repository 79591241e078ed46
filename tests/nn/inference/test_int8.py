"""8-bit inference: its ranges are the same on every call, and it changes results by rounding only."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

from alphago import ConnectFourEnv, GoEnv, NeuralNet
from alphago.nn.base import DenseBase
from alphago.nn.inference import openvino
from alphago.nn.inference.fusion import fold_batch_norms
from alphago.nn.inference.hardware import dtype_name, fastest_float, has_int8_products
from alphago.nn.inference.int8 import HEADROOM, LEAST_POSITIONS, Range, calibration_planes, input_ranges
from tests.nn.boards import ClaimingEnv, evaluate, lived_in, needs_openvino, random_batch, snapshot

needs_int8 = pytest.mark.skipif(not (openvino.is_installed() and has_int8_products()), reason="needs openvino and VNNI")
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


class Twice(Tower):
    def forward(self, planes):
        features = self.entry(planes)
        return self.rising(torch.relu(features)) + self.rising(10 * features) + self.rising(torch.relu(features))


@pytest.mark.parametrize("env", [ENV, GoEnv(9, planes=17), ConnectFourEnv(), ClaimingEnv(4, 6, True)], ids=str)
def test_calibration_is_of_different_positions_of_the_game(env) -> None:
    planes = calibration_planes(env)
    assert planes.shape[0] >= LEAST_POSITIONS
    assert planes.shape[1:] == (env.planes, *env.plane_shape)
    different = {position.tobytes() for position in planes.numpy()}
    assert len(different) > 0.6 * len(planes)
    calibration_planes.cache_clear()
    assert calibration_planes(env).equal(planes)


def test_ranges_of_all_that_read_more_than_a_point_of_what_another_made() -> None:
    """Of all calls of one."""
    torch.manual_seed(1)
    base, twice = (kind().eval().requires_grad_(False) for kind in (Tower, Twice))
    planes = torch.randn(6, 3, 5, 5, generator=torch.Generator().manual_seed(1))
    ranges = input_ranges(fold_batch_norms(base), planes)
    base(planes)
    rising, signed = (HEADROOM * float(numbers.abs().max()) for numbers in base.read)
    assert ranges == {"rising": Range(rising, False), "signed": Range(signed, True)}
    most = 10 * HEADROOM * float(twice.entry(planes).abs().max())
    assert input_ranges(fold_batch_norms(twice), planes) == {"rising": Range(pytest.approx(most), True)}


def rounded(numbers: np.ndarray, step: float | np.ndarray, least: int, most: int) -> np.ndarray:
    return np.clip(np.round(numbers / step), least, most) * step


@needs_int8
@pytest.mark.parametrize("negative", [False, True])
def test_a_convolution_rounds_what_it_reads_and_its_kernel(negative: bool) -> None:
    """Against float64, from the definition."""
    torch.manual_seed(1)
    conv = nn.Conv2d(16, 8, 3, padding=1).requires_grad_(False)
    inputs = np.random.default_rng(1).normal(size=(openvino.BATCH_SIZE, 16, 5, 5)).astype(np.float32)
    span = Range(2.0, negative)  # some of the numbers are beyond it
    ops = openvino.package().opset13
    given = ops.parameter(list(inputs.shape), np.float32)
    attributes = {"kernel_shape": [3, 3], "pads": [1] * 4, "dilations": [1, 1], "group": 1, "span": span}
    signed = given if negative else ops.relu(given)
    node = openvino.convolution(ops, signed, conv.weight.numpy(), conv.bias.numpy(), **attributes)
    model = openvino.package().Model([ops.result(node)], [given], "one")
    compiled = openvino.core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    output = compiled(inputs)[0]

    kernel = conv.weight.numpy().astype(np.float64)
    steps = np.abs(kernel).max(axis=(1, 2, 3), keepdims=True) / 127
    read = rounded(inputs.astype(np.float64), 2 / 127, -128, 127) if negative else rounded(inputs, 2 / 255, 0, 255)
    tensors = (torch.from_numpy(read.astype(np.float64)), torch.from_numpy(rounded(kernel, steps, -127, 127)))
    expected = nn.functional.conv2d(*tensors, conv.bias.double(), padding=1)
    exact = conv(torch.from_numpy(inputs if negative else np.maximum(inputs, 0))).numpy()
    off = np.abs(output - expected.numpy())
    assert off.mean() < 2e-4  # where a number lies between two steps, rounding may go either way
    assert off.mean() < np.abs(output - exact).mean() / 20


@needs_int8
def test_same_weights_give_the_same_bits() -> None:
    """Also to a learner's network, whose convolutions are channels-last."""
    net = lived_in(NeuralNet(ENV, tower_height=4, channels=32))
    learning = copy.deepcopy(net).to(memory_format=torch.channels_last)
    batch, slots = random_batch(ENV, 40), np.arange(40)
    first, second = (evaluate(one.evaluator("int8", shared=False), batch, slots) for one in (net, learning))
    for a, b in zip(first, second, strict=True):
        assert np.array_equal(a, b)


class TestWhereItCannotBe:
    """The network is computed in floating point."""

    def check(self, net: NeuralNet) -> None:
        batch, slots = random_batch(net.env, 20), np.arange(20)
        evaluator, usual = net.evaluator("int8"), net.evaluator(dtype_name(fastest_float()))
        assert (evaluator.dtype, evaluator.form) == (usual.dtype, usual.form)
        for output, expected in zip(*(evaluate(one, batch, slots) for one in (evaluator, usual)), strict=True):
            assert np.array_equal(output, expected)

    def test_a_processor_without_instructions_for_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "AVX2")
        self.check(lived_in(NeuralNet(ENV, tower_height=1, channels=8)))

    def test_without_openvino(self, without_openvino: None) -> None:
        with pytest.raises(ImportError):
            openvino.package()
        net = lived_in(NeuralNet(ENV, tower_height=1, channels=8))
        self.check(net)
        assert net.evaluator("float32").form == "folded"

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
        evaluator = snapshot(net, "int8", form="modules")
        assert (evaluator.dtype, evaluator.form) == (dtype_name(fastest_float()), "modules")
