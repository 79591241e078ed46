"""A player's time in GTP's terms: main time, then periods of so many seconds for so many stones."""

import math

USED = 0.8  # share of a move's fair time that is planned for: a search may take longer than foreseen
LAG = 0.05  # seconds a move for everything that is not search


class Clock:
    """How long each colour may think (+1 Black, -1 White).  Told, never reads the time itself."""

    def __init__(self) -> None:
        self.settings(0, 1, 0)

    def settings(self, main: float, period: float, stones: int) -> None:
        """GTP's time_settings: a period without stones means no limit, and so do three zeros."""
        self.main, self.period, self.stones = main, period, stones
        self.reset()

    def reset(self) -> None:
        """A new game: everybody has all the time again."""
        full = (self.main, 0) if self.main > 0 else (self.period, self.stones)
        self.left: dict[int, tuple[float, int]] = {1: full, -1: full}  # seconds, stones (0: main time)
        limited = self.stones > 0 if self.period > 0 else self.main > 0
        self.limited = {1: limited, -1: limited}

    def tell(self, colour: int, seconds: float, stones: int) -> None:
        """GTP's time_left; where no settings came before it limits this colour, in this game."""
        self.limited[colour] = True
        self.left[colour] = (max(0.0, seconds), stones)

    def spend(self, colour: int, seconds: float) -> None:
        """A move of this colour took so long."""
        left, stones = self.left[colour]
        left -= seconds
        if stones == 0 and left < 0 and self.period > 0 and self.stones > 0:
            left, stones = left + self.period, self.stones
        if stones > 0:
            stones -= 1
            if stones == 0:
                left, stones = self.period, self.stones
        self.left[colour] = (max(0.0, left), stones)

    def share(self, colour: int, moves: int) -> float:
        """Seconds for the next move, if about `moves` more are to come; infinite without a limit."""
        if not self.limited[colour]:
            return math.inf
        seconds, stones = self.left[colour]
        share = seconds / (stones or max(1, moves))
        if stones == 0 and self.period > 0 and self.stones > 0:
            share = max(share, self.period / self.stones)
        return max(0.0, USED * share - LAG)
