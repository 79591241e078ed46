"""Settings of a run: its length, its boards, and the parts that it is made of."""

from dataclasses import replace
from typing import Any

from alphago.nn.inference.hardware import DTYPES
from alphago.records.record import SEED_END
from alphago.system.settings_tree import group, part, parts
from alphago.system.validation import check_bool, check_choice, check_ranges, setting, settings

NO_LIMIT = 10**9  # number of games of a run that `num_games` does not limit; no run plays more
GENERATION = 1 / 16  # games in parallel, as a share of the games played, beyond `first_games_in_flight`
MOST_IN_FLIGHT = 256  # default upper bound of the games in parallel of a run on a CPU


@settings
class RunSettings:
    """Settings of a run.

    num_games, memory_size, batch_size, epochs, ckp_freq, start_training_after and readouts have AlphaGo.jl's names.
    """

    num_games: int | None = setting(
        "games of self-play (AlphaGo.jl 25 000, AlphaGo Zero 4.9 million); None for no limit but `max_minutes`",
        default=1000,
        least=1,
        shown=True,
    )
    max_minutes: float | None = setting(
        "minutes of training; then the run ends, unless it has reached `num_games` before; None for no limit",
        default=None,
        positive=True,
        shown=True,
    )
    seed: int = setting(
        "random seed of games, samples and initial weights",
        default=0,
        least=0,
        most=SEED_END - 1,
        structural=True,
        shown=True,
    )
    curriculum: Any = setting(
        "smaller boards first, in order, as pairs (board size, share of the run): ((7, 0.25),) plays the first quarter "
        "of the run on 7x7.  They have their default komi.  By default the whole run is on the game's own board.  For "
        "size-free networks",
        default=(),
        structural=True,
        shown=True,
    )
    ckp_freq: int = setting("games between two checkpoints", default=100, least=1, shown=True)
    first_readouts: int | None = setting(
        "readouts at the run's beginning, which rise to `readouts` exponentially over the run; None for `readouts` in "
        "the whole run",
        default=None,
        least=1,
    )
    first_games_in_flight: int | None = setting(
        "games in parallel at the run's beginning; later 1/16 of the games played so far, up to `games_in_flight`, "
        "since with many parallel games the first results come late; None for `games_in_flight` in the whole run",
        default=None,
        least=1,
    )
    plies_per_iteration: int = setting("moves played in every game per iteration", default=16, least=1)
    adaptive_resignation: bool = setting(
        "after each iteration, fit the resignation threshold to the games without resignation, so that at most 5 % of "
        "the resignations are wrong (AlphaGo Zero); `resign_threshold` is used until there are enough games",
        default=False,
    )
    exact_rules: bool = setting(
        "whether self-play uses the game itself; otherwise Go forbids early passes, varies komi, and makes outcomes "
        "depend slightly on the margin",
        default=False,
        structural=True,
    )
    selfplay_dtype: str | None = setting(
        'dtype of inference in self-play: "float32", "bfloat16" or, on CPUs that support it, "int8"; None for the '
        "fastest",
        default=None,
    )
