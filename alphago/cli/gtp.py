"""`alphago gtp`: play Go in programs that support the Go Text Protocol."""

import argparse
from functools import cache, partial
from typing import Any

from alphago.cli.models import add_device, add_level, add_model, load
from alphago.cli.options import Parser, given_options, integer, number, option
from alphago.env.game import GameEnv
from alphago.env.games import make_game, require_go
from alphago.env.go import GoEnv
from alphago.system.validation import MOST_READOUTS, check_int


def add_options(parser: Parser) -> None:
    parser.why_no_option["--game"] = "the Go Text Protocol is for Go"
    add_model(parser)
    text = "how moves are chosen: at random, by the network's policy alone, or by search (mcts)"
    option(parser, "--policy", text, choices=("random", "net", "mcts"), default="mcts")
    option(parser, "--readouts N", "simulations per move; 0: policy alone (800)", integer)
    add_level(parser)
    option(parser, "--board-size N", "size of the board (the model's, or 9)", integer)
    option(parser, "--komi K", "komi until the controller sets one (the model's)", number)
    text = "resign if the value is below VALUE; -1: never (the model's)"
    option(parser, "--resign VALUE", text, number, dest="resign_threshold")
    option(parser, "--seed S", "seed of the choice among equal moves (random)", integer)
    option(parser, "--ponder", "search also while the opponent thinks", action="store_true")
    option(parser, "--name TEXT", 'reply to the command "name"; Lizzie needs KataGo (alphago)')
    option(parser, "--version TEXT", 'reply to the command "version" (alphago\'s version)')
    add_device(parser)


def run(options: argparse.Namespace) -> int:
    """Speak the Go Text Protocol, version 2, on standard input and output."""
    from alphago.ui.gtp.game_commands import serve
    from alphago.ui.gtp.protocol import reserved_stdout

    with reserved_stdout() as output:  # before libraries are loaded, since libraries may print
        refuse_useless(options)
        default = 800 if options.policy == "mcts" else 0
        readouts = default if options.readouts is None else check_int("readouts", options.readouts, 0, MOST_READOUTS)
        if options.seed is not None:
            check_int("--seed", options.seed, 0)
        env, network = game_and_network(options)
        is_packaged = options.model is None and network != "random"  # then each board gets the network that fits it
        networks = partial(packaged_on, komi=options.komi) if is_packaged else None
        names = ("device", "ponder", "resign_threshold", "seed", "komi", "level", "name", "version")
        more = given_options(options, *names)
        try:
            serve(require_go(env, "GTP"), network, readouts, networks=networks, output=output, **more)
        except BrokenPipeError:  # the controller has exited
            return 1
    return 0


def refuse_useless(options: argparse.Namespace) -> None:
    """Raise ValueError for an option that the policy has no use for; --readouts 0, no search, suits every policy."""
    useless = {}
    if options.policy != "mcts":
        useless = {"readouts": options.readouts or None, "level": options.level}
    if options.policy == "random":
        useless["MODEL"] = options.model
    for name, value in useless.items():
        if value is not None:
            raise ValueError(f"{name} must be left out with --policy {options.policy}, got {value}")


def game_and_network(options: argparse.Namespace) -> tuple[GameEnv, Any]:
    """Return the game and the network of the options; "random" instead of a network for --policy random."""
    if options.policy == "random":
        return make_game(GoEnv.name, options.board_size, komi=options.komi), "random"
    return load(options.model, options.board_size, GoEnv.name, given_options(options, "komi"))


@cache
def packaged_on(size: int, komi: float | None) -> tuple[GoEnv, Any]:
    """Return the game on a board of `size`, and the packaged network that fits it best.

    Args:
        komi: the komi of the game; None for the usual one.
    """
    env, network = load(None, size, GoEnv.name, {} if komi is None else {"komi": komi})
    return require_go(env, "GTP"), network
