"""Settings: frozen dataclasses, made from keywords with an error that names near misses."""

import difflib
from dataclasses import fields
from typing import Any, TypeVar

Kind = TypeVar("Kind")


def make_settings(kind: type[Kind], **given: Any) -> Kind:
    """A settings dataclass from keywords; TypeError that names near misses for a keyword it lacks."""
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=3)
            hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}"
            raise TypeError(f"no setting {name!r}: {hint}")
    return kind(**given)
