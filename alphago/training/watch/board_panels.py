"""Pictures of final boards: how the games of a run's last examinations ended."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from alphago.training.history import History, Row, opponent_name
from alphago.training.runs.config import read_config
from alphago.training.watch.panels import Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS, ROWS = 3, 2  # of boards in a panel
MARGIN = 0.35  # around a board, of its width
WOOD, LINE = "#e9cf9c", "#7a6238"


class FinalBoard(NamedTuple):
    """The board at the end of a game, and how it ended for the network."""

    stones: np.ndarray  # int8 [height, width], 1 Black, -1 White
    text: str


def board_panels(history: History) -> Iterator[Panel]:
    """Yield a panel of final boards of the newest games of each opponent; none of games without a board of stones."""
    newest: dict[str, Row] = {opponent_name(row): row for row in history.evaluations if row.get("moves")}
    if not newest:
        return
    env = game_of(history)
    for name, row in newest.items():
        boards = [board for game in enumerate(row["moves"][: COLUMNS * ROWS]) if (board := final_board(env, *game))]
        if boards:
            yield Panel(f"Final boards, {name}, {row['games']:,} games", draw=partial(draw_boards, boards=boards))


def game_of(history: History) -> Any:
    """Return the game of a run, as its matches were played."""
    from alphago.env.games import make_game

    config = read_config(history.folder)
    return make_game(config["game"]).replace(**config["env"]).match_variant()


def final_board(env: Any, number: int, game: Mapping[str, Any]) -> FinalBoard | None:
    """Return the final board of a game, given as its moves; the network has Black in games 0, 2, …"""
    position = env.position()
    for move in game["moves"].split():
        position = position.play(env.from_text(move))
    stones = getattr(position, "board", None)
    if not isinstance(stones, np.ndarray) or stones.ndim != 2:
        return None
    colour, sign = ("Black", 1) if number % 2 == 0 else ("White", -1)
    margin, outcome = sign * position.score(), game["outcome"]
    if env.has_captures and np.sign(margin) == np.sign(outcome):
        result = f"{margin:+g}".replace("-", "−")
    else:  # given up, or a game without points
        result = "draw" if outcome == 0 else "won" if outcome > 0 else "lost"
    return FinalBoard(stones, f"{colour} {result}")


def draw_boards(axes: "Axes", boards: list[FinalBoard]) -> None:
    """Draw boards row by row, each with its result below."""
    from matplotlib.collections import LineCollection, PatchCollection
    from matplotlib.patches import Circle, Rectangle

    height, width = boards[0].stones.shape
    step_x, step_y = width * (1 + MARGIN / 2), height * (1 + MARGIN)
    grounds: list[Any] = []
    grid: list[Any] = []
    stones: dict[int, list[Any]] = {1: [], -1: []}
    for i, board in enumerate(boards):
        left, top = (i % COLUMNS) * step_x, -(i // COLUMNS) * step_y
        grounds.append(Rectangle((left - 0.7, top - height + 0.3), width + 0.4, height + 0.4))
        grid += [[(left, top - row), (left + width - 1, top - row)] for row in range(height)]
        grid += [[(left + column, top), (left + column, top - height + 1)] for column in range(width)]
        for row, column in np.argwhere(board.stones):
            stones[int(board.stones[row, column])].append(Circle((left + column, top - row), 0.46))
        axes.text(left + (width - 1) / 2, top - height + 0.1, board.text, fontsize=7, ha="center", va="top")
    axes.add_collection(PatchCollection(grounds, facecolor=WOOD, edgecolor="none"))
    axes.add_collection(LineCollection(grid, colors=LINE, linewidths=0.4))
    for side, colour in ((1, "#111111"), (-1, "#fbfbf7")):
        axes.add_collection(
            PatchCollection(stones[side], facecolor=colour, edgecolor="#333333", linewidth=0.4, zorder=3)
        )
    rows = -(-len(boards) // COLUMNS)
    axes.set_xlim(-1, COLUMNS * step_x - width * MARGIN / 2)
    axes.set_ylim(-rows * step_y + height * MARGIN * 0.2, 1)
    axes.set_aspect("equal")
    axes.axis("off")
