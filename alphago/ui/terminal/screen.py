"""Line-by-line input and output, through any two functions; on a terminal also colours, a status line and editing."""

import contextlib
import glob
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from alphago.system.validation import printable

Read = Callable[[str], str]  # a prompt in, a line out; raises EOFError at the end of input
Write = Callable[[str], object]  # receives whole lines

ROW = re.compile(r"^( ?\d+ )(.*)( \d|\d\d)$")  # a row of a board between its numbers, as `draw_board` writes it
# Codes that change the colours of a terminal: 48;5;N the ground, 38;5;N the ink, 1 bold, 22 not bold, 0 as before.
WOOD, BLACK, WHITE, POINT, LAST, PLAIN = (
    f"\x1b[{code}m" for code in ("48;5;179", "1;38;5;16", "1;38;5;231", "22;38;5;94", "1;38;5;160", "0")
)
INKS = {"X": BLACK, "O": WHITE, ".": POINT, "+": POINT, "*": LAST, "(": LAST, ")": LAST}
WRITE_OVER, END_OF_LINE = "\r", "\x1b[K"
STATUS_SECONDS = 0.1  # least time between two updates of the status line


class Screen:
    """Line-by-line input and output.

    Args:
        read, write: used instead of `input` and `print`; None for these.  A given `write` receives plain lines only.

    Attributes:
        interactive: whether lines are typed at a keyboard, so that questions may be asked.
    """

    def __init__(self, read: Read | None = None, write: Write | None = None) -> None:
        self.read = read or ask
        self.interactive = read is None and sys.stdin is not None and sys.stdin.isatty()
        self.write = write or partial(print, flush=True)  # flushed, so that the text goes through a pipe at once
        is_terminal = sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self.live = write is None and is_terminal  # whether lines can be overwritten
        self.coloured = self.live and not os.environ.get("NO_COLOR")
        self._status_at = 0.0  # when the status line was updated last, a time of `time.monotonic`

    def say(self, text: str) -> None:
        """Print a text, which may have names from files."""
        self.write(printable(text))

    def draw(self, board: str) -> None:
        """Show a position as text, in colours if the terminal has them."""
        self.write(colour_board(board) if self.coloured else board)

    def status(self, text: str) -> None:
        """Overwrite the status line; without a terminal, do nothing."""
        if self.live and time.monotonic() - self._status_at >= STATUS_SECONDS:
            width = shutil.get_terminal_size().columns - 1  # a full line would begin the next one
            print(f"{WRITE_OVER}{text[:width]}{END_OF_LINE}", end="", flush=True)
            self._status_at = time.monotonic()

    def clear_status(self) -> None:
        """Remove the status line."""
        if self.live:
            print(f"{WRITE_OVER}{END_OF_LINE}", end="", flush=True)
            self._status_at = 0.0  # the next status is shown at once


def colour_board(board: str) -> str:
    """Return a drawn board with terminal colours: stones and points on wood, the last stone's brackets red."""
    return "\n".join(ROW.sub(colour_row, line) for line in board.split("\n"))


def colour_row(row: re.Match[str]) -> str:
    """Return a row of a board, as matched by ROW, with colours."""
    signs = "".join(f"{INKS[sign]}{sign}" if sign in INKS else sign for sign in row[2])
    return f"{row[1]}{WOOD}{signs}{PLAIN}{row[3]}"


def ask(prompt: str) -> str:
    """Return a line from `input`, or U+FFFD if it cannot be decoded; raise EOFError if standard input is closed."""
    if sys.stdin is None:  # it was closed before Python started
        raise EOFError
    try:
        return input(prompt)
    except UnicodeDecodeError:
        return "\N{REPLACEMENT CHARACTER}"


# --- editing, history and completion of typed lines ------------------------------------------------


@contextlib.contextmanager
def line_editing(words: Sequence[str], file_commands: Sequence[str]) -> Iterator[None]:
    """Let `input` edit and complete lines within the block; afterwards restore readline's state.

    Args:
        words: the words that a line may begin with, in lower case, such as "undo" and "save".
        file_commands: those of `words` that a file name follows, such as "save".
    """
    try:
        import readline
    except ImportError:  # Windows
        yield
        return
    old_completer, old_delimiters = readline.get_completer(), readline.get_completer_delims()
    old_length = readline.get_current_history_length()
    # readline calls the function with n = 0, 1, 2 and so on, until it returns None after the last completion.
    readline.set_completer(lambda line, n: dict(enumerate(completions(line, words, file_commands))).get(n))
    readline.set_completer_delims("\n")  # complete whole lines: file names may contain spaces
    is_libedit = "libedit" in (readline.__doc__ or "")  # its key bindings have another syntax
    readline.parse_and_bind("bind ^I rl_complete" if is_libedit else "tab: complete")
    try:
        yield
    finally:
        readline.set_completer(old_completer)
        readline.set_completer_delims(old_delimiters)
        # The lines of the block are forgotten, the last one first, so that the numbers of the others stay.
        for item in reversed(range(old_length, readline.get_current_history_length())):
            readline.remove_history_item(item)


def completions(line: str, words: Sequence[str], file_commands: Sequence[str]) -> list[str]:
    """Return the lines that complete a line: with a word, or after a word of `file_commands` with the name of a file.

    Args:
        words: the words that a line may begin with, in lower case.
        file_commands: those of `words` that a file name follows.
    """
    command, blank, path_start = line.partition(" ")
    if blank and command.lower() in file_commands:
        paths = sorted(glob.glob(glob.escape(os.path.expanduser(path_start)) + "*"))
        return [f"{command} {path}{os.sep if os.path.isdir(path) else ''}" for path in paths]
    return [f"{word} " if word in file_commands else word for word in words if word.startswith(line.lower())]
