"""The modules of examples/cgzero import each other by name, as its program does."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[3] / "examples" / "cgzero"))
