"""Checks of what a caller passes: keywords, with similar names suggested for unknown ones, and values of settings."""

import difflib
import functools
import inspect
import math
import numbers
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from types import NoneType
from typing import Any, Literal, TypeGuard, TypeVar, dataclass_transform, get_args, get_type_hints

Kind = TypeVar("Kind")
Call = TypeVar("Call", bound=Callable[..., Any])


class Unset(Enum):
    """The default of a keyword for which None is a meaningful value."""

    UNSET = "unsaid"

    def __repr__(self) -> str:
        return self.name


NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
LARGEST = 10**9  # of a number in settings that has no bound of its own
MOST_READOUTS = 10_000_000  # of one move: a tree of that size takes gigabytes

UNSET: Literal[Unset.UNSET] = Unset.UNSET


def make_settings(kind: type[Kind], **given: Any) -> Kind:
    """Return a settings dataclass made from keywords.

    Raises TypeError, which suggests similar names, for an unknown keyword, ValueError for None where a setting needs a
    value.
    """
    check_keywords(kind.__qualname__, given, keywords_of(kind))
    hints = get_type_hints(kind)
    for name, value in given.items():
        if value is None and NoneType not in get_args(hints[name]):
            raise ValueError(f"{name} must have a value, got None")
    return kind(**given)


def setting(
    text: str, *, default: Any, least: float | None = None, most: float = math.inf, positive: bool = False
) -> Any:
    """Declare one field of a `settings` class: its default, its line of help, and the range of a number.

    text: help of `alphago --help` and of the class's docstring.
    least, most: the range of a number, ends included; `positive` instead of `least` for numbers above 0.  A field with
        neither is checked by the class itself.
    """
    return field(default=default, metadata={"help": text, "least": least, "most": most, "positive": positive})


@dataclass_transform(frozen_default=True, field_specifiers=(setting,))
def settings(cls: type[Kind]) -> type[Kind]:
    """Turn a class of `setting` fields into a frozen dataclass whose errors for unknown keywords suggest similar names.

    The help of the fields is appended to the class's docstring.  A class that checks more than ranges has a
    `__post_init__` that begins with `check_ranges(self)`.
    """
    if "__post_init__" not in vars(cls):
        cls.__post_init__ = check_ranges  # type: ignore[attr-defined]
    made = checks_keywords()(dataclass(frozen=True)(cls))
    lines = [textwrap.fill(f"{f.name}: {f.metadata['help']}", 112, subsequent_indent=" " * 4) for f in fields(made)]  # type: ignore[arg-type]
    made.__doc__ = "\n".join(
        [inspect.cleandoc(made.__doc__ or ""), "", "Args:", *(textwrap.indent(s, "    ") for s in lines)]
    )
    return made


def check_ranges(instance: Any, owner: str = "") -> None:
    """Check the range of each number of a `settings` object, and turn NumPy's numbers into Python's, for JSON.

    Raises ValueError that names the field, preceded by `owner`, such as "a gate's ".
    """
    hints = get_type_hints(type(instance))
    for one in fields(instance):
        value, least, most = getattr(instance, one.name), one.metadata["least"], one.metadata["most"]
        members = {hints[one.name], *get_args(hints[one.name])}
        if (least is None and not one.metadata["positive"]) or (value is None and NoneType in members):
            continue
        name = owner + one.name
        if one.metadata["positive"]:
            value = check_positive(name, value, most)
        elif float in members:
            value = check_float(name, value, least, most)
        else:
            value = check_int(name, value, least, None if most == math.inf else most)
        if value > LARGEST and most == math.inf:
            raise ValueError(f"{name} must be at most {LARGEST}, got {value!r}")
        object.__setattr__(instance, one.name, value)


def checks_keywords(*further: type) -> Callable[[Call], Call]:
    """Decorate a function or class, so that an unknown keyword raises TypeError that suggests similar names.

    Missing arguments, too many of them, or one given twice raise TypeError with a sentence on how to call it.

    further: settings classes whose keywords the function takes as `**settings`.  Signature and docstring are kept.
    """

    def decorate(call: Call) -> Call:
        takers: list[Callable[..., Any]] = [call, *further]
        known = list(dict.fromkeys(name for taker in takers for name in keywords_of(taker)))
        function = call.__init__ if isinstance(call, type) else call  # type: ignore[misc]

        @functools.wraps(function)
        def checked(*given: Any, **named: Any) -> Any:
            check_keywords(call.__qualname__, named, known)
            try:
                return function(*given, **named)
            except TypeError:
                check_arguments(call.__qualname__, function, given, named)
                raise

        if not isinstance(call, type):
            return checked  # type: ignore[return-value]
        call.__init__ = checked  # type: ignore[misc]
        return call

    return decorate


def keywords_of(call: Callable[..., Any]) -> list[str]:
    """Return the names of the arguments that a function or class takes by keyword, in order, without `self`."""
    parameters = inspect.signature(call).parameters.values()
    return [parameter.name for parameter in parameters if parameter.kind in NAMED and parameter.name != "self"]


def takes_any_keyword(call: Callable[..., Any]) -> bool:
    """Return whether a function takes `**keywords`."""
    kinds = [parameter.kind for parameter in inspect.signature(call).parameters.values()]
    return inspect.Parameter.VAR_KEYWORD in kinds


def check_keywords(who: str, given: Iterable[str], known: Sequence[str]) -> None:
    """Raise TypeError, which suggests similar names, for a keyword that is not in `known`; `who` takes the keywords."""
    for name in given:
        if name not in known:
            raise TypeError(f"{who} has no keyword {shown(name)}: {near_misses(name, known)}")


def check_arguments(who: str, function: Callable[..., Any], given: Sequence[Any], named: Mapping[str, Any]) -> None:
    """Raise TypeError that names the arguments that are missing, or that may come without their names."""
    signature = inspect.signature(function)
    try:
        signature.bind(*given, **named)
        return
    except TypeError:
        parameters = signature.parameters.values()
    unnamed = [one.name for one in parameters if one.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    own = [name for name in unnamed if name != "self"]
    if len(given) > len(unnamed):
        raise TypeError(
            f"{who} takes {', '.join(own) or 'nothing'} without a name before it, and all else as name=value; "
            f"got {len(given) - len(unnamed) + len(own)} values without one"
        ) from None
    if twice := [name for name in unnamed[: len(given)] if name in named]:
        raise TypeError(
            f"{who} got two values for {twice[0]}: {', '.join(own)} is the order of its arguments"
        ) from None
    required = [one.name for one in parameters if one.default is inspect.Parameter.empty and one.kind in NAMED]
    missing = [name for name in required if name not in (*unnamed[: len(given)], *named)]
    raise TypeError(f"{who} needs {' and '.join(missing)}: {who}({', '.join(own)}, …)") from None


def shown(value: Any) -> str:
    """Return the repr of a value as error messages show it, its middle left out if it is long."""
    return shortened(repr(value))


def shortened(value: Any) -> str:
    """Return a value as text for a message, its middle left out if it is long."""
    text = str(value)
    return text if len(text) <= 200 else f"{text[:100]} … {text[-90:]}"


def check_int(name: str, value: Any, least: int, most: int | None = None) -> int:
    """Return `value` as an int; raise ValueError that names it unless it is an integer from `least` to `most`."""
    if not is_int(value, least) or (most is not None and value > most):
        expected = f">= {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name} must be an integer {expected}, got {shown(value)}")
    return int(value)


def check_bool(name: str, value: Any) -> bool:
    """Return `value` as a bool; raise ValueError that names it for anything else, the string "no" included."""
    plain = plain_number(value)
    if isinstance(plain, bool):
        return plain
    raise ValueError(f"{name} must be True or False, got {shown(value)}")


def check_float(name: str, value: Any, least: float = -math.inf, most: float = math.inf) -> float:
    """Return `value` as a float; raise ValueError that names it unless it is finite and from `least` to `most`."""
    if is_finite(value) and least <= value <= most:
        return float(value)
    if most < math.inf:
        expected = f"a number from {least:g} to {most:g}"
    else:
        expected = "a finite number" if least == -math.inf else f"a number >= {least:g}"
    raise ValueError(f"{name} must be {expected}, got {shown(value)}")


def check_positive(name: str, value: Any, most: float = math.inf) -> float:
    """Return `value` as a float; raise ValueError that names it unless it is finite, > 0 and at most `most`."""
    if is_finite(value) and 0 < value <= most:
        return float(value)
    bound = "" if most == math.inf else f" and <= {most:g}"
    raise ValueError(f"{name} must be a number > 0{bound}, got {shown(value)}")


def qualified_name(named: Any) -> str:
    """Return the name of a class or function as "module:name"."""
    return f"{named.__module__}:{named.__qualname__}"


def as_plain_numbers(settings: Any) -> None:
    """Replace NumPy's numbers in a settings dataclass by Python's, in place: only these can be saved as JSON."""
    for name, value in vars(settings).items():
        object.__setattr__(settings, name, plain_number(value))


def plain_number(value: Any) -> Any:
    """Return a NumPy number as Python's own; any other value unchanged."""
    return value.item() if getattr(value, "ndim", None) == 0 else value


def is_int(value: Any, least: int) -> TypeGuard[int]:
    """Return whether `value` is an integer (not a bool) >= `least`."""
    return not isinstance(value, bool) and isinstance(value, numbers.Integral) and int(value) >= least


def is_finite(value: Any) -> TypeGuard[float]:
    """Return whether `value` is a number (not a bool), and neither infinite nor nan."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # of an integer too large for a float
        return False


def near_misses(name: str, known: Sequence[str], otherwise: str | None = None) -> str:
    """Return "did you mean a or b?" for a misspelt name; if none is similar, `otherwise` or (None) a list of all."""
    if near := near_names(name, known):
        return f"did you mean {' or '.join(near)}?"
    return otherwise or (f"there are {', '.join(known)}" if known else "there are none")


def near_names(name: str, known: Sequence[str]) -> list[str]:
    """Return the known names most similar to a misspelt one, at most three, the most similar first."""
    return difflib.get_close_matches(name, known, n=3)
