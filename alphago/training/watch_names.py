"""The setting `watch`: the names of opponents that a run's networks play at intervals."""

import re
from pathlib import Path
from typing import Any

from alphago.system.validation import MOST_READOUTS, check_int

RECORDS = "records:"  # prefix of a name in `watch` that is a file or folder of game records
READOUTS = 64  # simulations per move of the run's network against a watched opponent named without "@N"


def check_watch(given: Any) -> tuple[str, ...] | None:
    """Return the names in the setting `watch` as a tuple; None if `given` has no names.

    given: a sequence of names, one string of names separated by commas, or None.
    Raises ValueError if `given` is anything else, has a name twice, or has a name with invalid readouts after "@".
    """
    if given is None:
        return None
    names = given.split(",") if isinstance(given, str) else given
    if not isinstance(names, (tuple, list)) or not all(isinstance(name, str) and name for name in names):
        raise ValueError(f'watch must be names such as ["random@0", "gnugo:10@64"] or None, got {given!r}')
    for name in names:
        split_readouts(name)
        if names.count(name) > 1:
            raise ValueError(f"watch must name each opponent once, got {name!r} twice")
    return tuple(names) or None


def split_readouts(text: str) -> tuple[str, int]:
    """Split a name of `watch`, such as "gnugo:10@64", into the opponent and the readouts of the run's network.

    Names without "@", records, and paths of existing files that contain "@" get READOUTS.
    Raises ValueError if the text before "@" is empty or the text after it is not a number of readouts.
    """
    base, at, own = text.rpartition("@")
    if text.startswith(RECORDS) or not at or (not re.fullmatch(r"[0-9]+", own) and Path(text).exists()):
        return text, READOUTS
    if not base or not re.fullmatch(r"[0-9]+", own):
        raise ValueError(
            f"watch: after @ come the readouts of the run's network, as in {base or 'random'}@64, got {text!r}"
        )
    return base, check_int(f"readouts in watch, {text!r},", int(own), 0, MOST_READOUTS)
