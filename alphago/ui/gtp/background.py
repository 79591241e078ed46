"""`BackgroundSearch`: a search that goes on in a thread of its own until the controller's next command."""

import sys
import threading
import time
import traceback
from collections.abc import Callable

from alphago.mcts.player import MCTSPlayer

TREE_BYTES = 2**30  # at which an endless search ends
SHORTEST_INTERVAL = 0.01  # seconds between two reports
PAUSE = 60.0  # seconds between two looks at a search that has ended, until it is stopped


class BackgroundSearch:
    """The search of a player's position in a thread, one at a time.

    `stop` returns at once, while the thread may finish its wave; `join` waits for that. Whoever uses the player calls
    `join` first.
    """

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()

    def start(self, player: MCTSPlayer, report: Callable[[], None] | None = None, interval: float = PAUSE) -> None:
        """Search the player's position without end, with a report every `interval` seconds."""
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
    """Search in waves until the event is set or the tree is as large as it may be; then only report."""
    most = most_nodes(player)
    due = time.monotonic() + interval
    try:
        while not stop.is_set():
            full = int(player.search.tree.used[0]) >= most
            if full:
                stop.wait(max(0.0, due - time.monotonic()) if report else PAUSE)
            else:
                player.tree_search()
            if report is not None and not stop.is_set() and time.monotonic() >= due:
                due = time.monotonic() + max(interval, SHORTEST_INTERVAL)
                report()
    except Exception:
        traceback.print_exc(file=sys.stderr)


def most_nodes(player: MCTSPlayer) -> int:
    """Return the number of nodes of the largest tree."""
    env = player.env
    return TREE_BYTES // (4 * env.action_space + env.plane_shape[0] * env.plane_shape[1])
