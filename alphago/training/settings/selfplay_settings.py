"""Settings of self-play."""

from dataclasses import replace

from alphago.mcts.search import SearchSettings, leaves_for
from alphago.system.cores import available_cores
from alphago.system.settings_tree import part
from alphago.system.validation import MOST_READOUTS, check_ranges, setting, settings


@settings
class SelfPlaySettings:
    """Settings of self-play: search, choice of moves, resignation, and parallel games."""

    readouts: int = setting(
        "simulations per move (800 in AlphaZero and AlphaGo.jl)", default=800, least=1, most=MOST_READOUTS, shown=True
    )
    games_in_flight: int = setting(
        "games played in parallel, over all groups; None for as many as keep the device busy: 64, or 4096 on a GPU; in "
        "a run for an eighth of `num_games`, at most 256, or 4096 on a GPU",
        default=None,
        least=1,
        automatic=True,
        structural=True,
        shown=True,
    )
    # A group plays the games with certain numbers: with another number of groups, a resumed run would play some games
    # twice and others never.
    groups: int = setting(
        "threads, each with its own share of the games; None for one per core, or 4 on a GPU, where the remaining "
        "cores help with the trees",
        default=None,
        least=1,
        automatic=True,
        structural=True,
    )
    temperature_plies: int | None = setting(
        "number of first plies whose moves are drawn in proportion to visits; None for N^2 / 12", default=None, least=0
    )
    resign_threshold: float | None = setting(
        "a player resigns if the root's value (-1 .. 1, in that player's view) is below this threshold; None for "
        "never, since a young network that has seen White win every game would resign as Black after a few moves",
        default=None,
        least=-1,
        most=1,
    )
    no_resign_share: float = setting(
        "share of games without resignation (AlphaGo Zero: 0.1; AlphaGo.jl: 0.05)",
        default=0.05,
        least=0,
        most=1,
    )
    opening_plies: float | None = setting(
        "mean number of first moves that are drawn from the network's policy without search, and not trained on; the "
        "number is drawn for each game from an exponential distribution; None for a twentieth of the longest game's "
        "plies (of 2 plies per action, if that is less)",
        default=None,
        least=0,
        most=1_000_000,
    )
