"""`alphago evaluate`: play matches between players, and compute ratings."""

import argparse
import sys

from alphago.arena.entrant import read_entrants
from alphago.arena.standings import read_anchor, standings, write_page
from alphago.arena.tournament import Tournament, TournamentSettings
from alphago.cli.models import add_device, add_game, add_game_settings, add_workers, given_game_settings
from alphago.cli.options import Parser, given_options, integer, option
from alphago.cli.settings_flags import add_flags, given_settings
from alphago.mcts.search_specs import PLAYER_RULE, SEARCHES
from alphago.system.interrupts import INTERRUPTED
from alphago.workers.jobs import open_pool


def add_options(parser: Parser) -> None:
    option(parser, "players PLAYER", "two or more; see below", nargs="+")
    option(parser, "--readouts N", "a network's simulations per move (64)", integer, default=64)
    option(parser, "--search", f"the networks' search ({PLAYER_RULE})", choices=list(SEARCHES), default=PLAYER_RULE)
    add_game(parser, game="the networks' game, or go", size="the networks' size, or the game's default, in Go 9")
    add_device(parser)
    add_workers(parser)
    add_flags(parser, TournamentSettings, "the matches")
    # Without --anchor: the first of GNU Go, rave and uct that plays, or else the last player, with a rating of 0.
    text = "the player whose rating is fixed, and the rating (GNU Go, rave, uct, or the last player; 0)"
    option(parser, "--anchor PLAYER[=ELO]", text)
    option(parser, "--folder PATH", "folder for the games (one in runs, named after players and settings)")
    add_game_settings(parser)


def run(options: argparse.Namespace) -> int:
    """Play matches of all players against each other, and print win rates and Elo ratings.  Games are saved in a
    folder, and the same command resumes an interrupted one.

    A PLAYER is a network: a file, a run's folder, the name of a packaged network (7x7), or katago:FILE, with or without
    readouts and search after an @ (runs/a@64,gumbel; runs/a@0 for the policy alone), or a level, 1 to 10
    (9x9@level=7). Or it is gnugo:LEVEL, rave:PLAYOUTS in Go, uct:PLAYOUTS, random, in other games alphabeta:DEPTH, any
    GTP engine by its command ('gtp:./engine --argument'), or a .py file with a function choose(position).
    """
    settings = TournamentSettings(**given_settings(options, TournamentSettings))
    given = given_options(options, "board_size", "readouts", "search", "game")
    given["device"] = options.device if options.workers is None else "cpu"  # the networks travel to the workers
    env, players = read_entrants(options.players, given=given_game_settings(options), **given)
    anchor, elo = read_anchor(options.anchor, [player.name for player in players])
    stopped = False
    with open_pool(options.workers, env) as pool:  # workers are found, or refused, before there is a folder
        tournament = Tournament(env, players, settings, options.folder, pool)
        try:
            tournament.play()
        except KeyboardInterrupt:
            stopped = True
    print(standings(tournament, anchor=anchor, anchor_elo=elo))
    print(f"as a page: {write_page(tournament, anchor=anchor, anchor_elo=elo)}")
    if stopped:
        print("stopped; the same command resumes", file=sys.stderr)
    return INTERRUPTED if stopped else 0
