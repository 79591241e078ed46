"""What a call is made of, as data that are the same in every process: values as text, and the code of functions."""

import hashlib
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any

from alphago.nn.model_files import fingerprint
from alphago.system.validation import qualified_name

PACKAGE = __name__.partition(".")[0]  # its own functions have no digest
PLAIN = (int, float, complex, str, bytes, type(None))
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def text_of(value: Any) -> str:
    """Return a value as text: a function or class by its name, an object by its class and attributes."""
    if hasattr(value, "__qualname__"):
        # `__mp_main__` is the name of the program's module in a process that was spawned.
        return qualified_name(value).replace("__mp_main__:", "__main__:")
    if isinstance(value, partial):
        given = [*map(text_of, value.args), *(f"{name}={text_of(item)}" for name, item in value.keywords.items())]
        return f"{text_of(value.func)}({', '.join(given)})"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key!r}: {text_of(item)}' for key, item in value.items())}}}"
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}({', '.join(map(text_of, value))})"
    if hasattr(value, "state_dict"):  # a network
        return f"{value!r} {fingerprint(value.state_dict())}"
    if hasattr(value, "tobytes"):  # an array, whose repr leaves numbers out
        return f"{value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    kind: Any = type(value)
    if kind.__repr__ is object.__repr__:
        with suppress(RecursionError):  # an object that has itself
            return f"{text_of(kind)} {text_of(getattr(value, '__dict__', {}))}"
    return ADDRESS.sub("", repr(value))


def code_of(*values: Any) -> dict[str, str]:
    """Return digests of the functions and classes in some values, by name, and the version of Python.

    A function's digest changes with its code and defaults, and with what it uses of its own module; comments do not
    matter.
    """
    codes: dict[str, list[Any]] = {}  # by name, which several lambdas have
    for item in functions_in(values, []):
        codes.setdefault(text_of(item), []).append(code_text(item, []))
    digests = {name: hashlib.sha256(str(code).encode()).hexdigest() for name, code in codes.items()}
    return {f"Python {sys.version_info[0]}.{sys.version_info[1]}": "", **digests} if digests else {}


def edited(saved: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return the names of which digests of `code_of` differ; none if another version of Python made the saved ones."""
    same_python = next(iter(now), "") in saved
    return [name for name, digest in now.items() if same_python and saved.get(name, digest) != digest]


def functions_in(value: Any, seen: list[Any]) -> Iterator[Any]:
    """Yield the functions and classes in a value that come neither with this package nor with an installed one.

    seen: what was visited before, to which this is added.
    """
    if isinstance(value, PLAIN) or any(value is other for other in seen):
        return
    seen.append(value)
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
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    is_installed = "site-packages" in file or "dist-packages" in file
    return not is_installed and module.partition(".")[0] not in (PACKAGE, *sys.stdlib_module_names - {"__main__"})


def code_text(value: Any, seen: list[Any]) -> Any:
    """Return the code of a function or class as nested lists of texts, with what it uses of its own module.

    seen: what was visited before, to which this is added.
    """
    if any(value is other for other in seen):
        return qualified_name(value)
    seen.append(value)
    if isinstance(value, type):
        members = {name: getattr(item, "__func__", getattr(item, "fget", item)) for name, item in vars(value).items()}
        wanted = (FunctionType, *PLAIN)
        kept = {name: item for name, item in members.items() if isinstance(item, wanted) and name not in NO_CODE}
        bases = [base for base in value.__bases__ if base.__module__ == value.__module__]
        return [qualified_name(value), *(used_text(item, value, seen) for item in (*bases, *kept.items()))]
    cells = [cell.cell_contents for cell in value.__closure__ or ()]
    names = sorted({name for code in codes_in(value.__code__) for name in code.co_names} & value.__globals__.keys())
    used = [(name, value.__globals__[name]) for name in names]
    own = [value.__defaults__, value.__kwdefaults__, *cells, *used]
    return [*map(code_lines, codes_in(value.__code__)), *(used_text(item, value, seen) for item in own)]


NO_CODE = ("__module__", "__doc__", "__qualname__", "__firstlineno__")  # entries of a class


def used_text(item: Any, user: Any, seen: list[Any]) -> Any:
    """Return what a function or class, `user`, uses: code of its own module in full, other functions by name."""
    if isinstance(item, tuple):
        return [used_text(one, user, seen) for one in item]
    if isinstance(item, (FunctionType, type)) and item.__module__ == user.__module__:
        return code_text(item, seen)
    return text_of(item) if isinstance(item, (FunctionType, type, *PLAIN)) else ""


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object, and those of the functions within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)


def code_lines(code: CodeType) -> list[str]:
    constants = [constant_text(constant) for constant in code.co_consts if not isinstance(constant, CodeType)]
    return [code.co_code.hex(), *constants, *code.co_names, *code.co_varnames, *code.co_freevars]


def constant_text(constant: Any) -> str:
    """Return a constant as text; a set's repr would have another order in each process."""
    return repr(sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant)
