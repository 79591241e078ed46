"""Panels with the final boards of the newest match against each opponent."""

import contextlib
from collections.abc import Iterator

from alphago.arena.match_pictures import result_for
from alphago.drawing.curves import CurvePanel
from alphago.drawing.shapes import sheet
from alphago.env.position import Position
from alphago.records.game_pictures import small_drawing
from alphago.training.history import History, Row, number, opponent_name
from alphago.training.runs.config import game_of, read_config

COLUMNS, ROWS = 3, 2  # boards in a panel


def board_panels(history: History) -> Iterator[CurvePanel]:
    """Yield for each opponent a panel with final boards of games of the run's newest match against it."""
    newest: dict[str, Row] = {opponent_name(row): row for row in history.evaluations if row.get("moves")}
    if not newest:
        return
    game = game_of(read_config(history.folder))
    env, longest = game.match_variant(), game.max_moves
    for name, row in newest.items():
        ends: dict[int, Position] = {}  # by the game's index
        for i, game in enumerate(row["moves"][: COLUMNS * ROWS]):
            with contextlib.suppress(ValueError):  # a damaged game costs its own board only
                ends[i] = env.position().after(game["moves"].split())
        captions = [
            f"{i + 1}: {result_for(end, row['moves'][i]['outcome'], i, end.is_over or len(end.moves) >= longest)}"
            for i, end in ends.items()
        ]
        if ends:
            picture = sheet([small_drawing(end) for end in ends.values()], captions, COLUMNS)
            title = f"Final boards, {name}, {number(row, 'games') or 0:,.0f} games"
            yield CurvePanel(title, picture=picture)
