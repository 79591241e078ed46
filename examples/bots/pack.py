"""Pack a network and a bot into one file: `python examples/bots/pack.py oware small.safetensors --out bot.py`.

The file has the bot's source and the weights as text, float16 numbers in base 85: at most 80 KB of weights, and 100 KB
in all, as CodinGame allows.  A KB is 1000 bytes.  It needs Python and numpy.
"""

import argparse
import base64
import json
import re
import zlib
from pathlib import Path

import numpy as np

from alphago import NeuralNet, load_model
from alphago.nn.export import layer_weights, network_graph

HERE = Path(__file__).parent
MOST_WEIGHTS, MOST_BYTES = 80_000, 100_000
PLANES = {"oware": ("board", "one-hot"), "go": (3,)}  # the sets of planes that a bot can compute
HEAD = '''"""A bot that plays {game}, made by alphago; it needs numpy only.  Run it, and write turns to its input."""

'''


def pack_weights(net: NeuralNet) -> str:
    """Return a network as text: float16 weights, and how to compute logits and value with them.

    Raises:
        ValueError: for weights of more than 80 KB.
    """
    graph = network_graph(net)
    outputs = [graph.outputs[name].name for name in ("logits", "value")]
    needed, steps = set(outputs), []
    for step in reversed(graph.steps):  # steps of outputs that the bot does not need, such as the score, are left out
        if step.output in needed:
            needed |= set(step.inputs)
            steps.append([step.op, step.inputs, step.output, step.attributes])
    layers = {name: array for name, array in layer_weights(graph).items() if name in needed}
    weights = b"".join(array.astype("<f2").tobytes() for array in layers.values())
    if len(weights) > MOST_WEIGHTS:
        raise ValueError(f"weights must be at most {MOST_WEIGHTS:,} bytes as float16, got {len(weights):,}")
    renames = {name: f"w{number}" for number, name in enumerate(layers)}
    facts = {
        "options": net.env.match_variant().config,
        "outputs": outputs,
        "layers": [[renames[name], array.shape] for name, array in layers.items()],
        "constants": {name: array.tolist() for name, array in graph.weights.items() if name in needed - layers.keys()},
        "steps": [[op, [renames.get(name, name) for name in inputs], *rest] for op, inputs, *rest in reversed(steps)],
    }
    header = json.dumps(facts, separators=(",", ":")).encode()
    data = len(header).to_bytes(4, "little") + header + weights
    return base64.b85encode(zlib.compress(data, 9)).decode()


def pack(game: str, net: NeuralNet) -> str:
    """Return the bot's program.

    Args:
        game: "oware" or "go".

    Raises:
        ValueError: for a network that the bot cannot compute, or that is too large.
    """
    if net.env.name != game or net.env.config["planes"] not in PLANES[game]:
        wanted = "OwareEnv()" if game == "oware" else "GoEnv(7, planes=3)"
        raise ValueError(f"the network must be for {wanted} or alike, got one for {net.env}")
    parts = [(HERE / "player.py").read_text("utf-8"), (HERE / f"{game}.py").read_text("utf-8")]
    source = "\n\n".join(re.sub(r"^from player import .*\n", "", part, flags=re.MULTILINE) for part in parts)
    program = f"{HEAD.format(game=game)}{source}\n\nWEIGHTS = {pack_weights(net)!r}\n\n"
    program += 'if __name__ == "__main__":\n    main(WEIGHTS)\n'
    if len(program.encode()) > MOST_BYTES:
        raise ValueError(f"the bot must have at most {MOST_BYTES:,} bytes, got {len(program.encode()):,}")
    return program


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", choices=tuple(PLANES))
    parser.add_argument("model", help="a network's file or run folder")
    parser.add_argument("--out", type=Path, default=Path("bot.py"), help="the bot (bot.py)")
    options = parser.parse_args()
    net = load_model(options.model)
    try:
        program = pack(options.game, net)
    except ValueError as error:
        parser.exit(2, f"{parser.prog}: {error}\n")
    options.out.write_text(program, "utf-8")
    numbers = sum(np.prod(array.shape) for array in network_graph(net).weights.values())
    print(f"{options.out}: {len(program.encode()):,} bytes, {int(numbers):,} weights")


if __name__ == "__main__":
    main()
