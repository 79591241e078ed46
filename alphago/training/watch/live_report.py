"""A run in a notebook: its curves, its newest game and what it is doing, in one picture that grows."""

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from alphago.drawing.curves import Curve, CurvePanel, curves_picture
from alphago.drawing.shapes import WHITE, Drawing, Rect, Style, flat, move
from alphago.drawing.svg import to_svg
from alphago.env.game import GameEnv
from alphago.env.pictured import Look
from alphago.records.game_pictures import end_text
from alphago.records.record import GameRecord
from alphago.system.notebook import notebook_shell
from alphago.training.history import METRICS, Row, number, opponent_name, read_rows
from alphago.training.watch.report import ConsoleReport, Progress, Report

EVERY = 0.5  # seconds between two changes of the picture, at least
MOST_NOTES = 4  # of the run's sentences that are shown
COLUMNS = 2
Show = Callable[[dict[str, str]], object]


class Measure(NamedTuple):
    """A panel: its title, the metrics with their names, and whether they are shares."""

    title: str
    keys: tuple[tuple[str, str], ...]
    percent: bool = False


MEASURES = (
    Measure("Policy loss", (("policy_loss", "trained on"), ("fresh_policy_loss", "new games"),
                            ("target_entropy", "entropy"))),
    Measure("Value error", (("value_loss", "trained on"), ("fresh_value_loss", "new games"))),
    Measure("Length of games", (("game_length", "moves"),)),
    Measure("Black wins", (("black_wins", "of games"),), True),
    Measure("Speed", (("moves_per_second", "moves/s"),)),
)  # fmt: skip


class LiveReport(Report):
    """A report that shows a run in a notebook's cell, at most twice a second.

    Used as a context it ends its thread, also after an error.

    show: called with the picture, as data by its type, from the report's own thread; None for a display below the
        cell that runs.
    """

    def __init__(self, show: Show | None = None) -> None:
        self.show = show
        self.rows: list[Row] = []
        self.matches: list[Row] = []
        self.notes: list[str] = []
        self.game: tuple[GameEnv, GameRecord] | None = None
        self.of = ""
        self.progress: Callable[[], Progress] | None = None
        self.ending = threading.Event()
        self.thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self, folder: Path, settings: dict[str, Any], progress: Callable[[], Progress]) -> None:
        self.folder, self.progress = folder, progress
        games = settings["num_games"]
        self.of = "" if games is None else f" of {games:,}"
        self.rows = read_rows(folder / METRICS, "seconds") if (folder / METRICS).is_file() else []
        if self.thread is None:
            self.show = self.show or notebook_display()
            self.thread = threading.Thread(target=self._keep_showing, name="live curves", daemon=True)
            self.thread.start()

    def iteration(self, metrics: dict[str, Any]) -> None:
        self.rows.append(metrics)

    def games(self, env: GameEnv, records: Sequence[GameRecord]) -> None:
        self.game = env, records[-1]

    def match(self, row: Row) -> None:
        self.matches.append(row)

    def note(self, text: str) -> None:
        self.notes.append(text)

    def finish(self, metrics: dict[str, Any], weights: Path, stopped: bool) -> None:
        self.notes.append(f"{'stopped' if stopped else 'finished'} after {metrics['games']} games: {weights}")
        self.progress = None
        self.close()

    def close(self) -> None:
        """Show the last state, and end the report's thread."""
        self.ending.set()
        if self.thread is not None:
            self.thread.join()
            self.thread = None

    def _keep_showing(self) -> None:
        assert self.show is not None
        while not self.ending.wait(EVERY):
            self.show(self.bundle())
        self.show(self.bundle())

    def bundle(self) -> dict[str, str]:
        """Return the picture and its text, by their types."""
        return {"image/svg+xml": str(to_svg(self.drawing())), "text/plain": "\n".join(self.texts())}

    def texts(self) -> list[str]:
        """Return what the run is doing, and its latest notes."""
        row = self.rows[-1] if self.rows else {}
        parts = [f"{row.get('games', 0):,}{self.of} games"]
        if self.progress is not None:
            now = self.progress()
            parts.insert(0, f"{now.share:.0%}")
            if now.remaining is not None:
                parts.append(f"{time_text(now.remaining)} left")
            parts += [now.activity] if now.activity else []
        return [f"{self.folder}: {', '.join(parts)}", *self.notes[-MOST_NOTES:]]

    def drawing(self) -> Drawing:
        """Return the curves, and beside them the end of the newest game."""
        picture = curves_picture(list(self.panels()), COLUMNS, "games", self.texts())
        if self.game is None:
            return picture
        env, record = self.game
        end = record.position(env).drawing(Look(caption=f"newest game, {end_text(record)}", coordinates=False))
        return beside(picture, end)

    def panels(self) -> Iterator[CurvePanel]:
        """Yield win rates against each opponent, then the run's metrics; none without a point."""
        names = dict.fromkeys(map(opponent_name, self.matches))
        wins = [curve(name, [row for row in self.matches if opponent_name(row) == name], "win_rate") for name in names]
        if wins:
            yield CurvePanel("Win rate", wins, 0.0, 1.0, percent=True)
        rows = list(self.rows)
        for measure in MEASURES:
            curves = [one for key, name in measure.keys if (one := curve(name, rows, key)).x]
            if curves:
                low, high = (0.0, 1.0) if measure.percent else (None, None)
                yield CurvePanel(measure.title, curves, low, high, measure.percent)


def curve(name: str, rows: Sequence[Row], key: str) -> Curve:
    """Return a metric over the games of a run."""
    points = [(games, y) for row in rows if (y := number(row, key)) is not None
              and (games := number(row, "games")) is not None]  # fmt: skip
    return Curve(name, [x for x, _ in points], [y for _, y in points])


def beside(left: Drawing, right: Drawing) -> Drawing:
    """Return two drawings side by side, the second as wide as a panel."""
    wide = 250.0
    scale = wide / right.width
    shapes = tuple(move(shape, left.width, 16, scale) for shape in flat(right.layers))
    high = max(left.height, right.height * scale + 32)
    ground = Rect(0, 0, left.width + wide + 16, high, Style(WHITE))
    layers = ((ground,), *left.layers[1:], shapes)
    return Drawing(left.width + wide + 16, high, layers, left.label, left.width + wide + 16)


def time_text(seconds: float) -> str:
    """Return a duration as minutes and seconds, "1:05"."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def usual_report() -> "ConsoleReport | LiveReport":
    """Return the report of a run that is given none: a picture in a notebook, else a progress bar."""
    return ConsoleReport() if notebook_shell() is None else LiveReport()


def notebook_display() -> Show:
    """Return a function that shows data below the cell that runs now, and replaces what it showed before."""
    from IPython.display import display

    handle = display({"text/plain": "training …"}, raw=True, display_id=True)

    def show(bundle: dict[str, str]) -> None:
        handle.update(bundle, raw=True)

    return show
