"""Check arguments: unknown keywords, for which similar names are suggested, and the values of settings."""

import contextlib
import difflib
import functools
import inspect
import math
import numbers
import re
import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from types import NoneType, UnionType
from typing import Any, TypeGuard, TypeVar, Union, dataclass_transform, get_args, get_origin, get_type_hints

Kind = TypeVar("Kind")
Call = TypeVar("Call", bound=Callable[..., Any])

BY_KEYWORD = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
LARGEST = 10**9  # upper bound of a number in a setting that declares no upper bound
MOST_READOUTS = 10_000_000  # upper bound of readouts per move; a tree of this size takes gigabytes

# Beginnings of unclear messages of NumPy and Python about an argument of a wrong type; one of them says "must".
UNCLEAR_ERRORS = ("The truth value of an", "attribute name must be string")

# Control characters except tab and line break, marks that reverse the direction of writing, and lone surrogates.
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def setting(
    text: str,
    *,
    default: Any,
    least: float = 0,
    most: float = math.inf,
    positive: bool = False,
    step: float = 0,
    structural: bool = False,
    path_only: bool = False,
    shown: str = "",
    python: str = "",
    **more: Any,
) -> Any:
    """Declare a field of a `settings` class: its default, its help, the range of a number, and how it is set.

    Args:
        text: the help, for the command line and the class's docstring.
        least, most: the range of a number, including both ends; of other values it is not checked.
        positive: whether the number must be > 0; `least` does not matter then.
        step: a number of which the value must be a multiple; 0 for none.
        default: the default.  None is allowed even if the field's type excludes it: then the field is None until a new
            run's plan, or a search, gives it a value.
        structural: whether a resumed run must keep the value, because its games so far depend on it.
        path_only: whether the setting is set by its path alone, `search.squash`, and has neither keyword nor flag.
        shown: a shorter help, which a command's `--help` shows; "" for settings that only `--help-all` shows.
        python: sentences for the docstring only, about the use in Python.
        more: further entries of the field's metadata.
    """
    bounds = {"least": least, "most": most, "positive": positive, "step": step}
    use = {"structural": structural, "path_only": path_only, "shown": shown, "python": python}
    return field(default=default, metadata={"help": text, **bounds, **use, **more})


@dataclass_transform(frozen_default=True, field_specifiers=(setting,))
def settings(cls: type[Kind]) -> type[Kind]:
    """Decorate a class of `setting` fields: make it a frozen dataclass that checks keywords and ranges.

    The help of the fields is appended to the class's docstring.  A class with further checks has, or inherits, a
    `__post_init__` that calls `check_ranges(self)` first.
    """
    if not hasattr(cls, "__post_init__"):
        cls.__post_init__ = check_ranges  # type: ignore[attr-defined]
    made = checks_keywords()(dataclass(frozen=True)(cls))  # both decorators change `cls` and return it
    arguments = []
    for declaration in fields(made):  # type: ignore[arg-type]
        # "help" is shown on the command line too.  "python" is about calls from Python only, and may be "".
        sentences = filter(None, (declaration.metadata["help"], declaration.metadata["python"]))
        text = f"{declaration.name}: {'.  '.join(sentences)}"
        # 116 letters; the indent of a class's docstring makes 120.
        arguments.append(textwrap.fill(text, 116, initial_indent=" " * 4, subsequent_indent=" " * 8))
    made.__doc__ = "\n".join([inspect.cleandoc(made.__doc__ or ""), "", "Args:", *arguments])
    return made


def check_ranges(instance: Any, owner: str = "") -> None:
    """Check numbers and bools in a `settings` object, and convert NumPy's numbers to Python's, for JSON.

    Args:
        owner: what stands before a field's name in messages, such as "a gate's ".

    Raises:
        ValueError: for a number out of range, for a value that must be a bool but is not, and for a None where the
            field must have a value; the message names the field.
    """
    hints = get_type_hints(type(instance))
    for declaration in fields(instance):
        name = declaration.name
        value = check_range(owner + name, getattr(instance, name), hints[name], declaration)
        object.__setattr__(instance, name, value)


def check_range(name: str, value: Any, hint: Any, declaration: Field[Any]) -> Any:
    """Return the value of a field, with a NumPy number converted; raise ValueError if it must not have this value.

    Only numbers and bools are checked, numbers only in fields that `setting` has declared.  None is allowed if the
    type or the default of the field is None.

    Args:
        name: the setting's name for the message.
        hint: the type hint of the field.
        declaration: the field.
    """
    declared, types = declaration.metadata, union_members(hint)
    if value is None:
        if hint is Any or NoneType in types or declaration.default is None:
            return None
        raise ValueError(f"{name} must have a value, got None")
    if bool in types:
        return check_bool(name, value)
    if "least" not in declared or not {int, float}.intersection(types):  # not from `setting`, or not a number
        return plain_number(value)
    most = declared["most"]
    if declared["positive"]:
        value = check_positive(name, value, most)
    elif float in types:
        value = check_float(name, value, declared["least"], most)
    else:
        value = check_int(name, value, declared["least"], None if most == math.inf else most)
    if declared["step"] and value % declared["step"]:
        raise ValueError(f"{name} must be a multiple of {declared['step']:g}, got {value!r}")
    if value > LARGEST and most == math.inf:
        raise ValueError(f"{name} must be at most {LARGEST}, got {value!r}")
    return value


def checks_keywords(further: Sequence[str] = ()) -> Callable[[Call], Call]:
    """Decorate a function or class so that wrong arguments raise a helpful TypeError.

    For an unknown keyword the error suggests similar names; for missing, excess or repeated arguments it says how to
    call the function; for a value of a wrong type it says which type it must have.  Signature and docstring are kept.

    Args:
        further: keywords that the function takes as `**settings`.
    """

    def decorate(call: Call) -> Call:
        known = list(dict.fromkeys([*list_keywords(call), *further]))  # without duplicates
        # Of a class, its constructor is checked.
        function = call.__init__ if isinstance(call, type) else call  # type: ignore[misc]

        @functools.wraps(function)
        def call_and_explain(*given: object, **named: object) -> object:
            """Call the function; if that fails because of wrong arguments, raise an error that says so.

            Except for unknown keywords, arguments are checked only after an error, so that correct calls cost little.
            """
            check_keywords(call.__qualname__, named, known)
            try:
                return function(*given, **named)
            except (TypeError, AttributeError, ValueError) as error:
                # A value of a wrong type leads to any of these: also to an AttributeError, if it lacks an attribute,
                # and to a ValueError such as NumPy's "The truth value of an array …", which names no argument.
                names_no_argument = str(error).startswith(UNCLEAR_ERRORS)
                if isinstance(error, ValueError) and not names_no_argument:
                    raise  # a value is wrong, and the error says which
                check_arguments(call.__qualname__, function, given, named)  # raises for a call of a wrong form
                # Errors of this package say what an argument must be: "depth must be an integer".
                if names_no_argument or " must " not in str(error):
                    check_types(function, given, named)  # raises for an argument of a wrong type
                raise  # the error says what must be, or is not about the arguments

        if not isinstance(call, type):
            return call_and_explain  # type: ignore[return-value]
        call.__init__ = call_and_explain  # type: ignore[misc]
        return call

    return decorate


def list_keywords(call: Callable[..., object]) -> list[str]:
    """Return the names of the arguments that can be passed to a function or class by keyword, without `self`."""
    parameters = inspect.signature(call).parameters.items()
    return [name for name, item in parameters if item.kind in BY_KEYWORD and name != "self"]


def takes_any_keyword(call: Callable[..., object]) -> bool:
    """Return whether a function has a `**parameter`, which takes every keyword."""
    return any(item.kind is inspect.Parameter.VAR_KEYWORD for item in inspect.signature(call).parameters.values())


def check_keywords(who: str, given: Iterable[str], known: Sequence[str]) -> None:
    """Raise TypeError, which suggests similar names, for a keyword that is not in `known`.

    Args:
        who: the name of the function that takes the keywords, for the message.
        given: the keywords' names.
    """
    for name in given:
        if name not in known:
            raise TypeError(f"{who} has no keyword {shown(name)}: {near_misses(name, known)}")


def check_arguments(
    who: str, function: Callable[..., object], given: Sequence[object], named: Mapping[str, object]
) -> None:
    """Raise TypeError, which says how to call the function, if arguments are missing, excess or repeated.

    Args:
        who: the function's name for the message.
        given, named: the positional and keyword arguments of the call.
    """
    signature = inspect.signature(function)
    try:
        signature.bind(*given, **named)
    except TypeError as error:
        by_order = inspect.Parameter.POSITIONAL_OR_KEYWORD
        order = [name for name, item in signature.parameters.items() if item.kind is by_order and name != "self"]
        raise TypeError(f"{who} must be called as {who}({', '.join([*order, '…'])}): {error}") from None


def check_types(function: Callable[..., object], given: Sequence[object], named: Mapping[str, object]) -> None:
    """Raise TypeError if an argument is not of the class, or of one of the classes, in the signature.

    Numbers and protocols are not checked, see `hint_classes`.

    Args:
        given, named: the positional and keyword arguments of the call.
    """
    with contextlib.suppress(NameError):  # raised for a name in the signature that is imported for type checkers only
        hints = get_type_hints(function)
        for name, value in inspect.signature(function).bind(*given, **named).arguments.items():
            classes = hint_classes(hints.get(name))
            if classes and not isinstance(value, classes):
                names = ["None" if cls is NoneType else cls.__name__ for cls in classes]
                raise TypeError(f"{name} must be {' or '.join(names)}, got {shown(value)}") from None


def hint_classes(hint: object) -> tuple[type, ...]:
    """Return the classes in a type hint of which a value must be an instance; () if that cannot be checked.

    It cannot be checked if one of the types is a protocol, or no class at all, or a number, since NumPy's numbers are
    accepted too.
    """
    classes = [get_origin(member) or member for member in union_members(hint)]
    for cls in classes:
        takes_many = cls in (object, Any, int, float)
        if takes_many or not isinstance(cls, type) or getattr(cls, "_is_protocol", False):
            return ()
    return tuple(classes)


def union_members(hint: Any) -> tuple[Any, ...]:
    """Return the types in a union such as `int | None`; for another type hint, the hint alone."""
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def shown(value: object) -> str:
    """Return a value's repr for an error message; if it is long, its middle is left out."""
    return shortened(repr(value))


def printable(text: str) -> str:
    """Return a foreign text, such as a name in a file, with control characters (CONTROLS) replaced.

    They could move a terminal's cursor or reverse the direction of writing.
    """
    return CONTROLS.sub("\ufffd", text)


def shortened(value: object, most: int = 200) -> str:
    """Return a value as text for a message; if it has more than `most` characters, its middle is left out."""
    text = str(value)
    if len(text) <= most:
        return text
    head, tail = most // 2, most // 2 - 10  # numbers of characters; 10 are left for the dots
    return f"{text[:head]} … {text[-tail:]}"


def check_int(name: str, value: object, least: int, most: int | None = None) -> int:
    """Return `value` as an int; raise ValueError unless it is an integer from `least` to `most`.

    Args:
        name: the value's name for the message.
    """
    if not is_int(value, least) or (most is not None and value > most):
        expected = f">= {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name} must be an integer {expected}, got {shown(value)}")
    return int(value)


def check_bool(name: str, value: object) -> bool:
    """Return `value` as a bool; raise ValueError unless it is a Python or NumPy bool.

    Args:
        name: the value's name for the message.
    """
    plain = plain_number(value)
    if isinstance(plain, bool):
        return plain
    raise ValueError(f"{name} must be True or False, got {shown(value)}")


def check_float(name: str, value: object, least: float = -math.inf, most: float = math.inf) -> float:
    """Return `value` as a float; raise ValueError unless it is a finite number from `least` to `most`.

    Args:
        name: the value's name for the message.
    """
    if is_finite(value) and least <= value <= most:
        return float(value)
    if most < math.inf:
        expected = f"a number from {least:g} to {most:g}"
    else:
        expected = "a finite number" if least == -math.inf else f"a number >= {least:g}"
    raise ValueError(f"{name} must be {expected}, got {shown(value)}")


def check_positive(name: str, value: object, most: float = math.inf) -> float:
    """Return `value` as a float; raise ValueError unless it is a finite number > 0 and at most `most`.

    Args:
        name: the value's name for the message.
    """
    if is_finite(value) and 0 < value <= most:
        return float(value)
    bound = "" if most == math.inf else f" and <= {most:g}"
    raise ValueError(f"{name} must be a number > 0{bound}, got {shown(value)}")


def check_choice(name: str, value: object, choices: Collection[str]) -> str:
    """Return `value` if it is one of the choices; raise ValueError, which lists them, if not.

    Args:
        name: the value's name for the message.
    """
    if isinstance(value, str) and value in choices:
        return value
    listed = [repr(choice) for choice in choices]
    expected = " or ".join(listed) if len(listed) <= 2 else f"one of {', '.join(listed)}"
    raise ValueError(f"{name} must be {expected}, got {shown(value)}")


def qualified_name(named: Any) -> str:
    """Return the name of a class or function with its module, as "module:name"."""
    return f"{named.__module__}:{named.__qualname__}"


def plain_number(value: Any) -> object:
    """Convert a NumPy number to a Python number; return any other value unchanged."""
    return value.item() if getattr(value, "ndim", None) == 0 else value


def is_int(value: object, least: int) -> TypeGuard[int]:
    """Return whether `value` is an integer (not a bool) >= `least`."""
    return not isinstance(value, bool) and isinstance(value, numbers.Integral) and int(value) >= least


def is_finite(value: object) -> TypeGuard[float]:
    """Return whether `value` is a number (not a bool) that is neither infinite nor nan."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer is too large for a float
        return False


def near_misses(name: str, known: Sequence[str], otherwise: str | None = None) -> str:
    """Return a hint for a misspelt name, such as "did you mean a or b?".

    If no known name is similar, return `otherwise`, or if that is None the list of all known names.
    """
    if near := near_names(name, known):
        return f"did you mean {' or '.join(near)}?"
    return otherwise or (f"there are {', '.join(known)}" if known else "there are none")


def near_names(name: str, known: Sequence[str]) -> list[str]:
    """Return up to three known names that are similar to a misspelt one, the most similar first."""
    return difflib.get_close_matches(name, known, n=3)
