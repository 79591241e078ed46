"""The dtypes that a run computes in: by the kind of processor, or by a stopwatch where the settings ask for it."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from alphago import GoEnv, NeuralNet, OwareEnv
from alphago.cli import parser_of
from alphago.nn.inference import hardware
from alphago.training import precision
from alphago.training.precision import choose_precision, inference_dtype, measure, random_sample
from alphago.training.settings.learning_settings import LearningSettings

SETTINGS = LearningSettings(batch_size=8)


# Kinds of processors, by their instructions: AMX; AVX-512 with bfloat16 and with 8-bit integers; AVX2.
AMX = ("amx_tile", "amx_int8", "avx512_bf16", "avx512_vnni")
BF16 = ("avx512_bf16", "avx512_vnni")
VNNI = ("avx512_vnni",)


@pytest.mark.parametrize(
    ("processor", "instructions", "size", "bfloat16", "dtype"),
    [
        ("Intel(R) Xeon(R)", AMX, (4, 32), True, "bfloat16"),
        ("Intel(R) Xeon(R)", AMX, (2, 16), False, "bfloat16"),
        ("Intel(R) Xeon(R)", BF16, (4, 32), False, "int8"),
        ("AMD EPYC", BF16, (4, 32), True, "int8"),
        ("AMD EPYC", BF16, (2, 16), False, "int8"),
        ("AMD EPYC", VNNI, (4, 32), False, "int8"),
        ("Intel(R) Xeon(R)", ("avx512_bf16",), (4, 32), False, "bfloat16"),
        ("AMD EPYC", (), (4, 32), False, "float32"),
    ],
)
def test_by_the_kind_of_processor(
    monkeypatch: pytest.MonkeyPatch,
    processor: str,
    instructions: tuple[str, ...],
    size: tuple[int, int],
    bfloat16: bool,
    dtype: str,
) -> None:
    """And by the size of the network; whatever a stopwatch would say."""
    monkeypatch.setattr(hardware, "processor", lambda: processor)
    monkeypatch.setattr(hardware, "cpu_has", lambda *names: bool(set(names) & set(instructions)))
    net = NeuralNet(GoEnv(5), tower_height=size[0], channels=size[1])
    for seconds in ([1.0, 2.0], [2.0, 1.0]):
        monkeypatch.setattr(precision, "measure", lambda tasks, seconds=seconds: seconds[: len(tasks)])
        chosen = choose_precision(GoEnv(5), net, SETTINGS, 1)
        assert (chosen.learning.bfloat16, inference_dtype(GoEnv(5), net, None)) == (bfloat16, dtype)
        assert chosen.step_seconds == seconds[0]


@pytest.mark.parametrize("faster", [0, 1])
def test_measured(faster: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the settings ask for it: of float32 and bfloat16 for steps, and of two dtypes for search."""
    monkeypatch.setattr(hardware, "cpu_has", lambda *names: bool(set(names) & set(AMX)))
    monkeypatch.setattr(precision, "measure", lambda tasks: [1.0 + (i != faster) for i in range(len(tasks))])
    net = NeuralNet(GoEnv(5), tower_height=0, channels=4)
    chosen = choose_precision(GoEnv(5), net, replace(SETTINGS, bfloat16="measured"), 1)
    assert chosen.learning.bfloat16 is bool(faster)
    assert inference_dtype(GoEnv(5), net, "measured") == ("bfloat16", "float32")[faster]
    assert chosen.step_seconds == 1.0


@pytest.mark.parametrize(("words", "value"), [("", True), ("measured", "measured"), ("none", None)])
def test_the_flag(words: str, value: object) -> None:
    options = parser_of("train").parse_args(["--bfloat16", *words.split()])
    assert options.bfloat16 == value
    assert parser_of("train").parse_args(["--no-bfloat16"]).bfloat16 is False


@pytest.mark.parametrize("env", [GoEnv(3), OwareEnv()])
def test_changes_nothing(env: GoEnv | OwareEnv) -> None:
    net = NeuralNet(env, **({"tower_height": 0, "channels": 4} if env.name == "go" else {}))
    before = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    state = torch.get_rng_state()
    chosen = choose_precision(env, net, SETTINGS, 1)
    assert all(torch.equal(tensor, before[name]) for name, tensor in net.state_dict().items())
    assert torch.equal(torch.get_rng_state(), state)
    assert (chosen.learning.bfloat16, inference_dtype(env, net, "measured")) == (False, "float32")
    assert chosen.step_seconds > 0


def test_what_is_given_stays() -> None:
    given = LearningSettings(batch_size=8, bfloat16=True)
    net = NeuralNet(GoEnv(3), tower_height=0, channels=4)
    assert choose_precision(GoEnv(3), net, given, 1).learning == given


def test_median() -> None:
    calls: list[str] = []
    times = measure([lambda: calls.append("a"), lambda: calls.append("b")])
    assert len(times) == 2
    assert calls == ["a", "b"] * (len(calls) // 2)


def test_a_sample_is_the_same_each_time() -> None:
    for one, other in zip(random_sample(GoEnv(5), 3), random_sample(GoEnv(5), 3), strict=True):
        np.testing.assert_array_equal(one, other)
