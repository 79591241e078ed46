"""Values as text, and digests of functions' code, which are the same in every process; so calls can be compared."""

import ast
import hashlib
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from textwrap import dedent
from types import FunctionType, MethodType
from typing import Any

from alphago.nn.model_files import fingerprint
from alphago.system.validation import qualified_name

PACKAGE = __name__.partition(".")[0]  # functions of this package have no digest
PLAIN_TYPES = (int, float, complex, str, bytes, type(None))
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def as_text(value: Any) -> str:
    """Return a value as text: a function or class by its name, an object by its class and attributes.

    Equal values have the same text in every process, so addresses in memory are left out.
    """
    if hasattr(value, "__qualname__"):  # a function or class
        # `__mp_main__` is the name of the program's module in a process that was spawned.
        return qualified_name(value).replace("__mp_main__:", "__main__:")
    if isinstance(value, partial):
        given = [*map(as_text, value.args), *(f"{name}={as_text(item)}" for name, item in value.keywords.items())]
        return f"{as_text(value.func)}({', '.join(given)})"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key!r}: {as_text(item)}' for key, item in value.items())}}}"
    if isinstance(value, (set, frozenset)):
        return f"{type(value).__name__}({', '.join(sorted(map(as_text, value)))})"
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}({', '.join(map(as_text, value))})"
    if hasattr(value, "state_dict"):  # a network
        return f"{value!r} {fingerprint(value.state_dict())}"
    if hasattr(value, "tobytes"):  # an array, whose repr leaves numbers out
        return f"{value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    kind: Any = type(value)
    if kind.__repr__ is object.__repr__:  # a repr that tells the class and the address only
        with suppress(RecursionError):  # raised for an object that contains itself
            return f"{as_text(kind)} {as_text(getattr(value, '__dict__', {}))}"
    return ADDRESS.sub("", repr(value))


def code_digests(*values: Any) -> dict[str, str]:
    """Return digests of the user's functions and classes in some values, by name.

    A digest changes with the source of the function, and of what the function uses of its own module.  Comments do not
    matter, except near a lambda within a longer statement.  What was typed into an interpreter has no source, so edits
    of it do not show.  Another version of Python may give other digests of the same code.
    """
    codes: dict[str, list[str]] = {}  # sources by name; several lambdas may have the same name
    for item in functions_in(values, seen={}):
        # `seen` is empty for each function, so that its digest has all sources, also those that another digest has.
        codes.setdefault(as_text(item), []).extend(iterate_sources(item, seen={}))
    return {name: hashlib.sha256("\n".join(texts).encode()).hexdigest() for name, texts in codes.items()}


def functions_in(value: Any, seen: dict[int, Any]) -> Iterator[Any]:
    """Yield the user's functions and classes in a value, see `is_own`.

    Args:
        value: a function, a class, or any object, whose parts are searched.
        seen: by `id`, the objects visited so far, which are skipped; this function adds those that it visits.
    """
    if isinstance(value, PLAIN_TYPES) or id(value) in seen:
        return
    seen[id(value)] = value
    if isinstance(value, (FunctionType, type)):
        if is_own(str(value.__module__)):
            yield value
        return
    if isinstance(value, partial):
        parts = [value.func, *value.args, *value.keywords.values()]
    elif isinstance(value, MethodType):
        parts = [value.__func__, value.__self__]
    elif isinstance(value, (list, tuple)):
        parts = list(value)
    else:
        attributes = value if isinstance(value, Mapping) else getattr(value, "__dict__", {})
        parts = [type(value), *attributes.values()]
    for part in parts:
        yield from functions_in(part, seen)


def is_own(module: str) -> bool:
    """Return whether a module is the user's: neither of this package nor of Python or an installed package."""
    file = getattr(sys.modules.get(module), "__file__", None) or ""  # "": it is built in, or was typed
    is_installed = "site-packages" in file or "dist-packages" in file
    others = {PACKAGE, *sys.stdlib_module_names}  # without "__main__", the user's program
    return not is_installed and module.partition(".")[0] not in others


def iterate_sources(value: Any, seen: dict[int, Any]) -> Iterator[str]:
    """Yield the source of a function or class without comments, and what it uses of its own module.

    Constants are yielded with their values, and functions and classes of other modules by their names.

    Args:
        seen: by `id`, the functions and classes visited so far, which are skipped; this function adds to them.
    """
    if id(value) in seen:
        return
    seen[id(value)] = value
    try:
        source = dedent(inspect.getsource(value))
    except (OSError, TypeError):  # what was typed into an interpreter has no source
        return
    with suppress(SyntaxError):  # raised for a part of a statement that has a lambda: its text is taken as it is
        source = ast.unparse(ast.parse(source))
    yield source
    # The values of the names in the source.  A variable of the closure hides a global one.  A class has no globals; a
    # function has its globals even if its module was not registered.
    of_module = getattr(sys.modules.get(value.__module__), "__dict__", {})
    closure = inspect.getclosurevars(value).nonlocals if isinstance(value, FunctionType) else {}
    known = {**of_module, **getattr(value, "__globals__", {}), **closure}
    for name in sorted(set(re.findall(r"\w+", source)) & known.keys()):
        item = known[name]
        if isinstance(item, (FunctionType, type)) and item.__module__ == value.__module__:
            yield from iterate_sources(item, seen)
        # Of tables only those that a call cannot change: the others may be its caches and results.
        elif isinstance(item, (FunctionType, type, *PLAIN_TYPES)) or (
            isinstance(item, (tuple, frozenset)) and all(isinstance(inner, PLAIN_TYPES) for inner in item)
        ):
            yield f"{name} = {as_text(item)}"
