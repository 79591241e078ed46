"""Convert a file of KataGo's networks to the weights and the description of a NeuralNet of this package.

Versions 8 to 17 are read (source: KataGo's cpp/neuralnet/desc.cpp, version 1.17); the planes are "katago" of
`alphago.env.go.GoEnv`.  KataGo's numbers about a position enter by constant planes, so that its matrix of these becomes
the centre of the first kernel.  Of the outputs these are kept: the ordinary policy, win and loss, the lead, ownership.
"""

from typing import Any

import torch

from alphago.env.go_rules import KATAGO, PLANE_SETS
from alphago.nn.katago.heads import SummaryPolicy, SummaryValue
from alphago.nn.katago.stream import KataGoFile
from alphago.nn.katago.tower import ACTIVATIONS, BlockTower
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
OF_HEAD = {8: 4}  # further outputs of the value head by version, the lead the third; 6 of newer ones


class NetworkConverter:
    """Reads a file's header and parts in their order, and collects the weights under the names of this package's parts.

    Each method for a part returns its description; each for a layer, the layer's tensors as torch has them.  A
    word that is read without use is the name of the layer, block or part that follows.

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
        inputs = stream.integer("planes"), stream.integer("numbers")
        if inputs != (SPATIAL, NUMBERS):
            raise ValueError(f"it must have {SPATIAL} planes and {NUMBERS} numbers as inputs, got {inputs}")
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
            ValueError: for a file that is damaged or cannot be read.  Sizes that do not fit together are found where
                layers are joined; the others are found when modules are built from the descriptions.
        """
        try:
            self.parts = {"base_net": self.tower(), "policy": self.policy(), "value": self.value()}
        except RuntimeError as error:  # of torch
            raise ValueError(f"its sizes do not fit together: {str(error).splitlines()[0]}") from None
        self.stream.close()

    # --- layers ------------------------------------------------------------------------------------

    def kernel(self, inputs: int) -> torch.Tensor:
        """Read a convolution of `inputs` channels; return its kernel [outputs, inputs, side, side]."""
        self.stream.word()
        height, width = self.stream.integer("a kernel's side", 1, 25), self.stream.integer("a kernel's side", 1, 25)
        self.expect("inputs of a convolution", inputs)
        outputs = self.stream.integer("outputs of a convolution")
        dilations = self.stream.integer("dilation"), self.stream.integer("dilation")
        if height != width or not height % 2 or dilations != (1, 1):
            raise ValueError(f"a kernel must be square, odd and not dilated, got {height} x {width}, {dilations}")
        return self.stream.array(height, width, inputs, outputs).permute(3, 2, 0, 1).contiguous()

    def matrix(self, inputs: int) -> torch.Tensor:
        """Read a dense layer of `inputs`; return its weight [outputs, inputs]."""
        self.begin("inputs of a matrix", inputs)
        return self.stream.array(inputs, self.stream.integer("outputs of a matrix")).T.contiguous()

    def vector(self, size: int) -> torch.Tensor:
        """Read a bias of a dense layer with `size` outputs."""
        self.begin("numbers of a bias", size)
        return self.stream.array(size)

    def norm(self, channels: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Read a norm; return its scale and shift, which its mean and variance are part of."""
        self.begin("channels of a norm", channels)
        epsilon = self.stream.number("epsilon")
        has_scale, has_shift = self.stream.integer("has scale", 0, 1), self.stream.integer("has shift", 0, 1)
        mean, variance = self.stream.array(channels), self.stream.array(channels)
        scale = self.stream.array(channels) if has_scale else torch.ones(channels)
        shift = self.stream.array(channels) if has_shift else torch.zeros(channels)
        scale = scale * torch.rsqrt(variance + epsilon)
        return scale, shift - mean * scale

    def activation(self) -> str:
        """Read an activation; return its name."""
        self.stream.word()
        if self.version < 11:
            return "relu"
        return check_choice("an activation", self.stream.word().removeprefix("ACTIVATION_").lower(), ACTIVATIONS)

    def expect(self, name: str, *values: int) -> None:
        """Read numbers that must have these values, such as options that no known network uses."""
        for value in values:
            self.stream.integer(name, value, value)

    def begin(self, name: str, value: int) -> None:
        """Read the name of a layer, and its first number, which must have this value."""
        self.stream.word()
        self.expect(name, value)

    def keep_norm(self, name: str, channels: int) -> None:
        """Read a norm and keep it."""
        self.weights[f"{name}.scale"], self.weights[f"{name}.shift"] = self.norm(channels)

    def keep_kernel(self, name: str, kernel: torch.Tensor, matrix: str = "") -> None:
        """Read a norm; keep it as a part of the convolution before it, and of the matrix whose outputs are added.

        Args:
            name, kernel: of the convolution.
            matrix: the name of the matrix's weight, which was kept before; "" for none.
        """
        scale, shift = self.norm(len(kernel))
        self.weights[f"{name}.weight"], self.weights[f"{name}.bias"] = kernel * scale.view(-1, 1, 1, 1), shift
        if matrix:
            self.weights[matrix] *= scale.view(-1, 1)

    def summary(self, name: str, inputs: int) -> list[Any]:
        """Read a convolution, a norm, an activation, and the matrix that makes a bias of the board's summary.

        Return the convolution's number of outputs, its kernel's side, and the activation.
        """
        kernel = self.kernel(inputs)
        self.keep_kernel(f"{name}.pool", kernel)
        act = self.activation()
        self.weights[f"{name}.bias.weight"] = self.matrix(3 * len(kernel))
        return [len(kernel), kernel.shape[-1], act]

    # --- base --------------------------------------------------------------------------------------

    def tower(self) -> dict[str, Any]:
        """Read the base: the first layers, the blocks, and the norm and activation of the tip."""
        stream = self.stream
        stream.word()
        count, channels = stream.integer("blocks"), stream.integer("channels")
        for _ in range(4):  # numbers of channels within blocks, which say them too
            stream.integer("channels", 0)
        has_rms_tip = bool(stream.integer("kind of tip", 0, 1)) if self.version >= 15 else False
        self.expect("an option", *[0] * 5 if self.version >= 15 else ())
        kernel = self.kernel(SPATIAL)
        numbers = self.matrix(NUMBERS)
        if not len(kernel) == len(numbers) == channels:
            raise ValueError(f"first layers must have {channels:,} outputs, got {len(kernel):,} and {len(numbers):,}")
        centre = kernel.shape[-1] // 2
        # KataGo's planes, then its numbers, then the plane of zeros.
        entry = torch.zeros(channels, PLANES, *kernel.shape[2:])
        entry[:, : len(SPATIAL_USED)] = kernel[:, SPATIAL_USED]
        entry[:, len(SPATIAL_USED) : -1, centre, centre] = numbers[:, NUMBERS_USED]
        self.weights["base_net.entry.weight"] = entry
        blocks = self.blocks("base_net.blocks", channels, count)
        tip, epsilon = "affine", 1.0
        if has_rms_tip:
            self.begin("channels of the tip", channels)
            epsilon = stream.number("epsilon")
            tip = "spatial rms" if stream.integer("a norm of the board", 0, 1) else "rms"
            self.expect("an option", 0)
            for name in ("scale", "shift"):
                self.weights[f"base_net.tip.{name}"] = stream.array(channels)
        else:
            self.keep_norm("base_net.tip", channels)
        sizes = {"planes": PLANES, "channels": channels, "blocks": blocks, "entry": kernel.shape[-1]}
        tips = {"tip": tip, "epsilon": epsilon, "activation": self.activation()}
        return {"part": BlockTower.__name__, **sizes, **tips}

    def blocks(self, name: str, channels: int, count: int) -> list[Any]:
        """Read blocks; return their descriptions.  Neighbouring blocks of transformers are one.

        Args:
            name: the beginning of the names of their weights.
        """
        found: list[Any] = []
        for _ in range(count):
            kind = check_choice("a block", self.stream.word(), KINDS)
            self.stream.word()  # the block's name
            if kind not in TRANSFORMERS:
                found.append(self.convolutions(f"{name}.{len(found)}", channels, kind))
                continue
            if not found or found[-1][0] != "transformer":
                found.append(["transformer", []])
            blocks = found[-1][1]  # of the transformer to which this one belongs
            read = self.attention if kind == ATTENTION else self.feedforward
            blocks.append(read(f"{name}.{len(found) - 1}.blocks.{len(blocks)}", channels))
        return found

    def convolutions(self, name: str, channels: int, kind: str) -> list[Any]:
        """Read a block of two convolutions; return "convolutions" and the arguments of AffineBlock after `channels`."""
        count = self.stream.integer("blocks") if kind == NESTED else 0
        self.keep_norm(f"{name}.norm", channels)
        act, first = self.activation(), self.kernel(channels)
        pool = self.summary(name, channels) if kind == POOLED else []
        blocks = self.blocks(f"{name}.blocks", len(first), count)
        if blocks:  # they stand between the first convolution and the norm, which therefore stays
            self.weights[f"{name}.first.weight"] = first
            self.keep_norm(f"{name}.norm2", len(first))
        else:
            self.keep_kernel(f"{name}.first", first, f"{name}.bias.weight" if pool else "")
        activations = [act, self.activation()]
        second = self.weights[f"{name}.second.weight"] = self.kernel(len(first))
        return ["convolutions", len(first), [first.shape[-1], second.shape[-1]], activations, pool, blocks]

    def rms(self, channels: int) -> tuple[float, torch.Tensor]:
        """Read the norm of a transformer's block; return its epsilon and its weight [channels]."""
        self.begin("channels of a norm", channels)
        return self.stream.number("epsilon"), self.stream.array(channels)

    def attention(self, name: str, channels: int) -> list[Any]:
        """Read attention; the factor of scores and the norm's weight become part of queries, keys and values."""
        sizes = ("heads", "groups of heads", "size of a key", "size of a value")
        heads, groups, key, value = (self.stream.integer(size, 1, 4096) for size in sizes)
        rotated, learned = self.stream.integer("rotated", 0, 1), self.stream.integer("learned", 0, 1)
        if heads % groups or (rotated and key % 2):
            raise ValueError(f"heads must be a multiple of groups and a rotated key even, got {heads}, {groups}, {key}")
        epsilon, weight = self.rms(channels)
        queries, keys, values = (self.matrix(channels) for _ in range(3))
        # In KataGo's order, the two numbers of a pair are neighbours; without a rotation nothing is moved.
        pairs = (2, key // 2) if rotated else (1, key)
        both = torch.cat([queries.view(groups, -1, key, channels) * key**-0.5, keys.view(groups, 1, key, channels)], 1)
        turned = both.unflatten(2, pairs[::-1]).transpose(2, 3)  # the first of all pairs, then the second
        self.weights[f"{name}.inputs.weight"] = torch.cat([turned.reshape(-1, channels), values]) * weight
        self.weights[f"{name}.outputs.weight"] = self.matrix(heads * value)
        if rotated:
            self.weights[f"{name}.rotation.frequencies"] = self.frequencies(groups, key // 2, bool(learned)).flatten()
        return ["attention", heads, groups, key, value, bool(rotated), epsilon]

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

    def feedforward(self, name: str, channels: int) -> list[Any]:
        """Read a dense block; the norm's weight becomes part of the first layer, and of the gate if there is one."""
        self.expect("channels of a dense block", channels)
        hidden, gated = self.stream.integer("hidden units"), self.stream.integer("gated", 0, 1)
        epsilon, weight = self.rms(channels)
        self.weights[f"{name}.inputs.weight"] = torch.cat([self.matrix(channels) for _ in range(1 + gated)]) * weight
        self.weights[f"{name}.outputs.weight"] = self.matrix(hidden)
        return ["feedforward", hidden, bool(gated), epsilon]

    # --- heads -------------------------------------------------------------------------------------

    def policy(self) -> dict[str, Any]:
        """Read the policy head; of its kinds of policies the first is kept, the ordinary one."""
        stream, version, channels = self.stream, self.version, len(self.weights["base_net.tip.scale"])
        stream.word()
        if version >= 17:
            stream.integer("kinds of policies", 1, 99)
            self.expect("an option", 0, 0, 0)
        squeeze = self.kernel(channels)
        pooled, _, pool_act = self.summary("policy", channels)
        self.keep_kernel("policy.squeeze", squeeze, "policy.bias.weight")
        hidden = len(squeeze)
        act, pass_act = self.activation(), None
        points, last = self.kernel(hidden), self.matrix(3 * pooled)
        if version >= 15:  # the pass has a hidden layer; what was read was its matrix
            self.weights["policy.pass_hidden.weight"] = last
            self.weights["policy.pass_hidden.bias"] = self.vector(hidden)
            pass_act = self.activation()
            last = self.matrix(hidden)
        self.weights["policy.points.weight"], self.weights["policy.last.weight"] = points[:1], last[:1]
        activations = [pool_act, act, pass_act]
        sizes = {"channels": channels, "pooled": pooled, "hidden": hidden}
        return {"part": SummaryPolicy.__name__, **sizes, "activations": activations}

    def value(self) -> dict[str, Any]:
        """Read the value head; its value is (win - loss) / 2 before the tanh, its score the lead in tens of points."""
        stream, version, channels = self.stream, self.version, len(self.weights["base_net.tip.scale"])
        stream.word()
        self.expect("an option", *[0] * 3 if version >= 17 else ())
        squeeze = self.kernel(channels)
        self.keep_kernel("value.squeeze", squeeze)
        planes = len(squeeze)
        act = self.activation()
        hidden = self.weights["value.hidden.weight"] = self.matrix(3 * planes)
        self.weights["value.hidden.bias"] = self.vector(len(hidden))
        act2 = self.activation()
        layers = []
        for outputs in (3, OF_HEAD.get(version, 6)):  # the results, and further outputs
            weight = self.matrix(len(hidden))
            layers.append(torch.cat([weight, self.vector(outputs).view(-1, 1)], 1))  # the last column is the bias
        results, further = layers  # rows: win, loss, no result; and of the further outputs the third is the lead
        last = torch.stack([(results[0] - results[1]) / 2, further[2] * self.lead / POINTS])
        self.weights["value.last.weight"] = last[:, :-1].contiguous()
        self.weights["value.last.bias"] = last[:, -1].clone()
        self.weights["value.owner.weight"] = self.kernel(planes)
        sizes = {"channels": channels, "planes": planes, "hidden": len(hidden)}
        return {"part": SummaryValue.__name__, **sizes, "activations": [act, act2]}
