"""What one page and one server may ask for, so that no page can fill the memory or keep the cores."""

from dataclasses import dataclass
from typing import Any

from alphago.env.game import GameEnv
from alphago.system.validation import check_int, check_positive
from alphago.ui.analysis_jobs import Limits

MOST_MESSAGE = 1_000_000  # bytes of a message, and so of an SGF file
MOST_WAITING = 200  # messages of a page that wait for their turn
MOST_SESSIONS = 32  # boards on the server, those of closed pages included
MOST_CONNECTIONS = 64
KEPT_SECONDS = 600.0  # how long the board of a closed page is kept for its return
MOST_SECONDS = 600.0  # of one move's thinking
MOST_READOUTS = 100_000  # of one search
TREE_BYTES = 128 * 1024 * 1024  # of one search's tree
TREE_WIDTH = 5  # bytes that a node takes for each action: its prior and the owner of a point
MOST_PROGRAMS = 4  # connections to /analysis, each with an engine of its own
MOST_THREADS = 4  # of such an engine
MOST_UNREAD = 8_000_000  # characters of replies that a program has not taken, beyond which its engine waits
UNREAD_SECONDS = 60.0  # for which a program may take no reply
# Of such a connection:
PROGRAM = Limits(characters=200_000, positions=2000, visits=MOST_READOUTS, slots=16, kept=2, tree_bytes=TREE_BYTES)


def most_readouts(env: GameEnv) -> int:
    """Return how many readouts a search of the game may take: as many as fit its share of the memory."""
    return min(MOST_READOUTS, TREE_BYTES // (TREE_WIDTH * env.action_space))


@dataclass(frozen=True)
class Strength:
    """How the engine chooses its moves.

    network: its name among the server's.
    readouts, seconds: of the search for one move, which ends at the first of them; None is no limit, but one must be.
    tree: whether it searches; without, it plays the network's most probable move.
    """

    network: str
    readouts: int | None = 200
    seconds: float | None = None
    tree: bool = True

    def with_wishes(self, wishes: dict[str, Any], env: GameEnv) -> "Strength":
        """Return a copy with the fields that a page asks for; raise ValueError for a value that is not allowed."""
        readouts, seconds = wishes.get("readouts", self.readouts), wishes.get("seconds", self.seconds)
        if readouts is not None:
            readouts = check_int("readouts", readouts, 1, most_readouts(env))
        if seconds is not None:
            seconds = check_positive("seconds", seconds, MOST_SECONDS)
        if readouts is None and seconds is None:
            raise ValueError("readouts or seconds must limit a move, got neither")
        tree = wishes.get("tree", self.tree)
        if not isinstance(tree, bool):
            raise ValueError(f"tree must be true or false, got {tree!r}")
        return Strength(str(wishes.get("network", self.network)), readouts, seconds, tree)
