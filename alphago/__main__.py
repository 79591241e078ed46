"""`python -m alphago` is the command `alphago`."""

import sys

from alphago.cli import main

if __name__ == "__main__":
    sys.exit(main())
