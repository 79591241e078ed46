"""`alphago play`: play against a network in the terminal."""

import argparse

from alphago.cli.models import add_device, add_game, add_level, add_model, load
from alphago.cli.options import integer, number


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Plays a game against a network. You type moves such as D4, or pass, undo, hint, score, save FILE, load FILE, "
        "resign, quit or help."
    )
    add_model(parser)
    add_game(parser, "the model's own, or go", "the model's own, or 9")
    parser.add_argument("--komi", type=number, metavar="K", help="White's points before a game of Go")
    parser.add_argument("--handicap", type=integer, default=0, metavar="N", help="handicap stones in a game of Go (0)")
    parser.add_argument("--white", action="store_true", help="play White instead of Black")
    parser.add_argument(
        "--readouts",
        dest="num_readouts",
        type=integer,
        metavar="N",
        help="simulations per move (200; with --seconds, as many as fit); 0: the policy alone",
    )
    parser.add_argument("--seconds", type=number, metavar="S", help="time per move; --readouts may end a move earlier")
    add_level(parser)
    parser.add_argument(
        "--teach",
        type=number,
        metavar="POINTS",
        help="explain each of your moves that loses more than so many points, and offer to take it back",
    )
    add_device(parser)


def run(options: argparse.Namespace) -> int:
    from alphago.ui.terminal.play_call import play

    env, network = load(options.model, options.board_size, options.komi, options.game)
    readouts = 200 if options.num_readouts is None and options.seconds is None else options.num_readouts
    play(
        env,
        network,
        readouts,
        int(options.white),
        seconds=options.seconds,
        handicap=options.handicap,
        komi=options.komi,
        level=options.level,
        teach=options.teach,
        device=options.device,
    )
    return 0
