"""The evaluator gives what the network gives, for any batch, from any thread, and stays as it was made."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from torch import nn

from alphago import GoEnv, NeuralNet, load_model
from alphago.nn.forecasts import stack
from alphago.nn.inference import cpu_forms, openvino
from alphago.nn.inference.cpu import NetEvaluator
from alphago.nn.inference.cpu_forms import FORMS, choose_form
from alphago.nn.inference.frozen_net import frozen_parts
from alphago.nn.inference.fusion import fold_batch_norms
from alphago.nn.inference.hardware import has_int8_products, has_native_bfloat16
from tests.nn.boards import ClaimingEnv, check_agreement, evaluate, lived_in, module_results, random_batch, snapshot

DTYPES = pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
IN_ALL = [*((form, dtype) for form in FORMS for dtype in ("float32", "bfloat16")), ("openvino", "int8")]
EVERY_FORM = pytest.mark.parametrize(("form", "dtype"), IN_ALL, indirect=["form"])


@pytest.fixture(params=FORMS)
def form(request) -> str:
    if request.param == "openvino" and not openvino.is_installed():
        pytest.skip("needs openvino")
    return request.param


def computed(net: NeuralNet, dtype: str, form: str, exact: bool = False) -> NetEvaluator:
    """The network in a form and a dtype; only what a CPU has no products for may be missing."""
    available = {"float32": True, "bfloat16": has_native_bfloat16(), "int8": has_int8_products()}
    try:
        evaluator = snapshot(net, dtype, form=form, exact=exact)
    except ValueError:
        evaluator = None
    if evaluator is None or evaluator.dtype != dtype:
        assert not available[dtype]
        pytest.skip(f"this CPU does not compute {dtype} in the form {form}")
    assert repr(evaluator) == f"NetEvaluator({net.env!r}, dtype={dtype!r}, form={form!r})"
    return evaluator


@EVERY_FORM
@pytest.mark.parametrize("options", [{}, {"size_free": False}], ids=["size-free", "dense"])
@pytest.mark.parametrize("env", [GoEnv(7), GoEnv(5, planes=17), ClaimingEnv(4, 6), ClaimingEnv(6, 3, True)], ids=str)
def test_every_form_agrees_with_a_random_network(env, options, dtype, form):
    net = lived_in(NeuralNet(env, tower_height=3, channels=16, **options), sharpness=0.5)
    check_agreement(computed(net, dtype, form), net)


@EVERY_FORM
def test_every_form_agrees_with_a_trained_network(dtype, form):
    net = load_model("7x7")
    probabilities, values = module_results(net, random_batch(net.env, 100), np.arange(100))
    assert probabilities.max(axis=1).mean() > 0.3
    assert np.abs(values).mean() > 0.3
    check_agreement(computed(net, dtype, form), net)


class Shared(nn.Module):
    """One convolution called twice, each time with another norm; the norm before a relu in place."""

    def __init__(self, planes: int) -> None:
        super().__init__()
        self.entry = nn.Conv2d(planes, 8, 1, padding="same")
        self.conv = nn.Conv2d(8, 8, 3, padding="same")
        self.first, self.second = nn.BatchNorm2d(8), nn.BatchNorm2d(8)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, planes):
        features = self.relu(self.entry(planes))
        return self.relu(self.second(self.conv(self.relu(self.first(self.conv(features))))) + features)


class Branches(nn.Module):
    """Two convolutions in one sum, strides and groups, a branch on the batch size that traces would freeze."""

    def __init__(self, planes: int) -> None:
        super().__init__()
        self.left = nn.Conv2d(planes, 8, 3, padding=1, stride=2)
        self.right = nn.Sequential(nn.Conv2d(planes, 8, 1, stride=2, bias=False), nn.BatchNorm2d(8))
        self.last = nn.Conv2d(8, 8, 3, padding=2, dilation=2, groups=4, padding_mode="circular")

    def forward(self, planes):
        features = nn.functional.relu(self.right(planes) + self.left(planes))
        if len(planes) == 2:
            features = features * 2 - features
        return self.last(features)


@DTYPES
@pytest.mark.parametrize(("base", "form"), [(Shared, "folded"), (Branches, "modules")])
def test_own_modules_take_the_fastest_form_that_can_trace_them(base, form, dtype):
    env = GoEnv(5)
    net = lived_in(NeuralNet(env, base(env.planes)), sharpness=0.3)
    evaluator = net.evaluator(dtype)
    check_agreement(evaluator, net)
    if dtype == "float32" or has_native_bfloat16():
        assert evaluator.form == form


class RefusesBfloat16(nn.Module):
    def forward(self, planes):
        if planes.dtype != torch.float32:
            raise TypeError("float32 only")
        return planes


def test_takes_float32_where_a_module_knows_nothing_else():
    net = NeuralNet(GoEnv(5), RefusesBfloat16())
    assert net.evaluator("bfloat16").dtype == "float32"


def fails(*_):
    raise RuntimeError("not on this machine")


def adds_a_half(frozen, planes, expected, dtype):
    right = FORMS["modules"](frozen, planes, expected, dtype)

    def run(planes, logits, values):
        right(planes, logits, values)
        values += 0.5

    return run


@DTYPES
@pytest.mark.parametrize("broken", [("openvino", "folded"), FORMS])
@pytest.mark.parametrize("form", [fails, adds_a_half])
def test_a_form_that_fails_or_gives_other_results_is_not_taken(form, broken, dtype, monkeypatch):
    net = lived_in(NeuralNet(GoEnv(5), tower_height=1, channels=8), sharpness=0.5)
    frozen = frozen_parts(net.base_net, net.value, net.policy)
    monkeypatch.setattr(cpu_forms, "FORMS", FORMS | dict.fromkeys(broken, form))
    with torch.no_grad():
        _, *chosen = choose_form(frozen, net.env, getattr(torch, dtype))
    assert chosen == [torch.float32 if broken is FORMS else getattr(torch, dtype), "modules"]


@DTYPES
@pytest.mark.parametrize("exact", [False, True])
def test_any_batch_size_in_any_order(dtype, form, exact):
    """To the last bit if `exact`: self-play of a resumed run, whose trees are empty, is an uninterrupted one's."""
    net = lived_in(NeuralNet(GoEnv(7), tower_height=4, channels=32))
    evaluator, batch = computed(net, dtype, form, exact), random_batch(net.env, 200)
    expected = evaluate(evaluator, batch, np.arange(200))
    random = np.random.default_rng(3)
    for count in [0, *random.permutation([1, 2, 7, 31, 32, 33, 65, 100, 199, 200])]:
        slots = random.permutation(200)[:count]
        for output, right in zip(evaluate(evaluator, batch, slots), expected, strict=True):
            rounding = 0 if exact else 0.05 if dtype == "bfloat16" else 1e-4
            np.testing.assert_allclose(output, right[slots], rtol=0, atol=rounding)


def test_modules_are_called_while_another_thread_traces():
    other, results = nn.Sequential(nn.Linear(2, 2)), []

    class Traced(nn.Module):
        def forward(self, planes):
            with ThreadPoolExecutor(1) as pool:
                results.append(pool.submit(other, torch.ones(1, 2)).result())
            return planes + 1

    fold_batch_norms(Traced())
    assert torch.equal(results[0], other(torch.ones(1, 2)))


def test_priors_with_few_legal_moves():
    env = GoEnv(5)
    full = env.position(black=[point for point in range(25) if point not in (0, 24)])
    batch = stack([full.play(env.pass_action), env.position()], env)  # White: suicide everywhere, only pass
    priors, values = evaluate(lived_in(NeuralNet(env, channels=8), sharpness=9).evaluator(), batch, np.arange(2))
    assert priors[0].tolist() == [0.0] * env.pass_action + [1.0]
    assert (priors[1] > 0).sum() == 26
    assert priors.sum(axis=1) == pytest.approx([1, 1], abs=1e-5)
    assert np.abs(values).max() <= 1


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_broken_weights_are_refused(number):
    net = NeuralNet(GoEnv(5), tower_height=1, channels=8)
    with torch.no_grad():
        net.base_net.entry[0].weight[0, 0, 0, 0] = number
    with pytest.raises(ValueError, match=r"must be finite, got .* in base_net\.entry\.0\.weight"):
        net.evaluator()
    with pytest.raises(ValueError, match="not finite"):
        net(net.env.position(black="C3", to_play="black"))


def test_unknown_dtypes_and_forms():
    net = NeuralNet(GoEnv(5), tower_height=0, channels=4)
    with pytest.raises(ValueError, match="dtype must be 'float32', 'bfloat16', 'int8' or None, got 'float16'"):
        net.evaluator("float16")
    with pytest.raises(ValueError, match="form must be 'openvino', 'folded', 'modules' or None, got 'fast'"):
        snapshot(net, "float32", form="fast")
