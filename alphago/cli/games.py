"""`alphago play` and `alphago gtp`."""

import argparse

from alphago.cli.models import add_device, add_game, add_model, load
from alphago.cli.options import number, whole
from alphago.env.games import require_go
from alphago.env.go import GoEnv
from alphago.system.validation import MOST_READOUTS, check_int


def add_play(parser: argparse.ArgumentParser) -> None:
    parser.description = "You type D4, pass, undo, hint, score, save FILE, load FILE, resign or quit."
    add_model(parser)
    add_game(parser, "the model's own, or go", "the model's own, or 9")
    parser.add_argument("--komi", type=number, metavar="K", help="White's points before a game of Go")
    parser.add_argument("--white", action="store_true", help="you play White")
    parser.add_argument(
        "--readouts", type=whole, metavar="N", help="simulations a move (200, with --seconds as many as fit); 0: none"
    )
    parser.add_argument("--seconds", type=number, metavar="S", help="time a move; --readouts may end it earlier")
    add_device(parser)
    parser.set_defaults(run=run_play)


def run_play(options: argparse.Namespace) -> int:
    from alphago.ui.terminal.game import play

    env, network = load(options.model, options.board_size, options.komi, options.game)
    readouts = options.readouts
    if readouts is None and options.seconds is None:
        readouts = 200
    device = options.device or "auto"
    play(env, network, readouts, 1 if options.white else 0, seconds=options.seconds, device=device)
    return 0


def add_gtp(parser: argparse.ArgumentParser) -> None:
    parser.description = "Speaks the Go Text Protocol, version 2, on standard input and output."
    add_model(parser)
    parser.add_argument("--readouts", type=whole, default=800, metavar="N", help="simulations a move; 0: none (800)")
    parser.add_argument("--board-size", type=whole, metavar="N", help="the model's own, or 9 without a model")
    parser.add_argument("--komi", type=number, metavar="K", help="White's points, until the controller tells them")
    parser.add_argument("--resign", type=number, metavar="VALUE", help="resign below it, -1: never (the model's value)")
    parser.add_argument("--seed", type=whole, metavar="S", help="of the choice among equally good moves")
    add_device(parser)
    parser.set_defaults(run=run_gtp)


def run_gtp(options: argparse.Namespace) -> int:
    from alphago.ui.gtp.commands import serve
    from alphago.ui.gtp.protocol import reserved_stdout

    with reserved_stdout() as output:  # before anything is loaded: libraries print
        check_int("--readouts", options.readouts, 0, MOST_READOUTS)
        if options.resign is not None and not -1 <= options.resign <= 1:
            raise ValueError(f"--resign is -1 to 1, got {options.resign}")
        if options.seed is not None:
            check_int("--seed", options.seed, 0)
        env, network = load(options.model, options.board_size, options.komi, GoEnv.name)
        env = require_go(env, "GTP")
        try:
            serve(
                env, network, options.readouts, resign_threshold=options.resign, seed=options.seed,
                komi=options.komi, device=options.device or "auto", output=output,
            )  # fmt: skip
        except BrokenPipeError:  # the controller has gone
            return 1
    return 0
