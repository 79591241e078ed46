"""The network as people call it: views, shapes, modes; and its parts, one's own or the default ones."""

import numpy as np
import pytest
import torch
from torch import nn

from alphago.env.go import GoEnv
from alphago.nn.model_files import ModelError
from alphago.nn.net import NeuralNet
from tests.nn.boards import lived_in

ENV = GoEnv(5)
BLACK, WHITE = "B3 C3 D2", "C4 D4 A1"


def small(env: GoEnv = ENV, **options) -> NeuralNet:
    return NeuralNet(env, tower_height=2, channels=8, **options)


class Sum(nn.Module):
    """A base without parameters whose features are no images."""

    def forward(self, planes):
        return planes.flatten(2).sum(dim=2)


class PairBase(nn.Module):
    def forward(self, planes):
        return planes, planes


class FlatValue(nn.Module):
    """Gives [B] instead of [B, 1]."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.linear = nn.Linear(features, 1)

    def forward(self, features):
        return torch.tanh(self.linear(features.flatten(1))).squeeze(1)


def flat_policy(features: int, actions: int = ENV.action_space) -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(features, actions))


@pytest.mark.parametrize("size_free", [False, True])
def test_colours_exchanged_gives_the_same_view_and_the_opposite_winner(size_free):
    """Stones, mover and komi turned round, from a set-up and some moves on: the mover sees the same."""
    net = lived_in(small(size_free=size_free), sharpness=2)
    one = ENV.position(black=BLACK, white=WHITE, to_play="black", komi=3.5)
    other = ENV.position(black=WHITE, white=BLACK, to_play="white", komi=-3.5)
    values = []
    for action in (0, 24, 1, ENV.pass_action, 2):
        (mine, mine_value), (theirs, their_value) = net(one), net(other)
        assert np.array_equal(mine, theirs)
        assert mine_value == -their_value
        values.append(mine_value)
        one, other = one.play(action), other.play(action)
    assert np.abs(values).min() > 0.01
    assert np.ptp(values) > 0.1  # it does look at the board
    unlike = ENV.position(black=WHITE, white=BLACK, to_play="white", komi=3.5)
    assert abs(net(unlike)[1] + values[0]) > 1e-4  # and at komi


def test_colours_exchanged_on_boards_alone():
    env = GoEnv(5, planes=17)
    net = lived_in(small(env), sharpness=2)
    with torch.no_grad():  # the last plane tells the colour to move, which komi makes matter: hide it
        net.base_net.entry[0].weight[:, -1] = 0
    mine, mine_value = net(env.position(black=BLACK, white=WHITE, to_play="black"))
    other, other_value = net(env.position(black=WHITE, white=BLACK, to_play="white"))
    np.testing.assert_allclose(mine, other, atol=1e-6)
    assert abs(mine_value) > 0.01
    assert mine_value == pytest.approx(-other_value, abs=1e-6)


def test_value_is_blacks_and_forward_is_the_movers():
    net = lived_in(small())
    position = ENV.position(black=BLACK, white=WHITE, to_play="white")
    logits, value = net(torch.from_numpy(position.planes())[None])
    assert logits.shape == (1, ENV.action_space)
    assert value.shape == (1,)
    assert net(position)[1] == pytest.approx(-float(value.detach()), abs=1e-6)


def test_one_position_several_and_none():
    net = lived_in(small())
    positions = [ENV.position(), ENV.position().play(12), ENV.position(black="C3", to_play="white")]
    policy, value = net(positions)
    assert policy.shape == (3, 26)
    assert policy.dtype == value.dtype == np.float32
    for i, position in enumerate(positions):
        one, one_value = net(position)
        np.testing.assert_allclose(one, policy[i], atol=1e-6)
        assert isinstance(one_value, float)
        assert one_value == pytest.approx(float(value[i]), abs=1e-6)
        assert one.sum() == pytest.approx(1, abs=1e-5)
        assert not one[~position.legal_mask].any()
    policy, value = net([])
    assert policy.shape == (0, 26)
    assert value.shape == (0,)


def test_many_positions_are_read_in_parts():
    net = lived_in(small())
    one, _ = net(ENV.position())
    policy, value = net([ENV.position()] * 600)
    np.testing.assert_allclose(policy, np.tile(one, (600, 1)), atol=1e-6)
    assert np.ptp(value) < 1e-6


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


def test_position_of_another_game_is_an_error_with_both():
    with pytest.raises(ValueError, match=r"GoEnv\(7\).*GoEnv\(5\)"):
        small()(GoEnv(7).position())


@pytest.mark.parametrize("inputs", [3, "D4", [1, 2], None])
def test_what_a_network_does_not_read(inputs):
    with pytest.raises(TypeError, match="a network reads a Position"):
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


def test_training_uses_batch_statistics_and_gradients():
    net = small().train()
    logits, value = net(torch.rand(6, ENV.planes, 5, 5))
    (logits.square().sum() + value.sum()).backward()
    assert net.base_net.entry[1].num_batches_tracked == 1
    assert all(parameter.grad is not None for parameter in net.parameters())


def test_sizes_and_presets():
    assert (NeuralNet(ENV).tower_height, NeuralNet(ENV).channels) == (5, 64)
    assert NeuralNet(ENV, tower_height=0).tower_height == 0
    mixed = NeuralNet(ENV, preset="paper", tower_height=1)
    assert (mixed.tower_height, mixed.channels) == (1, 256)
    assert mixed.value.hidden.out_features == 256
    assert mixed.config["preset"] == "paper"
    assert not mixed.size_free
    assert NeuralNet(ENV, preset="paper", channels=2, tower_height=0, size_free=True).size_free
    assert len(NeuralNet(ENV, preset="paper", channels=2).base_net.blocks) == 19
    # AlphaGo Zero's: 3x3 entry, 2 blocks of two 3x3, norms; 1x1 to 1 and to 2 planes, dense layers.
    tower = 16 * 8 * 9 + 16 + 2 * (2 * 8 * 8 * 9 + 2 * 16)
    value = 8 + 2 + (25 * 256 + 256) + (256 + 1)
    policy = 8 * 2 + 4 + (50 * 26 + 26)
    dense = small(size_free=False)
    assert repr(dense) == f"NeuralNet(GoEnv(5), tower_height=2, channels=8: {tower + value + policy:,} parameters)"
    # Size-free: a bias from 16 pooled numbers in the second block, and heads of 16 planes.
    value = 8 * 16 + 32 + (16 + 1) + (49 * 64 + 64) + (64 * 2 + 2)
    policy = 8 * 16 + 32 + (32 * 16 + 16) + 16 + (32 + 1)
    assert small().num_parameters == tower + (16 * 8 + 8) + value + policy


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"tower_height": -1}, "tower_height must be an integer >= 0, got -1"),
        ({"tower_height": 2.5}, "tower_height must be an integer >= 0, got 2.5"),
        ({"channels": 0}, "channels must be an integer >= 1, got 0"),
        ({"channels": True}, "channels must be an integer >= 1, got True"),
        ({"preset": "huge"}, "no preset 'huge': there are 'default' and 'paper'"),
        ({"base_net": nn.Identity(), "channels": 3}, "are the default tower's; a base_net was given"),
        ({"base_net": nn.Flatten(), "size_free": True}, r"size_free needs features for each point, .* \[2, 400\]"),
        ({"base_net": nn.Identity(), "preset": "paper"}, "are the default tower's; a base_net was given"),
    ],
)
def test_impossible_sizes(options, text):
    with pytest.raises(ValueError, match=text):
        NeuralNet(ENV, **options)


def test_own_modules_in_each_slot():
    position = ENV.position(black=BLACK, white=WHITE)
    conv = nn.Conv2d(ENV.planes, 6, 3, padding=1)
    nets = [
        NeuralNet(ENV, conv),
        NeuralNet(ENV, None, FlatValue(8 * 25), tower_height=1, channels=8),
        small(policy=flat_policy(8 * 25)),
        NeuralNet(ENV, Sum(), FlatValue(ENV.planes), flat_policy(ENV.planes)),
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


def flat_value() -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.LazyLinear(1), nn.Tanh())


@pytest.mark.parametrize(
    ("slots", "error", "text"),
    [
        ({"base_net": "tower"}, TypeError, "base_net: wanted a torch.nn.Module, got 'tower'"),
        ({"base_net": PairBase()}, TypeError, "base_net: .*PairBase gave a tuple, wanted a torch.Tensor"),
        (
            {"base_net": nn.Conv2d(3, 8, 3)},
            ValueError,
            r"base_net: torch.nn.modules.conv.Conv2d failed on an input of shape \[2, 16, 5, 5\]: .*3 channels",
        ),
        (
            {"base_net": nn.Flatten(2)},
            ValueError,
            r"base_net: .*Flatten gave shape \[2, 16, 25\] for .* \[2, 16, 5, 5\], wanted \[2, C, H, W\] or \[2, F\]",
        ),
        (
            {"value": nn.Flatten()},
            ValueError,
            r"value: .*Flatten gave shape \[2, 1600\] for .* \[2, 64, 5, 5\], wanted \[2, 1\] or \[2\]",
        ),
        (
            {"value": nn.Sequential(nn.Flatten(), nn.Linear(1600, 1), nn.Threshold(9, 9))},
            ValueError,
            "value: .* gave 9, wanted -1 to 1; end it with a tanh",
        ),
        (
            {"policy": flat_policy(1600, 25)},
            ValueError,
            r"policy: .*Sequential gave shape \[2, 25\] for .*, wanted \[2, 26\] \(logits of GoEnv\(5\)\)",
        ),
    ],
)
def test_misfits_name_the_slot_and_both_shapes(slots, error, text):
    with pytest.raises(error, match=text):
        NeuralNet(ENV, **slots)


def test_the_trial_run_leaves_statistics_alone():
    norm = nn.BatchNorm2d(ENV.planes)
    NeuralNet(ENV, norm)
    assert norm.training
    assert norm.num_batches_tracked == 0


class TestResignation:
    @pytest.mark.parametrize(("notes", "threshold"), [({}, -1.0), ({"resign_threshold": "-0.875"}, -0.875)])
    def test_the_note_of_its_run(self, notes, threshold):
        net = small()
        net.notes = notes
        assert net.resign_threshold == threshold

    @pytest.mark.parametrize("note", ["never", "-1.5", "nan", ""])
    def test_a_note_that_is_none(self, note):
        net = small()
        net.notes = {"resign_threshold": note}
        with pytest.raises(ModelError, match=f"resign_threshold is '{note}', wanted -1 to 1"):
            _ = net.resign_threshold
