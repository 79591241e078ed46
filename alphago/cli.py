"""The command line: one subcommand per verb."""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from alphago.env.go import GoEnv
from alphago.ui.gtp import reserved_stdout
from alphago.ui.gtp_commands import serve

USAGE_ERROR = 2  # exit code for what the user can put right: a missing file, a wrong model, a bad option


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit code."""
    options = parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except KeyboardInterrupt:
        return 130


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="alphago", description="AlphaZero on one machine.")
    verbs = top.add_subparsers(required=True, metavar="COMMAND")
    gtp = verbs.add_parser(
        "gtp",
        help="play Go with any program that speaks the Go Text Protocol",
        description="Speaks the Go Text Protocol, version 2, on standard input and output.",
    )
    gtp.add_argument("model", nargs="?", metavar="MODEL", help="a network saved by training; without one, only rules")
    gtp.add_argument("--readouts", type=int, default=800, metavar="N", help="simulations a move; 0: none (800)")
    gtp.add_argument("--board-size", type=int, metavar="N", help="the model's own, or 9 without a model")
    gtp.add_argument("--komi", type=float, metavar="K", help="White's points before the game, until the controller's")
    gtp.add_argument("--resign", type=float, default=-1.0, metavar="VALUE", help="resign below this value (-1: never)")
    gtp.add_argument("--seed", type=int, metavar="S", help="of the choice among equally good moves")
    gtp.set_defaults(run=run_gtp)
    return top


def run_gtp(options: argparse.Namespace) -> int:
    with reserved_stdout() as output:  # before anything is loaded: libraries print
        try:
            if options.readouts < 0:
                raise ValueError(f"--readouts is 0 or more, came {options.readouts}")
            if not -1 <= options.resign <= 1:
                raise ValueError(f"--resign is -1 to 1, came {options.resign}")
            env, network = load(options.model, options.board_size, options.komi)
        except (ValueError, OSError) as error:
            print(f"alphago gtp: {error}", file=sys.stderr)
            return USAGE_ERROR
        try:
            serve(
                env,
                network,
                options.readouts,
                resign_threshold=options.resign,
                seed=options.seed,
                output=output,
            )
        except BrokenPipeError:  # the controller has gone
            return 1
    return 0


def load(model: str | None, board_size: int | None, komi: float | None) -> tuple[GoEnv, Any]:
    """The game and the network to play it with; ValueError with a sentence if they do not go together."""
    if model is None:
        return GoEnv(9 if board_size is None else board_size, komi=komi), None
    from alphago.nn.net import load_model  # only now: playing without a model need not load torch
    from alphago.nn.weights import ModelError, read_weights

    description = read_weights(model)[1]
    if description["structure"].get("game") != GoEnv.name:
        raise ModelError(f"{model} holds a network for {description['env']}, wanted one for Go")
    saved = description["env_config"]
    try:
        size = saved["board_size"] if board_size is None else board_size
        env = GoEnv(size, komi=saved["komi"] if komi is None and size == saved["board_size"] else komi,
                    planes=saved["planes"])  # fmt: skip
    except (KeyError, TypeError) as error:
        raise ModelError(f"{model} has a damaged description: {error}") from error
    return env, load_model(model, env)
