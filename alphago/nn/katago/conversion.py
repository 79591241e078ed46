"""Convert a file of KataGo's networks to the weights and the description of a NeuralNet of this package.

Versions 8 to 17 are read (source: KataGo's cpp/neuralnet/desc.cpp, version 1.17); the planes are "katago" of
`alphago.env.go.GoEnv`.  KataGo's numbers about a position enter by constant planes, so that its matrix of these becomes
the centre of the first kernel.  Of the outputs these are kept: the ordinary policy, win and loss, the lead, ownership.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

import torch
from torch import nn

from alphago.env.go_rules import KATAGO, PLANE_SETS
from alphago.nn.katago.layers import ACTIVATIONS, BlockTower, SummaryPolicy, SummaryValue
from alphago.nn.katago.stream import MOST_NUMBER, KataGoFile
from alphago.nn.value import POINTS
from alphago.system.validation import check_choice

VERSIONS = 8, 17  # the oldest and the newest that are read
PLANES = PLANE_SETS[KATAGO]
SPATIAL, NUMBERS = 22, 19  # KataGo's planes and numbers, and which of these the planes of the set are, in their order:
SPATIAL_USED = [0, 1, 2, 3, 4, 5, 6, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]
NUMBERS_USED = [0, 1, 2, 3, 4, 5, 6, 7, 8, 14, 18]  # those that are not always 0 by rules of area scoring
LEAD_FACTOR = 20.0  # points per unit of a lead, where the file does not tell
POOLED, NESTED, ATTENTION = "gpool_block", "nested_bottleneck_block", "transformer_attention_block"
TRANSFORMERS = (ATTENTION, "transformer_ffn_block")
KINDS = ("ordinary_block", POOLED, NESTED, *TRANSFORMERS)  # of blocks


class Layer(NamedTuple):
    """A layer that was read: its description as in `alphago.nn.katago.layers`, and its weights by their names in it."""

    description: list[Any]
    weights: dict[str, torch.Tensor]

    @property
    def outputs(self) -> int:
        """The number of outputs of a layer whose first weight has a row for each."""
        return len(next(iter(self.weights.values())))

    def scaled(self, scale: torch.Tensor, shift: torch.Tensor | None = None) -> "Layer":
        """Return a layer without a bias, with its outputs multiplied by numbers, and with the bias `shift` if given."""
        weight = self.weights["weight"]
        weights = {"weight": weight * scale.view(-1, *[1] * (weight.dim() - 1))}
        weights |= {} if shift is None else {"bias": shift}
        return Layer([*self.description[:-1], shift is not None], weights)

    def first_output(self) -> "Layer":
        """Return the layer with the first of its outputs alone."""
        kind, inputs, _, *more = self.description
        return Layer([kind, inputs, 1, *more], {name: tensor[:1] for name, tensor in self.weights.items()})


def compose(kind: str, **sequences: Sequence[Layer]) -> Layer:
    """Return a layer that is made of sequences of others, by their names in it."""
    weights = {
        f"{name}.{i}.{key}": tensor
        for name, layers in sequences.items()
        for i, layer in enumerate(layers)
        for key, tensor in layer.weights.items()
    }
    return Layer([kind, *([layer.description for layer in layers] for layers in sequences.values())], weights)


class NetworkConverter:
    """Reads a file's header and parts in their order, and collects descriptions and weights of this package's parts.

    Each method for a layer returns it with its weights as torch has them.  A word that is read without use is the name
    of the layer, block or part that follows.

    Attributes:
        name, version: of the network. lead: points per unit of its lead.
        weights: by their names in a NeuralNet. parts: the descriptions of the parts, by slot.

    Raises:
        ValueError: for a file without a header of KataGo's, or of a network that cannot be read.
    """

    def __init__(self, stream: KataGoFile) -> None:
        self.stream = stream
        self.weights: dict[str, torch.Tensor] = {}
        self.parts: dict[str, dict[str, Any]] = {}
        self.name, word = stream.word(), stream.word()
        if not (word.isdecimal() and len(word) < 4):
            raise ValueError("it is no network of KataGo: a version must follow its name")
        self.version, (oldest, newest) = int(word), VERSIONS
        if not oldest <= self.version <= newest:
            raise ValueError(f"it is of KataGo's version {self.version}, and versions {oldest} to {newest} are read")
        self.expect("planes", SPATIAL)
        self.expect("numbers", NUMBERS)
        factors = [stream.number("a factor") for _ in range(7)] if self.version >= 13 else []
        self.lead = factors[3] if factors else LEAD_FACTOR  # the fourth factor is the lead's
        if self.version >= 15:
            if stream.integer("meta encoder", 0, 9):
                raise ValueError("it is a human-style network, which reads who plays and is not read here")
            if stream.integer("pass-alive rule", 0, 1):
                raise ValueError("it sees areas by the rules of suicide in any game, and is not read here")
            self.expect("an option", *[0] * 6)

    def read(self) -> None:
        """Read the descriptions of the network's `parts`, and all `weights`.

        Raises:
            ValueError: for a file that is damaged or cannot be read.  Sizes that do not fit together are found only
                within a layer; the others are found when modules are built from the descriptions.
        """
        self.read_tower()
        self.read_policy()
        self.read_value()
        self.stream.close()

    def keep(self, slot: str, part: type[nn.Module], **sequences: Sequence[Layer]) -> None:
        """Keep a part of sequences of layers, by the names of its arguments, which are those of its sequences too."""
        (_, *descriptions), weights = compose("", **sequences)
        self.parts[slot] = {"part": part.__name__, **dict(zip(sequences, descriptions, strict=True))}
        self.weights |= {f"{slot}.{name}": tensor for name, tensor in weights.items()}

    # --- layers ------------------------------------------------------------------------------------

    def convolution(self, inputs: int, outputs: int | None = None) -> Layer:
        """Read a convolution; `outputs` if their number is known."""
        self.stream.word()
        height, width = self.stream.integer("a kernel's side", 1, 25), self.stream.integer("a kernel's side", 1, 25)
        self.expect("inputs of a convolution", inputs)
        outputs = self.stream.integer("outputs of a convolution", outputs or 1, outputs or MOST_NUMBER)
        dilations = self.stream.integer("dilation"), self.stream.integer("dilation")
        if height != width or not height % 2 or dilations != (1, 1):
            raise ValueError(f"a kernel must be square, odd and not dilated, got {height} x {width}, {dilations}")
        kernel = self.stream.array(height, width, inputs, outputs).permute(3, 2, 0, 1).contiguous()
        return Layer(["convolution", inputs, outputs, height, False], {"weight": kernel})

    def dense(self, inputs: int, outputs: int | None = None, has_bias: bool = False) -> Layer:
        """Read a dense layer; `outputs` if their number is known."""
        self.begin("inputs of a matrix", inputs)
        outputs = self.stream.integer("outputs of a matrix", outputs or 1, outputs or MOST_NUMBER)
        weights = {"weight": self.stream.array(inputs, outputs).T.contiguous()}
        if has_bias:
            self.begin("numbers of a bias", outputs)
            weights["bias"] = self.stream.array(outputs)
        return Layer(["dense", inputs, outputs, has_bias], weights)

    def scale_and_shift(self, channels: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Read a norm; return its scale and shift, which its mean and variance are part of."""
        self.begin("channels of a norm", channels)
        epsilon = self.stream.number("epsilon")
        has_scale, has_shift = self.stream.integer("has scale", 0, 1), self.stream.integer("has shift", 0, 1)
        mean, variance = self.stream.array(channels), self.stream.array(channels)
        scale = self.stream.array(channels) if has_scale else torch.ones(channels)
        shift = self.stream.array(channels) if has_shift else torch.zeros(channels)
        scale = scale * torch.rsqrt(variance + epsilon)
        return scale, shift - mean * scale

    def norm(self, channels: int) -> Layer:
        """Read a norm that is a layer."""
        return Layer(["norm", channels], dict(zip(("scale", "shift"), self.scale_and_shift(channels), strict=True)))

    def activation(self) -> Layer:
        """Read an activation."""
        self.stream.word()
        if self.version < 11:
            return Layer(["relu"], {})
        word = self.stream.word().removeprefix("ACTIVATION_").lower()
        return Layer([check_choice("an activation", word, ACTIVATIONS)], {})

    def expect(self, name: str, *values: int) -> None:
        """Read numbers that must have these values, such as options that no known network uses."""
        for value in values:
            self.stream.integer(name, value, value)

    def begin(self, name: str, value: int) -> None:
        """Read the name of a layer, and its first number, which must have this value."""
        self.stream.word()
        self.expect(name, value)

    def with_norm(self, conv: Layer) -> Layer:
        """Read a norm; return the convolution before it with the norm as a part of it."""
        return conv.scaled(*self.scale_and_shift(conv.outputs))

    def pooled(self, inputs: int) -> Layer:
        """Read two convolutions, what makes a bias of the second one's summary, and the norm of their sum."""
        first, pool = self.convolution(inputs), self.with_norm(self.convolution(inputs))
        pooled = [pool, self.activation()]
        bias = self.dense(3 * pool.outputs, first.outputs)
        scale, shift = self.scale_and_shift(first.outputs)
        return compose("pooled", first=[first.scaled(scale, shift)], pool=pooled, bias=[bias.scaled(scale)])

    # --- base --------------------------------------------------------------------------------------

    def read_tower(self) -> None:
        """Read the base: the first layers, the blocks, and the norm and activation of the tip."""
        stream = self.stream
        stream.word()
        count, channels = stream.integer("blocks"), stream.integer("channels")
        self.channels = channels
        for _ in range(4):  # numbers of channels within blocks, which say them too
            stream.integer("channels", 0)
        has_rms_tip = bool(stream.integer("kind of tip", 0, 1)) if self.version >= 15 else False
        self.expect("an option", *[0] * 5 if self.version >= 15 else ())
        first, numbers = self.convolution(SPATIAL, channels), self.dense(NUMBERS, channels)
        kernel, side = first.weights["weight"], first.description[3]
        # KataGo's planes, then its numbers, then the plane of zeros.
        entry = torch.zeros(channels, PLANES, side, side)
        entry[:, : len(SPATIAL_USED)] = kernel[:, SPATIAL_USED]
        entry[:, len(SPATIAL_USED) : -1, side // 2, side // 2] = numbers.weights["weight"][:, NUMBERS_USED]
        layers = [Layer(["convolution", PLANES, channels, side], {"weight": entry}), *self.blocks(channels, count)]
        if has_rms_tip:
            self.begin("channels of the tip", channels)
            epsilon = stream.number("epsilon")
            axes = [1, 2, 3] if stream.integer("a norm of the board", 0, 1) else [1]
            self.expect("an option", 0)
            scale, shift = stream.array(channels), stream.array(channels)
            layers += [Layer(["rms", axes, epsilon], {}), Layer(["norm", channels], {"scale": scale, "shift": shift})]
        else:
            layers.append(self.norm(channels))
        self.keep("base_net", BlockTower, layers=[*layers, self.activation()])

    def blocks(self, channels: int, count: int) -> list[Layer]:
        """Read blocks; neighbouring blocks of transformers become one layer."""
        read: list[Layer] = []
        for _ in range(count):
            kind = check_choice("a block", self.stream.word(), KINDS)
            self.stream.word()  # the block's name
            if kind in TRANSFORMERS:
                read.append(self.attention(channels) if kind == ATTENTION else self.feedforward(channels))
            else:
                read.append(self.convolutions(channels, kind))
        found: list[Layer] = []
        for is_residual, group in groupby(read, lambda layer: layer.description[0] == "residual"):
            same = list(group)
            found += same if is_residual else [compose("transformer", layers=same)]
        return found

    def convolutions(self, channels: int, kind: str) -> Layer:
        """Read a block of two convolutions."""
        count = self.stream.integer("blocks") if kind == NESTED else 0
        layers = [self.norm(channels), self.activation()]
        first = self.pooled(channels) if kind == POOLED else self.convolution(channels)
        if kind == NESTED:  # blocks stand between the first convolution and the norm, which therefore stays
            layers += [first, *self.blocks(first.outputs, count), self.norm(first.outputs)]
        else:
            layers.append(first if kind == POOLED else self.with_norm(first))
        return compose("residual", layers=[*layers, self.activation(), self.convolution(first.outputs, channels)])

    def rms(self, channels: int) -> tuple[float, torch.Tensor]:
        """Read the norm of a transformer's block; return its epsilon and its weight [channels]."""
        self.begin("channels of a norm", channels)
        return self.stream.number("epsilon"), self.stream.array(channels)

    def attention(self, channels: int) -> Layer:
        """Read attention; the factor of scores and the norm's weight become part of queries, keys and values."""
        sizes = ("heads", "groups of heads", "size of a key", "size of a value")
        heads, groups, key, value = (self.stream.integer(size, 1, 4096) for size in sizes)
        rotated, learned = self.stream.integer("rotated", 0, 1), self.stream.integer("learned", 0, 1)
        if heads % groups or key % 2:
            raise ValueError(f"heads must be a multiple of groups and a key even, got {heads}, {groups}, {key}")
        epsilon, weight = self.rms(channels)
        inputs = [self.dense(channels, size) for size in (heads * key, groups * key, groups * value)]
        queries, keys, values = (layer.weights["weight"] for layer in inputs)
        # In KataGo's order, the two numbers of a pair are neighbours.
        both = torch.cat([queries.view(groups, -1, key, channels) * key**-0.5, keys.view(groups, 1, key, channels)], 1)
        turned = both.unflatten(2, (key // 2, 2)).transpose(2, 3)  # the first of all pairs, then the second
        weights = {"inputs.weight": torch.cat([turned.reshape(-1, channels), values]) * weight}
        weights["outputs.weight"] = self.dense(heads * value, channels).weights["weight"]
        frequencies = self.frequencies(groups, key // 2, bool(learned)) if rotated else torch.zeros(groups, key // 2, 2)
        weights["rotation.frequencies"] = frequencies.flatten()
        return Layer(["attention", channels, heads, groups, key, value, epsilon], weights)

    def frequencies(self, groups: int, pairs: int, learned: bool) -> torch.Tensor:
        """Read the frequencies of a rotation, [groups, pairs, 2], x before y."""
        self.stream.word()
        if learned:
            for name, size in (("groups", groups), ("pairs", pairs), ("axes", 2)):
                self.expect(f"{name} of frequencies", size)
            return self.stream.array(groups, pairs, 2)
        theta, half = self.stream.number("theta"), pairs // 2  # of the pairs, half turn by y, and then the rest by x
        found = torch.zeros(pairs, 2)
        found[:half, 1] = theta ** -(2 * torch.arange(half) / pairs)
        found[half:, 0] = theta ** -(2 * torch.arange(pairs - half) / pairs)
        return found.expand(groups, pairs, 2)

    def feedforward(self, channels: int) -> Layer:
        """Read a dense block; the norm's weight becomes part of the first layer, and of the gate if there is one."""
        self.expect("channels of a dense block", channels)
        hidden, gated = self.stream.integer("hidden units"), self.stream.integer("gated", 0, 1)
        epsilon, weight = self.rms(channels)
        inputs = [self.dense(channels, hidden).weights["weight"] for _ in range(1 + gated)]
        outputs = self.dense(hidden, channels).weights["weight"]
        weights = {"inputs.weight": torch.cat(inputs) * weight, "outputs.weight": outputs}
        return Layer(["feedforward", channels, hidden, bool(gated), epsilon], weights)

    # --- heads -------------------------------------------------------------------------------------

    def read_policy(self) -> None:
        """Read the policy head; of its kinds of policies the first is kept, the ordinary one."""
        self.stream.word()
        if self.version >= 17:
            self.stream.integer("kinds of policies", 1, 99)
            self.expect("an option", 0, 0, 0)
        pooled = self.pooled(self.channels)
        points = [self.activation(), self.convolution(pooled.outputs).first_output()]
        seen = pooled.weights["bias.0.weight"].shape[1]
        last: list[Layer] = []
        if self.version >= 15:  # the pass has a hidden layer
            last = [self.dense(seen, has_bias=True), self.activation()]
            seen = last[0].outputs
        self.keep(
            "policy", SummaryPolicy, pooled=[pooled], points=points, last=[*last, self.dense(seen).first_output()]
        )

    def read_value(self) -> None:
        """Read the value head; its value is (win - loss) / 2 before the tanh, its score the lead in tens of points."""
        self.stream.word()
        self.expect("an option", *[0] * 3 if self.version >= 17 else ())
        first = self.with_norm(self.convolution(self.channels))
        board = [first, self.activation()]
        hidden = [self.dense(3 * first.outputs, has_bias=True), self.activation()]
        size = hidden[0].outputs
        # Rows: win, loss, no result; and of the further outputs, 4 at first, the third is the lead.
        counts = 3, 4 if self.version == 8 else 6
        results, further = (self.dense(size, count, has_bias=True).weights for count in counts)
        both = {
            name: torch.stack([(result[0] - result[1]) / 2, further[name][2] * self.lead / POINTS])
            for name, result in results.items()
        }
        last = [*hidden, Layer(["dense", size, 2], both)]
        self.keep("value", SummaryValue, board=board, last=last, owner=[self.convolution(first.outputs, 1)])
