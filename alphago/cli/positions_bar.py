"""A progress bar over positions that an engine judges one after the other, for `exam --make` and `label`."""

import sys
from collections.abc import Callable

from alphago.system.live_bar import LiveBar

Tell = Callable[[int, int], object]  # (positions so far, positions wanted)


def with_bar(make: Callable[[Tell], int]) -> int | None:
    """Call `make` while a bar shows its progress; return the number of positions it returns, None after an interrupt.

    make: makes positions, and calls its argument with the number of positions so far, and the number in all.
    """
    bar = LiveBar(unit="position")

    def tell(positions: int, total: int) -> None:
        if bar.total is None:  # the first call: positions made before do not count for the speed
            bar.total, bar.initial, bar.n = total, positions, positions
        bar.update(positions - bar.n)

    try:
        return make(tell)
    except KeyboardInterrupt:
        bar.close()
        print("stopped; the same command goes on", file=sys.stderr)
        return None
    finally:
        bar.close()
