"""Time control as in GTP: main time, then byo-yomi periods, each of some seconds for some stones."""

import math

PLANNED_SHARE = 0.8  # the part of a move's fair share of the time that is used: searches may take longer than planned
LAG = 0.05  # seconds per move for everything except search


class Clock:
    """The time left for each colour (+1 Black, -1 White); callers measure the time spent."""

    def __init__(self) -> None:
        self.set_limits(0, 1, 0)

    def set_limits(self, main: float, period: float, stones: int) -> None:
        """Apply GTP's time_settings.

        There is no limit if `period` > 0 and `stones` is 0, or if `main` and `period` are 0.
        main: seconds of main time. period: seconds of a byo-yomi period, in which `stones` moves must be played.
        """
        self.one_stone = False  # whether each period is for one stone, and `time_left` counts periods
        self.main, self.period, self.stones = main, period, stones
        self.reset()

    def reset(self) -> None:
        """Restore both colours' full time, for a new game."""
        full = (self.main, 0) if self.main > 0 else (self.period, self.stones)
        self.left: dict[int, tuple[float, int]] = {1: full, -1: full}  # seconds, stones (0: main time)
        limited = self.stones > 0 if self.period > 0 else self.main > 0
        self.limited = {1: limited, -1: limited}

    def set_left(self, colour: int, seconds: float, stones: int) -> None:
        """Apply GTP's time_left: set the time of a colour, also if `set_limits` has set no limit.

        seconds: the time left for the next `stones` moves; the main time left if `stones` is 0. With `one_stone`, the
        time left is for one move, and `stones` counts periods.
        """
        self.limited[colour] = True
        # The number of periods is not kept: what counts is that one of them runs.
        self.left[colour] = (max(0.0, seconds), min(stones, 1) if self.one_stone else stones)

    def spend(self, colour: int, seconds: float) -> None:
        """Subtract the seconds that a move of this colour took."""
        left, stones = self.left[colour]  # no stones: it is main time
        left -= seconds
        has_periods = self.period > 0 and self.stones > 0
        if stones == 0 and left < 0 and has_periods:  # the move went on in the first period
            left, stones = left + self.period, self.stones
        if stones > 0:
            stones -= 1
            if stones == 0:  # the next period begins
                left, stones = self.period, self.stones
        self.left[colour] = (max(0.0, left), stones)

    def share(self, colour: int, moves: int) -> float:
        """Return the seconds for the next move if about `moves` are still to be played; infinite without a limit."""
        if not self.limited[colour]:
            return math.inf
        seconds, stones = self.left[colour]
        share = seconds / (stones or max(1, moves))
        if stones == 0 and self.period > 0 and self.stones > 0:  # after the main time a move has this much at least
            share = max(share, self.period / self.stones)
        return max(0.0, PLANNED_SHARE * share - LAG)
