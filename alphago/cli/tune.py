"""`alphago tune`: find settings of the search that play better, by matches."""

import argparse
import sys
from typing import Any

from alphago.cli.models import add_device, add_game, add_game_settings, add_model, given_game_settings, load
from alphago.cli.options import Parser, add_settings, given_settings, integer, number, option, settings_of
from alphago.cli.search_options import add_search, given_search
from alphago.cli.who_works import add_workers
from alphago.mcts.rule import SearchSettings
from alphago.mcts.search_forms import all_fields, check_used, make_search
from alphago.system.interrupts import INTERRUPTED
from alphago.system.validation import near_misses


def add_options(parser: Parser) -> None:
    from alphago.arena.tournament import TournamentSettings
    from alphago.arena.tuning import GAMES, SPRT

    parser.description = (
        "Finds the strongest value of a search setting. Each value plays the champion so far, and becomes the champion "
        "if a sequential test accepts it. Games are saved in a folder, and the same command resumes after an interrupt."
    )
    parser.epilog = "The result also names values that are not clearly weaker than the winner: see docs/strength.md."
    option(parser, "setting SETTING", "the search setting to tune, such as c-puct")
    add_model(parser)
    parser.usage = f"{parser.prog} SETTING [MODEL] [OPTIONS]"
    which = parser.add_mutually_exclusive_group(required=True)
    option(which, "--values A,B,…", "the values to compare")
    option(which, "--range LOW HIGH", "a range to search instead", number)
    option(parser, "--steps N", "number of values in the range (5)", integer, default=5)
    option(
        parser,
        "--refine N",
        "with --range, further rounds that try the values halfway between the winner and its neighbours (1)",
        integer,
        default=1,
    )
    option(parser, "--readouts N", "simulations per move (64)", integer, default=64)
    option(
        parser,
        "--sprt ELO0 ELO1",
        f"Elo differences of the sequential test, with risks of 5 %% each ({SPRT[0]:g} {SPRT[1]:g})",
        number,
        default=list(SPRT),
    )
    add_settings(parser, TournamentSettings, leave=["sprt"], defaults={"games": GAMES})
    option(parser, "--folder PATH", "folder of the games (one in runs, named after the tuning)")
    add_game(parser, "the network's own, or go", "the network's own, or 9")
    option(parser, "--komi K", "White's points before a game of Go", number)
    add_device(parser)
    add_workers(parser)
    add_search(parser)
    add_game_settings(parser)
    parser.shorten("--games", "games in each match, an even number (400)")
    parser.shorten("--device", "the device of boards and networks: auto, cpu, cuda (auto)")
    for flag in ("--sprt", "--random-opening", "--opening-plies", "--adjudicator"):
        parser.shorten(flag)  # without a text: only --help-all shows it


def run(options: argparse.Namespace) -> int:
    from alphago.arena.standings import ProgressBar
    from alphago.arena.tournament import TournamentSettings
    from alphago.arena.tuning import Tuning, tune

    name = options.setting.replace("-", "_")
    search = make_search(given_search(options), options.readouts, 1)
    values = read_values(type(search), name, options.values) if options.values is not None else []
    given = given_game_settings(options)
    env, network = load(options.model, options.board_size, options.komi, game=options.game, given=given)
    bar = ProgressBar()
    tunings: list[Tuning] = []  # the whole result so far, after each pit
    stopped = False
    try:
        tune(
            env,
            network,
            name,
            values,
            between=None if options.range is None else tuple(options.range),
            steps=options.steps,
            rounds=options.refine,
            readouts=options.readouts,
            search=search,
            folder=options.folder,
            device=options.device,
            listener=bar,
            on_pit=tunings.append,
            workers=options.workers,
            **{**given_settings(options, TournamentSettings), "sprt": tuple(options.sprt)},
        )
    except KeyboardInterrupt:
        stopped = True
    finally:
        bar.close()
    if tunings:
        print(tunings[-1])
    if stopped:
        print("stopped; the same command resumes", file=sys.stderr)
    return INTERRUPTED if stopped else 0


def read_values(kind: type[SearchSettings], name: str, text: str) -> list[Any]:
    """Return the values of the setting `name` of a class of search settings in `text`, separated by commas.

    Raises ValueError if there is no such setting, or if it cannot have one of the values in `text`.
    """
    check_used(kind, name)
    settings = {setting.name: setting for setting in settings_of(kind)}
    if name not in settings:
        raise ValueError(f"no search setting {name!r}: {near_misses(name, all_fields(kind))}")
    if bool in settings[name].types:
        truths = {"true": True, "false": False}
        if unknown := [word for word in text.split(",") if word.lower() not in truths]:
            raise ValueError(f"--values of {name} must be true or false, got {unknown[0]!r}")
        return [truths[word.lower()] for word in text.split(",")]
    try:
        return [settings[name].read(word.strip()) for word in text.split(",")]
    except argparse.ArgumentTypeError as error:
        raise ValueError(f"--values of {name} {error}") from None
