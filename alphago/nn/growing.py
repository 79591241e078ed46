"""Larger networks that compute the same as a smaller one, to go on learning with more weights.

The method is after Chen et al. 2016, "Net2Net: Accelerating Learning via Knowledge Transfer": the larger network keeps
what the smaller one has learned.  Here new channels are not copies of old ones but newly initialised, and the weights
from new channels to old ones are 0 at first.  New blocks add 0 at first (`alphago.nn.blocks.ResidualBlock`).
"""

import torch

from alphago.nn.net import NeuralNet

# End of the name of a weight whose inputs are the means of all channels, then their maxima (`nn.blocks.board_bias`).
POOLED = "pooled.weight"


def grow(net: NeuralNet, tower_height: int | None = None, channels: int | None = None) -> NeuralNet:
    """Return a new network with a higher or wider default tower that computes the same as `net`.

    tower_height, channels: the new sizes; None for those of `net`.
    Raises ValueError for a smaller size, and for a network whose parts are not the default ones for any board size.
    """
    if net.tower_height is None or not net.size_free or net.parts or net.custom:
        raise ValueError(f"a network that grows must have the default parts for any board, got {net}")
    height = net.tower_height if tower_height is None else tower_height
    width = net.channels if channels is None else channels
    for name, size, before in (("tower_height", height, net.tower_height), ("channels", width, net.channels)):
        if size < before:
            raise ValueError(f"{name} must be at least that of the model, {before}, got {size}")
    larger = NeuralNet(net.env, tower_height=height, channels=width, size_free=True)
    weights = larger.state_dict()  # shares the network's memory
    for name, old in net.state_dict().items():
        embed(old, weights[name], groups=2 if name.endswith(POOLED) else 1)
    larger.taught_by = net.taught_by
    return larger.train(net.training)


@torch.no_grad()
def embed(old: torch.Tensor, new: torch.Tensor, groups: int) -> None:
    """Copy a layer's weights into those of a larger layer.

    The first outputs and inputs of the larger layer are the old ones.  Weights from new inputs to old outputs become 0;
    all other weights of new outputs stay as they are.

    old, new: the weights, [outputs, inputs, ...], [outputs] or a scalar.
    groups: number of equal groups of inputs; in each group the new inputs follow the old ones.
    """
    if old.dim() == 0:
        new.copy_(old)
    elif old.dim() == 1:
        new[: len(old)] = old
    else:
        outputs, inputs = old.shape[0], old.shape[1] // groups
        new[:outputs] = 0
        new.unflatten(1, (groups, -1))[:outputs, :, :inputs] = old.unflatten(1, (groups, -1))
