"""Errors as sentences for the command line."""

import argparse
import re

SETTINGS = re.compile(r"\w+(?: (?:or|and) \w+)*(?:, in minutes,)? must ")  # how the message on a setting begins
TORCH_MEMORY = re.compile(r"DefaultCPUAllocator.* tried to allocate (\d+) bytes")


def error_text(error: BaseException, parser: argparse.ArgumentParser) -> str | None:
    """Return a sentence about an error that the user can do something about; None for a fault of the program."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename} cannot be used: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, RuntimeError):
        asked = TORCH_MEMORY.search(str(error))
        return None if asked is None else f"there is not enough memory: {int(asked[1]) / 1e9:.1f} GB were asked for"
    if isinstance(error, MemoryError) and not str(error):
        return "there is not enough memory"
    if isinstance(error, (ValueError, OSError, ImportError, MemoryError)):  # ImportError: an extra is not installed
        return with_flags(str(error), parser)
    return None


def with_flags(text: str, parser: argparse.ArgumentParser) -> str:
    """Return a message with the flags of the settings that it begins with: "--minutes must be" for `max_minutes`."""
    options = [action for action in parser._actions if action.option_strings]
    flags = {action.dest.rpartition(":")[2]: action.option_strings[0] for action in options}
    begin = SETTINGS.match(text)
    if begin is None:
        return text
    return re.sub(r"\w+", lambda word: flags.get(word[0], word[0]), begin[0]) + text[begin.end() :]
