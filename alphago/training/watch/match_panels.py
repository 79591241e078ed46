"""Panels of the judges' measurements: win rates, scores, captures, lengths of games, records, and exams."""

from collections.abc import Iterator, Sequence

from alphago.arena.match_result import result_for
from alphago.drawing.curves import CurvePanel, Dash
from alphago.drawing.shapes import sheet
from alphago.records.game_pictures import small_drawing
from alphago.training.history import History, Row, number, opponent_name
from alphago.training.runs.config import game_of, read_config
from alphago.training.watch.panels import AXES, MATCHES, Panel, Source, curve_panel, in_words_of, run_colours

LONGEST_NAME = 30  # letters of an opponent's name
OTHER_AXIS = {"minutes": "games", "processor": "games", "games": "minutes", "positions": "minutes"}  # second x axis
# Each colour has a contrast of at least 4.5 on white, so that text in it can be read.
COLOURS = ("#20242c", "#86692f", "#1f6fb4", "#c8442c", "#24794b", "#8650a8", "#8f6808", "#137a80", "#a8417e")
POLICY_ALONE: Dash = "--"
SEARCHED: tuple[Dash, ...] = ("-", "-.", ":")  # styles of a player's curves with different readouts
COLUMNS, ROWS = 3, 2  # boards in a panel


def match_panels(histories: Sequence[History], x: str, panels: Sequence[Panel] = MATCHES) -> Iterator[CurvePanel]:
    """Yield the panels of all measurements, with or without curves.

    For one run with several opponents, the opponents share each panel, with their names at the curves' ends; a dashed
    curve is of the policy without search.  Otherwise each opponent has its own panels, with a colour for each run.
    x: the x axis, a name in AXES.
    """
    looks = looks_of([row for history in histories for row in history.evaluations])
    if len(histories) == 1 and len(looks) > 1:
        rows = histories[0].evaluations
        sources = [Source(rows_against(name, rows), *look, name=name) for name, look in looks.items()]
        win_rate, *others = panels
        *_, label = AXES[other := OTHER_AXIS[x]]
        yield curve_panel(win_rate, sources, x, f"{win_rate.title} (dashed: the policy alone)")
        title = f"{win_rate.title} by {other}"
        yield curve_panel(win_rate, sources, other, title, x_label=in_words_of(histories, label))
        yield from (curve_panel(panel, sources, x) for panel in others)
        return
    for name in looks:
        colours = zip(run_colours(len(histories)), histories, strict=True)
        sources = [Source(rows_against(name, history.evaluations), colour) for colour, history in colours]
        yield from (curve_panel(panel, sources, x, f"{panel.title}, {name}") for panel in panels)


def rows_against(name: str, rows: Sequence[Row]) -> list[Row]:
    """Return the rows whose opponent has the name `name` (see `name_of`)."""
    return [row for row in rows if name_of(row) == name]


def looks_of(rows: Sequence[Row]) -> dict[str, tuple[str, Dash]]:
    """Return the colour and line style of the curve for each opponent, by the opponent's name (see `name_of`).

    Each player has one colour.  A player's curves with different readouts of the network differ in style; the policy
    alone is dashed.
    """
    players = list(dict.fromkeys(row["opponent"] for row in rows))
    looks: dict[str, tuple[str, Dash]] = {}
    for name, row in {name_of(row): row for row in rows}.items():
        colour = COLOURS[players.index(row["opponent"]) % len(COLOURS)]
        searched_before = sum(look[0] == colour and look[1] != POLICY_ALONE for look in looks.values())
        is_searched = number(row, "readouts") != 0
        looks[name] = colour, SEARCHED[searched_before % len(SEARCHED)] if is_searched else POLICY_ALONE
    return looks


def name_of(row: Row) -> str:
    """Return the name of a row's opponent with the network's readouts; a long name is cut at its beginning."""
    name = opponent_name(row)
    return name if len(name) <= LONGEST_NAME else "…" + name[1 - LONGEST_NAME :]


def board_panels(history: History) -> Iterator[CurvePanel]:
    """Yield for each opponent a panel with final boards of the run's newest match against the opponent."""
    newest: dict[str, Row] = {opponent_name(row): row for row in history.evaluations if row.get("moves")}
    if not newest:
        return
    game = game_of(read_config(history.folder))
    start = game.match_variant().position()
    for name, row in newest.items():
        drawings, captions = [], []
        for i, played in enumerate(row["moves"][: COLUMNS * ROWS]):
            try:
                end = start.after(played["moves"].split())
            except ValueError:  # a damaged game is left out
                continue
            is_over = end.is_over or len(end.moves) >= game.max_moves
            drawings.append(small_drawing(end))
            captions.append(f"{i + 1}: {result_for(end, played['outcome'], i, is_over)}")
        if drawings:
            title = f"Final boards, {name}, {number(row, 'games') or 0:,.0f} games"
            yield CurvePanel(title, picture=sheet(drawings, captions, COLUMNS))
