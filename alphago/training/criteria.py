"""The criteria by which a run's networks are judged: the gate, champions, an opponent to beat, opponents to watch."""

import re
from pathlib import Path
from typing import Any

from alphago.arena.sprt import Sprt
from alphago.system.validation import MOST_READOUTS, check_int, check_ranges, setting, settings

RECORDS = "records:"  # prefix of a name in `watch` that is a file or folder of game records
READOUTS = 64  # simulations per move of the run's network against a watched opponent named without "@N"


@settings
class Gate:
    """The conditions under which a candidate, the latest network, replaces the network that self-play uses."""

    win_rate: float = setting(
        "win rate that the candidate needs against the best network so far; a draw counts half (the paper: 0.55)",
        default=0.55,
        positive=True,
        most=1,
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
        "simulations per move; 0 compares the policies alone, None uses self-play's number", default=None, least=0
    )
    sprt: tuple[float, float] | None = setting(
        "two Elo differences (elo0, elo1) of a sequential test (see Sprt) that replaces the win rate: the candidate is "
        "accepted if the test accepts elo1; the test may end the match early, and fails if undecided after `games`",
        default=None,
    )

    def __post_init__(self) -> None:
        check_ranges(self, "a gate's ")
        if self.games % 2:
            raise ValueError(f"a gate's games must be an even number, got {self.games!r}")
        if self.sprt is not None:
            if not isinstance(self.sprt, (tuple, list)) or len(self.sprt) != 2:
                raise ValueError(f"a gate's sprt must be a pair of Elo differences or None, got {self.sprt!r}")
            Sprt(*self.sprt)  # raises unless it is an ordered pair of numbers
            object.__setattr__(self, "sprt", tuple(map(float, self.sprt)))


@settings
class Champions:
    """Settings of a run whose two best networks, the champions, play self-play (see ChampionKeeper).

    They state when a candidate, the latest network, becomes a champion, and which networks play each other.  The
    defaults are CGZero's (marchete 2020) unless a setting's help gives another number for CGZero.
    """

    win_rate: float = setting(
        "win rate that the candidate needs against the best network, a draw counting half",
        default=0.556,
        positive=True,
        most=1,
    )
    second_rate: float = setting(
        "win rate that an accepted candidate needs against the second best network: then the previous best network "
        "becomes the second best, else the second best stays, since it has a strength that the candidate lacks",
        default=0.5,
        least=0,
        most=1,
    )
    games: int = setting(
        "games of a match against each champion, an even number: each opening is played with both colours (CGZero: "
        "400)",
        default=100,
        least=2,
    )
    every: int | None = setting(
        "games of self-play between two candidates; None for one candidate after each generation of a pool, or "
        "without a pool for `ckp_freq`, the games between two checkpoints",
        default=None,
        least=1,
    )
    readouts: int | None = setting(
        "simulations per move; 0 compares the policies alone, None uses self-play's number", default=None, least=0
    )
    recent: int = setting(
        "number of latest candidates, including the newest, from which self-play's recent network is drawn",
        default=6,
        least=1,
        most=100,
    )
    recent_share: float = setting(
        "share of self-play's games in which a champion plays a recent network", default=0.1, least=0, most=0.8
    )
    least_share: float = setting(
        "least share of self-play's games in which the best network plays itself", default=0.2, least=0, most=1
    )

    def __post_init__(self) -> None:
        check_ranges(self, "the champions' ")
        if self.games % 2:
            raise ValueError(f"the champions' games must be an even number, got {self.games!r}")
        if self.least_share + self.recent_share > 1:
            raise ValueError(
                "the champions' least_share and recent_share must be at most 1 together, got "
                f"{self.least_share!r} and {self.recent_share!r}"
            )


@settings
class Opponent:
    """A player that a run is to beat, and the schedule of the matches against it."""

    name: str = setting('the player\'s name, as for `evaluate` ("gnugo:10", "rave:1000", "alphabeta:8")', default="")
    readouts: int = setting("the network's simulations per move; 0 plays its policy alone", default=64, least=0)
    first: float = setting("minutes of training before the first match", default=1.0, least=0)
    every: float = setting("minutes of training between two matches", default=1.0, least=0)
    most_games: int = setting("largest number of games in a match", default=100, least=1)
    random_opening: int | None = setting(
        "plies on random points at the start of each pair of games; None for the usual number of the game",
        default=None, least=0,
    )  # fmt: skip

    def __post_init__(self) -> None:
        check_ranges(self, "an opponent's ")


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
