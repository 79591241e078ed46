"""A progress bar that is redrawn regularly, so that its time is current even if nothing is counted."""

import sys
import threading
from collections.abc import Callable

from tqdm.auto import tqdm

from alphago.system.optional import notebook_shell

SECONDS_BETWEEN_REDRAWINGS = 0.5
SECONDS_BETWEEN_LINES = 10.0  # at least, where stderr is a file


class LiveBar(tqdm):
    """A tqdm bar on stderr.  On a terminal a thread redraws it twice a second; a file gets a line each ten seconds.

    Args:
        args, options: as in tqdm.
        update: called by the thread before each redrawing, to set the bar's contents.
    """

    def __init__(self, *args: object, update: Callable[[], object] | None = None, **options: object) -> None:
        # These come first: if the constructor of tqdm fails, tqdm still calls `close`.
        self._update = update
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._draw, name="progress bar", daemon=True)
        if sys.stderr is None:  # as in a program without a console
            options["disable"] = True
        elif not sys.stderr.isatty() and notebook_shell() is None:  # a file or a pipe
            options.setdefault("mininterval", SECONDS_BETWEEN_LINES)
        super().__init__(*args, dynamic_ncols=True, **options)
        if not self.disable and hasattr(self.fp, "isatty") and self.fp.isatty():
            self._thread.start()

    def _draw(self) -> None:
        """Redraw the bar until `close` is called; this is the thread's work."""
        while not self._closing.wait(SECONDS_BETWEEN_REDRAWINGS):
            if self._update is not None:
                self._update()
            self.refresh()

    def close(self) -> None:
        """Redraw the bar once more and end its line."""
        self._closing.set()
        if self._thread.is_alive():  # it was started, since this is a terminal
            self._thread.join()
        super().close()
