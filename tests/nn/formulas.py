"""Features, and layers by their formulas in double precision, for the tests of blocks and heads."""

import numpy as np
import pytest
import torch
from torch import nn

BOARDS = pytest.mark.parametrize(("height", "width"), [(2, 2), (5, 5), (7, 7), (4, 6), (6, 3), (1, 9), (19, 19)])
CHANNELS = 6


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
