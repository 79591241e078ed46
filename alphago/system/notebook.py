"""Find out whether Python runs in a notebook, which shows pictures and cannot read lines from the keyboard."""

import sys
from typing import Any


def notebook_shell() -> Any:
    """Return IPython's shell if Python runs in a notebook (Jupyter, VS Code, Colab), otherwise None.

    IPython is not imported: in a notebook it already is.
    """
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell if getattr(shell, "kernel", None) is not None else None
