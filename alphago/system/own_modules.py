"""Import a module of the user's own, by its file or its name, or a class in it."""

import hashlib
import importlib
import operator
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from alphago.system.files import user_path
from alphago.system.validation import near_misses, qualified_name

Kind = TypeVar("Kind")


def import_own_module(text: str) -> ModuleType:
    """Import a module; raise ValueError if that fails.

    Args:
        text: a file, such as "games/my_game.py", whose folder is added to sys.path; or the name of a module in the
            current folder or an installed package.
    """
    path = user_path(text).resolve() if text.endswith(".py") else None
    if path is not None and not path.is_file():
        raise ValueError(f"there is no file {text}")
    folder, name = (os.getcwd(), text) if path is None else (str(path.parent), path.stem)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        module = importlib.import_module(name)
    except Exception as error:  # importing runs the module's code, which may raise anything
        # For the module a.b, either a or a.b may be missing.
        if isinstance(error, ModuleNotFoundError) and f"{name}.".startswith(f"{error.name}."):
            raise ValueError(f"there is no module {name}, neither in this folder nor installed") from None
        raise ValueError(f"{name} cannot be imported: {type(error).__name__}: {error}") from error
    if path is not None and Path(getattr(module, "__file__", None) or "").resolve() != path:
        raise ValueError(f"{text} must have another name, since Python has a module {name}")
    return module


def import_own_class(text: str, base: type[Kind], what: str) -> type[Kind]:
    """Import a class derived from `base`; raise ValueError if that fails, or if there is no such class.

    Args:
        text: FILE.py:CLASS or MODULE:CLASS, for a module as in `import_own_module`.
        what: what such a class is, for the message: "game".
    """
    place, _, name = text.rpartition(":")
    module = import_own_module(place)
    classes = {key: item for key, item in vars(module).items() if isinstance(item, type) and issubclass(item, base)}
    if name not in classes:
        own = [key for key, item in classes.items() if item.__module__ == module.__name__]  # not what it imports
        wanted = f"{what} {name!r}, a class derived from {base.__name__}"
        raise ValueError(f"{place} has no {wanted}: {near_misses(name, own)}")
    return classes[name]


def own_files(kinds: Iterable[type]) -> dict[str, str]:
    """Return the SHA-256 of the files of those classes that are no part of this package, by "module:class"."""
    own = [kind for kind in kinds if not kind.__module__.startswith("alphago.")]
    files = {kind: Path(getattr(sys.modules.get(kind.__module__), "__file__", None) or "") for kind in own}
    # A class of a notebook has no file, and that of one in an archive cannot be read by itself.
    texts = {kind: file.read_bytes() if file.is_file() else b"" for kind, file in files.items()}
    return {qualified_name(kind): hashlib.sha256(text).hexdigest() for kind, text in texts.items()}


def import_class(name: str) -> Any:
    """Import the class called "module:class"; the module's file may have any name, such as "my-game.py"."""
    module, _, path = name.partition(":")
    return operator.attrgetter(path)(importlib.import_module(module))  # a nested class has a path "outer.inner"
