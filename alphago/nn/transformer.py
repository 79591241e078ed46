"""Transformer blocks on a board: attention between points, and a dense layer at each point.

A block adds to features [B, points, channels].  RMS norms have no weights, and attention's scores no factor: the weight
matrices after and before them include both.  Angles are those of rotary embeddings (Su et al. 2021, "RoFormer: Enhanced
Transformer with Rotary Position Embedding"), with a learned frequency along each axis of the board.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from alphago.system.validation import check_bool, check_int

EPSILON = 1e-6  # of RMS norms
MOST_FREQUENCY = 1.0  # of new rotations, in radians a point

Sides = tuple[int, int]  # height and width of the board


class RmsNorm(nn.Module):
    """Divide features by their root mean square over the axes `dims` (Zhang and Sennrich 2019, without weights)."""

    def __init__(self, dims: Sequence[int], epsilon: float = EPSILON) -> None:
        super().__init__()
        self.dims, self.epsilon = tuple(dims), float(epsilon)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        square = (features * features).mean(dim=self.dims, keepdim=True)
        return features / torch.sqrt(square + self.epsilon)


class Rotation(nn.Module):
    """The rotary embedding of each point of a board: cosines and sines of `pairs` angles for each of `groups` groups.

    An angle is x f_x + y f_y, with x and y counted from the upper left corner.  The frequencies stay float32 whatever
    dtype the network is converted to, since rounded ones would turn far points by other angles.
    """

    def __init__(self, groups: int, pairs: int) -> None:
        super().__init__()
        self.groups, self.pairs = groups, pairs
        # [pairs], from MOST_FREQUENCY down to a twentieth of it, in equal ratios.
        frequencies = MOST_FREQUENCY * 20.0 ** -torch.linspace(0, 1, pairs)
        # [groups, pairs], directions on the board as angles, evenly spaced over half a turn.  Neighbouring directions
        # are of different groups, so that the pairs of each group cover the half turn.
        directions = torch.linspace(0, torch.pi, groups * pairs + 1)[:-1].view(pairs, groups).T
        vectors = torch.stack([torch.cos(directions) * frequencies, torch.sin(directions) * frequencies], dim=-1)
        self.frequencies = nn.Parameter(vectors.flatten())  # [groups * pairs * 2], x before y

    def _apply(self, fn: Callable[[torch.Tensor], torch.Tensor], recurse: bool = True) -> "Rotation":
        """Move the frequencies to the device to which `fn` moves tensors, but keep their dtype."""
        return super()._apply(lambda tensor: tensor.to(fn(tensor).device), recurse)

    def forward(self, sides: Sides) -> torch.Tensor:
        """Return the factors that turn query and key vectors, [2, points, groups, 1, 2 pairs]: cosines, then sines.

        The axis of length 1 stands for a group's queries and key, which are all turned alike.  The last axis is that of
        a vector's components.  Components i and pairs + i are a pair, which is turned by angle i.  The sines of the
        first `pairs` components are negated, as `Attention.forward` needs them.
        """
        height, width = sides
        x, y = self.frequencies.view(self.groups, self.pairs, 2).unbind(-1)
        rows = torch.arange(height, device=x.device, dtype=x.dtype).repeat_interleave(width).view(-1, 1, 1)
        columns = torch.arange(width, device=x.device, dtype=x.dtype).repeat(height).view(-1, 1, 1)
        angles = columns * x + rows * y
        cosines, sines = torch.cos(angles), torch.sin(angles)
        table = torch.stack([torch.cat([cosines, cosines], -1), torch.cat([-sines, sines], -1)])
        return table.unsqueeze(3)


class Attention(nn.Module):
    """Attention of every point to every point (Vaswani et al. 2017): [B, points, channels] -> the same shape.

    The Transformer adds the result to the input.

    Args:
        heads: number of queries of a point.
        groups: number of keys of a point, and of values; heads / groups queries share a key and a value (Ainslie et al.
            2023, "GQA").
        key: size of a key, and so of a query, which a Rotation turns.
        value: size of a value.
    """

    def __init__(self, channels: int, heads: int, groups: int, key: int, value: int, epsilon: float = EPSILON) -> None:
        super().__init__()
        heads, groups = check_int("heads", heads, 1), check_int("groups", groups, 1)
        self.key, value = check_int("key", key, 1), check_int("value", value, 1)
        self.groups, self.queries_per_group = groups, heads // groups
        if heads % groups or key % 2:
            raise ValueError(f"heads must be a multiple of groups, a key even, got {heads}, {groups}, {key}")
        queries_and_keys = groups * (self.queries_per_group + 1) * key  # number of their channels, group by group
        self.norm = RmsNorm([-1], epsilon)
        self.inputs = nn.Linear(channels, queries_and_keys + groups * value, bias=False)
        self.outputs = nn.Linear(heads * value, channels, bias=False)
        nn.init.normal_(self.inputs.weight, std=channels**-0.5)
        with torch.no_grad():
            self.inputs.weight[:queries_and_keys] *= key**-0.25  # their product, a score, gets the factor key**-0.5
        nn.init.zeros_(self.outputs.weight)
        self.rotation = Rotation(groups, key // 2)

    def forward(self, features: torch.Tensor, sides: Sides) -> torch.Tensor:
        mixed = self.inputs(self.norm(features))
        end = self.groups * (self.queries_per_group + 1) * self.key  # of the channels of queries and keys
        # [B, points, groups, queries + 1, key]: the queries of each group, and last its key.
        vectors = mixed[:, :, :end].unflatten(2, (self.groups, self.queries_per_group + 1, self.key))
        values = mixed[:, :, end:].unflatten(2, (self.groups, -1)).permute(0, 2, 1, 3)  # [B, groups, points, value]
        half = self.key // 2
        table = self.rotation(sides).type_as(vectors)
        cosines, signed_sines = table[0], table[1]  # signed: -sin for the first half of the components, then sin
        # Components i and half + i are a pair (a, b), which becomes (a cos - b sin, b cos + a sin).
        swapped = torch.cat([vectors[:, :, :, :, half:], vectors[:, :, :, :, :half]], dim=4)
        vectors = vectors * cosines + swapped * signed_sines
        keys = vectors[:, :, :, self.queries_per_group].permute(0, 2, 3, 1)  # [B, groups, key, points]
        # [B, groups, queries * points, key]
        queries = vectors[:, :, :, : self.queries_per_group].permute(0, 2, 3, 1, 4).flatten(2, 3)
        seen = torch.matmul(torch.softmax(torch.matmul(queries, keys), dim=-1), values)
        # [B, points, groups, queries, value]
        by_point = seen.unflatten(2, (self.queries_per_group, -1)).permute(0, 3, 1, 2, 4)
        return self.outputs(by_point.flatten(2))


class FeedForward(nn.Module):
    """Two dense layers at each point: [B, points, channels] -> the same shape, which the Transformer adds to the input.

    Args:
        hidden: number of hidden units.
        gated: whether a hidden unit is silu(a) b, of two dense functions a and b of the input (SwiGLU, Shazeer 2020),
            instead of silu(a).
    """

    def __init__(self, channels: int, hidden: int, gated: bool = True, epsilon: float = EPSILON) -> None:
        super().__init__()
        self.hidden, self.gated = check_int("hidden", hidden, 1), check_bool("gated", gated)
        self.norm = RmsNorm([-1], epsilon)
        self.inputs = nn.Linear(channels, hidden * (2 if gated else 1), bias=False)
        self.outputs = nn.Linear(hidden, channels, bias=False)
        nn.init.kaiming_normal_(self.inputs.weight, nonlinearity="relu")
        nn.init.zeros_(self.outputs.weight)

    def forward(self, features: torch.Tensor, sides: Sides) -> torch.Tensor:
        """Compute the layers; `sides`, which all blocks of a Transformer get, is not used."""
        hidden = self.inputs(self.norm(features))
        if self.gated:  # the first half of the channels, after silu, scales the second half
            return self.outputs(F.silu(hidden[:, :, : self.hidden]) * hidden[:, :, self.hidden :])
        return self.outputs(F.silu(hidden))


KINDS: dict[str, type[nn.Module]] = {"attention": Attention, "feedforward": FeedForward}


class Transformer(nn.Module):
    """A sequence of layers, each added to its input: [B, channels, H, W] -> [B, channels, H, W].

    Args:
        layers: for each layer its kind in KINDS, and its arguments.
    """

    def __init__(self, layers: Sequence[Sequence[Any]]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(KINDS[kind](*arguments) for kind, *arguments in layers)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        sides = (features.shape[2], features.shape[3])
        points = features.flatten(2).transpose(1, 2)
        for layer in self.layers:
            points = points + layer(points, sides)
        return points.transpose(1, 2).unflatten(2, sides)
