"""The parts that one may pass in: what they compute, that they run in fast forms, and come back from a file."""

import json

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from alphago.env.go import GoEnv
from alphago.nn.base import DenseBase, ResidualTower
from alphago.nn.blocks import PlainBlock, PreactivationBlock, ResidualBlock
from alphago.nn.inference import cpu as evaluators
from alphago.nn.inference.fusion import FusedConv, folded, fused
from alphago.nn.model_files import ModelError, read_weights, write_weights
from alphago.nn.net import NeuralNet, load_model
from alphago.nn.parts import described, rebuilt
from alphago.nn.policy import DensePolicy, FlatPolicy, PointPolicy
from alphago.nn.value import AddedForecast, DenseValue, FlatValue, ForecastValue
from tests.nn.boards import evaluate, module_results, random_batch

ENV = GoEnv(5)
PLANES = ENV.planes


def randomised(module: nn.Module, seed: int = 3) -> nn.Module:
    """In eval mode, with all weights and statistics drawn, also those that begin at 0, so that outputs are about 1."""
    generator = torch.Generator().manual_seed(seed)
    for name, tensor in module.state_dict().items():
        if name.endswith("running_var"):
            tensor.uniform_(0.5, 1.5, generator=generator)
        elif tensor.is_floating_point():
            size = tensor[0].numel() if tensor.dim() > 1 else 9
            tensor.normal_(std=size**-0.5, generator=generator)
        if name.endswith(("running_mean", "bias")) or (tensor.dim() == 1 and name.endswith("weight")):
            tensor.abs_().add_(0.2)  # no unit is idle
    return module.eval().requires_grad_(False)


def boards(channels: int = 4, height: int = 5, width: int = 3) -> torch.Tensor:
    return torch.randn(2, channels, height, width, generator=torch.Generator().manual_seed(1))


def normed(norm: nn.BatchNorm2d, features: torch.Tensor) -> torch.Tensor:
    """Batch norm by its formula."""
    mean, variance, scale, shift = (
        tensor.view(1, -1, 1, 1) for tensor in (norm.running_mean, norm.running_var, norm.weight, norm.bias)
    )
    return (features - mean) / (variance + norm.eps).sqrt() * scale + shift


def convolved(pair: nn.Sequential, features: torch.Tensor) -> torch.Tensor:
    return normed(pair[1], F.conv2d(features, pair[0].weight, padding=1))


@pytest.mark.parametrize(
    ("name", "activated"), [("relu", lambda x: x.clamp_min(0)), ("elu", lambda x: torch.where(x > 0, x, x.expm1()))]
)
def test_blocks_by_their_formulas(name, activated):
    board = boards()
    residual, before, plain = (
        randomised(kind(4, activation=name)) for kind in (ResidualBlock, PreactivationBlock, PlainBlock)
    )
    hidden = activated(convolved(residual.first, board))
    torch.testing.assert_close(residual(board), activated(board + convolved(residual.second, hidden)))
    hidden = activated(convolved(before.first, activated(normed(before.norm, board))))
    torch.testing.assert_close(before(board), board + F.conv2d(hidden, before.second.weight, padding=1))
    torch.testing.assert_close(plain(board), activated(convolved(plain.only, board)))


def test_only_a_tower_of_preactivation_blocks_has_a_last_norm():
    tower = randomised(ResidualTower(3, 4, 2, block="preactivation", activation="elu"))
    inner = tower.blocks(F.elu(tower.entry(boards(3))))
    torch.testing.assert_close(tower(boards(3)), F.elu(normed(tower.last, inner)))
    for block in ("residual", "plain"):
        tower = randomised(ResidualTower(3, 4, 2, block=block))
        torch.testing.assert_close(tower(boards(3)), tower.blocks(torch.relu(tower.entry(boards(3)))))


def test_dense_base_by_its_formula():
    base = randomised(DenseBase(3, (5, 4), (7, 6), activation="elu"))
    planes = boards(3, 5, 4)
    wanted = planes.reshape(2, 60)
    for layer in base.layers:
        wanted = F.elu(wanted @ layer.weight.T + layer.bias)
    assert wanted.shape == (2, 6)
    torch.testing.assert_close(base(planes), wanted)


def test_added_forecasts_leave_the_value_alone():
    value = randomised(DenseValue(4, (5, 3)))
    head = randomised(AddedForecast(DenseValue(4, (5, 3)), 4), seed=5)
    head.value.load_state_dict(value.state_dict())
    board = boards()
    assert torch.equal(head(board), value(board))
    forecast = head.forecast(board)
    assert torch.equal(forecast.value, value(board)[:, 0])
    ownership = torch.tanh((board * head.owner.weight[0].view(1, -1, 1, 1)).sum(dim=1) + head.owner.bias)
    torch.testing.assert_close(forecast.ownership, ownership.flatten(1))
    whole = torch.cat([board.mean(dim=(2, 3)), board.amax(dim=(2, 3)), ownership.sum(dim=(1, 2))[:, None] / 10], dim=1)
    torch.testing.assert_close(forecast.score, (whole @ head.score.weight.T + head.score.bias)[:, 0])


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: ResidualTower(3, 4, 1, block="bottleneck"), "block is 'residual' or 'preactivation' or 'plain', got"),
        (lambda: ResidualTower(3, 4, 1, activation="gelu"), "activation is 'relu' or 'elu', got 'gelu'"),
        (lambda: DenseBase(3, (5, 5), activation="tanh"), "activation is 'relu' or 'elu', got 'tanh'"),
        (lambda: DenseBase(3, (5, 5), ()), "hidden is the size of one dense layer or more, got none"),
    ],
)
def test_parts_that_there_are_not(make, text):
    with pytest.raises(ValueError, match=text):
        make()


# --- networks of them -------------------------------------------------------------------------------


def tower(**options) -> ResidualTower:
    return ResidualTower(PLANES, 8, 3, **options)


NETS = {
    "elu": lambda: NeuralNet(ENV, tower(pooled=True, activation="elu")),
    "preactivation": lambda: NeuralNet(ENV, tower(pooled=True, block="preactivation")),
    "preactivation elu": lambda: NeuralNet(ENV, tower(block="preactivation", activation="elu"), size_free=False),
    "plain": lambda: NeuralNet(ENV, tower(pooled=True, block="plain")),
    "dense": lambda: NeuralNet(ENV, DenseBase(PLANES, ENV.plane_shape, (32, 16))),
    "forecast beside AlphaGo Zero's policy": lambda: NeuralNet(
        ENV, tower(), ForecastValue(8), DensePolicy(8, (5, 5), 26), size_free=False
    ),
    "forecast added to AlphaGo Zero's value": lambda: NeuralNet(
        ENV, value=AddedForecast(DenseValue(8, (5, 5)), 8), tower_height=1, channels=8, size_free=False
    ),
}
EACH = pytest.mark.parametrize("net", [randomised(make()) for make in NETS.values()], ids=NETS.keys())


def unavailable(*_):
    raise ImportError("not on this machine")


@EACH
@pytest.mark.parametrize("form", ["openvino", "fused"])
def test_each_runs_in_the_fast_forms(net, form, monkeypatch):
    if form == "openvino":
        pytest.importorskip("openvino")
    else:
        if not torch.backends.mkldnn.is_available():
            pytest.skip("needs oneDNN")
        monkeypatch.setattr(evaluators, "in_openvino", unavailable)
    batch, slots = random_batch(ENV, 40, seed=7), np.arange(40)
    evaluator = net.evaluator("float32")
    wanted_priors, wanted_values = module_results(net, batch, slots)
    assert np.ptp(wanted_values) > 1e-4
    priors, values = evaluate(evaluator, batch, slots)
    np.testing.assert_allclose(priors, wanted_priors, atol=1e-5)
    np.testing.assert_allclose(values, wanted_values, atol=1e-5)
    assert evaluator.form == form


@EACH
def test_each_comes_back_from_its_file_without_being_passed(net, tmp_path):
    net.save(tmp_path / "net")
    again = load_model(tmp_path / "net")
    assert again.config == net.config
    assert repr(again) == repr(net)
    assert not again.custom
    position = ENV.position(black="C3", to_play="white")
    assert np.array_equal(again(position)[0], net(position)[0])
    assert again(position)[1] == net(position)[1]
    for mine, theirs in zip(net.modules(), again.modules(), strict=True):
        assert type(mine) is type(theirs)


@pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="needs oneDNN")
def test_preactivation_sums_are_part_of_the_convolution():
    base = randomised(tower(block="preactivation"))
    planes = torch.rand(2, PLANES, 5, 5)
    graph = fused(folded(base), planes)
    calls = [node for node in graph.graph.nodes if node.op == "call_module"]
    convolutions = [node for node in calls if type(graph.get_submodule(node.target)) is FusedConv]
    assert [len(node.args) for node in convolutions] == [1, 1, 2, 1, 2, 1, 2]
    assert not [node for node in graph.graph.nodes if node.target in ("add", torch.add)]
    torch.testing.assert_close(graph(planes), base(planes))


def test_flat_features_get_flat_heads_and_one_board_size():
    net = NeuralNet(ENV, DenseBase(PLANES, ENV.plane_shape))
    assert (type(net.value), type(net.policy), net.size_free) == (FlatValue, FlatPolicy, False)
    logits, value, forecast = net.forecast(torch.rand(3, PLANES, 5, 5))
    assert (logits.shape, value.shape, forecast) == ((3, 26), (3,), None)
    with pytest.raises(ValueError, match="it is for one board size"):
        net.resized(GoEnv(7))


def test_size_free_parts_are_resized():
    net = NETS["preactivation"]()
    assert net.size_free
    assert net.resized(GoEnv(7)).config == net.config
    assert (type(net.value), type(net.policy)) == (ForecastValue, PointPolicy)


@pytest.mark.parametrize("name", ["forecast beside AlphaGo Zero's policy", "forecast added to AlphaGo Zero's value"])
def test_forecasts_beside_dense_heads(name):
    net = NETS[name]()
    logits, value, forecast = net.forecast(torch.rand(3, PLANES, 5, 5))
    assert (logits.shape, forecast.ownership.shape, forecast.score.shape) == ((3, 26), (3, 25), (3,))
    assert torch.equal(value, forecast.value)


def test_somebodys_own_head_inside_a_part_has_to_be_passed(tmp_path):
    def head() -> AddedForecast:
        return AddedForecast(nn.Sequential(nn.Flatten(), nn.Linear(200, 1), nn.Tanh()), 8)

    assert described(head()) is None
    net = NeuralNet(ENV, value=head(), tower_height=0, channels=8)
    net.save(tmp_path / "net")
    with pytest.raises(ModelError, match=r"its own value, a alphago.nn.value.AddedForecast: pass one as value="):
        load_model(tmp_path / "net")
    again = load_model(tmp_path / "net", value=head())
    assert torch.equal(again.value.owner.weight, net.value.owner.weight)


def test_descriptions_are_plain_and_enough():
    part = AddedForecast(DenseValue(4, (5, 3), hidden=9), 4)
    told = json.loads(json.dumps(described(part)))
    again = rebuilt(told)
    assert described(again) == told
    assert {name: tensor.shape for name, tensor in again.state_dict().items()} == {
        name: tensor.shape for name, tensor in part.state_dict().items()
    }
    with pytest.raises(ValueError, match="there is no part 'Transformer', only ResidualTower, DenseBase"):
        rebuilt({"part": "Transformer"})


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ([], "has a damaged description: parts is no table"),
        ({"base_net": {"part": "os.system", "command": "ls"}}, "cannot be rebuilt: there is no part 'os.system'"),
        ({"base_net": {"part": "DenseBase"}}, "cannot be rebuilt: .* missing 2 required positional arguments"),
        (
            {"base_net": {"part": "ResidualTower", "planes": PLANES, "channels": 10**6, "height": 3}},
            r"cannot be rebuilt: ResidualTower's weight entry.0.weight has shape \[8, 16, 3, 3\], wanted \[1000000,",
        ),
        (
            {"base_net": {"part": "ResidualTower", "planes": PLANES, "channels": 8, "height": 10**9}},
            "cannot be rebuilt: there are 1000000000 blocks, but only",
        ),
        (
            {"base_net": {"part": "ResidualTower", "planes": PLANES, "channels": 8, "height": 4, "block": "plain"}},
            "cannot be rebuilt: ResidualTower's weight blocks.3.only.0.weight is missing, wanted",
        ),
        ({"base_net": 7}, "cannot be rebuilt: a part is a table, got 7"),
    ],
)
def test_damaged_descriptions(parts, text, tmp_path):
    """A sentence, and no memory for what cannot be."""
    path = tmp_path / "net"
    NETS["plain"]().save(path)
    tensors, description = read_weights(path)
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in description.items()}
    texts |= {"format": "alphago-net", "format_version": "1", "net": json.dumps(description["net"] | {"parts": parts})}
    write_weights(path, tensors, texts)
    with pytest.raises(ModelError, match=text):
        load_model(path, ENV)
