"""`alphago selfplay`: play games of a network against itself, and save them in a folder."""

import argparse
import contextlib
import sys
import threading
from pathlib import Path
from types import TracebackType

from alphago.cli.models import (
    add_device,
    add_game,
    add_game_settings,
    add_model,
    add_workers,
    given_game_settings,
    load,
)
from alphago.cli.options import Parser, integer, option
from alphago.cli.settings_flags import add_flags, given_settings
from alphago.env.game import GameEnv
from alphago.mcts.evaluator import as_evaluator
from alphago.mcts.rule import measured_threshold
from alphago.records import sgf
from alphago.records.record import GameRecord, records_to_bytes
from alphago.records.sgf.sgf_game import SgfGame
from alphago.system.files import LOCK, is_new_or_empty, lock, write_atomic
from alphago.system.live_bar import LiveBar
from alphago.system.settings import make
from alphago.system.validation import check_int
from alphago.training.call.selfplay_call import selfplay
from alphago.training.runs.folder import new_folder
from alphago.training.settings.selfplay_settings import SelfPlaySettings
from alphago.training.watch.game_log import game_text


def add_options(parser: Parser) -> None:
    add_model(parser)
    add_game(parser, "the model's own, or go", "the model's own, or 9")
    option(parser, "--games N", "number of games (10)", integer, default=10)
    option(parser, "--seed S", "random seed; the seed of an earlier call repeats its games (random)", integer)
    add_device(parser)
    add_workers(parser)
    option(parser, "--records", "save records, with policies and values, instead of SGF", action="store_true")
    option(parser, "--verbose", "print each game: moves, the search's results, final position", action="store_true")
    option(parser, "--folder PATH", "folder for the games, new or empty (a new one in runs)")
    add_flags(parser, SelfPlaySettings, "self-play", defaults={"resign_threshold": "the model's own"})
    add_game_settings(parser)


def run(options: argparse.Namespace) -> int:
    """Play games of a network against itself and save them in a folder: as SGF files for Go; for other games, or with
    --records, as one file of records (games.npz, which alphago.records.record.load_records reads).
    """
    game_settings = given_game_settings(options)
    komi = game_settings.pop("komi", None)
    env, network = load(options.model, options.board_size, komi, game=options.game, given=game_settings)
    given = given_settings(options, SelfPlaySettings)
    make(SelfPlaySettings, given)  # raises before there is a progress bar
    # Workers get the network itself, and make their own evaluators.
    player = network if options.workers is not None else as_evaluator(network, env, options.device)
    given.setdefault("resign_threshold", measured_threshold(network, env.position()))
    as_records = options.records or not env.has_sgf
    with GameFolder(options.folder, env, options.games, as_records=as_records, verbose=options.verbose) as folder:
        selfplay(
            env,
            player,
            num_games=options.games,
            seed=options.seed,
            on_game=folder.add,
            workers=options.workers,
            **given,
        )
    return 0


class GameFolder:
    """A context manager that saves finished games, shows a progress bar, and prints a summary on exit.

    Args:
        path: the folder, new or empty; None for a new one in `runs`.
        env: the game.
        games: number of games to expect.
        as_records: whether to write one file of records instead of an SGF file for each game.
        verbose: whether to print each game.
    """

    def __init__(self, path: str | None, env: GameEnv, games: int, *, as_records: bool, verbose: bool = False) -> None:
        check_int("--games", games, 1)
        self.given = path
        self.env, self.games, self.as_records, self.verbose = env, games, as_records, verbose
        self.records: dict[int, GameRecord] = {}
        self.one_at_a_time = threading.Lock()

    def __enter__(self) -> "GameFolder":
        """Create and lock the folder; raise FileExistsError or BlockingIOError if another process uses it meanwhile."""
        if self.given is None:
            self.path, self.is_new = new_folder(f"selfplay-{self.env.name}{self.env.N}"), True
        else:
            self.path = Path(self.given)
            if not is_new_or_empty(self.path):
                raise FileExistsError(f"{self.path} must be a new or empty folder: choose another one")
            self.is_new = not self.path.exists()  # then it is removed again if it stays empty
            self.path.mkdir(parents=True, exist_ok=True)
        self.folder_lock = lock(self.path)
        self.bar = LiveBar(total=self.games, unit="game", desc="self-play")
        return self

    def add(self, number: int, record: GameRecord) -> None:
        """Save a finished game; several threads may call this at the same time."""
        with self.one_at_a_time:
            self.records[number] = record
            if not self.as_records:
                game = SgfGame.from_record(record, self.env, values=True, players=("alphago", "alphago"))
                write_atomic(self.path / f"{number:0{len(str(self.games))}d}.sgf", sgf.format_sgf(game))
            if self.verbose:
                LiveBar.write(game_text(self.env, record, moves=True), file=sys.stderr)
            self.bar.update()

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Write the file of records if `as_records`, also after an interruption, and print the results."""
        self.bar.close()
        self.folder_lock.close()
        (self.path / LOCK).unlink(missing_ok=True)
        records = [self.records[number] for number in sorted(self.records)]
        if records and self.as_records:
            write_atomic(self.path / "games.npz", records_to_bytes(records))
        elif self.is_new and not records:
            with contextlib.suppress(OSError):  # the folder has other files
                self.path.rmdir()
        if records or kind is None:  # after an error before the first game there is nothing to tell
            black = sum(record.outcome > 0 for record in records)
            white = sum(record.outcome < 0 for record in records)
            drawn = len(records) - black - white
            print(f"{len(records)} games in {self.path}: Black won {black}, White {white}, drawn {drawn}")
            if records and records[0].seed is not None:
                print(f"--seed {records[0].seed[0]} plays them again")
