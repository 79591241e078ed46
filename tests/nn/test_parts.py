"""The parts of the package in networks: they run in the fast forms, and come back from a file."""

import pytest
import torch
from torch import nn

from alphago import GoEnv, NeuralNet, load_model
from alphago.nn.base import DenseBase, ResidualTower
from alphago.nn.model_files import ModelError
from alphago.nn.parts import PARTS, describe_part, register_part
from alphago.nn.policy import DensePolicy
from alphago.nn.value import AddedForecast, DenseValue, FlatValue, ForecastValue
from tests.nn.boards import assert_reads_alike, check_agreement, needs_openvino, randomised, snapshot

ENV = GoEnv(5)


PLANES = ENV.planes


def tower(**options) -> ResidualTower:
    return ResidualTower(PLANES, 8, 3, **options)


NETS = {
    "elu": lambda: NeuralNet(ENV, tower(pooled=True, activation="elu")),
    "preactivation": lambda: NeuralNet(ENV, tower(pooled=True, block="preactivation")),
    "preactivation elu": lambda: NeuralNet(ENV, tower(block="preactivation", activation="elu"), size_free=False),
    "plain": lambda: NeuralNet(ENV, tower(pooled=True, block="plain")),
    "dense": lambda: NeuralNet(ENV, DenseBase(PLANES, ENV.plane_shape, (32, 16))),
    "dense with a hidden layer for each head": lambda: NeuralNet(ENV, preset="cgzero"),
    "cody2007's": lambda: NeuralNet(ENV, preset="cody2007"),
    "forecast beside AlphaGo Zero's policy": lambda: NeuralNet(
        ENV, tower(), ForecastValue(8), DensePolicy(8, (5, 5), 26), size_free=False
    ),
    "forecast added to AlphaGo Zero's value": lambda: NeuralNet(
        ENV, value=AddedForecast(DenseValue(8, (5, 5)), 8), tower_height=1, channels=8, size_free=False
    ),
}


EACH = pytest.mark.parametrize("net", [randomised(make()) for make in NETS.values()], ids=NETS.keys())


@EACH
@pytest.mark.parametrize("form", [pytest.param("openvino", marks=needs_openvino), "folded"])
def test_each_runs_in_the_fast_forms(net, form):
    check_agreement(snapshot(net, "float32", form=form), net)


@EACH
def test_each_comes_back_from_its_file_without_being_passed(net, tmp_path):
    net.save(tmp_path / "net")
    again = load_model(tmp_path / "net")
    assert again.config == net.config
    assert repr(again) == repr(net)
    assert not again.custom
    position = ENV.position(black="C3", to_play="white")
    assert_reads_alike(again, net, position)
    for mine, theirs in zip(net.modules(), again.modules(), strict=True):
        assert type(mine) is type(theirs)


def test_an_unregistered_head_inside_a_part_has_to_be_passed(tmp_path):
    def head() -> AddedForecast:
        return AddedForecast(nn.Sequential(nn.Flatten(), nn.Linear(200, 1), nn.Tanh()), 8)

    assert describe_part(head()) is None
    net = NeuralNet(ENV, value=head(), tower_height=0, channels=8)
    net.save(tmp_path / "net")
    with pytest.raises(ModelError, match=r"its own value, a alphago.nn.value.AddedForecast: pass one as value="):
        load_model(tmp_path / "net")
    again = load_model(tmp_path / "net", value=head())
    assert torch.equal(again.value.owner.weight, net.value.owner.weight)


def nested(part: dict, times: int = 1) -> dict:
    """The description of forecasts around a part."""
    for _ in range(times):
        part = {"part": "AddedForecast", "value": part, "channels": 8}
    return part


def tower_of(channels: int, height: int) -> dict:
    return {"base_net": {"part": "ResidualTower", "planes": PLANES, "channels": channels, "height": height}}


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ([], "has a damaged description: parts must be a table"),
        ({"base_net": {"part": "os.system", "command": "ls"}}, "cannot be rebuilt: part must be .*, got 'os.system'"),
        ({"base_net": {"part": "DenseBase"}}, "cannot be rebuilt: .* missing 2 required positional arguments"),
        (tower_of(8, 10**9), "cannot be rebuilt: height must be at most the .* weights that the file holds"),
        (tower_of(10**18, 1), "cannot be rebuilt"),
        ({"base_net": 7}, "cannot be rebuilt: a part must be a table, got 7"),
        ({"value": nested({"part": "FlatValue", "features": 1}, 600)}, "cannot be rebuilt: "),
        ({"value": {"part": "DenseValue", "channels": 8, "plane_shape": []}}, "cannot be rebuilt: IndexError"),
    ],
)
def test_damaged_descriptions(parts, text, tmp_path):
    """Nothing is allocated for what cannot be."""
    net = NETS["plain"]()
    net.parts = net.parts | parts if parts and "value" in parts else parts
    net.save(tmp_path / "net")
    with pytest.raises(ModelError, match=text):
        load_model(tmp_path / "net", ENV)


def test_the_name_of_a_part_is_its_own():
    with pytest.raises(ValueError, match=r"must be new, got .* beside alphago\.nn\.value\.FlatValue"):
        register_part(type("FlatValue", (nn.Module,), {"__qualname__": "<locals>.FlatValue"}))
    assert PARTS["FlatValue"] is FlatValue
