"""The setting `watch`: the names of opponents that a run's networks play at intervals."""

import re
from pathlib import Path

from alphago.system.validation import MOST_READOUTS, check_int, check_ranges, setting, settings

RECORDS = "records:"  # prefix of a name in `watch` that is a file or folder of game records
READOUTS = 64  # simulations per move of the run's network against a watched opponent named without "@N"


@settings
class WatchList:
    """The opponents that play matches against a run's networks at intervals, and the time that this may take."""

    opponents: tuple[str, ...] = setting(
        'opponents that play matches against the network at intervals: "random@0", "gnugo:10@64", "rave:1000@64", '
        '"runs/old@0".  The number after @ is the readouts of the run\'s network (default 64; 0 plays its policy '
        'alone); an opponent that is a network uses the same number.  "records:FOLDER" measures the network\'s '
        'predictions of the moves in given games.  "exam@0" and "exam@64" grade it by the exam of its board, '
        '"exam:FILE@64" by another.  Watching does not influence training and does not count as training time',
        default=(),
        shown="opponents to play at intervals: gnugo@64,…",
    )
    share: float = setting(
        "largest share of the run's time that `watch` may take", default=0.05, positive=True, most=0.9
    )

    def __post_init__(self) -> None:
        check_ranges(self, "watch_")
        object.__setattr__(self, "opponents", check_watch(self.opponents))


def check_watch(given: object) -> tuple[str, ...]:
    """Return the names in the setting `watch` as a tuple.

    given: a sequence of names, or one string of names separated by commas.
    Raises ValueError if `given` is anything else, has no name, has a name twice, or has invalid readouts after an @.
    """
    names = given.split(",") if isinstance(given, str) else given
    if not isinstance(names, (tuple, list)) or not names or not all(isinstance(name, str) and name for name in names):
        got = repr(given) if given else "none"
        raise ValueError(f'watch must be names such as "random@0" and "gnugo:10@64", got {got}')
    for name in names:
        split_readouts(name)
        if names.count(name) > 1:
            raise ValueError(f"watch must name each opponent once, got {name!r} twice")
    return tuple(names)


def split_readouts(text: str) -> tuple[str, int]:
    """Split a name of `watch`, such as "gnugo:10@64", into the opponent and the readouts of the run's network.

    Names without "@", records, and paths of existing files that contain "@" get READOUTS.
    Raises ValueError if the text before "@" is empty or the text after it is not a number of readouts.
    """
    opponent, at, readouts = text.rpartition("@")
    is_number = re.fullmatch(r"[0-9]+", readouts) is not None
    is_path = not is_number and Path(text).exists()
    if not at or is_path or text.startswith(RECORDS):
        return text, READOUTS
    if not opponent or not is_number:
        raise ValueError(
            f"watch: after @ come the readouts of the run's network, as in {opponent or 'random'}@64, got {text!r}"
        )
    return opponent, check_int(f"readouts in watch, {text!r},", int(readouts), 0, MOST_READOUTS)
