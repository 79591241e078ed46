"""The command line: one subcommand per verb."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from alphago.env.game import GameEnv
from alphago.env.games import GAMES, make_game
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
    gtp.add_argument("model", nargs="?", metavar="MODEL", help="a network's file or run folder (the package's own)")
    gtp.add_argument("--readouts", type=int, default=800, metavar="N", help="simulations a move; 0: none (800)")
    gtp.add_argument("--board-size", type=int, metavar="N", help="the model's own, or 9 without a model")
    gtp.add_argument("--komi", type=float, metavar="K", help="White's points before the game, until the controller's")
    gtp.add_argument("--resign", type=float, metavar="VALUE", help="resign below this value (-1: never; the model's)")
    gtp.add_argument("--seed", type=int, metavar="S", help="of the choice among equally good moves")
    gtp.set_defaults(run=run_gtp)
    add_train(verbs)
    add_play(verbs)
    add_evaluate(verbs)
    plot = verbs.add_parser(
        "plot",
        help="draw the curves of training runs",
        description="Draws losses, games, speed and matches of one or several runs, side by side, in one picture.",
    )
    plot.add_argument("runs", nargs="+", metavar="RUN", help="a folder that training has left, or is filling")
    plot.add_argument("--out", default="curves.png", metavar="FILE", help=".png, .svg or .pdf (curves.png, here)")
    plot.add_argument("--x", default="minutes", choices=("minutes", "games", "positions"), help="x axis (minutes)")
    plot.set_defaults(run=run_plot)
    return top


def add_train(verbs: Any) -> None:
    train = verbs.add_parser(
        "train",
        help="train a network from games against itself",
        description="Trains by the board's recipe until the time is over; Ctrl-C saves and stops. "
        "With the folder of a run, it goes on; options then change what they say and leave the rest.",
    )
    add_game(train, "go, or the model's own", "the model's own, or the game's usual one, in Go 9")
    train.add_argument("--komi", type=float, metavar="K", help="White's points before a game of Go (the recipe's)")
    train.add_argument("--preset", metavar="NAME", help="another recipe than the board's own")
    train.add_argument("--minutes", type=float, metavar="M", help="training time (the recipe's)")
    train.add_argument("--games", type=int, metavar="N", help="end after so many games instead")
    train.add_argument("--readouts", type=int, metavar="N", help="simulations a move (the recipe's)")
    train.add_argument("--tower-height", type=int, metavar="N", help="residual blocks (the recipe's)")
    train.add_argument("--channels", type=int, metavar="N", help="width of the network (the recipe's)")
    train.add_argument("--model", metavar="FILE", help="a network to go on with; it stays as it is")
    train.add_argument(
        "--sizes", metavar="LIST", help="boards to play side by side, with their shares: 7:0.3,9:0.7 (one board)"
    )
    train.add_argument(
        "--gate", metavar="RATE", help="self-play by the best network, until another wins so often, e.g. 0.55 (none)"
    )
    train.add_argument(
        "--until", metavar="PLAYER", help="end as soon as it is proved to be stronger, e.g. than gnugo or rave:1000"
    )
    train.add_argument("--folder", metavar="PATH", help="where the run is kept (a new one in runs)")
    train.add_argument("--seed", type=int, metavar="S", help="another one gives another run (0)")
    train.set_defaults(run=run_train)


def add_game(verb: argparse.ArgumentParser, usual: str, usual_size: str) -> None:
    verb.add_argument("--game", choices=list(GAMES), help=f"what is played ({usual})")
    verb.add_argument("--board-size", type=int, metavar="N", help=f"points along a side ({usual_size})")


def add_play(verbs: Any) -> None:
    play = verbs.add_parser(
        "play",
        help="play against a network in this terminal",
        description="You type D4, pass, undo, hint, score, resign or quit.",
    )
    play.add_argument("model", nargs="?", metavar="MODEL", help="a network's file or run folder (the package's own)")
    add_game(play, "the model's own, or go", "the model's own, or 9")
    play.add_argument("--komi", type=float, metavar="K", help="White's points before a game of Go")
    play.add_argument("--white", action="store_true", help="you play White")
    play.add_argument("--readouts", type=int, default=200, metavar="N", help="simulations a move (200)")
    play.set_defaults(run=run_play)


def run_train(options: argparse.Namespace) -> int:
    from alphago.arena.gtp import EngineError
    from alphago.nn.net import load_model
    from alphago.nn.saved import model_file, saved_game
    from alphago.training.run import train

    names = ("readouts", "folder", "preset", "until", "tower_height", "channels", "seed")
    given = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    if options.minutes is not None:
        given["max_minutes"] = options.minutes
    try:
        given |= sizes_and_gate(options)
        if options.board_size is None and "sizes" in given and not goes_on(options.folder):
            options.board_size = max(size for size, _ in given["sizes"])
        env = trained_game(options)
        if options.model is not None:
            path = model_file(options.model)
            env = saved_game(path, options.board_size, options.komi)
            check_named(options.game, env, path)
            given["model"] = load_model(path, env)
        train(env, options.games, **given)
    except (ValueError, OSError, EngineError) as error:
        print(f"alphago train: {error}", file=sys.stderr)
        return USAGE_ERROR
    return 0


def sizes_and_gate(options: argparse.Namespace) -> dict[str, Any]:
    """The settings that --sizes and --gate stand for; ValueError with a sentence if they say none."""
    from alphago.training.settings import read_sizes

    given: dict[str, Any] = {} if options.sizes is None else {"sizes": read_sizes(options.sizes)}
    if options.gate is not None:
        try:
            given["gate"] = float(options.gate)
        except ValueError:
            raise ValueError(f"--gate is a win rate such as 0.55, came {options.gate!r}") from None
    return given


def goes_on(folder: str | None) -> bool:
    """Whether there is a run in the folder."""
    from alphago.training.checkpoint import holds_run

    return folder is not None and holds_run(Path(folder))


def trained_game(options: argparse.Namespace) -> GameEnv:
    """The game that `alphago train` means: the options', and else the run folder's or the board's recipe's."""
    from alphago.training.checkpoint import read_config
    from alphago.training.presets import preset_for

    folder = options.folder
    own = {} if options.komi is None else {"komi": options.komi}
    if goes_on(folder):
        config = read_config(Path(folder))
        env = make_game(config["game"]).replace(**config["env"])
        for name, was, now in (("game", env.name, options.game), ("board_size", env.N, options.board_size)):
            if now not in (None, was):
                raise ValueError(f"the run in {folder} has {name} {was}, now {now} came")
        return env.replace(**own) if own else env
    env = make_game(options.game or GoEnv.name, options.board_size, komi=options.komi)
    recipe = preset_for(env)
    return env.replace(**{**recipe.env, **own}) if recipe else env


def run_play(options: argparse.Namespace) -> int:
    from alphago.ui.terminal import play

    try:
        env, network = load(options.model, options.board_size, options.komi, options.game)
        play(env, network, num_readouts=options.readouts, mode=1 if options.white else 0)
    except (ValueError, OSError) as error:
        print(f"alphago play: {error}", file=sys.stderr)
        return USAGE_ERROR
    return 0


def add_evaluate(verbs: Any) -> None:
    evaluate = verbs.add_parser(
        "evaluate",
        help="play matches, and rate the players",
        description="Plays everybody against everybody else and prints win rates and Elo ratings. "
        "Games are kept in a folder, and the same command goes on where it was interrupted.",
        epilog="A PLAYER is a network's file or run folder, or one that comes with the package (7x7), with its own "
        "readouts and search after an @ (runs/a@64, runs/a@0 for its policy alone, runs/a@64,gumbel); "
        "or a player without a network: gnugo:LEVEL, rave:PLAYOUTS, uct:PLAYOUTS, random.",
    )
    evaluate.add_argument("players", nargs="+", metavar="PLAYER", help="two or more; see below")
    evaluate.add_argument("--games", type=int, default=200, metavar="N", help="in each match (200)")
    evaluate.add_argument("--readouts", type=int, default=64, metavar="N", help="simulations a move (64)")
    evaluate.add_argument("--search", choices=("puct", "gumbel"), default="puct", help="of networks (puct)")
    add_game(evaluate, "the networks' own, or go without any", "the networks' own, or the game's usual one, in Go 9")
    evaluate.add_argument("--komi", type=float, metavar="K", help="the networks' own, or the board's usual one")
    evaluate.add_argument(
        "--random-opening", type=int, default=2, metavar="N",
        help="random plies before each game; each opening is played with both colours (2)",
    )  # fmt: skip
    evaluate.add_argument(
        "--opening-plies", type=int, metavar="N", help="plies drawn in proportion to visits (0 after random ones)"
    )
    evaluate.add_argument("--seed", type=int, default=0, metavar="S", help="another one gives other games (0)")
    evaluate.add_argument(
        "--sprt", type=float, nargs=2, metavar=("ELO0", "ELO1"),
        help="end a match when a sequential test of these Elo differences has decided; risks 5 %% each",
    )  # fmt: skip
    evaluate.add_argument(
        "--anchor",
        metavar="PLAYER[=ELO]",
        help="whose rating is fixed (GNU Go's, rave's, uct's, or the last player's, at 0)",
    )
    evaluate.add_argument("--folder", metavar="PATH", help="where games are kept (one in runs, named after it all)")
    evaluate.set_defaults(run=run_evaluate)


def run_evaluate(options: argparse.Namespace) -> int:
    from alphago.arena.entrant import read_entrants  # only now: networks load torch
    from alphago.arena.gtp import EngineError
    from alphago.arena.standings import ProgressBar, read_anchor, standings
    from alphago.arena.tournament import Tournament, TournamentSettings

    bar = ProgressBar()
    stopped = False
    try:
        settings = TournamentSettings(
            options.games, options.random_opening, options.opening_plies, options.seed,
            None if options.sprt is None else tuple(options.sprt),
        )  # fmt: skip
        env, players = read_entrants(
            options.players, board_size=options.board_size, komi=options.komi,
            readouts=options.readouts, search=options.search, game=options.game,
        )  # fmt: skip
        anchor, elo = read_anchor(options.anchor, [player.name for player in players])
        tournament = Tournament(env, players, settings, options.folder)
        try:
            tournament.play(bar)
        except KeyboardInterrupt:
            stopped = True
        finally:
            bar.close()
    except (ValueError, OSError, EngineError) as error:
        print(f"alphago evaluate: {error}", file=sys.stderr)
        return USAGE_ERROR
    print(standings(tournament, anchor=anchor, anchor_elo=elo))
    if stopped:
        print("stopped; the same command goes on", file=sys.stderr)
    return 130 if stopped else 0


def run_gtp(options: argparse.Namespace) -> int:
    with reserved_stdout() as output:  # before anything is loaded: libraries print
        try:
            if options.readouts < 0:
                raise ValueError(f"--readouts is 0 or more, came {options.readouts}")
            if options.resign is not None and not -1 <= options.resign <= 1:
                raise ValueError(f"--resign is -1 to 1, came {options.resign}")
            env, network = load(options.model, options.board_size, options.komi, GoEnv.name)
            assert isinstance(env, GoEnv)
        except (ValueError, OSError) as error:
            print(f"alphago gtp: {error}", file=sys.stderr)
            return USAGE_ERROR
        resign = options.resign
        if resign is None:
            resign = float(network.notes.get("resign_threshold", -1.0))
        try:
            serve(
                env,
                network,
                options.readouts,
                resign_threshold=resign,
                seed=options.seed,
                output=output,
            )
        except BrokenPipeError:  # the controller has gone
            return 1
    return 0


def run_plot(options: argparse.Namespace) -> int:
    from alphago.training.plots import plot  # only now: it needs matplotlib

    try:
        plot(options.runs, options.out, options.x)
    except (ValueError, OSError, ModuleNotFoundError) as error:
        print(f"alphago plot: {error}", file=sys.stderr)
        return USAGE_ERROR
    print(options.out)
    return 0


def load(model: str | None, board_size: int | None, komi: float | None, game: str | None = None) -> tuple[GameEnv, Any]:
    """The game and the network to play it with; ValueError with a sentence if they do not go together.

    Without a model it is the package's own for that board, or, where there is none, its largest one.
    """
    from alphago.nn.net import load_model  # only now: it loads torch
    from alphago.nn.saved import model_file, packaged, saved_game

    if model is None:
        if game not in (None, GoEnv.name):
            raise ValueError(f"no network for {game} comes with the package: name one (alphago train --game {game})")
        size = 9 if board_size is None else board_size
        env = GoEnv(size, komi=komi)  # ValueError for a size that there is not
        names = packaged()
        model = f"{size}x{size}" if f"{size}x{size}" in names else names[-1]
        board_size = env.N
    path = model_file(model)
    played = saved_game(path, board_size, komi)
    check_named(game, played, path)
    return played, load_model(path, played)


def check_named(game: str | None, env: GameEnv, path: Any) -> None:
    """ValueError if a game was named and the network in the file plays another one."""
    if game not in (None, env.name):
        raise ValueError(f"{path} holds a network for {env}, wanted one for {game}")
