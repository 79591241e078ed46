"""Import optional libraries: one that is absent or broken is one sentence, and what does not need it goes on."""

import importlib
from typing import Any


def optional_import(name: str, need: str) -> Any:
    """Import and return a module of an optional library.

    An installed library may fail to import in any way: a missing system library, another version of NumPy, no home
    folder, and so on.

    name: the module.  need: the sentence for an absent library, such as "ONNX needs onnx: pip install …".
    Raises ImportError with that sentence; for a library that is installed but broken, also with its error.
    """
    try:
        importlib.import_module(name.partition(".")[0])
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and name.partition(".")[0] == error.name.partition(".")[0]:
            raise ImportError(need) from None  # the library is missing, and not another one that it needs
        raise broken(name, need, error) from error
    except Exception as error:
        raise broken(name, need, error) from error


def broken(name: str, need: str, error: Exception) -> ImportError:
    """Return the error for a library that cannot be imported although it is there."""
    return ImportError(f"{need} ({name} is installed, but broken: {type(error).__name__}: {error})")
