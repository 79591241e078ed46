"""Pictures of games: one position, an animation of all positions, or a sheet of some of them."""

from typing import Any

from alphago.drawing.axes import spaced_indices
from alphago.drawing.image import Gif, to_gif
from alphago.drawing.shapes import Drawing, sheet
from alphago.drawing.svg import Svg, animate, to_svg
from alphago.env.game import GameEnv
from alphago.env.pictured import Look
from alphago.env.position import Position
from alphago.system.validation import check_int, check_positive

LAST = 3.0  # seconds that an animation shows its last frame


class PicturedGame:
    """A finished game that can be drawn; `GameRecord` derives from it."""

    env: Any  # the game that was played, a GameEnv; None if it is unknown
    result_string: Any  # the result as a text, such as "B+3.5"

    def __len__(self) -> int:
        """Return the number of moves."""
        raise NotImplementedError

    def position(self, env: GameEnv, ply: int | None = None) -> Position:
        """Return the position before the move `ply`; None for the final one."""
        raise NotImplementedError

    def svg(self, ply: int | None = None, *, env: GameEnv | None = None, **look: Any) -> Svg:
        """Return a picture of the position before move `ply` (None: after the last move), with the moves' numbers on
        stones.

        env: the game, needed for records that were read from a file; None for `self.env`.
        look: further keywords of `Position.svg`.
        Raises ValueError if the game is unknown or has no such ply.
        """
        game = game_of(self, env)
        if ply is not None:
            check_int("ply", ply, 0, len(self))
        is_final = ply in (None, len(self))
        caption = {"caption": end_text(self)} if is_final else {}
        return self.position(game, ply).svg(**{"numbers": True, **caption, **look})

    def animation(self, *, env: GameEnv | None = None, seconds: float = 0.7, size: float | None = None) -> Svg:
        """Return the game as an animated SVG that loops, `seconds` a move.

        env: as in `svg`. size: width in pixels.
        """
        return animate(frames_of(self, env, seconds), seconds, last=max(seconds, LAST), size=size)

    def gif(self, *, env: GameEnv | None = None, seconds: float = 0.7, size: float | None = None) -> Gif:
        """Return the game as an animated GIF that loops, `seconds` a move; `.save(path)` writes it to a file.

        env: as in `svg`. size: width in pixels.
        Raises ImportError without Pillow (the extra `plot`).
        """
        return to_gif(frames_of(self, env, seconds), seconds, last=max(seconds, LAST), size=size)

    def sheet(self, *, env: GameEnv | None = None, columns: int = 4, most: int = 12) -> Svg:
        """Return one picture of at most `most` evenly spaced positions of the game, `columns` in a row.

        env: as in `svg`.
        """
        check_int("columns", columns, 1)
        positions = list(self.position(game_of(self, env)).replay())
        plies = spaced_indices(len(self) + 1, check_int("most", most, 1))
        captions = [end_text(self) if ply == len(self) else f"move {ply}" for ply in plies]
        return to_svg(sheet([small_drawing(positions[ply]) for ply in plies], captions, columns))

    def _repr_svg_(self) -> str | None:
        """Return the final position for a notebook; None (the notebook then shows text) if the game is unknown."""
        return None if self.env is None else str(self.svg())


def frames_of(record: PicturedGame, env: GameEnv | None, seconds: float) -> list[Drawing]:
    """Return a drawing of each position, all of the same size; raise ValueError unless `seconds` is positive."""
    check_positive("seconds", seconds)
    positions = list(record.position(game_of(record, env)).replay())
    captions = [f"move {ply} of {len(record)}" for ply in range(len(record))] + [end_text(record)]
    return [position.drawing(Look(caption=text)) for position, text in zip(positions, captions, strict=True)]


def small_drawing(position: Position) -> Drawing:
    """Return a drawing of a position without coordinates and caption, for a sheet."""
    return position.drawing(Look(coordinates=False, caption=""))


def game_of(record: PicturedGame, env: GameEnv | None) -> GameEnv:
    """Return `env`, or the record's own game if `env` is None; raise ValueError if both are None."""
    game: GameEnv | None = record.env if env is None else env
    if game is None:
        raise ValueError("env must be the game of a record that was read from a file, such as svg(env=GoEnv(9))")
    return game


def end_text(record: PicturedGame) -> str:
    """Return a game's length and result as a caption."""
    return f"{len(record)} moves: {record.result_string}"
