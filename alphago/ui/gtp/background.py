"""`BackgroundSearch`: a search in a thread of its own, until the controller's next command."""

import sys
import threading
import time
import traceback
from collections.abc import Callable

from alphago.mcts.analysis_search import node_bytes
from alphago.mcts.player import MCTSPlayer

TREE_BYTES = 2**30  # size of the tree at which a search ends
SHORTEST_INTERVAL = 0.01  # seconds between two reports
PAUSE = 60.0  # seconds that a thread with a full tree sleeps before it checks again


class BackgroundSearch:
    """Searches a player's position in a thread; one search at a time.

    `stop` returns at once, while the thread may still finish its wave; `join` waits until the thread has ended.
    Call `join` before using the player.
    """

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()

    def start(self, player: MCTSPlayer, report: Callable[[], None] | None = None, interval: float = PAUSE) -> None:
        """Search the player's position until `stop`.

        report: called every `interval` seconds during the search; None for no reports.
        """
        self.join()
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=search_on, args=(player, self._stop, report, interval), name="gtp search", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """End the search, without waiting for its last wave."""
        self._stop.set()

    def join(self) -> None:
        """End the search, and wait for its last wave."""
        self.stop()
        if self._thread is not None:
            self._thread.join()
            self._thread = None


def search_on(player: MCTSPlayer, stop: threading.Event, report: Callable[[], None] | None, interval: float) -> None:
    """Search in waves until `stop` is set; when the tree is as large as TREE_BYTES, only report."""
    most_nodes = TREE_BYTES // node_bytes(player.env)
    due = time.monotonic() + interval
    try:
        while not stop.is_set():
            if int(player.search.tree.used[0]) < most_nodes:
                player.tree_search()
            else:
                stop.wait(PAUSE if report is None else max(0.0, due - time.monotonic()))
            if report is not None and not stop.is_set() and time.monotonic() >= due:
                due = time.monotonic() + max(interval, SHORTEST_INTERVAL)
                report()
    except Exception:
        traceback.print_exc(file=sys.stderr)
