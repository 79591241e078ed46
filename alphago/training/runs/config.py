"""The config of a run on disk: config.json, and a copy beside it in case the disk spoils that."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from types import NoneType
from typing import Any

from alphago.system.files import read_file, set_aside, write_atomic

CONFIG = "config.json"
COPY = "config.copy.json"
# What a config holds, and of what type.
KINDS: dict[str, tuple[type, ...]] = {
    "game": (str,), "env": (dict,), "network": (dict,), "settings": (dict,), "until": (dict, NoneType),
    "changes": (list,), "compacted": (list,),
}  # fmt: skip


def holds_run(path: Path) -> bool:
    """Whether a folder is that of a run."""
    return (path / CONFIG).is_file() or (path / COPY).is_file()


def read_config(path: Path) -> dict[str, Any]:
    """The config of the run in a folder, from its copy where it is damaged.

    ValueError with a sentence that says what to do if both are, or if they are of another version.
    """
    try:
        return parsed(path / CONFIG)
    except ValueError as error:
        with contextlib.suppress(ValueError):
            return parsed(path / COPY)
        raise ValueError(f"{path / CONFIG} {error}: {way_out(path)}") from error


def parsed(path: Path) -> dict[str, Any]:
    """The config in a file; ValueError that says what is wrong with it."""
    try:
        config = json.loads(read_file(path))
    except FileNotFoundError:
        raise ValueError("is gone") from None
    except RecursionError as error:
        raise ValueError("is damaged (RecursionError)") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"is damaged ({type(error).__name__})") from error
    if not isinstance(config, dict):
        raise ValueError("is damaged (it is no table)")
    wrong = [name for name, kinds in KINDS.items() if name not in config or not isinstance(config[name], kinds)]
    if wrong:
        raise ValueError(f"is of another version, or incomplete ({', '.join(wrong)})")
    return config


def write_config(path: Path, config: dict[str, Any]) -> None:
    """Writes the config of the run in a folder, and its copy; OSError if that fails."""
    data = (json.dumps(config, indent=2) + "\n").encode()
    for name in (CONFIG, COPY):
        write_atomic(path / name, data)


def mend_config(path: Path, config: dict[str, Any]) -> list[str]:
    """Makes config and copy hold what `read_config` read, where one does not; returns what was set aside, told."""
    notes = []
    try:
        sound = parsed(path / CONFIG) == parsed(path / COPY)
    except ValueError:
        sound = False
    if not sound:
        try:
            parsed(path / CONFIG)
        except ValueError as error:
            gone = not (path / CONFIG).exists()
            told = f"{path / CONFIG} {error}" if gone else set_aside(path / CONFIG, str(error))
            notes.append(f"{told}; its copy is in its place")
        write_config(path, config)
    return notes


@contextlib.contextmanager
def of_this_version(path: Path, what: str) -> Iterator[None]:
    """Makes it a ValueError that says what to do when the block cannot use `what` from the run in a folder."""
    try:
        yield
    except (TypeError, KeyError) as error:
        raise another_version(path, what, str(error)) from error


def another_version(path: Path, what: str, why: str) -> ValueError:
    """The error about a run that another version of the package has left."""
    return ValueError(f"the run in {path} has {what} of another version ({why}): {way_out(path)}")


def way_out(path: Path) -> str:
    """What to do with a run that cannot go on."""
    return f"it cannot go on, but alphago train --model {path} --folder ANOTHER begins a new run with its network"
