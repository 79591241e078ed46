"""The network as people call it: views, shapes, modes; and its parts, one's own or the default ones."""

import re

import numpy as np
import pytest
import torch
from torch import nn

from alphago import GoEnv, NeuralNet, OwareEnv
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.nn.loss import alphazero_loss
from alphago.nn.model_files import ModelError
from alphago.nn.policy import FlatPolicy
from alphago.nn.value import DenseValue
from tests.nn.boards import ClaimingEnv, lived_in

ENV = GoEnv(5)


def small(env: GoEnv = ENV, **options) -> NeuralNet:
    return NeuralNet(env, tower_height=2, channels=8, **options)


class PairBase(nn.Module):
    def forward(self, planes):
        return planes, planes


def flat_value() -> nn.Module:
    """Gives [B] instead of [B, 1]."""
    return nn.Sequential(nn.Flatten(), nn.LazyLinear(1), nn.Tanh(), nn.Flatten(0))


def flat_policy(features: int, actions: int = ENV.action_space) -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(features, actions))


def test_one_position_several_and_none():
    """Also more than are evaluated together, and positions of matches, whose games end later."""
    net, match = lived_in(small()), ENV.match_variant()
    positions = [ENV.position(), ENV.position().play(12), ENV.position(black="C3", to_play="white")]
    policy, value = net(positions * 200)
    assert policy.shape == (600, 26)
    assert policy.dtype == value.dtype == np.float32
    np.testing.assert_allclose(policy, np.tile(policy[:3], (200, 1)), atol=1e-6)
    assert np.ptp(value[::3]) < 1e-6
    for i, position in enumerate(positions):
        one, one_value = net(position)
        np.testing.assert_allclose(one, policy[i], atol=1e-6)
        assert isinstance(one_value, float)
        assert one_value == pytest.approx(float(value[i]), abs=1e-6)
        assert one.sum() == pytest.approx(1, abs=1e-5)
        assert not one[~position.legal_mask].any()
    assert [array.shape for array in net([])] == [(0, 26), (0,)]
    assert not ENV.accepts(match)
    assert net(match.position().play(12))[1] == net(positions[1])[1]


def test_policy_of_a_finished_game_is_zero():
    over = ENV.position().play(ENV.pass_action).play(ENV.pass_action)
    policy, value = small()(over)
    assert not policy.any()
    assert -1 <= value <= 1


@pytest.mark.parametrize("size_free", [False, True])
def test_untrained_network_knows_nothing(size_free):
    env = GoEnv(9)
    position = env.position().play(40)
    for seed in range(5):
        torch.manual_seed(seed)
        policy, value = NeuralNet(env, size_free=size_free)(position)
        assert policy[position.legal_mask].max() < 3 / 81
        assert policy[position.legal_mask].min() > 0.3 / 81
        assert abs(value) < 0.3


@pytest.mark.parametrize("inputs", [3, "D4", [1, 2], None])
def test_what_a_network_does_not_read(inputs):
    with pytest.raises(TypeError, match="must be a Position, a list of them or a tensor"):
        small()(inputs)


def test_reading_changes_neither_modes_nor_statistics():
    net = small()
    net.train()
    net.base_net.blocks[0].eval()  # a user froze one block
    modes = [part.training for part in net.modules()]
    before = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    net([ENV.position(), ENV.position().play(3)])
    net.evaluator()
    with pytest.raises(ValueError, match="GoEnv"):
        net(GoEnv(7).position())
    assert [part.training for part in net.modules()] == modes
    assert all(torch.equal(tensor, before[name]) for name, tensor in net.state_dict().items())
    assert all(parameter.grad is None for parameter in net.parameters())


def test_sizes_and_presets():
    assert (NeuralNet(ENV).tower_height, NeuralNet(ENV).channels) == (5, 64)
    assert NeuralNet(ENV, tower_height=0).tower_height == 0
    mixed = NeuralNet(ENV, preset="paper", tower_height=1)
    assert (mixed.tower_height, mixed.channels) == (1, 256)
    assert mixed.value.hidden.out_features == 256
    assert mixed.config["preset"] == "paper"
    assert not mixed.size_free
    assert NeuralNet(ENV, preset="paper", channels=2, tower_height=0, size_free=True).size_free
    for preset in ("paper", "alphago.jl"):
        tall = NeuralNet(ENV, preset=preset, channels=2)
        assert (len(tall.base_net.blocks), tall.size_free) == (19, False)
    dense = small(size_free=False)
    assert repr(dense) == f"NeuralNet(GoEnv(5), tower_height=2, channels=8: {dense.num_parameters:,} parameters)"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"base_net": nn.Identity(), "channels": 3}, "must be left out with a base_net"),
        ({"base_net": nn.Flatten(), "size_free": True}, r"size_free needs features for each point, got \[2, 400\]"),
        ({"base_net": nn.Identity(), "preset": "paper"}, "must be left out with a base_net"),
        ({"tower_height": 0, "preset": "cgzero"}, "channels and size_free must be left out with preset='cgzero'"),
        ({"size_free": True, "preset": "cgzero"}, "channels and size_free must be left out with preset='cgzero'"),
    ],
)
def test_impossible_sizes(options, text):
    with pytest.raises(ValueError, match=text):
        NeuralNet(ENV, **options)


def test_a_dense_preset():
    """CGZero's for Oware: 48 units of 342 inputs, 32 for each head, within 80 KB; and any other board's."""
    env = OwareEnv(rules="cgzero", planes="one-hot")
    net = NeuralNet(env, preset="cgzero")
    assert net.num_parameters == (342 + 1) * 48 + 2 * (48 + 1) * 32 + (32 + 1) * (6 + 1) == 19_831
    assert 4 * net.num_parameters <= 80_000
    assert (net.preset, net.tower_height, net.size_free) == ("cgzero", None, False)
    own = FlatPolicy(48, 26)
    mixed = NeuralNet(ENV, policy=own, preset="cgzero")
    assert mixed.policy is own
    assert mixed(ENV.position())[0].sum() == pytest.approx(1)
    with pytest.raises(ValueError, match="its heads fit one board size"):
        mixed.resized(GoEnv(7))


def test_the_layers_of_cody2007():
    """Five convolutions of 128 channels, then two dense layers for each head, on all points at once."""
    env = GoEnv(7, planes=7)
    net = NeuralNet(env, preset="cody2007")
    towers = 7 * 128 * 9 + 4 * 128 * 128 * 9 + 5 * 2 * 128
    heads = 2 * (49 * 128 + 1) * 128 + (128 + 1) * (50 + 1)
    assert net.num_parameters == towers + heads
    assert (net.preset, net.size_free) == ("cody2007", False)


def test_own_modules_in_each_slot():
    position = ENV.position(black="B3 C3 D2", white="C4 D4 A1")
    conv = nn.Conv2d(ENV.planes, 6, 3, padding=1)
    means = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten())  # has no parameters, and its features are no images
    nets = [
        NeuralNet(ENV, conv),
        NeuralNet(ENV, None, flat_value(), tower_height=1, channels=8),
        small(policy=flat_policy(8 * 25)),
        NeuralNet(ENV, means, flat_value(), flat_policy(ENV.planes)),
        NeuralNet(ENV, nn.Conv2d(ENV.planes, 6, 3, stride=2)),  # default heads on 2 x 2 features: AlphaGo Zero's
        NeuralNet(ENV, nn.LazyConv2d(6, 3), flat_value(), flat_policy(6 * 9)),
    ]
    assert [net.size_free for net in nets] == [True, True, True, False, False, False]
    assert nets[0].channels == 6
    assert nets[0].tower_height is None
    assert nets[0].custom == {"base_net": "torch.nn.modules.conv.Conv2d"}
    assert repr(nets[0]).startswith("NeuralNet(GoEnv(5), base_net=Conv2d: ")
    for net in nets:
        policy, value = net(position)
        assert policy.sum() == pytest.approx(1, abs=1e-5)
        assert -1 <= value <= 1


def test_logarithms_of_probabilities_are_logits():
    small(policy=nn.Sequential(flat_policy(200), nn.LogSoftmax(1)))


PROBABILITIES = "policy: .* must give logits, got probabilities: leave the softmax off"
NINE = nn.Sequential(nn.Flatten(), nn.Linear(1600, 1), nn.Threshold(9, 9))


@pytest.mark.parametrize(
    ("slot", "part", "text"),
    [
        ("base_net", "tower", "base_net must be a torch.nn.Module or 'transformer', got 'tower'"),
        ("base_net", PairBase(), "base_net: .*PairBase must give a torch.Tensor, got a tuple"),
        ("base_net", nn.Conv2d(3, 8, 3), r"torch.nn.modules.conv.Conv2d failed on .* \[2, 16, 5, 5\]: .*3 channels"),
        ("base_net", nn.Flatten(2), r" \[2, C, H, W\] or \[2, F\] .* \[2, 16, 5, 5\], got \[2, 16, 25\]"),
        ("value", nn.Flatten(), r"Flatten must give shape \[2, 1\] or \[2\] for .* \[2, 64, 5, 5\], got \[2, 1600\]"),
        ("value", nn.Flatten(0), r"give shape \[2, 1\] or \[2\] for .*, got \[3200\]"),
        ("value", NINE, "value: .* must give -1 to 1, got 9; end it with a tanh"),
        ("policy", flat_policy(1600, 25), r"give shape \[2, 26\] \(logits of GoEnv\(5\)\) for .*, got \[2, 25\]"),
        ("policy", nn.Sequential(flat_policy(1600), nn.Softmax(0)), PROBABILITIES),
        ("policy", nn.Sequential(flat_policy(1600), nn.Softmax(1), nn.Identity()), PROBABILITIES),
    ],
)
def test_misfits_name_the_slot_and_both_shapes(slot, part, text):
    is_type_error = isinstance(part, (str, PairBase))
    with pytest.raises(
        TypeError if is_type_error else ValueError, match=f"^{slot}.*{text}" if slot not in text else text
    ):
        NeuralNet(ENV, **{slot: part})


def test_a_game_whose_actions_are_no_points_gets_dense_heads():
    env = TicTacToeEnv()
    net = NeuralNet(env, tower_height=1, channels=4)
    assert not net.size_free
    assert isinstance(net.value, DenseValue)
    with pytest.raises(ValueError, match=r"a game whose actions are its points, got TicTacToeEnv\(\)"):
        NeuralNet(env, size_free=True)


def test_resized_shares_its_weights():
    net = lived_in(NeuralNet(GoEnv(5), tower_height=2, channels=8))
    nine = net.resized(GoEnv(9))
    assert (nine.env, nine.training, net.train().resized(GoEnv(7)).training) == (GoEnv(9), False, True)
    norms = [part for part in net.modules() if isinstance(part, nn.BatchNorm2d)]
    assert all(norm.num_batches_tracked == norms[0].num_batches_tracked for norm in norms)  # trial runs left no trace
    assert (nine.tower_height, nine.channels, nine.size_free, nine.preset) == (2, 8, True, None)
    assert nine.config == net.config
    for mine, theirs in zip(net.parameters(), nine.parameters(), strict=True):
        assert mine is theirs
    position = GoEnv(5).position().play(7)
    before = net(position)[1]
    nine.train()
    logits, value = nine(torch.rand(4, 16, 9, 9))
    alphazero_loss(logits, value, torch.full((4, 82), 1 / 82), torch.ones(4)).total.backward()
    torch.optim.SGD(nine.parameters(), lr=0.1).step()
    assert net(position)[1] != before  # what is learned on 9x9 is known on 5x5


@pytest.mark.parametrize(
    ("net_env", "options", "env", "text"),
    [
        (GoEnv(5), {"size_free": False}, GoEnv(7), "its heads fit one board size"),
        (GoEnv(5), {}, GoEnv(7, planes=17), "is another game"),
        (GoEnv(5), {}, ClaimingEnv(5, 5, passes=True), "is another game"),
        (ClaimingEnv(3, 3), {}, ClaimingEnv(3, 3, passes=True), "is another game"),
    ],
)
def test_what_cannot_be_resized_says_why(net_env, options, env, text):
    net = NeuralNet(net_env, tower_height=0, channels=4, **options)
    with pytest.raises(ValueError, match=f"^a network for {re.escape(f'{net_env} cannot play {env}')}, .*{text}"):
        net.resized(env)


def test_the_resignation_of_its_run():
    net = small()
    assert net.resign_threshold == -1
    net.notes = {"resign_threshold": "-0.875"}
    assert net.resign_threshold == -0.875
    for note in ("never", "-1.5", "nan", ""):
        net.notes = {"resign_threshold": note}
        with pytest.raises(ModelError, match=f"must be a number from -1 to 1, got '{note}'"):
            _ = net.resign_threshold


def test_own_parts_are_resized_where_they_fit():
    """Dense ones to other rules of the same board alone."""
    base = nn.Conv2d(16, 6, 3, padding=1)
    net = NeuralNet(ENV, base)
    nine = net.resized(GoEnv(9))
    assert nine.base_net is base
    assert nine.custom == net.custom
    assert nine(GoEnv(9).position())[0].shape == (82,)
    dense = NeuralNet(ENV, tower_height=0, channels=4, value=DenseValue(4, (5, 5)))
    assert dense.resized(GoEnv(5, komi=0.5)).base_net is dense.base_net
    with pytest.raises(ValueError, match=r"value: alphago.nn.value.DenseValue failed on an input of shape"):
        dense.resized(GoEnv(9))
