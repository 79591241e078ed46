"""A network with custom parts: a tower that looks along rows and columns, and two small heads.

`docs/swap_a_tower.md` explains it.  Run it: it trains a few hundred games of 6x6, saves, loads and plays a match.
"""

import argparse

import torch
from torch import nn

from alphago import GoEnv, NeuralNet, evaluate, load_model, train


class CrossBlock(nn.Module):
    """relu(x + f(x)), where f adds up a convolution along rows and one along columns, over five points each."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.rows = nn.Conv2d(channels, channels, (1, 5), padding=(0, 2), bias=False)
        self.columns = nn.Conv2d(channels, channels, (5, 1), padding=(2, 0), bias=False)
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return torch.relu(features + self.norm(self.rows(features) + self.columns(features)))


class CrossTower(nn.Sequential):
    """The base: planes [B, planes, H, W] -> features [B, channels, H, W], on a board of any size."""

    def __init__(self, planes: int, channels: int, height: int) -> None:
        entry = nn.Conv2d(planes, channels, 3, padding=1)
        super().__init__(entry, nn.ReLU(), *(CrossBlock(channels) for _ in range(height)))


class MeanValue(nn.Module):
    """The value: features [B, C, H, W] -> [B, 1] in -1 .. 1, from the view of the player about to move."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(channels, 32)
        self.last = nn.Linear(32, 1)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.last(torch.relu(self.hidden(features.mean(dim=(2, 3))))))


class PlainPolicy(nn.Module):
    """The policy: features [B, C, H, W] -> logits [B, H W + 1], the pass last."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.points = nn.Conv2d(channels, 1, 1)
        self.passing = nn.Linear(channels, 1)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return torch.cat([self.points(features).flatten(1), self.passing(features.mean(dim=(2, 3)))], dim=1)


def make_parts(env: GoEnv, channels: int = 32) -> dict[str, nn.Module]:
    """Return the three parts by the names that `NeuralNet` and `load_model` use."""
    return {
        "base_net": CrossTower(env.planes, channels, height=3),
        "value": MeanValue(channels),
        "policy": PlainPolicy(channels),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Trains a network with custom parts on 6x6.")
    parser.add_argument("--games", type=int, default=400, help="games of self-play (400)")
    parser.add_argument("--readouts", type=int, default=32, help="simulations a move (32)")
    arguments = parser.parse_args()
    env = GoEnv(6, komi=4)
    net = NeuralNet(env, **make_parts(env))
    print(net)
    train(env, arguments.games, model=net, readouts=arguments.readouts, start_training_after=500)
    net.save("cross.safetensors")
    net = load_model("cross.safetensors", env, **make_parts(env))
    print(evaluate(env, net, "random", num_games=20, readouts=arguments.readouts))


if __name__ == "__main__":
    main()
