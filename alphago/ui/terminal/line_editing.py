"""Editing, history and completion of typed lines, with readline if Python has it."""

import contextlib
import glob
import os
from collections.abc import Callable, Iterator, Sequence


@contextlib.contextmanager
def line_editing(words: Sequence[str], with_file: Sequence[str]) -> Iterator[None]:
    """Let `input` edit and complete lines within the block; afterwards restore readline's state.

    words: the words that a line may begin with, in lower case, such as "undo" and "save".
    with_file: those of `words` that a file name follows, such as "save".
    """
    try:
        import readline
    except ImportError:  # Windows
        yield
        return
    old_completer, old_delimiters = readline.get_completer(), readline.get_completer_delims()
    old_length = readline.get_current_history_length()
    readline.set_completer(line_completer(words, with_file))
    readline.set_completer_delims("\n")  # complete whole lines: file names may contain spaces
    is_libedit = "libedit" in (readline.__doc__ or "")  # its key bindings have another syntax
    readline.parse_and_bind("bind ^I rl_complete" if is_libedit else "tab: complete")
    try:
        yield
    finally:
        readline.set_completer(old_completer)
        readline.set_completer_delims(old_delimiters)
        for item in reversed(range(old_length, readline.get_current_history_length())):
            readline.remove_history_item(item)


def line_completer(words: Sequence[str], with_file: Sequence[str]) -> Callable[[str, int], str | None]:
    """Return a function for readline to complete a line: called with n = 0, 1, ..., it returns the n-th completion.

    After the last completion it returns None.  words, with_file: as in `line_editing`.
    """

    def complete(line: str, n: int) -> str | None:
        found = completions(line, words, with_file)
        return found[n] if n < len(found) else None

    return complete


def completions(line: str, words: Sequence[str], with_file: Sequence[str]) -> list[str]:
    """Return the lines that complete a line: with a word, or after a word of `with_file` with the name of a file.

    words, with_file: as in `line_editing`.
    """
    command, blank, path_start = line.partition(" ")
    if blank and command.lower() in with_file:
        paths = sorted(glob.glob(glob.escape(os.path.expanduser(path_start)) + "*"))
        return [f"{command} {path}{os.sep if os.path.isdir(path) else ''}" for path in paths]
    return [f"{word} " if word in with_file else word for word in words if word.startswith(line.lower())]
