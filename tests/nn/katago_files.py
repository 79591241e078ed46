"""Write small random networks in KataGo's format, of any version, for tests: `network(version, seed)`.

Written after KataGo's cpp/neuralnet/desc.cpp, version 1.17, which reads them (see `golden/katago.json`).

A network is made of a text such as "conv 3 8 6, act MISH": layers and other words of the file, with the layers' sizes.
"""

import gzip

import numpy as np

# Blocks of C channels, with 6 channels within, 4 pooled ones and 7 hidden units.
ORDINARY = "ordinary_block block, norm C, act, conv 3 C 6, norm 6, act IDENTITY, conv 3 6 C"
POOLED = """gpool_block block, norm C, act, conv 3 C 6, conv 3 C 4, norm 4, act RELU, matrix 12 6, norm 6, act,
 conv 3 6 C"""
# Of 4 heads in 2 groups, keys of 4 numbers and values of 3; then either the frequencies or their base.
ATTENTION = """transformer_attention_block block 4 2 4 3 1 {}, rms C, matrix C 16, matrix C 8, matrix C 6, matrix 12 C,
 {}"""
LEARNED, FIXED = ATTENTION.format(1, "frequencies 2 2 2"), ATTENTION.format(0, "theta 10.0")
FEEDFORWARD = "transformer_ffn_block block C 7 1, rms C, matrix C 7, matrix C 7, matrix 7 C"
TIPS = {15: "tip 8 1e-06 1 0", 17: "tip 8 1e-06 0 0"}  # by version: a norm of the board, and one of each point


def bottleneck(*blocks: str) -> str:
    inner = ", ".join(["act, conv 1 C 6", *(block.replace("C", "6") for block in blocks), "norm 6, act SILU"])
    return f"nested_bottleneck_block block {len(blocks)}, norm C, {inner}, conv 1 6 C"


def network_text(version: int) -> str:
    """Return a network of 8 channels: convolutions and pools, from version 13 bottlenecks, from 15 transformers too."""
    blocks = [ORDINARY, POOLED]
    if version >= 13:
        blocks.append(bottleneck(ORDINARY, POOLED))
    if version >= 15:
        blocks += [LEARNED, FEEDFORWARD, FIXED, bottleneck(LEARNED, FEEDFORWARD, ORDINARY)]
    kinds = 1 if version < 12 else 4 if version == 16 else 2
    further = 6 if version >= 9 else 4
    parts = [
        f"random {version} 22 19",
        "20.0 20.0 20.0 15.0 40.0 0.25 150.0" if version >= 13 else "",
        "0 0 0 0 0 0 0 0" if version >= 15 else "",  # no meta encoder, and options
        f"trunk {len(blocks)} 8 6 6 6 4",
        f"{int(version in TIPS)} 0 0 0 0 0" if version >= 15 else "",
        f"conv {5 if version == 8 else 3} 22 8, matrix 19 8",
        *(block.replace("C", "8") for block in blocks),
        f"{TIPS.get(version, 'norm 8')}, act",
        f"policy {kinds} 0 0 0" if version >= 17 else "policy",
        f"conv 1 8 6, conv 1 8 4, norm 4, act, matrix 12 6, norm 6, act, conv 1 6 {kinds}",
        f"matrix 12 {kinds}" if version < 15 else f"matrix 12 6, bias 6, act, matrix 6 {kinds}",
        "value 0 0 0" if version >= 17 else "value",
        "conv 1 8 4, norm 4, act, matrix 12 7, bias 7, act",
        f"matrix 7 3, bias 3, matrix 7 {further}, bias {further}, conv 1 4 1",
    ]
    return ", ".join(part for part in parts if part)


def read_layer(text: str, version: int) -> tuple[list[object], list[tuple[list[int], float, float]]]:
    """Return a layer's words, and the shape of each of its arrays, with the mean and the spread of the numbers."""
    words: list[object] = [*text.split()]
    sizes = [int(word) for word in text.split() if word.isdecimal()]
    match words[0], sizes:
        case "conv", [side, inputs, outputs]:
            kernel = [side, side, inputs, outputs]
            return ["conv", *kernel, 1, 1], [(kernel, 0, (side * side * inputs) ** -0.5)]
        case "norm", [_]:
            return [*words, 0.001, 1, 1], [(sizes, 0, 0.1), (sizes, 1, 0.1), (sizes, 1, 0.1), (sizes, 0, 0.5)]
        case "act", _:
            kind = words[1] if words[1:] else "MISH"
            return ["act", *([f"ACTIVATION_{kind}"] if version >= 11 else [])], []
        case "rms", _:
            return [*words, 1e-6], [(sizes, 1, 0.1)]
        case "tip", [size, *_]:
            return words, [([size], 1, 0.1), ([size], 0, 0.5)]
        case "matrix", [inputs, _]:
            return words, [(sizes, 0, inputs**-0.5)]
    return words, [(sizes, 0, 0.5)] if words[0] in ("bias", "frequencies") else []


def network(version: int, seed: int = 0, *, text: bool = False) -> bytes:
    """Return a file of the network `network_text`; text: whether arrays are words, as in KataGo's files .txt.gz."""
    return gzip.compress(plain_network(version, seed, text=text), mtime=0)


def plain_network(version: int, seed: int = 0, *, text: bool = False) -> bytes:
    """Return the unpacked contents of `network`; its numbers depend on the seed alone."""
    random, data = np.random.RandomState(seed), b""
    for layer in network_text(version).split(","):
        words, arrays = read_layer(layer, version)
        data += "".join(f"{word}\n" for word in words).encode()
        for shape, mean, spread in arrays:
            numbers = (mean + spread * random.standard_normal(shape)).astype("<f4").ravel()
            data += (" ".join(map(repr, numbers.tolist())).encode() if text else b"@BIN@" + numbers.tobytes()) + b"\n"
    return data
