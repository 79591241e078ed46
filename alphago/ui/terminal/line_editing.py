"""Editing, history and completion of typed lines, with readline if Python has it."""

import contextlib
import glob
import os
from collections.abc import Callable, Iterator, Sequence


@contextlib.contextmanager
def line_editing(words: Sequence[str], with_file: Sequence[str]) -> Iterator[None]:
    """Let `input` edit and complete lines within the block; afterwards restore readline's state.

    words: commands to complete.  with_file: commands that take a file name.
    """
    try:
        import readline
    except ImportError:  # Windows
        yield
        return
    completer, delimiters = readline.get_completer(), readline.get_completer_delims()
    length = readline.get_current_history_length()
    readline.set_completer(line_completer(words, with_file))
    readline.set_completer_delims("\n")  # complete whole lines: file names may contain spaces
    is_libedit = "libedit" in (readline.__doc__ or "")  # its key bindings have another syntax
    readline.parse_and_bind("bind ^I rl_complete" if is_libedit else "tab: complete")
    try:
        yield
    finally:
        readline.set_completer(completer)
        readline.set_completer_delims(delimiters)
        for item in reversed(range(length, readline.get_current_history_length())):
            readline.remove_history_item(item)


def line_completer(words: Sequence[str], with_file: Sequence[str]) -> Callable[[str, int], str | None]:
    """Return the completer for readline: `complete(line, n)` returns the n-th completion of a line, then None."""

    def complete(line: str, state: int) -> str | None:
        return ([*completions(line, words, with_file), None])[state]

    return complete


def completions(line: str, words: Sequence[str], with_file: Sequence[str]) -> list[str]:
    """Return the completions of a line: commands, or file names after a command that takes one."""
    name, blank, start = line.partition(" ")
    if blank and name.lower() in with_file:
        paths = sorted(glob.glob(glob.escape(os.path.expanduser(start)) + "*"))
        return [f"{name} {path}{os.sep if os.path.isdir(path) else ''}" for path in paths]
    return [f"{word} " if word in with_file else word for word in words if word.startswith(line.lower())]
