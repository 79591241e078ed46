"""Settings: frozen dataclasses, made from keywords with an error that names near misses."""

import difflib
import math
import numbers
from collections.abc import Sequence
from dataclasses import fields
from enum import Enum
from types import NoneType
from typing import Any, Literal, TypeVar, get_args, get_type_hints

Kind = TypeVar("Kind")


class Unsaid(Enum):
    """The default of a keyword that a call may leave out where None says something."""

    UNSAID = "unsaid"

    def __repr__(self) -> str:
        return self.name


UNSAID: Literal[Unsaid.UNSAID] = Unsaid.UNSAID


def make_settings(kind: type[Kind], **given: Any) -> Kind:
    """A settings dataclass from keywords; TypeError that names near misses for a keyword it lacks.

    ValueError for None where a setting cannot be without a value.
    """
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    for name in given:
        if name not in known:
            raise TypeError(f"no setting {name!r}: {near_misses(name, known)}")
    hints = get_type_hints(kind)
    for name, value in given.items():
        if value is None and NoneType not in get_args(hints[name]):
            raise ValueError(f"{name} has to have a value, came None")
    return kind(**given)


def whole(name: str, value: Any, least: int) -> int:
    """A whole number of at least that size; ValueError that names it."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise ValueError(f"{name} is a whole number from {least}, came {value!r}")
    return int(value)


def real(name: str, value: Any, least: float = -math.inf, most: float = math.inf) -> float:
    """A finite number from `least` to `most`; ValueError that names it."""
    plain = not isinstance(value, bool) and isinstance(value, numbers.Real) and math.isfinite(value)
    if plain and least <= value <= most:
        return float(value)
    bounds = "a number" if least == -math.inf else f"{least:g} or more"
    raise ValueError(f"{name} is {bounds if most == math.inf else f'{least:g} to {most:g}'}, came {value!r}")


def near_misses(name: str, known: Sequence[str], told: str | None = None) -> str:
    """'did you mean a or b?' for what a name was probably meant to be; where nothing is near, `told`, or all names."""
    near = difflib.get_close_matches(name, known, n=3)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return told or f"there are {', '.join(known)}"
