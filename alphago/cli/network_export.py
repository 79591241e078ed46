"""`alphago export`: write a network for other programs."""

import argparse
from pathlib import Path

from alphago.cli.models import add_game, add_model, load
from alphago.cli.options import Parser, integer


def add_options(parser: Parser) -> None:
    parser.description = (
        "Writes a network for other programs, and prints the largest difference of its outputs from torch's on "
        "positions of random games. Formats: onnx, one file with named inputs and outputs, for any number of "
        "positions, and any board if the network is size-free; w32 and w16, float32 or float16 weights, layer after "
        "layer, with a list of the network's operations in FILE.json; npz, the same in one file for numpy."
    )
    add_model(parser)
    add_game(parser, "the model's own, or go", "the model's own, or 9")
    parser.add_argument("--format", choices=("onnx", "w32", "w16", "npz"), help="the format (FILE's suffix, or onnx)")
    parser.add_argument("--out", metavar="FILE", help="the file to write (in this folder, with the model's name)")
    parser.add_argument("--positions", type=integer, default=500, metavar="N", help="positions to compare (500)")


def run(options: argparse.Namespace) -> int:
    env, network = load(options.model, options.board_size, None, options.game)
    from alphago.nn.export import export_model  # imported late, since it loads torch

    form = options.format or ("onnx" if options.out is None else None)
    name = f"{env.N}x{env.N}" if options.model is None else Path(options.model).resolve().stem
    out = options.out or f"{name}.{form}"
    print(export_model(network, out, form, positions=options.positions))
    return 0
