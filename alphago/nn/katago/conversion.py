"""Convert a file of KataGo's networks to the weights and the description of a NeuralNet of this package.

Versions 8 to 17 are read (source: KataGo's cpp/neuralnet/desc.cpp, version 1.17); the planes are "katago" of
`alphago.env.go.GoEnv`.  KataGo multiplies its numbers about a position by a matrix; here each number is a constant
plane, and the matrix is the centre of the first convolution's kernel.  Of the outputs these are kept: the ordinary
policy, win and loss, the lead, ownership.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import torch
from torch import nn

from alphago.env.go_rules import KATAGO, PLANE_SETS
from alphago.nn.katago.layers import ACTIVATIONS, BlockTower, SummaryPolicy, SummaryValue
from alphago.nn.katago.stream import MOST_NUMBER, KataGoFile
from alphago.nn.value import POINTS_PER_SCORE_UNIT
from alphago.system.validation import check_choice

OLDEST, NEWEST = 8, 17  # versions that are read
PLANES, _ = PLANE_SETS[KATAGO]  # the number of planes in this package's set "katago"
# KataGo has 22 planes of the board and 19 numbers about a position.  This package's set has a plane for each of those
# that are used, in this order.
SPATIAL, NUMBERS = 22, 19
SPATIAL_USED = [0, 1, 2, 3, 4, 5, 6, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]
NUMBERS_USED = [0, 1, 2, 3, 4, 5, 6, 7, 8, 14, 18]  # the other numbers are always 0 with area scoring
LEAD_FACTOR = 20.0  # points per unit of a lead, where the file does not tell
POOLED, NESTED = "gpool_block", "nested_bottleneck_block"
ATTENTION, FEEDFORWARD = "transformer_attention_block", "transformer_ffn_block"
BLOCKS = ("ordinary_block", POOLED, NESTED, ATTENTION, FEEDFORWARD)


class Layer(NamedTuple):
    """A layer that was read from a file.

    Attributes:
        description: the layer as plain data, see `alphago.nn.katago.layers`.
        weights: by their names in the layer's module.
    """

    description: list[Any]
    weights: dict[str, torch.Tensor]

    @property
    def outputs(self) -> int:
        """The number of outputs, which is the length of the first weight."""
        return len(next(iter(self.weights.values())))

    def scale_outputs(self, scale: torch.Tensor, shift: torch.Tensor | None = None) -> "Layer":
        """Return a new layer that computes this layer's outputs times `scale`, plus `shift`.

        This layer must have no bias.

        Args:
            scale: [outputs].
            shift: [outputs], the bias of the new layer; None for no bias.
        """
        weight = self.weights["weight"]
        scaled_weight = weight * scale.view(-1, *[1] * (weight.dim() - 1))  # a factor for each output, the first axis
        weights = {"weight": scaled_weight} | ({} if shift is None else {"bias": shift})
        return Layer([*self.description[:-1], shift is not None], weights)  # the last entry: whether there is a bias

    def first_output(self) -> "Layer":
        """Return the layer with only the first of its outputs."""
        kind, inputs, _, *more = self.description  # _: the number of outputs
        return Layer([kind, inputs, 1, *more], {name: tensor[:1] for name, tensor in self.weights.items()})


def compose(kind: str, **sequences: Sequence[Layer]) -> Layer:
    """Return a layer that is made of other layers.

    Args:
        kind: the layer's kind in `alphago.nn.katago.layers.LAYERS`.
        sequences: lists of layers, by the name of the argument of LAYERS[kind] that takes them.
    """
    descriptions = [[layer.description for layer in layers] for layers in sequences.values()]
    return Layer([kind, *descriptions], named_weights(sequences))


def named_weights(sequences: Mapping[str, Sequence[Layer]]) -> dict[str, torch.Tensor]:
    """Return the weights of lists of layers: weight `key` of layer i in the list NAME by the name "NAME.i.key"."""
    return {
        f"{name}.{i}.{key}": tensor
        for name, layers in sequences.items()
        for i, layer in enumerate(layers)
        for key, tensor in layer.weights.items()
    }


def halves_first(matrices: torch.Tensor) -> torch.Tensor:
    """Return the matrices of queries and keys, [..., key, channels], with their rows in this package's order.

    A rotation turns pairs of a vector's components.  In KataGo's order, the two components of a pair are neighbours.
    Here the first components of all pairs come first, then all second components: the result is [..., 2, key / 2,
    channels].
    """
    return matrices.unflatten(-2, (-1, 2)).transpose(-3, -2)


class NetworkConverter:
    """Reads a file's header and parts in their order, and collects descriptions and weights of this package's parts.

    The constructor reads the header, `read` the rest.  Each method for a layer reads the layer and returns it with its
    weights as torch has them.

    Attributes:
        name: the network's name.
        version: the version of the network's file.
        lead_factor: points per unit of the network's output "lead".
        weights: the weights by their names in a NeuralNet.
        parts: the descriptions of the parts, by slot ("base_net", "policy", "value").

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
        self.version = int(word)
        if not OLDEST <= self.version <= NEWEST:
            raise ValueError(f"it is of KataGo's version {self.version}, and versions {OLDEST} to {NEWEST} are read")
        self.expect("planes", SPATIAL)
        self.expect("numbers", NUMBERS)
        self.lead_factor = LEAD_FACTOR
        if self.version >= 13:  # factors of seven outputs, of which only the lead is kept
            _, _, _, self.lead_factor, _, _, _ = [stream.number("a factor") for _ in range(7)]
        if self.version >= 15:
            if stream.integer("meta encoder", 0, 9):
                raise ValueError("it is a human-style network, which reads who plays and is not read here")
            # The planes of pass-alive areas depend on whether suicide is legal; with this option they are always those
            # of games with suicide.
            if stream.integer("pass-alive rule", 0, 1):
                raise ValueError("it sees areas by the rules of suicide in any game, and is not read here")
            self.expect("an option", 0, 0, 0, 0, 0, 0)  # six options, which no known network uses

    def read(self) -> None:
        """Read the descriptions of the network's `parts`, and all `weights`.

        Raises:
            ValueError: for a file that is damaged or cannot be read.  Whether the sizes of two layers fit together is
                checked only later, when modules are built from the descriptions.
        """
        try:
            self.read_tower()
            self.read_policy()
            self.read_value()
        except RuntimeError as error:  # of torch, and RecursionError for blocks within blocks
            raise ValueError(f"its sizes do not fit together: {str(error).splitlines()[0]}") from None
        self.stream.close()

    def add_part(self, slot: str, part: type[nn.Module], **sequences: Sequence[Layer]) -> None:
        """Add a part to `parts` and its weights to `weights`.

        Args:
            slot: the part's slot in a NeuralNet.
            part: the part's class.
            sequences: lists of layers, by the name of the class's argument that takes them; the attribute that holds
                them has the same name.
        """
        descriptions = {name: [layer.description for layer in layers] for name, layers in sequences.items()}
        self.parts[slot] = {"part": part.__name__, **descriptions}
        self.weights |= {f"{slot}.{name}": tensor for name, tensor in named_weights(sequences).items()}

    # --- layers ------------------------------------------------------------------------------------

    def convolution(self, inputs: int, outputs: int | None = None) -> Layer:
        """Read a convolution.

        Args:
            outputs: the number of outputs that the file must give; None for any number.
        """
        self.skip_name()
        height, width = self.stream.integer("a kernel's side", 1, 25), self.stream.integer("a kernel's side", 1, 25)
        self.expect("inputs of a convolution", inputs)
        # The last two arguments are the least and the greatest number to accept.
        outputs = self.stream.integer("outputs of a convolution", outputs or 1, outputs or MOST_NUMBER)
        dilations = self.stream.integer("dilation"), self.stream.integer("dilation")
        if height != width or not height % 2 or dilations != (1, 1):
            raise ValueError(f"a kernel must be square, odd and not dilated, got {height} x {width}, {dilations}")
        kernel = self.stream.array(height, width, inputs, outputs).permute(3, 2, 0, 1).contiguous()
        return Layer(["convolution", inputs, outputs, height, False], {"weight": kernel})  # False: without a bias

    def dense(self, inputs: int, outputs: int | None = None, has_bias: bool = False) -> Layer:
        """Read a dense layer.

        Args:
            outputs: the number of outputs that the file must give; None for any number.
            has_bias: whether a bias follows the matrix.
        """
        self.skip_name_and_expect("inputs of a matrix", inputs)
        # The last two arguments are the least and the greatest number to accept.
        outputs = self.stream.integer("outputs of a matrix", outputs or 1, outputs or MOST_NUMBER)
        weights = {"weight": self.stream.array(inputs, outputs).T.contiguous()}
        if has_bias:
            self.skip_name_and_expect("numbers of a bias", outputs)
            weights["bias"] = self.stream.array(outputs)
        return Layer(["dense", inputs, outputs, has_bias], weights)

    def norm(self, channels: int) -> Layer:
        """Read a batch norm; return a layer with the scale and shift, [channels] each, that have the same effect."""
        self.skip_name_and_expect("channels of a norm", channels)
        epsilon = self.stream.number("epsilon")
        has_scale, has_shift = self.stream.integer("has scale", 0, 1), self.stream.integer("has shift", 0, 1)
        mean, variance = self.stream.array(channels), self.stream.array(channels)
        scale = self.stream.array(channels) if has_scale else torch.ones(channels)
        shift = self.stream.array(channels) if has_shift else torch.zeros(channels)
        scale = scale * torch.rsqrt(variance + epsilon)
        return Layer(["norm", channels], {"scale": scale, "shift": shift - mean * scale})

    def activation(self) -> Layer:
        """Read an activation; before version 11, files do not tell its kind, which is relu."""
        self.skip_name()
        kind = "relu" if self.version < 11 else self.stream.word().removeprefix("ACTIVATION_").lower()
        return Layer([check_choice("an activation", kind, ACTIVATIONS)], {})

    def expect(self, what: str, *values: int) -> None:
        """Read integers that must have these values, such as options that no known network uses.

        Args:
            what: what each integer is, for an error's text.
        """
        for value in values:
            self.stream.integer(what, value, value)

    def skip_name(self) -> None:
        """Read the name of a layer, block or part, which is not used."""
        self.stream.word()

    def skip_name_and_expect(self, what: str, value: int) -> None:
        """Read the beginning of a layer: its name, and a number that must be `value`; what: what the number is."""
        self.skip_name()
        self.expect(what, value)

    def absorb_norm(self, conv: Layer) -> Layer:
        """Read the batch norm that follows the convolution `conv`; return one convolution that does both."""
        return conv.scale_outputs(**self.norm(conv.outputs).weights)

    def pooled(self, inputs: int) -> Layer:
        """Read the layers of a `Pooled`, and the batch norm of its outputs, which becomes part of two of the layers."""
        first = self.convolution(inputs)
        pool = self.absorb_norm(self.convolution(inputs))
        pool_layers = [pool, self.activation()]
        bias = self.dense(3 * pool.outputs, first.outputs)  # three numbers summarize each channel, see `summary`
        norm = self.norm(first.outputs).weights
        # The norm is applied to the sum of the two layers' outputs: both are scaled, and one of them is shifted.
        first, bias = first.scale_outputs(**norm), bias.scale_outputs(norm["scale"])
        return compose("pooled", first=[first], pool=pool_layers, bias=[bias])

    # --- base --------------------------------------------------------------------------------------

    def read_tower(self) -> None:
        """Read the base: its sizes and options, the entry, the blocks, and the norm and activation of the tip."""
        self.skip_name()
        count, channels = self.stream.integer("blocks"), self.stream.integer("channels")
        self.channels = channels  # for the heads, which are read later
        for _ in range(4):  # not used: numbers of channels within blocks, which the blocks' layers tell too
            self.stream.integer("channels", 0)
        has_rms_tip = self.version >= 15 and self.stream.integer("kind of tip", 0, 1) == 1
        if self.version >= 15:
            self.expect("an option", 0, 0, 0, 0, 0)  # five options, which no known network uses
        layers = [self.entry(channels), *self.blocks(channels, count)]
        layers += self.rms_tip(channels) if has_rms_tip else [self.norm(channels)]
        self.add_part("base_net", BlockTower, layers=[*layers, self.activation()])

    def entry(self, channels: int) -> Layer:
        """Read the first convolution, of the board's planes, and the dense layer of the numbers about a position.

        Both are returned as one convolution of PLANES planes, in which each number is a constant plane.  At every point
        the centre of a kernel multiplies this constant, so it has the effect of the dense layer.
        """
        board, numbers = self.convolution(SPATIAL, channels), self.dense(NUMBERS, channels)
        kernel, side = board.weights["weight"], board.description[3]  # [channels, SPATIAL, side, side], and side
        # The planes of the board come first, then those of the numbers, and last a plane of zeros.
        entry = torch.zeros(channels, PLANES, side, side)
        entry[:, : len(SPATIAL_USED)] = kernel[:, SPATIAL_USED]
        entry[:, len(SPATIAL_USED) : -1, side // 2, side // 2] = numbers.weights["weight"][:, NUMBERS_USED]
        return Layer(["convolution", PLANES, channels, side], {"weight": entry})

    def rms_tip(self, channels: int) -> list[Layer]:
        """Read the RMS norm of the tip; return it as a norm without weights, and a layer of its scale and shift."""
        self.skip_name_and_expect("channels of the tip", channels)
        epsilon = self.stream.number("epsilon")
        axes = [1, 2, 3] if self.stream.integer("a norm of the board", 0, 1) else [1]
        self.expect("an option", 0)  # which no known network uses
        scale, shift = self.stream.array(channels), self.stream.array(channels)
        return [Layer(["rms", axes, epsilon], {}), Layer(["norm", channels], {"scale": scale, "shift": shift})]

    def blocks(self, channels: int, count: int) -> list[Layer]:
        """Read `count` blocks; neighbouring blocks of transformers become one layer."""
        blocks: list[Layer] = []
        for _ in range(count):
            kind = check_choice("a block", self.stream.word(), BLOCKS)
            self.skip_name()
            read = {ATTENTION: self.attention, FEEDFORWARD: self.feedforward}.get(kind)
            blocks.append(self.residual(channels, kind) if read is None else read(channels))
        layers: list[Layer] = []
        # The first entry of a description is the layer's kind.
        for is_residual, group in groupby(blocks, lambda block: block.description[0] == "residual"):
            neighbours = list(group)
            layers += neighbours if is_residual else [compose("transformer", layers=neighbours)]
        return layers

    def residual(self, channels: int, kind: str) -> Layer:
        """Read a residual block of two convolutions; kind: "ordinary_block", POOLED or NESTED.

        The first convolution of a POOLED block is a `Pooled`.  A NESTED block has blocks between the two convolutions.
        A batch norm and an activation come before each convolution.
        """
        count = self.stream.integer("blocks") if kind == NESTED else 0
        layers = [self.norm(channels), self.activation()]
        first = self.pooled(channels) if kind == POOLED else self.convolution(channels)
        # The norm before the second convolution becomes part of the first convolution if no blocks are between the two.
        if kind == NESTED:
            layers += [first, *self.blocks(first.outputs, count), self.norm(first.outputs)]
        else:  # `pooled` has already read the norm before the second convolution
            layers.append(first if kind == POOLED else self.absorb_norm(first))
        return compose("residual", layers=[*layers, self.activation(), self.convolution(first.outputs, channels)])

    def rms(self, channels: int) -> tuple[float, torch.Tensor]:
        """Read the RMS norm of a transformer's block; return its epsilon and its weight [channels]."""
        self.skip_name_and_expect("channels of a norm", channels)
        return self.stream.number("epsilon"), self.stream.array(channels)

    def attention(self, channels: int) -> Layer:
        """Read a block of attention.

        The factor of the scores, 1 / sqrt(key), becomes part of the queries.  The norm's weight becomes part of
        queries, keys and values.
        """
        sizes = ("heads", "groups of heads", "size of a key", "size of a value")
        heads, groups, key, value = (self.stream.integer(size, 1, 4096) for size in sizes)
        if heads % groups or key % 2:
            raise ValueError(f"heads must be a multiple of groups and a key even, got {heads}, {groups}, {key}")
        rotated, learned = self.stream.integer("rotated", 0, 1), self.stream.integer("learned", 0, 1)
        epsilon, norm_weight = self.rms(channels)
        inputs = [self.dense(channels, size) for size in (heads * key, groups * key, groups * value)]
        queries, keys, values = (layer.weights["weight"] for layer in inputs)
        by_group = queries.view(groups, -1, key, channels) * key**-0.5, keys.view(groups, 1, key, channels)
        queries_and_keys = torch.cat(by_group, 1)  # [groups, heads / groups + 1, key, channels]; a group's key is last
        rows = torch.cat([halves_first(queries_and_keys).reshape(-1, channels), values])
        weights = {"inputs.weight": rows * norm_weight}
        weights["outputs.weight"] = self.dense(heads * value, channels).weights["weight"]
        frequencies = self.frequencies(groups, key // 2, bool(learned)) if rotated else torch.zeros(groups, key // 2, 2)
        weights["rotation.frequencies"] = frequencies.flatten()
        return Layer(["attention", channels, heads, groups, key, value, epsilon], weights)

    def frequencies(self, groups: int, pairs: int, learned: bool) -> torch.Tensor:
        """Read how fast each pair turns with a point's x and y; return the frequencies [groups, pairs, 2], x first.

        Args:
            groups: groups of heads.
            pairs: pairs of numbers of a key.
            learned: whether the file has the frequencies.  If not, it has the base `theta` of the usual ones.
        """
        self.skip_name()
        if learned:
            self.expect("groups, pairs and axes of frequencies", groups, pairs, 2)
            return self.stream.array(groups, pairs, 2)
        # The first half of the pairs turn with y, the rest with x.
        theta, half = self.stream.number("theta"), pairs // 2
        frequencies = torch.zeros(pairs, 2)
        frequencies[:half, 1] = theta ** -(2 * torch.arange(half) / pairs)
        frequencies[half:, 0] = theta ** -(2 * torch.arange(pairs - half) / pairs)
        return frequencies.expand(groups, pairs, 2)

    def feedforward(self, channels: int) -> Layer:
        """Read a block of two dense layers, the first with or without a gate.

        The weight of the norm before the first layer becomes part of this layer.
        """
        self.expect("channels of a dense block", channels)
        hidden, gated = self.stream.integer("hidden units"), self.stream.integer("gated", 0, 1)
        epsilon, norm_weight = self.rms(channels)
        inputs = [self.dense(channels, hidden).weights["weight"] for _ in range(1 + gated)]
        outputs = self.dense(hidden, channels).weights["weight"]
        weights = {"inputs.weight": torch.cat(inputs) * norm_weight, "outputs.weight": outputs}
        return Layer(["feedforward", channels, hidden, bool(gated), epsilon], weights)

    # --- heads -------------------------------------------------------------------------------------

    def read_policy(self) -> None:
        """Read the policy head; it has several kinds of policies, of which the first, the ordinary one, is kept."""
        self.skip_name()
        if self.version >= 17:
            self.stream.integer("kinds of policies", 1, 99)
            self.expect("an option", 0, 0, 0)  # three options, which no known network uses
        pooled = self.pooled(self.channels)
        points = [self.activation(), self.convolution(pooled.outputs).first_output()]
        # The pass's logit is computed from the same summary of the board as the bias of `pooled`.
        summary_size = pooled.weights["bias.0.weight"].shape[1]
        hidden = [self.dense(summary_size, has_bias=True), self.activation()] if self.version >= 15 else []
        pass_logit = self.dense(hidden[0].outputs if hidden else summary_size).first_output()
        self.add_part("policy", SummaryPolicy, pooled=[pooled], points=points, last=[*hidden, pass_logit])

    def read_value(self) -> None:
        """Read the value head.

        KataGo's outputs are logits of win and loss, and the lead.  The value before its tanh becomes (win - loss) / 2,
        the score the lead in tens of points.
        """
        self.skip_name()
        if self.version >= 17:
            self.expect("an option", 0, 0, 0)  # three options, which no known network uses
        first = self.absorb_norm(self.convolution(self.channels))
        board = [first, self.activation()]
        hidden = [self.dense(3 * first.outputs, has_bias=True), self.activation()]
        size = hidden[0].outputs
        results = self.dense(size, 3, has_bias=True).weights  # win, loss, no result
        further = self.dense(size, 4 if self.version == 8 else 6, has_bias=True).weights  # the third is the lead
        both = {
            name: torch.stack([(rows[0] - rows[1]) / 2, further[name][2] * self.lead_factor / POINTS_PER_SCORE_UNIT])
            for name, rows in results.items()
        }
        last = [*hidden, Layer(["dense", size, 2], both)]
        self.add_part("value", SummaryValue, board=board, last=last, owner=[self.convolution(first.outputs, 1)])
