"""A run's network that begins narrow and grows."""

from pathlib import Path
from typing import Any

import pytest
import torch

from alphago.nn.net import NeuralNet, load_model
from alphago.nn.random_positions import random_planes
from alphago.training.call.plan import TrainCall, new_run
from alphago.training.curriculum import channels_at, check_growth
from alphago.training.judges.gate import Gate
from tests.training.small_runs import GO, SIZES, RandomGames, Small, interrupt_at, run

GROWTH = ((4, 0.6),)  # channels; the small runs' networks have 8


def test_the_width_at_each_progress() -> None:
    growth = ((16, 0.25), (32, 0.5))
    assert [channels_at(progress, growth, 64) for progress in (0, 0.2, 0.25, 0.7, 0.75, 1)] == [16, 16, 32, 32, 64, 64]
    assert channels_at(0.5, (), 64) == 64


@pytest.mark.parametrize("given", [((32, 0.5), (16, 0.2)), ((16, 0.2), (16, 0.2)), ((0, 0.5),)])
def test_widths_rise(given: Any) -> None:
    with pytest.raises(ValueError, match=r"growth must have more channels from pair to pair, and at least 1, got"):
        check_growth(given)


@pytest.mark.parametrize("given", [32, ((32, 1.0),), ((32, -0.5),), (("a", 0.5),)])
def test_pairs_are_pairs(given: Any) -> None:
    with pytest.raises(ValueError, match=r"growth must be pairs \(channels, share of the run\) .* less than 1, got"):
        check_growth(given)


def test_a_run_grows(undisturbed: Small) -> None:
    """Its kept networks are narrow before; what it returns, and its folder has, is the whole network."""
    assert undisturbed.listener.noted("the network has grown to 8 channels")
    assert undisturbed.net.channels == load_model(undisturbed.folder).channels == 8
    widths = [load_model(path).channels for path in sorted((undisturbed.folder / "weights").glob("*.safetensors"))]
    assert widths[0] == 4
    assert widths == sorted(widths)


def test_a_run_that_is_stopped_before_it_has_grown(tmp_path: Path) -> None:
    """What `train` returns has the whole width, and computes what the run's narrow network computes."""
    settings = {"growth": ((4, 0.9),), "source": RandomGames}
    net, _ = run(tmp_path, 40, report=interrupt_at(1), **settings)
    assert (net.channels, load_model(tmp_path).channels) == (8, 4)
    planes = torch.as_tensor(random_planes(GO, 4))
    for narrow, whole in zip(load_model(tmp_path)(planes), net(planes), strict=True):
        torch.testing.assert_close(narrow, whole, rtol=1e-4, atol=1e-5)
    other, listener = run(tmp_path, 40, **settings)
    assert listener.noted("the network has grown to 8 channels")
    assert other.channels == load_model(tmp_path).channels == 8


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"growth": ((8, 0.5),)}, r"growth must have fewer channels than the network, 8, got \[8\]"),
        ({"model": NeuralNet(GO, **SIZES)}, "growth must be of a new network, got a model"),
        ({"model": NeuralNet(GO, preset="cody2007")}, "a network that grows must have the default parts"),
        ({"gate": Gate(games=2)}, "growth must be of a run whose latest network plays, got one with a gate"),
    ],
)
def test_what_cannot_grow(tmp_path: Path, changes: dict[str, Any], sentence: str) -> None:
    sizes = dict.fromkeys(SIZES) if "model" in changes else SIZES
    with pytest.raises(ValueError, match=sentence):
        run(tmp_path / "run", 4, **{"growth": GROWTH, **sizes, **changes})
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "changes", [{"channels": 4}, {"model": NeuralNet(GO, **SIZES)}, {"gate": Gate(games=2)}], ids=str
)
def test_a_recipes_growth_is_left_out_where_it_does_not_fit(changes: dict[str, Any]) -> None:
    sizes = {"tower_height": None, "channels": changes.pop("channels", None)}
    model = changes.pop("model", None)
    call = TrainCall.of(GO, 10**6, preset="9x9", model=model, sizes=sizes, settings=changes, device="cpu")
    assert new_run(call).settings.growth == ()
