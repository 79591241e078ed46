"""Settings of self-play, and the random choices with which a game begins."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from alphago.env.game import GameEnv
from alphago.mcts.rule import SearchSettings
from alphago.mcts.search import leaves_for
from alphago.mcts.search_specs import SEARCHES, SELF_PLAY_RULE, check_heeds_early
from alphago.system.cores import available_cores
from alphago.system.settings import part
from alphago.system.validation import MOST_READOUTS, check_ranges, setting, settings

NO_LIMIT = 10**9  # number of games of a run that `num_games` does not limit; no run plays more


@settings
class SelfPlaySettings:
    """Settings of self-play: search, choice of moves, resignation, and parallel games."""

    readouts: int = setting(
        "simulations per move (800 in AlphaZero and AlphaGo.jl)",
        default=800,
        least=1,
        most=MOST_READOUTS,
        shown="simulations per move",
    )
    # The default of this field and of the next is None, in place of which `completed` puts a number.
    games_in_flight: int = setting(
        "games played in parallel, over all groups; by default as many as keep the device busy: 64, or 8192 on a GPU; "
        "in a run an eighth of its games, at most 256, or 8192 on a GPU",
        default=None,
        least=1,
        structural=True,
        shown="games played in parallel",
    )
    # Group g of G plays the games g, g + G, g + 2 G, …  With another number of groups, a resumed run would play some
    # games twice and others never.
    groups: int = setting(
        "threads, each with its own share of the games; by default one per core, or 2 on a GPU, where further cores "
        "help with the trees",
        default=None,
        least=1,
        structural=True,
    )
    temperature_plies: int | None = setting(
        "number of first plies whose moves are drawn in proportion to visits; None for N^2 / 12; not for Gumbel "
        "search, whose noise varies the moves",
        default=None,
    )
    resign_threshold: float | None = setting(
        "a player resigns if the root's value (-1 .. 1, in that player's view) is below this threshold; None for "
        "never, since a young network that has seen White win every game would resign as Black after a few moves",
        default=None,
        least=-1,
        most=1,
    )
    no_resign_share: float = setting(
        "share of games without resignation (AlphaGo Zero: 0.1; AlphaGo.jl: 0.05)", default=0.05, most=1
    )
    play_out: bool = setting(
        "whether a resigned game goes on to its end, by the network's most probable moves, without search and not "
        "learned, so that its result, score and ownership are known",
        default=False,
    )
    opening_plies: float | None = setting(
        "mean number of first moves that are drawn from the network's policy without search, and not trained on; the "
        "number is drawn for each game from an exponential distribution; None for a twentieth of the longest game's "
        "plies (of 2 plies per action, if that is less)",
        default=None,
        most=1_000_000,
    )
    search: SearchSettings = part(
        "the search",
        default=SEARCHES[SELF_PLAY_RULE](),
        choices=SEARCHES,
        shown="the search",
        python="Settings such as Puct(c_puct=1.5); or a name or a dictionary of settings",
    )

    def __post_init__(self) -> None:
        """Raise ValueError or TypeError for invalid settings, also for a search that would ignore one of them."""
        check_ranges(self)
        if not isinstance(self.search, SearchSettings):
            raise TypeError(f"search must be settings of a search such as Puct(), got {self.search!r}")
        if self.temperature_plies is not None:
            # Raises if the search does not heed which moves are early: it would ignore their temperature.
            check_heeds_early(self.search, "temperature_plies")

    @property
    def usual_search(self) -> SearchSettings:
        """The default search, completed for the readouts and the parallel games of these (completed) settings."""
        usual = replace(self, search=SEARCHES[SELF_PLAY_RULE](), temperature_plies=None)  # a setting of some searches
        return usual.completed(self.games_in_flight, self.groups).search

    def completed(self, games_in_flight: int, groups: int) -> "SelfPlaySettings":
        """Return these settings with values in place of None.

        The search chooses its own settings that are None, for the readouts and the parallel games.

        Args:
            games_in_flight, groups: the values for the fields of these names, if they are None.
        """
        in_flight = self.games_in_flight or games_in_flight
        search = self.search.completed(self.readouts, leaves_for(in_flight, self.readouts))
        return replace(self, games_in_flight=in_flight, groups=self.groups or groups, search=search)


def default_games_in_flight(device: str) -> int:
    """Return the number of parallel games that keeps a device busy; device: "cpu", or a GPU such as "cuda"."""
    return 64 if device == "cpu" else 8192


def default_groups(device: str) -> int:
    """Return the number of self-play threads: one per core, or two on a GPU.

    On a GPU, one thread works while the other waits for the GPU.  More threads would wait for Python's global lock
    (docs/experiments/34).
    """
    return available_cores() if device == "cpu" else 2


class GameStart(NamedTuple):
    """The random choices before a game's first move, and the game's random generator in the state after them."""

    generator: np.random.Generator
    setup: dict[str, Any]  # keywords of `GameEnv.position`, such as a random komi
    opening: int  # number of first plies that the policy plays without search
    may_resign: bool


def draw_start(env: GameEnv, settings: SelfPlaySettings, seed: int, number: int) -> GameStart:
    """Make the random choices before a game's first move; the same seed and number give the same choices.

    Args:
        seed: the run's seed.
        number: the game's number in the run.
    """
    # The order of the draws below decides every game, so it stays as it is.
    generator = np.random.default_rng([seed, number])
    setup = env.random_setup(generator)
    longest = min(env.max_moves, 2 * env.action_space)  # games without a limit have a huge max_moves
    usual_plies = longest / 20  # as the help of `opening_plies` says
    mean_plies = usual_plies if settings.opening_plies is None else settings.opening_plies
    opening = int(generator.exponential(mean_plies))  # rounded down
    may_resign = bool(generator.random() >= settings.no_resign_share)
    return GameStart(generator, setup, opening, may_resign)
