"""Panels of the judges' measurements: win rates, scores, captures, lengths of games, records, and exams."""

from collections.abc import Iterator, Sequence

from alphago.arena.match_result import result_for
from alphago.drawing.curves import Curve, CurvePanel, Dash
from alphago.drawing.shapes import sheet
from alphago.records.game_pictures import small_drawing
from alphago.training.history import History, Row, number, opponent_name
from alphago.training.runs.config import game_of, read_config
from alphago.training.watch.mean_history import banded
from alphago.training.watch.panels import AXES, MEASURES, STYLES, Measure, in_words_of, points, run_colours

LONGEST_NAME = 30  # letters of an opponent's name
OTHER_AXIS = {"minutes": "games", "processor": "games", "games": "minutes", "positions": "minutes"}  # second x axis
# GNU Go is dark and the random player lighter, as in cody2007's figures; all others get a colour of OTHERS.  Each
# colour has a contrast of at least 4.5 on white, so that text in it can be read.
COLOURS = {"gnugo": "#20242c", "random": "#86692f"}
OTHERS = ("#1f6fb4", "#c8442c", "#24794b", "#8650a8", "#8f6808", "#137a80", "#a8417e")
POLICY_ALONE: Dash = "--"
SEARCHED: tuple[Dash, ...] = ("-", "-.", ":")  # styles of a player's curves with different readouts
COLUMNS, ROWS = 3, 2  # boards in a panel


WIN_RATE, ELO = MEASURES["win_rate"], MEASURES["elo"]


def match_panels(histories: Sequence[History], x: str) -> list[CurvePanel]:
    """Return the panels of all measurements that at least one run has.

    For one run with several opponents, the opponents share each panel, with their names at the curves' ends.
    Otherwise each opponent has its own panels, with a colour for each run.  A single run's final boards come last.
    x: the x axis, a name in AXES.
    """
    opponents = dict.fromkeys(name_of(row) for history in histories for row in history.evaluations)
    if len(histories) == 1 and len(opponents) > 1:
        panels = list(shared_panels(histories[0], x))
    else:
        panels = [panel for name in opponents for panel in own_panels(histories, name, x)]
        elo: list[Curve] = []
        for i, name in enumerate(opponents):
            elo += curves_of(histories, name, ELO, x, label=name, dash=STYLES[i % len(STYLES)])
        panels.append(CurvePanel(ELO.title, elo))
    if len(histories) == 1:
        panels += board_panels(histories[0])
    return [panel for panel in panels if panel.curves or panel.picture]


def own_panels(histories: Sequence[History], name: str, x: str) -> Iterator[CurvePanel]:
    """Yield the panels of the opponent `name`: win rate, score, captures, length of games, prediction, and grades."""
    for measure in MEASURES.values():
        if measure is ELO or measure.key == "captured":
            continue
        curves = list(curves_of(histories, name, measure, x))
        if measure.key == "captures":  # both sides' in one panel
            lost = curves_of(histories, name, MEASURES["captured"], x, label="lost", dash="--")
            curves = [*(curve._replace(label="taken") for curve in curves), *lost]
        yield CurvePanel(f"{measure.title}, {name}", curves, unit=measure.unit, level=measure.level)


def curves_of(
    histories: Sequence[History], name: str, measure: Measure, x: str, label: str = "", dash: Dash = "-"
) -> Iterator[Curve]:
    """Yield for each run the curve of a measurement against the opponent `name`, if the run has points of it.

    x: the x axis, a name in AXES.  label, dash: as in Curve.
    """
    for colour, history in zip(run_colours(len(histories)), histories, strict=True):
        of_opponent = [row for row in history.evaluations if name_of(row) == name]
        at, values, rows = points(of_opponent, measure.key, x)
        if not at:
            continue
        ends = []
        for key in measure.interval:
            known_ends = [number(row, key) for row in rows]
            # An interval's end that is missing or infinite is replaced by the value, so there is no bar on that side.
            ends.append([value if end is None else end for value, end in zip(values, known_ends, strict=True)])
        low, high = ends or (None, None)
        yield banded(Curve(at, values, colour, dash, label, low=low, high=high), rows, measure.key)


def shared_panels(history: History, x: str) -> Iterator[CurvePanel]:
    """Yield the panels of one run, with a curve for each opponent; a dashed curve is of the policy without search."""
    looks = looks_of(history.evaluations)

    def panel(measure: Measure, x: str, title: str = "", x_label: str = "") -> CurvePanel:
        """Return the panel of a measurement; title: "" for the measurement's.  x_label: as in CurvePanel."""
        curves = [
            curve._replace(name=name, colour=colour)
            for name, (colour, dash) in looks.items()
            for curve in curves_of([history], name, measure, x, dash=dash)
        ]
        low, high = (-0.04, 1.04) if measure is WIN_RATE else (None, None)  # room for lines at 0 % and 100 %
        return CurvePanel(
            title or measure.title,
            curves,
            unit=measure.unit,
            level=measure.level,
            low=low,
            high=high,
            x_label=x_label,
        )

    other = OTHER_AXIS[x]
    _, _, other_label = AXES[other]
    yield panel(WIN_RATE, x, "Win rate (dashed: the policy alone)")
    yield panel(WIN_RATE, other, f"Win rate by {other}", x_label=in_words_of([history], other_label))
    for measure in MEASURES.values():
        if measure is not WIN_RATE:
            yield panel(measure, x)


def looks_of(rows: Sequence[Row]) -> dict[str, tuple[str, Dash]]:
    """Return the colour and line style of the curve for each opponent, by the opponent's name (see `name_of`).

    Each player has one colour: that of COLOURS, or the next free colour.  A player's curves with different readouts of
    the network differ in style; the policy alone is dashed.
    """
    colours: dict[str, str] = {}
    looks: dict[str, tuple[str, Dash]] = {}
    for row in rows:
        player = row["opponent"]
        if player not in colours:
            own_colour = COLOURS.get(player.partition(":")[0])
            candidates = OTHERS if own_colour is None else (own_colour, *OTHERS)
            free = [colour for colour in candidates if colour not in colours.values()]
            colours[player] = free[0] if free else OTHERS[len(colours) % len(OTHERS)]
        if name_of(row) not in looks:
            is_searched = number(row, "readouts") != 0
            searched_before = sum(colour == colours[player] and dash != POLICY_ALONE for colour, dash in looks.values())
            dash = SEARCHED[searched_before % len(SEARCHED)] if is_searched else POLICY_ALONE
            looks[name_of(row)] = colours[player], dash
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
