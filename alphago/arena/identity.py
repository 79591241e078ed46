"""The identity of an evaluation: the data that determine its games, and by which it is resumed."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from alphago.system.files import explain_os_error, is_new_or_empty, parse_json, read_file, write_atomic


def as_saved(identity: Mapping[str, Any]) -> dict[str, Any]:
    """Return an identity as it is read from a file: with lists for tuples."""
    saved: dict[str, Any] = json.loads(json.dumps(identity))
    return saved


def hashed_folder(identity: Mapping[str, Any]) -> Path:
    """Return the path `runs/evaluate-HASH` with a hash of an identity."""
    digest = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()
    return Path("runs") / f"evaluate-{digest[:10]}"


def open_folder(file: Path, identity: Mapping[str, Any]) -> None:
    """Create the folder of `file` with an identity in the file, or check that it has this identity.

    file: `evaluation.json` in the folder.
    Raises ValueError, which names the first difference, if the folder has another identity or other contents, OSError
    if it cannot be created.
    """
    folder = file.parent
    if os.path.lexists(file):
        if difference := find_difference(file, identity):
            raise ValueError(f"{folder} holds another evaluation ({difference}): choose another folder")
        return
    if not is_new_or_empty(folder):
        raise ValueError(f"{folder} must be a new or empty folder or an evaluation's: choose another one")
    with explain_os_error(f"the folder {folder} cannot be made"):
        folder.mkdir(parents=True, exist_ok=True)
    write_atomic(file, (json.dumps(identity, indent=2) + "\n").encode())


def find_difference(file: Path, identity: Mapping[str, Any]) -> str:
    """Return the first difference of an identity from the one in a file as text, "" if there is none.

    Raises ValueError if the file is damaged.
    """
    try:
        saved = dict(parse_json(read_file(file)))
    except (ValueError, TypeError) as error:
        kind = type(error.__cause__ or error).__name__  # `parse_json` raises ValueError from the true error
        raise ValueError(f"{file} is damaged ({kind})") from error
    key = next((key for key in identity if saved.get(key) != identity[key]), None)
    if key == "weights":
        return "the networks' files, or the engines, have changed"
    return "" if key is None else f"its {key} is {saved.get(key)!r}, got {identity[key]!r}"
