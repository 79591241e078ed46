"""Show a run in a notebook as one picture: its curves, its newest game and its activity."""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from alphago.drawing.curves import CurvePanel, curves_picture
from alphago.drawing.shapes import Drawing
from alphago.drawing.svg import to_svg
from alphago.env.game import GameEnv
from alphago.env.position import Look
from alphago.records.record import GameRecord, end_text
from alphago.system.optional import notebook_shell
from alphago.training.history import EVALUATIONS, METRICS, History, Row, number, read_rows
from alphago.training.watch.plots import list_panels
from alphago.training.watch.report import ConsoleReport, Progress, Report

EVERY = 0.5  # smallest number of seconds between two updates of the picture
MOST_SHARE = 0.1  # of the time that updates may take
MOST_NOTES = 4  # number of latest notes that are shown
COLUMNS = 2
Show = Callable[[dict[str, str]], object]  # shows data, by MIME type
X_AXIS = "games"  # the x axis of the curves


class LiveReport(Report, ExitStack):
    """A report that shows a run below a notebook's cell; a thread of its own updates it up to twice a second.

    `close` shows the last state and ends the thread.  A context manager closes the report on exit, also after an error.

    Args:
        show: called from the report's thread with the picture, as data by MIME type (see `bundle`); None to show it
            below the notebook cell that is executed now.
    """

    def __init__(self, show: Show | None = None) -> None:
        super().__init__()
        self.show = show
        self.rows: list[Row] = []  # of metrics.jsonl
        self.matches: list[Row] = []  # rows of evaluations.jsonl
        self.notes: list[str] = []
        self.newest_game: tuple[GameEnv, GameRecord] | None = None  # its rules and board, and its record
        self.of_games = ""  # such as " of 1,000" if the run has a limit of games
        self.progress: Callable[[], Progress] | None = None  # None before `start` and after `finish`
        self.must_end = threading.Event()  # tells the thread to end
        self.thread: threading.Thread | None = None

    def start(self, folder: Path, settings: dict[str, Any], progress: Callable[[], Progress]) -> None:
        """Begin to show the run, as `Report.start` says; a later call goes on with the same thread and picture."""
        self.folder = folder
        self.progress = progress
        games = settings["num_games"]
        self.of_games = "" if games is None else f" of {games:,}"
        self.rows = read_rows(folder / METRICS, required_key="seconds")
        self.matches = read_rows(folder / EVALUATIONS, required_key="opponent")
        if self.thread is None or not self.thread.is_alive():
            self.must_end.clear()
            show = self.show or notebook_display()
            self.thread = threading.Thread(target=self._keep_showing, args=(show,), name="live curves", daemon=True)
            self.thread.start()
            self.callback(self.thread.join)
            self.callback(self.must_end.set)  # `close` calls this first

    def iteration(self, metrics: dict[str, Any]) -> None:
        self.rows.append(metrics)

    def games(self, env: GameEnv, records: Sequence[GameRecord]) -> None:
        """Show the newest of the finished games from now on."""
        self.newest_game = env, records[-1]

    def match(self, row: Row) -> None:
        self.matches.append(row)

    def note(self, text: str) -> None:
        self.notes.append(text)

    def finish(self, metrics: dict[str, Any], weights: Path, stopped: bool) -> None:
        """Show the last picture, with a note where the network is, and end the thread."""
        self.notes.append(f"{'stopped' if stopped else 'finished'} after {metrics['games']} games: {weights}")
        self.progress = None  # the last picture shows no time left
        self.close()

    def _keep_showing(self, show: Show) -> None:
        """Show the picture again and again until `close`, and once more then; this is the work of the thread."""
        seconds = 0.0  # that the latest picture took; a long run's takes longer, and holds Python's lock
        while not self.must_end.wait(max(EVERY, seconds / MOST_SHARE)):
            began = time.monotonic()
            show(self.bundle())
            seconds = time.monotonic() - began
        show(self.bundle())

    def bundle(self) -> dict[str, str]:
        """Return the picture as SVG and the lines below it as plain text, by MIME type, for IPython's display."""
        return {"image/svg+xml": str(to_svg(self.drawing())), "text/plain": "\n".join(self.texts())}

    def texts(self) -> list[str]:
        """Return the lines below the picture: a line on the run's progress and activity, then the latest notes."""
        row = self.rows[-1] if self.rows else {}
        parts = [f"{number(row, 'games') or 0:,.0f}{self.of_games} games"]
        if self.progress is not None:
            now = self.progress()
            parts = [f"{now.share:.0%}", *parts, *now.texts()]
        return [f"{self.folder}: {', '.join(parts)}", *self.notes[-MOST_NOTES:]]

    def drawing(self) -> Drawing:
        """Return the picture of the curves, with the final position of the newest game as the last panel."""
        panels = self.panels()
        if self.newest_game is not None:
            env, record = self.newest_game
            end = record.position(env).drawing(Look(coordinates=False))
            panels.append(CurvePanel(f"Newest game, {end_text(record)}", picture=end))
        return curves_picture(panels, COLUMNS, X_AXIS, texts=self.texts())

    def panels(self) -> list[CurvePanel]:
        """Return those live panels of matches and of training that have a curve."""
        # The lists are copied, since the run's thread appends to them meanwhile.
        history = History(self.folder, list(self.rows), list(self.matches))
        return list(list_panels([history], X_AXIS, live=True))


def usual_report() -> ConsoleReport | LiveReport:
    """Return the default report of a run: a picture in a notebook, else a progress bar."""
    return ConsoleReport() if notebook_shell() is None else LiveReport()


def notebook_display() -> Show:
    """Return a function that shows data, by MIME type, below the notebook cell that is executed now.

    Each call of the function replaces the data of the call before.
    """
    from IPython.display import display

    handle = display({"text/plain": "training …"}, raw=True, display_id=True)
    return partial(handle.update, raw=True)
