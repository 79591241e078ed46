"""`alphago selfplay`: play games of a network against itself, and save them in a folder."""

import argparse
import contextlib
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from alphago.cli.models import add_device, add_game_settings, add_network, add_workers, load_given
from alphago.cli.options import Parser, integer, option
from alphago.cli.settings_flags import add_flags, given_settings
from alphago.drawing.live_bar import LiveBar
from alphago.env.game import GameEnv
from alphago.mcts.evaluator import as_evaluator
from alphago.mcts.rule import measured_threshold
from alphago.records import sgf
from alphago.records.record import GameRecord, records_to_bytes
from alphago.records.sgf.sgf_game import SgfGame
from alphago.system.files import LOCK, is_new_or_empty, lock, write_atomic
from alphago.system.settings import make_settings
from alphago.system.validation import check_int
from alphago.training.call.selfplay_call import selfplay
from alphago.training.runs.folder import new_folder
from alphago.training.settings.selfplay_settings import SelfPlaySettings
from alphago.training.watch.game_log import game_text


def add_options(parser: Parser) -> None:
    add_network(parser)
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
    env, network = load_given(options)
    given = given_settings(options, SelfPlaySettings)
    make_settings(SelfPlaySettings, given)  # raises before there is a progress bar
    # What plays: an evaluator; workers get the network itself, and make their own evaluators.
    agent = network if options.workers is not None else as_evaluator(network, env, options.device)
    # The threshold that the network's run has measured; -1, never, if the games of that run differ from the games that
    # begin with this position, for example in komi.
    given.setdefault("resign_threshold", measured_threshold(network, env.position()))
    as_records = options.records or not env.has_sgf
    with game_folder(options.folder, env, options.games, as_records=as_records, verbose=options.verbose) as save:
        selfplay(env, agent, num_games=options.games, seed=options.seed, on_game=save, workers=options.workers, **given)
    return 0


@contextlib.contextmanager
def game_folder(
    folder: str | None, env: GameEnv, games: int, *, as_records: bool, verbose: bool = False
) -> Iterator[Callable[[int, GameRecord], None]]:
    """Save finished games, show a progress bar, and print a summary at the end; also at an interruption.

    Args:
        folder: the folder, new or empty; None for a new one in `runs`.
        env: the game.
        games: number of games to expect, for the bar and the width of the files' numbers.
        as_records: whether to write one file of records, at the end, instead of an SGF file for each game.
        verbose: whether to print each game.

    Yields:
        A function that saves a game, given its number; several threads may call it at the same time.

    Raises:
        FileExistsError, BlockingIOError: if the folder has files, or if another process uses it meanwhile.
    """
    check_int("--games", games, 1)
    path = new_folder(f"selfplay-{env.name}{env.N}") if folder is None else Path(folder)
    if not is_new_or_empty(path):
        raise FileExistsError(f"{path} must be a new or empty folder: choose another one")
    is_new = folder is None or not path.exists()  # then it is removed again if it stays empty
    path.mkdir(parents=True, exist_ok=True)
    # Locked before `try`: if another process has the lock, this call raises, and `finally` must not remove its file.
    folder_lock = lock(path)
    records: dict[int, GameRecord] = {}
    width = len(str(games))  # digits of a file's number
    one_at_a_time = threading.Lock()

    def save(number: int, record: GameRecord) -> None:
        """Keep the record of a finished game, and write it as SGF unless records are wanted; threads call this."""
        with one_at_a_time:
            records[number] = record  # for the file of records, and for the summary
            if not as_records:
                game = SgfGame.from_record(record, env, values=True, players=("alphago", "alphago"))
                write_atomic(path / f"{number:0{width}d}.sgf", sgf.format_sgf(game))
            if verbose:
                LiveBar.write(game_text(env, record, moves=True), file=sys.stderr)
            bar.update()

    try:
        with folder_lock, LiveBar(total=games, unit="game", desc="self-play") as bar:
            yield save
    finally:
        (path / LOCK).unlink(missing_ok=True)
        played = [records[number] for number in sorted(records)]
        if played and as_records:
            write_atomic(path / "games.npz", records_to_bytes(played))
        if played:
            print_summary(played, path)
        elif is_new:  # an error or an interruption came before the first game
            with contextlib.suppress(OSError):  # the folder has other files
                path.rmdir()


def print_summary(played: Sequence[GameRecord], path: Path) -> None:
    """Print who won the games in a folder, and how to play them again."""
    outcomes = [record.outcome for record in played]  # Black's
    black, white = sum(outcome > 0 for outcome in outcomes), sum(outcome < 0 for outcome in outcomes)
    print(f"{len(played)} games in {path}: Black won {black}, White {white}, drawn {len(played) - black - white}")
    if played[0].seed is not None:
        call_seed, _ = played[0].seed  # the second number is the game's
        print(f"--seed {call_seed} plays them again")
