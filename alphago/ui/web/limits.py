"""Limits of a web server's pages and programs, which protect the server's memory and processor."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from alphago.env.game import GameEnv
from alphago.mcts.levels import Level, check_level
from alphago.system.validation import check_bool, check_int, check_positive
from alphago.ui.analysis_jobs import Limits

MOST_MESSAGE = 1_000_000  # bytes of a message, and so of an SGF file
MOST_WAITING = 200  # messages of a page in the queue
MOST_SESSIONS = 32  # boards on the server, including the boards of closed pages
MOST_CONNECTIONS = 64
FIRST_SECONDS = 60.0  # seconds that a page has for its first message
KEPT_SECONDS = 600.0  # seconds for which the server keeps the board of a closed page
MOST_SECONDS = 600.0  # seconds of the search for one move
MOST_READOUTS = 100_000  # simulations of one search
TREE_BYTES = 128 * 1024 * 1024  # bytes of one search's tree
TREE_WIDTH = 5  # bytes that a node takes for each action: 4 for its prior, 1 for the owner of its point
MOST_PROGRAMS = 4  # connections to /analysis, each with an engine of its own
MOST_THREADS = 4  # threads of a connection's engine
MOST_UNREAD = 8_000_000  # characters of replies that a program has not read; with more its engine waits
LONGEST_REASON = 123  # bytes of the reason that closes a WebSocket; longer ones cannot be sent
UNREAD_SECONDS = 60.0  # seconds after which a program that reads no reply is disconnected
# The limits of a connection's engine.
PROGRAM = Limits(characters=200_000, positions=2000, visits=MOST_READOUTS, slots=16, kept=2, tree_bytes=TREE_BYTES)


def most_readouts(env: GameEnv) -> int:
    """Return the largest number of readouts of one search, whose tree must fit into TREE_BYTES."""
    return min(MOST_READOUTS, TREE_BYTES // (TREE_WIDTH * env.action_space))


def closing_reason(text: str) -> str:
    """Return the beginning of a text that may be the reason for which a WebSocket is closed."""
    return text.encode()[:LONGEST_REASON].decode(errors="ignore")  # without a letter that is cut in two


@dataclass(frozen=True)
class Strength:
    """The settings by which the server's engine chooses its moves.

    network: the name of one of the server's networks.
    readouts, seconds: limits of the search for one move, which ends at the limit that it reaches first; one of them may
        be None, for no limit.
    tree: whether the engine searches; if not, it plays the network's most probable move.
    level: from 1 (a beginner) to 10, or "even" to follow the person's strength (see `alphago.mcts.levels`); None, like
        10, for full strength.  Below full strength the limits do not matter.
    """

    network: str
    readouts: int | None = 200
    seconds: float | None = None
    tree: bool = True
    level: Level | None = None

    def with_wishes(self, wishes: Mapping[str, Any], env: GameEnv) -> "Strength":
        """Return a copy with the values that a page's message `wishes` has; raise ValueError for impossible ones."""
        wished = {**asdict(self), **wishes}
        readouts, seconds, level = wished["readouts"], wished["seconds"], wished["level"]
        if readouts is None and seconds is None:
            raise ValueError("readouts or seconds must limit a move, got neither")
        return Strength(
            network=str(wished["network"]),
            readouts=None if readouts is None else check_int("readouts", readouts, 1, most_readouts(env)),
            seconds=None if seconds is None else check_positive("seconds", seconds, MOST_SECONDS),
            tree=check_bool("tree", wished["tree"]),
            level=None if level is None else check_level(level),
        )
