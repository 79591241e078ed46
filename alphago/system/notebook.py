"""Whether Python runs in a notebook, which shows pictures and cannot wait for typed lines."""

import sys
from typing import Any


def notebook_shell() -> Any:
    """Return IPython's shell in a notebook with a kernel (Jupyter, VS Code, Colab); None anywhere else.

    IPython is not imported for the question: where it is in charge, it has been imported before.
    """
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell if getattr(shell, "kernel", None) is not None else None
