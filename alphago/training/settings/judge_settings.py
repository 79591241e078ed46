"""Settings of the judges that the package has: the gate, an opponent to beat, and opponents to watch."""

import re
from pathlib import Path

from alphago.system.validation import MOST_READOUTS, check_int, check_ranges, setting, settings

RECORDS_PREFIX = "records:"  # prefix of a name in `watch` that is a file or folder of game records
DEFAULT_READOUTS = 64  # simulations per move of the run's network against a watched opponent whose name has no "@N"


@settings
class Gate:
    """The conditions under which a candidate, the latest network, replaces the network that self-play uses."""

    win_rate: float = setting(
        "win rate that the candidate needs against the best network so far; a draw counts half (the paper: 0.55)",
        default=0.55,
        positive=True,
        most=1,
        shown="win rate at which self-play takes a new network",
    )
    games: int = setting(
        "games of a match, an even number: each opening is played with both colours (the paper: 400)",
        default=100,
        least=2,
    )
    every: int | None = setting(
        "games of self-play between two candidates; None for `ckp_freq`, the games between two checkpoints",
        default=None,
        least=1,
    )
    readouts: int | None = setting(
        "simulations per move; 0 compares the policies alone, None uses self-play's number", default=None
    )

    def __post_init__(self) -> None:
        """Raise ValueError or TypeError for invalid settings; the text given to `check_ranges` begins its messages."""
        check_ranges(self, "a gate's ")
        if self.games % 2:
            raise ValueError(f"a gate's games must be an even number, got {self.games!r}")


@settings
class Opponent:
    """A player that a run is to beat, and the schedule of the matches against it."""

    name: str = setting(
        'a player, as for `evaluate` ("gnugo:10", "rave:1000", "alphabeta:8"), that plays matches against the network '
        "every minute of training; the run ends once a sequential test proves that the network is stronger.  Without "
        "a proof, the last network plays it too.  The time of these matches is no training time",
        default="",
        shown="end once the network is proved stronger, as gnugo",
    )
    readouts: int = setting("the network's simulations per move; 0 plays its policy alone", default=64, path_only=True)
    first: float = setting("minutes of training before the first match", default=1.0, path_only=True)
    every: float = setting("minutes of training between two matches", default=1.0, path_only=True)
    most_games: int = setting("largest number of games in a match", default=100, least=1, path_only=True)
    random_opening: int | None = setting(
        "plies on random points at the start of each pair of games; None for the usual number of the game",
        default=None,
        path_only=True,
    )

    def __post_init__(self) -> None:
        """Raise ValueError or TypeError for invalid settings."""
        check_ranges(self, "an opponent's ")
        if not isinstance(self.name, str):  # the value given as `until` comes here as the name
            raise TypeError(f"until must be an opponent's name, an Opponent or None, got {self.name!r}")


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
        """Raise ValueError or TypeError for invalid settings, and make `opponents` a tuple."""
        check_ranges(self, "watch_")
        object.__setattr__(self, "opponents", check_watch(self.opponents))


def check_watch(given: object) -> tuple[str, ...]:
    """Return the names in the setting `watch` as a tuple.

    Args:
        given: a sequence of names, or one string of names separated by commas.

    Raises:
        ValueError: if `given` is anything else, has no name, has a name twice, or has invalid readouts after an @.
    """
    names = given.split(",") if isinstance(given, str) else given
    # Not a sequence, or an empty one, or one with something else than a name, or with the name "".
    if not isinstance(names, (tuple, list)) or not names or not all(isinstance(name, str) and name for name in names):
        got = repr(given) if given else "none"
        raise ValueError(f'watch must be names such as "random@0" and "gnugo:10@64", got {got}')
    named = [split_readouts(name) for name in names]
    for name, pair in zip(names, named, strict=True):
        if named.count(pair) > 1:
            raise ValueError(f"watch must name each opponent once, got {name!r} twice")
    return tuple(names)


def split_readouts(text: str) -> tuple[str, int]:
    """Split a name of `watch`, such as "gnugo:10@64", into the opponent and the readouts of the run's network.

    These get DEFAULT_READOUTS: names without "@"; names of game records, "records:PATH", whose path may have an "@";
    and paths of existing files that have no number after their last "@".

    Raises:
        ValueError: if the text before "@" is empty or the text after it is not a number of readouts.
    """
    opponent, at, readouts = text.rpartition("@")  # `at` is "" if there is no "@"
    is_number = re.fullmatch(r"[0-9]+", readouts) is not None
    is_path = not is_number and Path(text).exists()
    if not at or is_path or text.startswith(RECORDS_PREFIX):
        return text, DEFAULT_READOUTS
    if not opponent or not is_number:
        raise ValueError(
            f"watch: after @ come the readouts of the run's network, as in {opponent or 'random'}@64, got {text!r}"
        )
    return opponent, check_int(f"readouts in watch, {text!r},", int(readouts), 0, MOST_READOUTS)
