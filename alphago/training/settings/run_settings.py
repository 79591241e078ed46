"""Settings of a run: its length, its boards, and the parts that it is made of."""

import operator
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from alphago.env.game import GameEnv
from alphago.nn.inference.hardware import DTYPES
from alphago.records.record import SEED_END
from alphago.system.settings import group, part
from alphago.system.validation import check_choice, check_float, check_ranges, setting, settings
from alphago.training.judge import JudgeSettings
from alphago.training.memory import MemorySettings
from alphago.training.settings.judge_settings import Gate, Opponent, WatchList
from alphago.training.settings.learning_settings import LearningSettings, Window
from alphago.training.settings.selfplay_settings import (
    NO_LIMIT,
    SelfPlaySettings,
    default_games_in_flight,
    default_groups,
)
from alphago.training.targets import LambdaReturns, Targets, Values, as_targets

IN_FLIGHT_SHARE = 1 / 16  # games in parallel as a share of the games that are over, see `RunSettings.side_by_side`
MOST_IN_FLIGHT = 256  # default upper bound of the games in parallel of a run on a CPU
Curriculum = tuple[tuple[int, float], ...]  # pairs (board size, share of the run)


class Lesson(NamedTuple):
    """A stage of the curriculum: a game that is played until the run's progress (0 .. 1) reaches `end`."""

    env: GameEnv
    end: float


@settings
class AnyRunSettings:
    """Settings of a run that learns from its own games or from given games."""

    num_games: int | None = setting("games to learn from; None for no limit but `max_minutes`", default=None, least=1)
    max_minutes: float | None = setting(
        "minutes of training; then the run ends, unless it has reached its number of games before; None for no limit",
        default=None,
        positive=True,
        shown="minutes of training",
    )
    max_processor_minutes: float | None = setting(
        "minutes of one core, spent by all threads of the run's process, after which the run ends, however busy the "
        "machine is; workers, engines and opponents to watch do not count; in place of `max_minutes`",
        default=None,
        positive=True,
    )
    seed: int = setting(
        "random seed of games, samples and initial weights",
        default=0,
        most=SEED_END - 1,
        structural=True,
        shown="random seed",
    )
    ckp_freq: int = setting(
        "games between two checkpoints", default=100, least=1, shown="games between two checkpoints"
    )
    learning: LearningSettings = group("learning", LearningSettings)
    watch: WatchList | None = part(
        "the opponents that play matches against the network, and the time for it",
        default=None,
        title="opponents to watch",
        kind=WatchList,
        prefix="watch_",
    )

    @property
    def game_limit(self) -> int:
        """The run's number of games: `num_games`, or NO_LIMIT if that is None."""
        return NO_LIMIT if self.num_games is None else self.num_games


@settings
class RunSettings(AnyRunSettings):
    """Settings of a run of self-play and learning.

    num_games, memory_size, batch_size, epochs, ckp_freq, start_training_after and readouts have AlphaGo.jl's names.
    """

    num_games: int | None = setting(
        "games of self-play (AlphaGo.jl 25 000, AlphaGo Zero 4.9 million); None for no limit but `max_minutes`",
        default=1000,
        least=1,
        shown="games of self-play",
    )
    curriculum: Curriculum = setting(
        "smaller boards first, as pairs (board size, share of the run): ((7, 0.25),) plays the first quarter of the "
        "run on 7x7.  They have their default komi.  By default the whole run is on the game's own board.  For "
        "size-free networks",
        default=(),
        structural=True,
        shown="smaller boards first, such as 7:0.25",
    )
    start_training_after: int = setting("positions (not games) in memory before the first gradient step", default=1000)
    epochs: int = setting("gradient steps on each batch", default=1, least=1)
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
        "whether self-play uses the game itself; otherwise in Go early passes are forbidden, komi varies, and outcomes "
        "depend slightly on the margin",
        default=False,
        structural=True,
        python="See `GameEnv.selfplay_variant`",
    )
    selfplay_dtype: str | None = setting(
        'dtype of inference in self-play and in matches of judges: "float32", "bfloat16" or, on CPUs that support it, '
        '"int8"; None for the fastest on this kind of processor',
        default=None,
        python="See NetEvaluator",
    )
    selfplay: SelfPlaySettings = group("self-play", SelfPlaySettings)
    memory: MemorySettings = part("what the run learns from", default=Window(), structural=True)
    targets: Targets | Values = part(
        "the rule that makes value and policy targets from a game's record",
        default=LambdaReturns(),
        python="Or a function that returns a record's value targets",
    )
    gate: Gate | None = part(
        "the gate: self-play takes a new network once it has won a match; any of its settings switches it on",
        default=None,
        kind=Gate,
        prefix="gate_",
    )
    until: Opponent | None = part(
        "the opponent to beat, and the matches against it",
        default=None,
        title="the opponent to beat",
        kind=Opponent,
        python='Such as "gnugo" or "rave:1000"; the proof is written to proof.json, see '
        "`alphago.training.judges.proof`",
    )
    judges: tuple[JudgeSettings[Any], ...] = setting("further judges of the run's networks", default=())

    def __post_init__(self) -> None:
        """Raise ValueError or TypeError for invalid settings; make `curriculum` and `judges` tuples."""
        check_ranges(self)
        object.__setattr__(self, "curriculum", check_curriculum(self.curriculum))
        if self.selfplay_dtype is not None:
            check_choice("selfplay_dtype", self.selfplay_dtype, DTYPES)
        times = [time for time in (self.max_minutes, self.max_processor_minutes) if time is not None]
        if self.num_games is None and not times:
            raise ValueError("num_games or max_minutes must end the run, got None for both")
        if len(times) > 1:
            raise ValueError(f"max_minutes or max_processor_minutes must be None, got {times[0]:g} and {times[1]:g}")
        if isinstance(self.memory, Window) and self.start_training_after > self.memory.memory_size:
            raise ValueError(
                f"start_training_after ({self.start_training_after}) is more than memory_size "
                f"({self.memory.memory_size}): training would never start"
            )
        if not hasattr(self.memory, "make_memory"):
            raise TypeError(f"memory must be settings with a method make_memory, got {self.memory!r}")
        is_sequence = isinstance(self.judges, (tuple, list))
        if not is_sequence or not all(hasattr(judge, "make_judge") for judge in self.judges):
            raise TypeError(f"judges must be a list of settings with a method make_judge, got {self.judges!r}")
        object.__setattr__(self, "judges", tuple(self.judges))
        choosing = [judge for judge in self.judges if judge.chooses] + ([self.gate] if self.gate else [])
        if len(choosing) > 1:
            raise ValueError(f"judges must have at most one that chooses self-play's network, got {choosing}")
        as_targets(self.targets)  # raises TypeError unless they are targets or a function

    def completed(self, device: str, before: "RunSettings | None" = None) -> "RunSettings":
        """Return these settings with values in place of None in `games_in_flight`, `groups` and the search's settings.

        Args:
            device: the run's device, "cpu" or a GPU such as "cuda".
            before: the settings of the run so far, whose parallel games and groups remain; None for a new run.
        """
        if before is not None:
            in_flight, groups = before.selfplay.games_in_flight, before.selfplay.groups
        else:
            most = MOST_IN_FLIGHT if device == "cpu" else default_games_in_flight(device)
            # At most an eighth of the run's games: games that begin at the same time do not learn from each other.
            in_flight = max(1, min(most, self.game_limit // 8))
            groups = default_groups(device)
        return replace(self, selfplay=self.selfplay.completed(in_flight, groups))

    def side_by_side(self, games: int) -> int:
        """Return the number of games to play in parallel once `games` games of the run are over.

        Games in progress at the same time do not learn from each other, so few are played at first.  The number is the
        share IN_FLIGHT_SHARE of `games`, but at least `first_games_in_flight` and at most `games_in_flight`.  If
        `first_games_in_flight` is None, the number is always `games_in_flight`.
        """
        most = self.selfplay.games_in_flight
        return min(most, max(self.first_games_in_flight or most, int(IN_FLIGHT_SHARE * games)))

    def readouts_at(self, progress: float) -> int:
        """Return the readouts per move when the run's progress is `progress`, 0 .. 1."""
        last = self.selfplay.readouts
        first = self.first_readouts or last
        return round(first * (last / first) ** progress)  # exponentially from `first` to `last`

    def lessons(self, env: GameEnv) -> list[Lesson]:
        """Return the lessons of the curriculum, in order; the game of the last one is `env`.

        Successive lessons of one game are joined: ((7, 0.25),) makes one lesson if `env` itself is the game on 7x7.

        Raises:
            ValueError: if the game has no board of a size in the curriculum.
        """
        games = [env if size == env.N else env.resized(size) for size, _ in self.curriculum]  # the smaller boards
        ends = np.cumsum([share for _, share in self.curriculum]).tolist()
        lessons = [*map(Lesson, games, ends), Lesson(env, 1.0)]
        # Of successive lessons of one game, the last one has the end of all of them.
        return [list(same_game)[-1] for _, same_game in groupby(lessons, key=lambda lesson: lesson.env)]


def check_curriculum(given: Any) -> Curriculum:
    """Return the setting `curriculum` as tuples; raise ValueError if it is invalid."""
    with suppress(TypeError, ValueError):  # raised for anything but pairs of numbers
        pairs = tuple((operator.index(size), check_float("share", share)) for size, share in given)
        shares = [share for _, share in pairs]
        if all(share > 0 for share in shares) and sum(shares) < 1:
            return pairs
    raise ValueError(
        f"curriculum must be pairs (board size, share of the run) with shares that sum to less than 1, got {given!r}"
    )
