"""Optional libraries: import one, or say in a sentence that it is absent or broken; IPython's shell in a notebook."""

import importlib
import sys
from typing import Any


def optional_import(name: str, need: str) -> Any:
    """Import and return a module of an optional library.

    An installed library may fail to import in any way: a missing system library, another version of NumPy, no home
    folder, and so on.

    Args:
        name: the module.
        need: the sentence for an absent library, such as "ONNX needs onnx: pip install …".

    Raises:
        ImportError: with that sentence; for a library that is installed but broken, also with its error.
    """
    library = name.partition(".")[0]
    try:
        importlib.import_module(library)  # fails if the library is gone, even if `name` was loaded before
        return importlib.import_module(name)
    except Exception as error:
        missing = str(error.name).partition(".")[0] if isinstance(error, ModuleNotFoundError) else None
        if missing == library:  # it is absent, or too old to have this module
            raise ImportError(need) from None
        raise ImportError(f"{need} ({name} is installed, but broken: {type(error).__name__}: {error})") from error


def notebook_shell() -> Any:
    """Return IPython's shell if Python runs in a notebook (Jupyter, VS Code, Colab), otherwise None.

    IPython is not imported: in a notebook it already is.
    """
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell if getattr(shell, "kernel", None) is not None else None  # in a terminal, IPython's shell has no kernel
