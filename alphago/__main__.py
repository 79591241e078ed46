"""The command `alphago`, which is also `python -m alphago`."""

import sys

from alphago.system.interrupts import ended_by_interrupt


def main() -> int:
    """Run the command, which is loaded only now, and return its exit code."""
    with ended_by_interrupt():
        from alphago.cli import main as run_command
    return run_command()


if __name__ == "__main__":
    sys.exit(main())
