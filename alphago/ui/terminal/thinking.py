"""Search for a move within limits of readouts and time, with reports, in a game with a person."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from alphago.mcts.player import MCTSPlayer
from alphago.system.validation import MOST_READOUTS, check_int, check_positive

WAVE = 16  # readouts between two readings of the clock
SHOWN_PLIES = 6  # plies of the expected line of play that are shown


@dataclass(frozen=True)
class Limit:
    """Limits of the search for one move, which ends at the first limit that it reaches.

    readouts: simulations; 0 plays the network's most probable action, None means no limit.
    seconds: time; None means no limit.
    """

    readouts: int | None = 800
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.readouts is None and self.seconds is None:
            raise ValueError("num_readouts or seconds must limit a move, got None for both")
        if self.readouts is not None:
            check_int("num_readouts", self.readouts, 0, MOST_READOUTS)
        if self.seconds is not None:
            check_positive("seconds", self.seconds)

    def left(self, done: int, seconds: float) -> int:
        """Return the readouts for the next wave after `done` readouts in `seconds` seconds; 0 at the limit."""
        if self.seconds is not None and seconds >= self.seconds:
            return 0
        return WAVE if self.readouts is None else min(WAVE, self.readouts - done)


@dataclass(frozen=True)
class Thought:
    """A move, the position's value (-1 .. 1, from the view of the player to move), and the expected line as text."""

    action: int
    value: float
    line: str

    @property
    def win_rate(self) -> str:
        """The win rate of the player to move, such as '75 %'."""
        return f"{50 * (1 + self.value):.0f} %"


def think(
    player: MCTSPlayer,
    limit: Limit,
    report: Callable[[int, Thought], object],
    now: Callable[[], float] = time.monotonic,
) -> Thought:
    """Return the move that a player would choose in its position, without playing it.

    report: called after each wave of the search with the readouts so far and the best move so far.
    """
    if limit.readouts == 0:
        action = player.policy_move()
        return thought_of(player, action)
    done, start = 0, now()
    while readouts := limit.left(done, now() - start):
        player.tree_search(readouts)
        done += readouts
        report(done, best(player))
    return best(player)


def best(player: MCTSPlayer) -> Thought:
    """Return the best move of the search so far."""
    return thought_of(player, player.pick_move())


def thought_of(player: MCTSPlayer, action: int) -> Thought:
    """Return a move with the value of the player's position and the move's line, from the search so far."""
    analysis = player.analysis(plies=SHOWN_PLIES)
    return Thought(action, float(analysis.value[0]), analysis.line_text(action))
