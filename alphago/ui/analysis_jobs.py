"""`Limits` of what the clients of an analysis engine may ask for."""

from typing import NamedTuple

from alphago.ui.analysis_query import MOST_VISITS


class Limits(NamedTuple):
    """What the clients of an engine may ask of it; the defaults are for clients on the engine's own machine.

    characters: most characters of a line. positions: most positions that wait or are searched at a time.
    visits: most visits of a position; a query that asks for more gets `visits`, and a warning.
    slots: most positions that a thread searches side by side.
    kept: most kinds of searches that are kept for later queries; each is for one board size and rules.
    tree_bytes: most bytes of all trees of a thread together; the search of a position ends early if its tree is full.
    """

    characters: int = 10_000_000
    positions: int = 1_000_000
    visits: int = MOST_VISITS
    slots: int = 64
    kept: int = 16
    tree_bytes: int = 2**31


OWN_USER = Limits()
