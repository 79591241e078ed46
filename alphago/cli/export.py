"""`alphago export`."""

import argparse
from pathlib import Path

from alphago.cli.models import add_game, add_model, load
from alphago.cli.options import Parser, integer


def add_options(parser: Parser) -> None:
    parser.description = (
        "Writes a network for other programs, and tells by how much it then differs from torch on positions of random "
        "games. onnx: one file with named inputs and outputs, for any number of positions and, of a size-free network, "
        "any board. w32 and w16: float32 or float16 weights, layer after layer, and beside them FILE.json, which says "
        "how to compute with them. npz: the same for numpy."
    )
    add_model(parser)
    add_game(parser, "the model's own, or go", "the model's own, or 9")
    parser.add_argument("--format", choices=("onnx", "w32", "w16", "npz"), help="what the file's name ends with")
    parser.add_argument("--out", metavar="FILE", help="the file (named after the model, in this folder)")
    parser.add_argument("--positions", type=integer, default=500, metavar="N", help="positions to compare on (500)")


def run(options: argparse.Namespace) -> int:
    env, network = load(options.model, options.board_size, None, options.game)
    from alphago.nn.export import export_model  # only now: it loads torch

    form = options.format or ("onnx" if options.out is None else None)
    name = f"{env.N}x{env.N}" if options.model is None else Path(options.model).resolve().stem
    out = options.out or f"{name}.{form}"
    print(export_model(network, out, form, positions=options.positions))
    return 0
