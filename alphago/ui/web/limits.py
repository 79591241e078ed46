"""Limits of a web server's pages and programs, which protect the server's memory and processor."""

from alphago.env.game import GameEnv
from alphago.ui.analysis_query import Limits

MOST_MESSAGE = 1_000_000  # bytes of a message, and so of an SGF file
MOST_WAITING = 200  # queries of a page in the queue
MOST_PAGES = 32
FIRST_SECONDS = 20.0  # seconds within which a page must have asked its first question
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
