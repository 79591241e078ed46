"""`alphago gtp`."""

import argparse

from alphago.cli.models import add_device, add_model, load
from alphago.cli.options import Parser, integer, number
from alphago.env.games import require_go
from alphago.env.go import GoEnv
from alphago.system.validation import MOST_READOUTS, check_float, check_int


def add_options(parser: Parser) -> None:
    parser.others["--game"] = "the Go Text Protocol is for Go"
    parser.description = "Speaks the Go Text Protocol, version 2, on standard input and output."
    add_model(parser)
    parser.add_argument("--readouts", type=integer, default=800, metavar="N", help="simulations a move; 0: none (800)")
    parser.add_argument("--board-size", type=integer, metavar="N", help="the model's own, or 9 without a model")
    parser.add_argument("--komi", type=number, metavar="K", help="White's points, until the controller sets them")
    parser.add_argument("--resign", type=number, metavar="VALUE", help="resign below it, -1: never (the model's value)")
    parser.add_argument("--seed", type=integer, metavar="S", help="of the choice among equally good moves")
    add_device(parser)


def run(options: argparse.Namespace) -> int:
    from alphago.ui.gtp.commands import serve
    from alphago.ui.gtp.protocol import reserved_stdout

    with reserved_stdout() as output:  # before anything is loaded: libraries print
        check_int("--readouts", options.readouts, 0, MOST_READOUTS)
        if options.resign is not None:
            check_float("--resign", options.resign, -1, 1)
        if options.seed is not None:
            check_int("--seed", options.seed, 0)
        env, network = load(options.model, options.board_size, options.komi, GoEnv.name)
        try:
            serve(
                require_go(env, "GTP"), network, options.readouts, resign_threshold=options.resign,
                seed=options.seed, komi=options.komi, device=options.device, output=output,
            )  # fmt: skip
        except BrokenPipeError:  # the controller has exited
            return 1
    return 0
