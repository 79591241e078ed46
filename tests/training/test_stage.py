"""A stage of a run: what its self-play computes in."""

import pytest
import torch

from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers
from alphago.training.selfplay import SelfPlay
from alphago.training.stage import Stage
from tests.training.small_runs import GO, run_settings


@pytest.mark.parametrize("dtype", ["float32", "int8", None])
def test_self_play_computes_in_what_the_settings_say(dtype: str | None) -> None:
    torch.manual_seed(0)
    net = NeuralNet(GO, tower_height=1, channels=8)
    with Workers(1) as workers:
        settings = run_settings(num_games=8, selfplay_dtype=dtype).completed("cpu")
        stage = Stage(GO, settings, range(8), workers, make_source=SelfPlay)
        stage.publish(net)
    assert stage.source.evaluator.dtype == net.evaluator(dtype).dtype  # type: ignore[attr-defined]
