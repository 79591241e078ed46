"""Time control as in GTP: main time, then byo-yomi periods of some seconds, in each of which some stones are played."""

import math

PLANNED_SHARE = 0.8  # a move may use this part of its share of the time, since searches may take longer than planned
LAG = 0.05  # seconds per move for everything except search


class Clock:
    """The time left for each colour (+1 Black, -1 White); callers measure the time spent."""

    def __init__(self) -> None:
        self.set_limits(main=0, period=1, stones=0)  # no limit

    def set_limits(self, main: float, period: float, stones: int) -> None:
        """Apply GTP's time_settings.

        As GTP defines it, there is no limit if `period` > 0 and `stones` is 0, or if `main` and `period` are 0.

        Args:
            main: seconds of main time.
            period: seconds of a byo-yomi period.
            stones: moves that must be played in a period.
        """
        # Whether a period is for one stone, as `kgs-time_settings` may say; time_left then counts periods, not stones.
        self.one_stone = False
        self.main, self.period, self.period_stones = main, period, stones
        self.reset()

    def reset(self) -> None:
        """Restore both colours' full time, for a new game."""
        full_time = (self.main, 0) if self.main > 0 else (self.period, self.period_stones)
        # As in GTP: no limit if a period has 0 stones, or if there is neither main time nor a period.
        is_unlimited = (self.period_stones == 0) if self.period > 0 else (self.main == 0)
        # By colour, the seconds left and the stones to play in them; 0 stones in main time.
        self.left: dict[int, tuple[float, int]] = dict.fromkeys((1, -1), (math.inf, 0) if is_unlimited else full_time)

    def set_left(self, colour: int, seconds: float, stones: int) -> None:
        """Apply GTP's time_left: set the time of a colour, also if `set_limits` has set no limit.

        Args:
            seconds: the time left: for the next `stones` moves, or of the main time if `stones` is 0.
            stones: the moves to play in this time.  With `one_stone` it is the number of periods that are left, and the
                seconds are for one move.
        """
        if self.one_stone:  # the number of periods does not matter, only whether one of them runs
            stones = min(stones, 1)
        self.left[colour] = (max(0.0, seconds), stones)

    def spend(self, colour: int, seconds: float) -> None:
        """Subtract the seconds that a move of this colour took."""
        seconds_left, stones_left = self.left[colour]  # 0 stones: it is main time
        seconds_left -= seconds
        if stones_left == 0 and seconds_left < 0 and self.has_periods:  # the move went on in the first period
            seconds_left, stones_left = seconds_left + self.period, self.period_stones
        if stones_left > 0:
            stones_left -= 1
            if stones_left == 0:  # the next period begins
                seconds_left, stones_left = self.period, self.period_stones
        self.left[colour] = (max(0.0, seconds_left), stones_left)

    @property
    def has_periods(self) -> bool:
        """Whether byo-yomi periods follow the main time."""
        return self.period > 0 and self.period_stones > 0

    def share(self, colour: int, moves: int) -> float:
        """Return the seconds for the next move of a colour; infinity if its time is not limited.

        Args:
            moves: about how many moves of the colour are still to be played.
        """
        seconds, stones = self.left[colour]
        share = seconds / (stones or max(1, moves))  # without stones it is main time, for all moves that are left
        # In main time, a move may take as long as one in the periods that follow.
        if stones == 0 and self.has_periods:
            share = max(share, self.period / self.period_stones)
        return max(0.0, PLANNED_SHARE * share - LAG)
