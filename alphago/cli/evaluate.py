"""`alphago evaluate`."""

import argparse
import sys

from alphago.arena.engine import EngineError
from alphago.arena.entrant import read_entrants
from alphago.arena.standings import ProgressBar, read_anchor, standings
from alphago.arena.tournament import Tournament, TournamentSettings
from alphago.cli.models import add_device, add_game
from alphago.cli.options import add_settings, given_settings, integer, number
from alphago.env.go_rules import named_rules
from alphago.system.interrupts import INTERRUPTED


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Plays all players against each other and prints win rates and Elo ratings. "
        "Games are saved in a folder, and the same command resumes where it was interrupted."
    )
    parser.epilog = (
        "A PLAYER is a network's file or run folder, or one that comes with the package (7x7), with its own "
        "readouts and search after an @ (runs/a@64, runs/a@0 for its policy alone, runs/a@64,gumbel); "
        "or a player without a network: gnugo:LEVEL, rave:PLAYOUTS, uct:PLAYOUTS, in other games than Go "
        "alphabeta:DEPTH, random, or any engine that speaks GTP, by its command in quotation marks "
        "('gtp:./engine --argument')."
    )
    parser.usage = f"{parser.prog} PLAYER PLAYER... [OPTIONS]"
    parser.add_argument("players", nargs="+", metavar="PLAYER", help="two or more; see below")
    parser.add_argument("--readouts", type=integer, default=64, metavar="N", help="simulations a move (64)")
    parser.add_argument("--search", choices=("puct", "gumbel"), default="puct", help="of networks (puct)")
    add_game(parser, "the networks' own, or go without any", "the networks' own, or the game's usual one, in Go 9")
    parser.add_argument("--komi", type=number, metavar="K", help="the networks' own, or the board's usual one")
    parser.add_argument("--rules", metavar="NAME", help="of ko and suicide: Chinese, Tromp-Taylor, AGA, NZ, …")
    parser.add_argument(
        "--turns", type=integer, metavar="N",
        help="each side plays N moves, then the board is counted; 0: two passes end the game (the networks' own)",
    )  # fmt: skip
    add_device(parser)
    add_settings(parser, TournamentSettings, leave=["sprt"])
    parser.add_argument(
        "--sprt", type=number, nargs=2, metavar=("ELO0", "ELO1"),
        help="end a match when a sequential test of these Elo differences has decided; risks 5 %% each",
    )  # fmt: skip
    parser.add_argument(
        "--anchor",
        metavar="PLAYER[=ELO]",
        help="whose rating is fixed (GNU Go's, rave's, uct's, or the last player's, at 0)",
    )
    parser.add_argument(
        "--folder", metavar="PATH", help="where games are saved (one in runs, named after the evaluation)"
    )


def run(options: argparse.Namespace) -> int:
    bar = ProgressBar()
    stopped = False
    given = given_settings(options, TournamentSettings)
    given["sprt"] = None if options.sprt is None else tuple(options.sprt)
    try:
        settings = TournamentSettings(**given)
        env, players = read_entrants(
            options.players, board_size=options.board_size, komi=options.komi,
            readouts=options.readouts, search=options.search, game=options.game,
            rules=None if options.rules is None else named_rules(options.rules), turns=options.turns,
            device=options.device,
        )  # fmt: skip
        anchor, elo = read_anchor(options.anchor, [player.name for player in players])
        tournament = Tournament(env, players, settings, options.folder)
        try:
            tournament.play(bar)
        except KeyboardInterrupt:
            stopped = True
        finally:
            bar.close()
    except EngineError as error:
        raise ValueError(str(error)) from None
    print(standings(tournament, anchor=anchor, anchor_elo=elo))
    if stopped:
        print("stopped; the same command resumes", file=sys.stderr)
    return INTERRUPTED if stopped else 0
