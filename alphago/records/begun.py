"""Check that a file that was begun by one call goes on with the same call."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any


def check_begun(path: Path, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raise ValueError, which names each difference, unless all that is given now is what the file was begun with.

    before, now: plain data; entries of a mapping in them are compared one by one.
    """
    known, given = flat(before), flat(now)
    changed = [key for key in given if known.get(key) != given[key]]
    if changed:
        got = "; ".join(f"{key} {given[key]}, where it was begun with {known.get(key)}" for key in changed)
        raise ValueError(f"{path} must have been begun by the same call, got {got}: choose another name")


def flat(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return data in which the entries of a mapping stand beside the others, named such as "drawn per_game"."""
    found: dict[str, Any] = {}
    for key, value in data.items():
        found |= {f"{key} {name}": one for name, one in value.items()} if isinstance(value, Mapping) else {key: value}
    return found
