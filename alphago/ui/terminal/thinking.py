"""How long an engine thinks about a move of a game with a person, and what it has to say then."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from alphago.system.validation import MOST_READOUTS, check_int, check_positive

WAVE = 16  # readouts between two looks at the clock


@dataclass(frozen=True)
class Limit:
    """What a move may take: the search ends at whichever comes first.

    readouts: simulations; 0 plays the network's most probable action, None is no limit.
    seconds: time; None is no limit.
    """

    readouts: int | None = 800
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.readouts is None and self.seconds is None:
            raise ValueError("a move needs a limit: num_readouts or seconds")
        if self.readouts is not None:
            check_int("num_readouts", self.readouts, 0, MOST_READOUTS)
        if self.seconds is not None:
            check_positive("seconds", self.seconds)

    def left(self, done: int, seconds: float) -> int:
        """Readouts of the next wave after so many in so much time; 0 at the limit."""
        if self.seconds is not None and seconds >= self.seconds:
            return 0
        return WAVE if self.readouts is None else min(WAVE, self.readouts - done)


@dataclass(frozen=True)
class Thought:
    """A move and what the engine thinks of it.  value: -1 .. 1, the mover's.  line: what it expects, as text."""

    action: int
    value: float
    line: str

    @property
    def win_rate(self) -> str:
        """The mover's chance: '75 %'."""
        return f"{50 * (1 + self.value):.0f} %"


def think(
    player: Any, limit: Limit, tell: Callable[[int, Thought], object], now: Callable[[], float] = time.monotonic
) -> Thought:
    """What an `MCTSPlayer` would play in its position, which it leaves as it is.

    tell: called after each wave of the search with the readouts so far and what it would play by now.
    """
    if limit.readouts == 0:
        action = player.policy_move()
        return Thought(action, player.root_value, player.env.to_text(action))
    done, start = 0, now()
    while readouts := limit.left(done, now() - start):
        player.tree_search(readouts)
        done += readouts
        tell(done, best(player))
    return best(player)


def best(player: Any) -> Thought:
    """What the search so far would play."""
    action = player.pick_move()
    return Thought(action, player.root_value, player.expected_line(action))
