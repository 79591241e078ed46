"""Pictures of games: one position, an animation of all positions, or a sheet of some of them."""

from collections.abc import Mapping
from typing import Any, Protocol

from alphago.drawing.image import Gif, to_gif
from alphago.drawing.shapes import Drawing, sheet
from alphago.drawing.svg import Svg, animate, to_svg
from alphago.env.game import GameEnv
from alphago.env.pictured import Look
from alphago.env.position import Position
from alphago.system.validation import check_int, check_positive

LAST = 3.0  # seconds that an animation shows its last frame


class Game(Protocol):
    """The attributes that pictures need of a game; GameRecord has them."""

    @property
    def env(self) -> GameEnv | None:
        """The game that was played, with its rules and board; None if it is unknown."""

    @property
    def result_string(self) -> str:
        """The result as a text, such as "B+3.5"."""

    def __len__(self) -> int:
        """Return the number of moves."""

    def position(self, env: GameEnv, ply: int | None = None) -> Position:
        """Return the position before the move `ply`; None for the final one."""


def record_svg(record: Game, env: GameEnv | None, ply: int | None, look: Mapping[str, Any]) -> Svg:
    """Return the picture of one position; see `GameRecord.svg`."""
    game = game_of(record, env)
    if ply is not None:
        check_int("ply", ply, 0, len(record))
    position = record.position(game, ply)
    is_final = ply in (None, len(record))
    caption = {"caption": end_text(record)} if is_final else {}
    return position.svg(**{"numbers": True, **caption, **look})


def record_animation(record: Game, env: GameEnv | None, seconds: float, size: float | None) -> Svg:
    """Return an animated SVG; see `GameRecord.animation`."""
    frames = frames_of(record, env, seconds)
    return animate(frames, seconds, last=max(seconds, LAST), size=size)


def record_gif(record: Game, env: GameEnv | None, seconds: float, size: float | None) -> Gif:
    """Return an animated GIF; see `GameRecord.gif`."""
    frames = frames_of(record, env, seconds)
    return to_gif(frames, seconds, last=max(seconds, LAST), size=size)


def frames_of(record: Game, env: GameEnv | None, seconds: float) -> list[Drawing]:
    """Return a drawing of each position, all of the same size; raise ValueError unless `seconds` is positive."""
    check_positive("seconds", seconds)
    positions = list(record.position(game_of(record, env)).replay())
    captions = [f"move {ply} of {len(record)}" for ply in range(len(record))] + [end_text(record)]
    return [position.drawing(Look(caption=text)) for position, text in zip(positions, captions, strict=True)]


def record_sheet(record: Game, env: GameEnv | None, columns: int, most: int) -> Svg:
    """Return positions of the game side by side in one picture; see `GameRecord.sheet`."""
    check_int("columns", columns, 1)
    positions = list(record.position(game_of(record, env)).replay())
    plies = spaced(len(record), check_int("most", most, 1))
    captions = [end_text(record) if ply == len(record) else f"move {ply}" for ply in plies]
    return to_svg(sheet([small_drawing(positions[ply]) for ply in plies], captions, columns))


def spaced(last: int, most: int) -> list[int]:
    """Return at most `most` different integers from 0 to `last`, evenly spaced; `last` is always one of them."""
    count = min(most, last + 1)
    return [last] if count == 1 else [round(last * i / (count - 1)) for i in range(count)]


def small_drawing(position: Position) -> Drawing:
    """Return a drawing of a position without coordinates and caption, for a sheet."""
    return position.drawing(Look(coordinates=False, caption=""))


def game_of(record: Game, env: GameEnv | None) -> GameEnv:
    """Return `env`, or the record's own game if `env` is None; raise ValueError if both are None."""
    game = record.env if env is None else env
    if game is None:
        raise ValueError("env must be the game of a record that was read from a file, such as svg(env=GoEnv(9))")
    return game


def end_text(record: Game) -> str:
    """Return a game's length and result as a caption."""
    return f"{len(record)} moves: {record.result_string}"
