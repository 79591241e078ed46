"""Settings of the judges that the package has: the gate, and an opponent to beat."""

from alphago.arena.sprt import Sprt
from alphago.system.validation import check_ranges, setting, settings


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
        "simulations per move; 0 compares the policies alone, None uses self-play's number", default=None, least=0
    )
    sprt: tuple[float, float] | None = setting(
        "two Elo differences (elo0, elo1) of a sequential test that replaces the win rate: the candidate is "
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
class Opponent:
    """A player that a run is to beat, and the schedule of the matches against it."""

    name: str = setting(
        'a player, as for `evaluate` ("gnugo:10", "rave:1000", "alphabeta:8"), that plays matches against the network '
        "every minute of training; the run ends once a sequential test proves that the network is stronger.  Without "
        "a proof, the last network plays it too.  The time of these matches is no training time",
        default="",
        shown="end once the network is proved stronger, as gnugo",
    )
    readouts: int = setting(
        "the network's simulations per move; 0 plays its policy alone", default=64, least=0, rare=True
    )
    first: float = setting("minutes of training before the first match", default=1.0, least=0, rare=True)
    every: float = setting("minutes of training between two matches", default=1.0, least=0, rare=True)
    most_games: int = setting("largest number of games in a match", default=100, least=1, rare=True)
    random_opening: int | None = setting(
        "plies on random points at the start of each pair of games; None for the usual number of the game",
        default=None,
        least=0,
        rare=True,
    )

    def __post_init__(self) -> None:
        check_ranges(self, "an opponent's ")
        if not isinstance(self.name, str):
            raise TypeError(f"until must be an opponent's name, an Opponent or None, got {self.name!r}")
