"""Settings: frozen dataclasses, made from keywords with an error that names near misses."""

import difflib
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, TypeVar

Kind = TypeVar("Kind")


def make_settings(kind: type[Kind], **given: Any) -> Kind:
    """A settings dataclass from keywords; TypeError that names near misses for a keyword it lacks."""
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    for name in given:
        if name not in known:
            raise TypeError(f"no setting {name!r}: {near_misses(name, known)}")
    return kind(**given)


def near_misses(name: str, known: Sequence[str], told: str | None = None) -> str:
    """'did you mean a or b?' for what a name was probably meant to be; where nothing is near, `told`, or all names."""
    near = difflib.get_close_matches(name, known, n=3)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return told or f"there are {', '.join(known)}"
