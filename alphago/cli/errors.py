"""Convert exceptions to messages for the command line."""

import argparse
import errno
import re
import sys

from alphago.cli.options import Parser
from alphago.system.files import os_error_text

if sys.platform != "win32":
    import resource

# The beginning of a message about settings.
SETTINGS = re.compile(r"\w+(?: (?:or|and) \w+)*(?:, in minutes,)? must |\w+ is a setting of ")
# The end of a message about a setting that another part has: how to choose that part.
CHOICE = re.compile(r': give (?P<keyword>\w+)="(?P<value>.*)"$')
OUTPUT_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EPIPE)  # what writing to standard output raises
GAME_ADVICE = re.compile(r": give the game, in Python .* as --game \S+")  # advice for commands with --game
NATIVE_MEMORY = re.compile(r"could not create a (primitive|memory)|bad_alloc|[Cc]annot allocate memory")
LEAST_ADDRESSES = 3e9  # bytes of addresses: training a small network needs 1.6e9 of them with two threads
TORCH_MEMORY = re.compile(r"DefaultCPUAllocator.* tried to allocate (\d+) bytes")


def memory_warning() -> str:
    """Return a sentence if `ulimit -v` leaves little memory, else "".

    Print it before libraries are loaded: one that gets no memory may end the process by a signal, without a sentence.
    """
    if sys.platform == "win32":
        return ""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY or limit >= LEAST_ADDRESSES:
        return ""
    risk = f"with less than about {LEAST_ADDRESSES / 1e9:.0f} GB libraries may end it without a sentence"
    return f"this process may use only {limit / 1e9:.1f} GB of memory (ulimit -v): {risk}"


def error_text(error: BaseException, parser: Parser) -> str | None:
    """Return the message for an error that the user can correct; None for a fault of the program.

    Args:
        parser: the command's parser, whose flags replace the names of settings in the message.
    """
    if isinstance(error, OSError) and error.strerror:
        # Writing to standard output raises one of OUTPUT_ERRORS, without a file's name.  With a name, the error is of
        # that file.
        is_of_output = error.errno in OUTPUT_ERRORS and not error.filename
        return f"its output cannot be written: {error.strerror}" if is_of_output else os_error_text(error)
    if isinstance(error, RuntimeError):
        return runtime_error_text(error)
    if isinstance(error, MemoryError) and not str(error):
        return "there is not enough memory"
    if isinstance(error, (ValueError, OSError, ImportError, MemoryError)):  # ImportError: an extra is not installed
        return with_flags(with_usable_advice(str(error), parser), parser)
    return None


def runtime_error_text(error: RuntimeError) -> str | None:
    """Return the message for an error of another program's engine, or for too little memory; None for other errors."""
    from alphago.arena.line_process import EngineError  # imported late, since most commands do not need it

    if isinstance(error, EngineError):
        return str(error)
    if asked := TORCH_MEMORY.search(str(error)):
        return f"there is not enough memory: {int(asked[1]) / 1e9:.1f} GB were asked for"
    if told := NATIVE_MEMORY.search(str(error)):  # all that oneDNN and OpenVINO say
        return f"there may be too little memory: {told[0]}"
    return None


def with_usable_advice(text: str, parser: Parser) -> str:
    """Return a message in which advice to give --game (GAME_ADVICE) is replaced if the command has no such option.

    The reason why the command has no --game stands instead.  For `alphago gtp`, `…: give the game, in Python to
    load_model, … as --game FILE.py:CLASS` becomes `…: the Go Text Protocol is for Go`.
    """
    if "--game" in parser._option_string_actions:
        return text
    reason = parser.why_no_option.get("--game", "this command is for the package's games")
    return GAME_ADVICE.sub(f": {reason}", text)


def with_flags(text: str, parser: argparse.ArgumentParser) -> str:
    """Replace the names of settings in a message by their flags, such as `max_minutes must …` by `--minutes must …`.

    Advice at the message's end is replaced too: `: give search="gumbel"` by `: add --search gumbel`.  Only a message
    that begins with settings (SETTINGS) is changed.
    """
    begin = SETTINGS.match(text)
    if begin is None:
        return text
    # Among the parsed options, a game's keyword komi is called "game:komi".
    options = [action for action in parser._actions if action.option_strings]
    flags = {action.dest.rpartition(":")[2]: action.option_strings[0] for action in options}
    settings = re.sub(r"\w+", lambda word: flags.get(word[0], word[0]), begin[0])
    rest = text[begin.end() :]
    choice = CHOICE.search(rest)
    if choice is not None and (flag := flags.get(choice["keyword"])):
        rest = f"{rest[: choice.start()]}: add {flag} {choice['value']}"
    return settings + rest
