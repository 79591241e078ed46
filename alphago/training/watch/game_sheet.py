"""Draw games of self-play from the beginning of a run to now on one sheet."""

from collections.abc import Sequence
from pathlib import Path

from alphago.drawing.axes import spaced_indices
from alphago.drawing.shapes import Drawing, sheet
from alphago.drawing.svg import Svg, to_svg
from alphago.env.game import GameEnv
from alphago.records.record import GameRecord, end_text, load_records, small_drawing
from alphago.system.files import user_path
from alphago.system.validation import check_int, checks_keywords
from alphago.training.runs.config import run_game
from alphago.training.runs.folder import GAMES


@checks_keywords()
def game_sheet(run: str | Path, *, rows: int = 6, columns: int = 4) -> Svg:
    """Return a picture of games of self-play from the beginning of a run to now, one row per game.

    Args:
        run: the run's folder.
        rows: number of games, evenly spaced over the run's saved games.
        columns: number of positions of each game; the last one is the final position.

    Raises:
        FileNotFoundError: for a folder without a run.
        ValueError: for a run that has saved no game yet.
    """
    check_int("rows", rows, 1)
    check_int("columns", columns, 1)
    folder = user_path(run)
    if not folder.is_dir():
        raise FileNotFoundError(f"a run must be a folder that alphago train wrote, got {folder}")
    env = run_game(folder).match_variant()  # without the limits that only self-play has
    shards = sorted((folder / GAMES).glob("games-*.npz"))
    if not shards:
        raise ValueError(f"{folder} has no games yet: they are written with the first checkpoint")
    drawings: list[Drawing] = []
    captions: list[str] = []
    for shard in [shards[i] for i in spaced_indices(len(shards), rows)]:
        records = load_records(shard)
        try:
            record = records[-1]
            number = int(shard.stem.rpartition("-")[2])  # N of games-M-N.npz, whose last game is the N-th of the run
            pictures, texts = draw_row(record_game(env, record), record, number, columns)
        except (ValueError, LookupError) as error:  # no game, or one that cannot be replayed
            raise ValueError(f"{shard} is damaged: {error}") from error
        drawings += pictures
        captions += texts
    return to_svg(sheet(drawings, captions, columns, title=f"Self-play of {folder.resolve().name}, {env.summary}"))


def record_game(env: GameEnv, record: GameRecord) -> GameEnv:
    """Return the game on a record's board, which is smaller than the board of `env` early in a curriculum.

    Args:
        env: the `match_variant()` of the run's game, as is the game that is returned.

    Raises:
        ValueError: if there is no board on which the game has as many actions as the record.
    """
    actions = record.policies.shape[1]
    if actions == env.action_space:
        return env
    for size in range(2, env.N):
        try:
            game = env.resized(size)
        except ValueError:  # the game has no such board
            continue
        if game.action_space == actions:
            return game.match_variant()  # `resized` gives it limits of self-play again
    raise ValueError(f"the run's games must be of {env} on some board, got one with {actions} actions")


def draw_row(env: GameEnv, record: GameRecord, number: int, columns: int) -> tuple[list[Drawing], list[str]]:
    """Return `columns` positions of a game as drawings, and their captions.

    Args:
        env: the game on the record's board.
        number: the game's number, for the last caption.
    """
    positions = list(record.position(env).replay())  # before the first move, and after each
    # Evenly spaced, the last one at the end of the game.
    plies: Sequence[int] = [round(len(record) * (i + 1) / columns) for i in range(columns)]
    captions = [f"move {ply}" for ply in plies[:-1]] + [f"game {number}, {end_text(record)}"]
    return [small_drawing(positions[ply]) for ply in plies], captions
