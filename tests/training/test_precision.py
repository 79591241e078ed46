"""The dtypes that a run computes in: measured where the call leaves them out."""

from pathlib import Path

import numpy as np
import pytest
import torch

from alphago import GoEnv, NeuralNet, OwareEnv, train
from alphago.training import precision
from alphago.training.precision import choose_precision, fastest_inference, measure, random_sample
from alphago.training.settings.learning_settings import LearningSettings
from tests.training.small_runs import TINY, Listener

SETTINGS = LearningSettings(batch_size=8)


@pytest.mark.parametrize("faster", [0, 1])
def test_the_faster_one(faster: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of float32 and bfloat16 for steps, and of two dtypes for search, as the clock says."""
    monkeypatch.setattr(precision, "has_native_bfloat16", lambda: True)
    monkeypatch.setattr(precision, "fastest_float", lambda: torch.bfloat16)
    monkeypatch.setattr(precision, "measure", lambda tasks: [1.0 + (i != faster) for i in range(len(tasks))])
    net = NeuralNet(GoEnv(5), tower_height=0, channels=4)
    chosen = choose_precision(GoEnv(5), net, SETTINGS, 1)
    assert chosen.learning.bfloat16 is bool(faster)
    assert fastest_inference(GoEnv(5), net) == ("float32", "bfloat16")[faster]
    assert chosen.step_seconds == 1.0


@pytest.mark.parametrize("env", [GoEnv(3), OwareEnv()])
def test_changes_nothing(env: GoEnv | OwareEnv) -> None:
    net = NeuralNet(env, **({"tower_height": 0, "channels": 4} if env.name == "go" else {}))
    before = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    state = torch.get_rng_state()
    chosen = choose_precision(env, net, SETTINGS, 1)
    assert all(torch.equal(tensor, before[name]) for name, tensor in net.state_dict().items())
    assert torch.equal(torch.get_rng_state(), state)
    assert (chosen.learning.bfloat16, fastest_inference(env, net)) == (False, "float32")
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


def test_kept_in_the_config(tmp_path: Path) -> None:
    listener = Listener()
    train(GoEnv(3), 1, folder=tmp_path / "run", reports=[listener], **TINY)
    assert (listener.settings["bfloat16"], listener.settings["selfplay_dtype"]) == (False, "float32")
