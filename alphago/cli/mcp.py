"""`alphago mcp`: tools for assistants that speak the Model Context Protocol."""

import argparse
from functools import cache

from alphago.cli.models import add_device, add_model, load
from alphago.cli.options import Parser, integer, option
from alphago.env.go import GoEnv


def add_options(parser: Parser) -> None:
    parser.why_no_option["--game"] = "the tools are for Go"
    add_model(parser)
    option(parser, "--readouts N", "simulations per position (200)", integer, default=200)
    add_device(parser)


def run(options: argparse.Namespace) -> int:
    """Serve tools for Go to assistants that speak the Model Context Protocol, on standard input and output: analyse a
    position or an SGF file, find mistakes, explain a move, show a board.
    """
    from alphago.ui.model_context import GoTools

    # The network for a board size, which `load` returns after the game; it is loaded when it is first asked for.
    network = cache(lambda size: load(options.model, size, game=GoEnv.name)[1])
    GoTools(network, options.readouts, options.device).server().run()
    return 0
