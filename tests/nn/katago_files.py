"""Write small random networks in KataGo's format, of any version, for tests: `network(version, seed)`.

Written after KataGo's cpp/neuralnet/desc.cpp, version 1.17, which reads them (see `golden/katago.json`).
"""

import gzip
from collections.abc import Callable

import numpy as np

CHANNELS, MIDDLE, POOLED, HIDDEN = 8, 6, 4, 7


class Writer:
    """The contents of a file: words, and arrays of random numbers that depend on the seed alone."""

    def __init__(self, version: int, seed: int, text: bool = False) -> None:
        self.version, self.text = version, text
        self.random = np.random.RandomState(seed)
        self.data = b""

    def words(self, *words: object) -> None:
        self.data += "".join(f"{word}\n" for word in words).encode()

    def array(self, *shape: int, mean: float = 0.0, spread: float = 0.5) -> None:
        numbers = (mean + spread * self.random.standard_normal(shape)).astype("<f4").ravel()
        self.data += " ".join(map(repr, numbers.tolist())).encode() if self.text else b"@BIN@" + numbers.tobytes()
        self.data += b"\n"

    def conv(self, side: int, inputs: int, outputs: int) -> None:
        self.words("conv", side, side, inputs, outputs, 1, 1)
        self.array(side, side, inputs, outputs, spread=(side * side * inputs) ** -0.5)

    def matrix(self, inputs: int, outputs: int) -> None:
        self.words("matrix", inputs, outputs)
        self.array(inputs, outputs, spread=inputs**-0.5)

    def bias(self, size: int) -> None:
        self.words("bias", size)
        self.array(size)

    def norm(self, channels: int) -> None:
        self.words("norm", channels, 0.001, 1, 1)
        self.array(channels, spread=0.1)
        self.array(channels, mean=1.0, spread=0.1)
        self.array(channels, mean=1.0, spread=0.1)
        self.array(channels)

    def act(self, kind: str = "MISH") -> None:
        self.words("act", *([f"ACTIVATION_{kind}"] if self.version >= 11 else []))

    def rms(self, channels: int) -> None:
        self.words("rms", channels, 1e-6)
        self.array(channels, mean=1.0, spread=0.1)

    def layers(self, text: str, channels: int = CHANNELS) -> None:
        """Write layers such as "conv 3 c 6, act MISH": numbers, c for the number of channels, and words."""
        for layer in text.split(", "):
            name, *given = layer.split()
            getattr(self, name)(
                *(channels if size == "c" else int(size) if size.isdecimal() else size for size in given)
            )

    # --- blocks ------------------------------------------------------------------------------------

    def ordinary(self, channels: int) -> None:
        self.words("ordinary_block", "block")
        self.layers(f"norm c, act, conv 3 c {MIDDLE}, norm {MIDDLE}, act IDENTITY, conv 3 {MIDDLE} c", channels)

    def pooled(self, channels: int) -> None:
        self.words("gpool_block", "block")
        self.layers(f"norm c, act, conv 3 c {MIDDLE}, conv 3 c {POOLED}, norm {POOLED}, act RELU", channels)
        self.layers(f"matrix {3 * POOLED} {MIDDLE}, norm {MIDDLE}, act, conv 3 {MIDDLE} c", channels)

    def bottleneck(self, channels: int, *blocks: Callable[[int], None]) -> None:
        self.words("nested_bottleneck_block", "block", len(blocks))
        self.layers(f"norm c, act, conv 1 c {MIDDLE}", channels)
        for block in blocks:
            block(MIDDLE)
        self.layers(f"norm {MIDDLE}, act SILU, conv 1 {MIDDLE} c", channels)

    def attention(self, channels: int, heads: int = 4, groups: int = 2, key: int = 4, learned: bool = True) -> None:
        value = 3
        self.words("transformer_attention_block", "block", heads, groups, key, value, 1, int(learned))
        self.layers(f"rms c, matrix c {heads * key}, matrix c {groups * key}, matrix c {groups * value}", channels)
        self.matrix(heads * value, channels)
        if learned:
            self.words("frequencies", groups, key // 2, 2)
            self.array(groups, key // 2, 2)
        else:
            self.words("theta", 10.0)

    def feedforward(self, channels: int) -> None:
        self.words("transformer_ffn_block", "block", channels, HIDDEN, 1)
        self.layers(f"rms c, matrix c {HIDDEN}, matrix c {HIDDEN}, matrix {HIDDEN} c", channels)

    # --- the network -------------------------------------------------------------------------------

    def header(self, meta: int = 0) -> None:
        self.words("random", self.version, 22, 19)
        self.words(*([20.0, 20.0, 20.0, 15.0, 40.0, 0.25, 150.0] if self.version >= 13 else []))
        self.words(*([meta, 0, *[0] * 6] if self.version >= 15 else []))

    def trunk(self, rms_tip: int = 0) -> None:
        blocks: list[Callable[[int], None]] = [self.ordinary, self.pooled]
        if self.version >= 13:
            blocks.append(lambda channels: self.bottleneck(channels, self.ordinary, self.pooled))
        if self.version >= 15:
            fixed = lambda channels: self.attention(channels, learned=False)  # noqa: E731
            blocks += [self.attention, self.feedforward, fixed]
            blocks.append(lambda channels: self.bottleneck(channels, self.attention, self.feedforward, self.ordinary))
        self.words("trunk", len(blocks), CHANNELS, MIDDLE, MIDDLE, MIDDLE, POOLED)
        self.words(*([rms_tip > 0, 0, 0, 0, 0, 0] if self.version >= 15 else []))
        self.data = self.data.replace(b"True", b"1").replace(b"False", b"0")
        self.conv(5 if self.version == 8 else 3, 22, CHANNELS)
        self.matrix(19, CHANNELS)
        for block in blocks:
            block(CHANNELS)
        if rms_tip:
            self.words("tip", CHANNELS, 1e-6, rms_tip - 1, 0)
            self.array(CHANNELS, mean=1.0, spread=0.1)
            self.array(CHANNELS)
        else:
            self.norm(CHANNELS)
        self.act()

    def policy(self) -> None:
        kinds = 1 if self.version < 12 else 4 if self.version == 16 else 2
        self.words("policy", *([kinds, 0, 0, 0] if self.version >= 17 else []))
        self.layers(f"conv 1 c {MIDDLE}, conv 1 c {POOLED}, norm {POOLED}, act, matrix {3 * POOLED} {MIDDLE}")
        self.layers(f"norm {MIDDLE}, act, conv 1 {MIDDLE} {kinds}")
        if self.version < 15:
            self.matrix(3 * POOLED, kinds)
        else:
            self.layers(f"matrix {3 * POOLED} {MIDDLE}, bias {MIDDLE}, act, matrix {MIDDLE} {kinds}")

    def value(self) -> None:
        self.words("value", *([0, 0, 0] if self.version >= 17 else []))
        further = 6 if self.version >= 9 else 4
        self.layers(f"conv 1 c {POOLED}, norm {POOLED}, act, matrix {3 * POOLED} {HIDDEN}, bias {HIDDEN}, act")
        self.layers(f"matrix {HIDDEN} 3, bias 3, matrix {HIDDEN} {further}, bias {further}, conv 1 {POOLED} 1")


def network(version: int, seed: int = 0, *, text: bool = False) -> bytes:
    """Return a file of a network: convolutions and pools, from version 13 bottlenecks, from 15 transformers too.

    text: whether arrays are words, as in KataGo's files .txt.gz.
    """
    return gzip.compress(plain_network(version, seed, text=text), mtime=0)


def plain_network(version: int, seed: int = 0, *, text: bool = False) -> bytes:
    """Return the unpacked contents of `network`."""
    writer = Writer(version, seed, text)
    writer.header()
    writer.trunk(rms_tip={15: 2, 17: 1}.get(version, 0))
    writer.policy()
    writer.value()
    return writer.data
