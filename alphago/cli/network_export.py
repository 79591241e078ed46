"""`alphago export`: write a network for other programs."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from alphago.cli.models import add_game_settings, add_network, load_given
from alphago.cli.options import Parser, integer, option
from alphago.env.packaged_nets import packaged_net

if TYPE_CHECKING:
    from alphago.nn.net import NeuralNet

READOUTS = 64  # of the exam


def add_options(parser: Parser) -> None:
    add_network(parser)
    option(parser, "--format", "the format (FILE's suffix, or onnx)", choices=("onnx", "w32", "w16", "page"))
    option(parser, "--out FILE", "the file to write (in this folder, with the model's name)")
    option(parser, "--strength TEXT", "page: what was measured of the network, a sentence")
    text = "page: write in how the network does in the packaged exam of the board (some minutes)"
    option(parser, "--exam", text, action="store_true")
    option(parser, "--licence TEXT", "page: the network's licence")
    option(parser, "--positions N", "positions to compare (500)", integer, default=500)
    add_game_settings(parser)


def exam_sentence(network: "NeuralNet") -> str:
    """Take the packaged exam of a network's board, and return what it says of the network's strength.

    Raises:
        ValueError: if there is no exam for its game and board.
    """
    from alphago.exams.exam_call import exam  # imported late, since it loads torch

    result = exam(network, READOUTS)
    points = result.grade().points
    taken = f"the exam of {len(result.exam)} packaged positions on {result.exam.size}x{result.exam.size}"
    return f"loses {points.value:.2f} ± {points.margin:.2f} points a move with {READOUTS} readouts, in {taken}"


def run(options: argparse.Namespace) -> int:
    """Write a network for other programs, and print the largest difference of its outputs from torch's on positions of
    random games.

    The formats are onnx, one file with named inputs and outputs, for any number of positions, and any board if the
    network is size-free; w32 and w16, float32 or float16 weights, layer after layer, with a list of the network's
    operations in FILE.json; page, one HTML file that plays the network in any browser, without a server, with the page
    of alphago web.
    """
    env, network = load_given(options)
    name = f"{env.N}x{env.N}" if options.model is None else Path(options.model).resolve().stem
    suffix = "" if options.out is None else Path(options.out).suffix
    if options.format == "page" or (options.format is None and suffix == ".html"):
        from alphago.ui.onefile.page import export_page

        # If the network has a name, it is passed by name: then the page says what is known of the network.
        source = options.model or packaged_net(env.name, env.N) or network
        if options.exam and options.strength is not None:
            raise ValueError("--exam writes the strength in itself, got --strength too")
        strength = exam_sentence(network) if options.exam else options.strength
        print(export_page(source, options.out or f"{name}.html", env, strength=strength, licence=options.licence))
        return 0
    from alphago.nn.export import export_model  # imported late, since it loads torch

    form = options.format or ("onnx" if options.out is None else None)  # None: by the suffix of --out
    print(export_model(network, options.out or f"{name}.{form}", form, positions=options.positions))
    return 0
