"""Parts that fit any board: held to their formulas, on squares and rectangles, and shared between sizes."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

from alphago.env.go import GoEnv
from alphago.nn.base import ResidualTower
from alphago.nn.blocks import PlainBlock, PreactivationBlock, ResidualBlock
from alphago.nn.loss import alphazero_loss
from alphago.nn.net import NeuralNet
from alphago.nn.passes import board_mean, board_pool
from alphago.nn.policy import PointPolicy
from alphago.nn.value import DenseValue, ForecastValue
from examples.tic_tac_toe import TicTacToeEnv
from tests.nn.boards import ClaimingEnv, lived_in

BOARDS = pytest.mark.parametrize(("height", "width"), [(2, 2), (5, 5), (7, 7), (4, 6), (6, 3), (1, 9), (19, 19)])
CHANNELS = 6


def randomised(module: nn.Module) -> nn.Module:
    """In eval mode, with all weights and statistics drawn, also those that begin at 0."""
    generator = torch.Generator().manual_seed(3)
    for name, tensor in module.state_dict().items():
        if name.endswith("running_var"):
            tensor.uniform_(0.5, 1.5, generator=generator)
        elif tensor.is_floating_point():
            tensor.normal_(std=0.4, generator=generator)
    return module.eval().requires_grad_(False)


def features(height: int, width: int, count: int = 3) -> torch.Tensor:
    return torch.randn(count, CHANNELS, height, width, generator=torch.Generator().manual_seed(height * 100 + width))


def points(board: torch.Tensor) -> np.ndarray:
    """[B, C, H, W] as [B, H W, C] in double precision."""
    return board.flatten(2).transpose(1, 2).double().numpy()


def whole(board: np.ndarray) -> np.ndarray:
    """Mean and maximum of each channel over the board: [B, points, C] -> [B, 2 C]."""
    return np.concatenate([board.mean(axis=1), board.max(axis=1)], axis=1)


def linear(layer: nn.Linear, inputs: np.ndarray) -> np.ndarray:
    return inputs @ layer.weight.double().numpy().T + layer.bias.double().numpy()


def relu(values: np.ndarray) -> np.ndarray:
    return np.maximum(values, 0)


@BOARDS
def test_pooling_over_the_board(height, width):
    board = features(height, width)
    came = torch.cat(board_pool(board), dim=1)
    assert came.shape == (3, 2 * CHANNELS)
    np.testing.assert_allclose(came, whole(points(board)), atol=1e-6)


@BOARDS
def test_the_mean_of_a_training_step_has_the_gradient_of_the_other(height, width):
    results = []
    for training in (False, True):
        for layout in (torch.contiguous_format, torch.channels_last):
            board = features(height, width).contiguous(memory_format=layout).requires_grad_()
            came = board_mean(board, training)
            (came * torch.arange(CHANNELS)).square().sum().backward()
            results.append((came.detach(), board.grad))
    for came, gradient in results[1:]:
        torch.testing.assert_close(came, results[0][0])
        torch.testing.assert_close(gradient, results[0][1])


@BOARDS
def test_pooled_block(height, width):
    block, board = randomised(ResidualBlock(CHANNELS, pooled=True)), features(height, width)
    hidden = torch.relu(block.first(board))
    bias = linear(block.pooled, whole(points(hidden)))
    shifted = (points(hidden) + bias[:, None]).astype(np.float32)
    moved = torch.from_numpy(shifted).transpose(1, 2).reshape(hidden.shape)
    wanted = torch.relu(board + block.second(moved))
    came = block(board)
    assert came.shape == board.shape
    torch.testing.assert_close(came, wanted, atol=1e-4, rtol=1e-4)


def test_a_far_stone_changes_a_pooled_block_only():
    board = features(9, 9, 1)
    far = board.clone()
    far[:, :, 8, 8] += 3
    for kind in (ResidualBlock, PreactivationBlock, PlainBlock):
        for pooled in (False, True):
            block = randomised(kind(CHANNELS, pooled))
            assert torch.equal(block(board)[:, :, 0, 0], block(far)[:, :, 0, 0]) != pooled


def test_a_new_block_changes_nothing():
    board = torch.relu(features(5, 5))
    for kind in (ResidualBlock, PreactivationBlock):
        for pooled in (False, True):
            assert torch.equal(kind(CHANNELS, pooled)(board), board)


def test_every_second_block_of_a_tower_is_pooled():
    tower = ResidualTower(3, 4, 5, pooled=True)
    assert [block.pooled is not None for block in tower.blocks] == [False, True, False, True, False]
    assert not any(block.pooled for block in ResidualTower(3, 4, 3).blocks)
    assert tower(torch.rand(2, 3, 4, 7)).shape == (2, 4, 4, 7)


@BOARDS
@pytest.mark.parametrize("has_pass", [True, False])
def test_point_policy(height, width, has_pass):
    policy, board = randomised(PointPolicy(CHANNELS, has_pass)), features(height, width)
    squeezed = points(torch.relu(policy.squeeze(board)))
    biased = relu(squeezed + linear(policy.pooled, whole(squeezed))[:, None])
    wanted = biased @ policy.points.weight.double().numpy().ravel()
    if has_pass:
        wanted = np.concatenate([wanted, linear(policy.last, whole(squeezed))], axis=1)
    came = policy(board)
    assert came.shape == (3, height * width + has_pass)
    np.testing.assert_allclose(came, wanted, atol=1e-4)


@BOARDS
def test_forecast_value(height, width):
    head, board = randomised(ForecastValue(CHANNELS)), features(height, width)
    squeezed = points(torch.relu(head.squeeze(board)))
    owner = head.owner.weight.double().numpy().ravel()
    ownership = np.tanh(squeezed @ owner + float(head.owner.bias))
    mean = squeezed.mean(axis=1)
    read = [mean, mean * (width - 8) / 8, squeezed.max(axis=1), ownership.sum(axis=1, keepdims=True) / 10]
    both = linear(head.last, relu(linear(head.hidden, np.concatenate(read, axis=1))))
    forecast = head.forecast(board)
    assert (forecast.value.shape, forecast.score.shape) == ((3,), (3,))
    assert forecast.ownership.shape == (3, height * width)
    np.testing.assert_allclose(forecast.ownership, ownership, atol=1e-5)
    np.testing.assert_allclose(forecast.score, both[:, 1], atol=1e-3, rtol=1e-4)
    np.testing.assert_allclose(forecast.value, np.tanh(both[:, 0]), atol=1e-4)
    value = head(board)
    assert value.shape == (3, 1)
    assert torch.equal(value[:, 0], forecast.value)


# --- whole networks --------------------------------------------------------------------------------


@pytest.mark.parametrize("env", [GoEnv(2), GoEnv(9), ClaimingEnv(4, 6), ClaimingEnv(6, 3, passes=True)], ids=str)
def test_networks_of_any_board(env):
    net = NeuralNet(env, tower_height=2, channels=8).eval()
    assert net.size_free
    planes = torch.rand(4, env.planes, *env.plane_shape)
    logits, value = net(planes)
    assert logits.shape == (4, env.action_space)
    again, same, forecast = net.forecast(planes)
    assert (value.shape, same.shape, forecast.score.shape) == ((4,), (4,), (4,))
    assert forecast.ownership.shape == (4, env.plane_shape[0] * env.plane_shape[1])
    assert torch.equal(logits, again)
    assert torch.equal(value, same)
    assert torch.equal(value, forecast.value)
    policy, _ = net(env.position())
    assert policy.sum() == pytest.approx(1, abs=1e-5)


def test_dense_values_forecast_nothing_more():
    env = GoEnv(5)
    nets = [
        NeuralNet(env, tower_height=0, channels=4, size_free=False),
        NeuralNet(env, value=DenseValue(4, (5, 5)), tower_height=0, channels=4),
    ]
    planes = torch.rand(2, 16, 5, 5)
    for net in nets:
        logits, value, forecast = net.eval().forecast(planes)
        assert forecast is None
        assert torch.equal(logits, net(planes)[0])
        assert torch.equal(value, net(planes)[1])


def test_a_game_whose_actions_are_no_points_gets_dense_heads():
    env = TicTacToeEnv()
    net = NeuralNet(env, tower_height=1, channels=4)
    assert not net.size_free
    assert isinstance(net.value, DenseValue)
    with pytest.raises(ValueError, match=r"size_free needs a game whose actions are its points, TicTacToeEnv\(\) is"):
        NeuralNet(env, size_free=True)


def test_colours_exchanged_turn_the_forecast_of_black_round():
    """Ownership and score are the mover's, so Black's view of the mirrored position is the opposite."""
    env = GoEnv(5)
    net = lived_in(NeuralNet(env, tower_height=2, channels=8), sharpness=2)
    one = env.position(black="B3 C3 D2", white="C4 D4 A1", komi=2.5)
    other = env.position(black="C4 D4 A1", white="B3 C3 D2", komi=-2.5, to_play="white")
    assert np.array_equal(one.planes(), other.planes())
    planes = torch.from_numpy(np.stack([one.planes(), other.planes()]))
    with torch.no_grad():
        _, value, forecast = net.forecast(planes)
    for rows in (value, forecast.score, forecast.ownership):  # rows of a batch may be rounded differently
        torch.testing.assert_close(rows[0], rows[1], atol=1e-4, rtol=1e-4)
    assert net(one)[1] == pytest.approx(-net(other)[1], abs=1e-4)
    assert net(one)[1] == pytest.approx(float(value[0]), abs=1e-4)
    assert forecast.ownership.std() > 0.1


# --- another size ----------------------------------------------------------------------------------


def test_resized_shares_its_weights():
    net = lived_in(NeuralNet(GoEnv(5), tower_height=2, channels=8))
    nine = net.resized(GoEnv(9))
    assert nine.env == GoEnv(9)
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


def test_resized_there_and_back_is_the_same():
    net = lived_in(NeuralNet(GoEnv(5), tower_height=2, channels=8))
    back = net.resized(GoEnv(19)).resized(GoEnv(5))
    position = GoEnv(5).position(black="C3", to_play="white")
    assert np.array_equal(back(position)[0], net(position)[0])
    assert back(position)[1] == net(position)[1]
    assert not back.training
    assert net.train().resized(GoEnv(7)).training
    norms = [part for part in net.modules() if isinstance(part, nn.BatchNorm2d)]
    assert all(norm.num_batches_tracked == norms[0].num_batches_tracked for norm in norms)  # trial runs left no trace


def test_own_parts_are_resized_where_they_fit():
    env = GoEnv(5)
    base = nn.Conv2d(16, 6, 3, padding=1)
    net = NeuralNet(env, base)
    nine = net.resized(GoEnv(9))
    assert nine.base_net is base
    assert nine.custom == net.custom
    assert nine(GoEnv(9).position())[0].shape == (82,)
    dense = NeuralNet(env, tower_height=0, channels=4, value=DenseValue(4, (5, 5)))
    with pytest.raises(ValueError, match=r"value: alphago.nn.value.DenseValue failed on an input of shape"):
        dense.resized(GoEnv(9))


def test_the_same_board_with_another_komi_needs_no_size_free_network():
    net = NeuralNet(GoEnv(5), tower_height=1, channels=4, size_free=False)
    other = net.resized(GoEnv(5, komi=0.5))
    assert other.env.komi == 0.5
    assert other.base_net is net.base_net


@pytest.mark.parametrize(
    ("net_env", "options", "env", "text"),
    [
        (
            GoEnv(5),
            {"size_free": False},
            GoEnv(7),
            "a network for GoEnv(5) was wanted for GoEnv(7), but it is for one board size",
        ),
        (
            GoEnv(5),
            {},
            GoEnv(7, planes=17),
            "a network for GoEnv(5) was wanted for GoEnv(7, planes=17), but it plays that game only",
        ),
        (
            GoEnv(5),
            {},
            ClaimingEnv(5, 5, passes=True),
            "a network for GoEnv(5) was wanted for ClaimingEnv(height=5, width=5, passes=True), but it plays that game"
            " only",
        ),
        (
            ClaimingEnv(3, 3),
            {},
            ClaimingEnv(3, 3, passes=True),
            "a network for ClaimingEnv(height=3, width=3, passes=False) was wanted for ClaimingEnv(height=3, width=3, "
            "passes=True), but it plays that game only",
        ),
    ],
)
def test_what_cannot_be_resized_says_why(net_env, options, env, text):
    net = NeuralNet(net_env, tower_height=0, channels=4, **options)
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (the whole text is compared)
        net.resized(env)
    assert str(caught.value) == text


def test_a_resized_networks_evaluator_is_a_snapshot_for_that_board():
    net = lived_in(NeuralNet(GoEnv(5), tower_height=1, channels=8))
    env = GoEnv(7)
    evaluator = net.resized(env).evaluator("float32")
    batch = env.new_batch(2)
    priors, values = np.empty((2, 50), np.float32), np.empty(2, np.float32)
    twin = copy.deepcopy(net.resized(env))
    with torch.no_grad():
        net.value.last.weight.zero_()
    evaluator.evaluate(batch, np.arange(2), priors, values)
    wanted_policy, wanted_value = twin(env.position())
    np.testing.assert_allclose(priors[0], wanted_policy, atol=1e-5)
    np.testing.assert_allclose(values, wanted_value, atol=1e-5)
