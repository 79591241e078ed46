"""`alphago play`: play against a network in the terminal."""

import argparse

from alphago.cli.models import add_device, add_game_settings, add_level, add_network, given_game_settings, load_given
from alphago.cli.options import Parser, given_options, integer, number, option


def add_options(parser: Parser) -> None:
    add_network(parser)
    option(parser, "--handicap N", "handicap stones in a game of Go (0)", integer, default=0)
    option(parser, "--white", "play White instead of Black", action="store_true")
    text = "simulations per move (200; with --seconds, as many as fit); 0: the policy alone"
    option(parser, "--readouts N", text, integer, dest="num_readouts")
    option(parser, "--seconds S", "time per move; --readouts may end a move earlier", number)
    add_level(parser)
    text = "explain each of your moves that loses more than so many points, and offer to take it back"
    option(parser, "--teach POINTS", text, number)
    add_device(parser)
    add_game_settings(parser)


def run(options: argparse.Namespace) -> int:
    """Play a game against a network.  You type moves such as D4, or pass, undo, hint, score, save FILE, load FILE,
    resign, quit or help.
    """
    from alphago.ui.terminal.play_call import play

    env, network = load_given(options)
    readouts = 200 if options.num_readouts is None and options.seconds is None else options.num_readouts
    mode = int(options.white)  # 0: you play Black, 1: you play White
    more = given_options(options, "seconds", "handicap", "level", "teach", "device")
    play(env, network, readouts, mode, komi=given_game_settings(options).get("komi"), **more)
    return 0
