"""The command `alphago`, which is also `python -m alphago`."""

import sys
import warnings

from alphago.system.interrupts import ended_by_interrupt


def warning_as_sentence(message: Warning | str, *_: object, **__: object) -> str:
    """Return a warning as the command prints it: without the file and the line of code that warned."""
    return f"alphago: {message}\n"


def main() -> int:
    """Run the command and return its exit code."""
    warnings.formatwarning = warning_as_sentence
    with ended_by_interrupt():
        from alphago.cli import main as run_command  # takes seconds, in which Ctrl-C must not print a traceback
    return run_command()


if __name__ == "__main__":
    sys.exit(main())
