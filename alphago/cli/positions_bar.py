"""A progress bar over positions that an engine judges one after the other, for `exam --make` and `label`."""

import sys
from collections.abc import Callable

from alphago.arena.line_process import EngineError
from alphago.system.live_bar import LiveBar

Tell = Callable[[int, int], object]  # (positions so far, positions wanted)


def with_bar(make: Callable[[Tell], int]) -> int | None:
    """Return the number of positions that `make` returns, while a bar shows what it tells; None if it is interrupted.

    Raises ValueError if the engine fails.
    """
    bar = LiveBar(unit="position")

    def tell(done: int, total: int) -> None:
        if bar.total is None:  # positions of an earlier call do not count for the speed
            bar.total, bar.initial, bar.n = total, done, done
        bar.update(done - bar.n)

    try:
        return make(tell)
    except KeyboardInterrupt:
        bar.close()
        print("stopped; the same command goes on", file=sys.stderr)
        return None
    except EngineError as error:
        raise ValueError(str(error)) from None
    finally:
        bar.close()
