"""The settings of self-play and training: frozen dataclasses, saved in a run's config.json.

Each field is one `setting(...)` with its help, default and range.  A field of SelfPlaySettings is automatically also a
setting of runs and a flag of `alphago selfplay` and `alphago train`.
"""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from alphago.mcts.search import SearchSettings, leaves_for
from alphago.nn.inference.hardware import DTYPES
from alphago.nn.loss import LOSSES, LossWeights
from alphago.records.record import SEED_END
from alphago.system.cores import available_cores
from alphago.system.validation import (
    MOST_READOUTS,
    check_bool,
    check_ranges,
    make_settings,
    plain_number,
    setting,
    settings,
)
from alphago.training.curriculum import Curriculum, check_curriculum
from alphago.training.judge import JudgeSettings
from alphago.training.memory import MemorySettings
from alphago.training.optimizer import OPTIMIZERS, MakeOptimizer, Steps, check_schedule
from alphago.training.seating import SeatingSettings
from alphago.training.targets import LambdaReturns, Targets, Values, as_targets
from alphago.training.watch_names import check_watch
from alphago.training.window import Window

NO_LIMIT = 10**9  # number of games of a run that `num_games` does not limit; no run plays more
GENERATION = 1 / 16  # games in parallel, as a share of the games played, beyond `first_games_in_flight`
MOST_IN_FLIGHT = 256  # default upper bound of the games in parallel of a run on a CPU


@settings
class SelfPlaySettings:
    """Settings of self-play: search, choice of moves, resignation, and parallel games."""

    readouts: int = setting(
        "simulations added per move (800 in AlphaZero and AlphaGo.jl)", default=800, least=1, most=MOST_READOUTS
    )
    games_in_flight: int | None = setting(
        "games played in parallel, over all groups; None for 64, or 4096 on a GPU", default=None, least=1
    )
    groups: int | None = setting(
        "threads, each with its own share of the games; None for one per core, or 4 on a GPU, where the remaining "
        "cores help with the trees",
        default=None,
        least=1,
    )
    temperature_plies: int | None = setting(
        "number of first plies whose moves are drawn in proportion to visits; None for N^2 / 12; without effect on a "
        "Gumbel search",
        default=None,
        least=0,
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
    seating: SeatingSettings | None = setting(
        "who plays which move of a game, and which moves are learned, such as CGZeroGames; None: one network plays all "
        "moves, or those networks that a judge gives",
        default=None,
    )
    search: SearchSettings | Mapping[str, Any] | None = setting(
        "the search, a SearchSettings; None for a Gumbel search with enough leaves to fill a batch; a dictionary "
        "changes some settings of that Gumbel search",
        default=None,
    )

    def __post_init__(self) -> None:
        check_ranges(self)
        if isinstance(self.search, Mapping):  # convert numpy's numbers, which JSON cannot save
            plain = {name: plain_number(value) for name, value in self.search.items()}
            object.__setattr__(self, "search", plain)
        self.search_for(64)  # raises if it is not a search

    def search_for(self, games: int) -> SearchSettings:
        """Return the settings of the search for self-play with `games` games in parallel.

        With few games, each search evaluates more leaves per wave, so that batches are full.
        Raises TypeError if `search` has a wrong type, or names a setting that SearchSettings does not have.
        """
        if isinstance(self.search, SearchSettings):
            return self.search
        if self.search is not None and not isinstance(self.search, Mapping):
            raise TypeError(
                f'search must be SearchSettings, a dictionary such as {{"gumbel": True}} or None, got {self.search!r}'
            )
        considered = max(2, min(16, self.readouts // 2))
        usual = {"gumbel": True, "considered": considered, "leaves": leaves_for(games, self.readouts)}
        return make_settings(SearchSettings, **{**usual, **(self.search or {})})

    def resolved(self, device: str, games: int) -> "SelfPlaySettings":
        """Return these settings with defaults instead of None in `games_in_flight`, `groups` and `search`.

        device: "cpu", or a GPU such as "cuda".
        games: number of games to play, which `games_in_flight` cannot exceed.
        """
        in_flight = min(self.games_in_flight or default_games_in_flight(device), games)
        return replace(
            self,
            games_in_flight=in_flight,
            groups=self.groups or default_groups(device),
            search=self.search_for(in_flight),
        )


def default_games_in_flight(device: str) -> int:
    """Return the number of parallel games that keeps a device busy, which is "cpu" or a GPU such as "cuda"."""
    return 64 if device == "cpu" else 4096


def default_groups(device: str) -> int:
    """Return the number of self-play threads: one per core, or on a GPU four, so that the GPU always has work."""
    return available_cores() if device == "cpu" else 4


@settings
class TrainingSettings(SelfPlaySettings):
    """Settings of a run: all settings of self-play, and the settings of training.

    num_games, memory_size, batch_size, epochs, ckp_freq, start_training_after and readouts have AlphaGo.jl's names.
    """

    games_in_flight: int | None = setting(
        "games played in parallel; None for an eighth of num_games, at least 1 and at most 256 (4096 on a GPU)",
        default=None,
        least=1,
    )
    num_games: int | None = setting(
        "number of games of self-play in the run (AlphaGo.jl 25 000, AlphaGo Zero 4.9 million); None for no limit but "
        "`max_minutes`",
        default=1000,
        least=1,
    )
    memory_size: int = setting(
        "largest number of positions in the replay memory (AlphaGo.jl 500 000; AlphaGo Zero the last 500 000 games); "
        "the memory grows up to this size, see `alphago.training.memory.window`",
        default=500_000,
        least=1,
    )
    batch_size: int = setting("positions per gradient step (AlphaGo.jl 32, AlphaGo Zero 2048)", default=128, least=1)
    epochs: int = setting("gradient steps on each batch", default=1, least=1)
    ckp_freq: int = setting("games between two checkpoints", default=100, least=1)
    start_training_after: int = setting(
        "positions (not games) in memory before the first gradient step", default=1000, least=0
    )
    samples_per_position: float = setting("how often a position is drawn for training on average", default=8.0, least=0)
    search_share: float = setting(
        "share of a value target that comes from the search, per ply; see ReplayMemory", default=0.03, least=0, most=1
    )
    targets: Targets | Values | None = setting(
        "the rule that makes value and policy targets from a game's record, such as MixedTargets, or a function that "
        "returns a record's value targets; None: lambda-returns with `search_share`, and the search's policies",
        default=None,
    )
    surprise_share: float = setting(
        "share of the samples that are drawn in proportion to the search's surprise at a position, instead of "
        "uniformly; see ReplayMemory",
        default=1.0,
        least=0,
        most=1,
    )
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
    learning_rate: float = setting(
        "learning rate of the optimizer; Muon multiplies it by MUON_RATE", default=2e-3, least=0, most=1000
    )
    dense_rate: float = setting(
        "learning rate of dense layers, as a share of the others'; below 1 where results are hard to predict, as in "
        "human games on 19x19", default=1.0, positive=True,
    )  # fmt: skip
    weight_decay: float = setting("weight decay of the optimizer", default=0.01, least=0)
    optimizer: str | MakeOptimizer = setting(
        '"muon" (Muon for convolutions, AdamW for the rest), "adamw", "sgd" (momentum 0.9), or a function that takes '
        "parameters, learning rate and weight decay and returns a torch.optim.Optimizer whose state is tensors or "
        'numbers for each parameter; see alphago.training.optimizer.  "sgd" needs ten times the learning rate of the '
        "others",
        default="muon",
    )
    schedule: str | Steps = setting(
        'the learning rate\'s schedule over the run, after a warm-up: "cosine" (down to a twentieth), "steps" (AlphaGo '
        'Zero\'s: a tenth from 4/7, a hundredth from 6/7 of the run), "constant", or custom steps as pairs of progress '
        "and factor, ((0.5, 0.1), (0.8, 0.01))",
        default="cosine",
    )
    gradient_norm: float | None = setting(
        "largest norm of the gradient; larger gradients are scaled down; None for no clipping",
        default=5.0,
        positive=True,
    )
    bfloat16: bool | None = setting(
        "whether gradient steps use torch's autocast to bfloat16; None for whichever is faster on this machine",
        default=None,
    )
    selfplay_dtype: str | None = setting(
        'dtype of inference in self-play: "float32", "bfloat16" or, on CPUs that support it, "int8"; None for the '
        "fastest (see NetEvaluator)",
        default=None,
    )
    losses: LossWeights = setting(
        'a LossWeights, or its name: "default", "alphago-zero", "alphago.jl", "cody2007", "cgzero" '
        "(alphago.nn.loss.LOSSES); a dictionary changes some of the weights",
        default=LOSSES["default"],
    )
    curriculum: Curriculum = setting(
        "smaller boards on which the run begins, in order, as pairs (board size, share of the run): ((7, 0.25),) plays "
        "the first quarter of the run on 7x7.  They have their default komi.  With () the whole run is on the game's "
        "own board.  For size-free networks",
        default=(),
    )
    gate: JudgeSettings[Any] | float | Mapping[str, Any] | None = setting(
        "a win rate, such as 0.55, or a Gate: self-play uses the best network so far, until a later network has this "
        "win rate against it.  None: self-play uses the latest network.  A dictionary changes some settings of Gate",
        default=None,
    )
    judges: tuple[JudgeSettings[Any], ...] = setting(
        "further judges of the run's networks, such as Champions", default=()
    )
    memory: MemorySettings | None = setting(
        "what the run learns from, such as a Pool; None: a Window of the latest games, with `memory_size`, "
        "`samples_per_position` and `surprise_share`, which have no effect on another memory",
        default=None,
    )
    adaptive_resignation: bool = setting(
        "after each iteration, fit the resignation threshold to the games without resignation, so that at most 5 % of "
        "the resignations are wrong (AlphaGo Zero); `resign_threshold` is used until there are enough games",
        default=False,
    )
    watch: tuple[str, ...] | None = setting(
        'opponents that play matches against the network at intervals: "random@0", "gnugo:10@64", "rave:1000@64", '
        '"runs/old@0".  The number after @ is the readouts of the run\'s network (default 64; 0 plays its policy '
        'alone); an opponent that is a network uses the same number.  "records:FOLDER" measures the network\'s '
        'predictions of the moves in given games.  "exam@0" and "exam@64" grade it by the package\'s exam of the board '
        '(see `alphago.exam`), "exam:FILE@64" by another.  Watching does not influence training and does not count as '
        "training time",
        default=None,
    )
    watch_share: float = setting(
        "largest share of the run's time that `watch` may take", default=0.05, positive=True,
        most=0.9,
    )  # fmt: skip
    max_minutes: float | None = setting(
        "minutes of training after which the run ends, unless it has reached `num_games` before; None for no limit",
        default=None,
        positive=True,
    )
    exact_rules: bool = setting(
        "whether self-play uses the game itself instead of `env.training_variant()`, which in Go forbids early passes, "
        "varies komi, and makes outcomes depend slightly on the margin",
        default=False,
    )
    seed: int = setting("random seed of games, samples and initial weights", default=0, least=0, most=SEED_END - 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("curriculum", check_curriculum(self.curriculum))
        self._set("watch", check_watch(self.watch))
        for name in ("exact_rules", "adaptive_resignation"):
            self._set(name, check_bool(name, getattr(self, name)))
        if self.num_games is None and self.max_minutes is None:
            raise ValueError("num_games or max_minutes must end the run, got None for both")
        if self.start_training_after > self.memory_size:
            raise ValueError(
                f"start_training_after ({self.start_training_after}) is more than memory_size ({self.memory_size}): "
                "training would never start"
            )
        self._set("judges", tuple(self.judges))
        for name, parts, method in (
            ("gate", [self.gate], "make_judge"),
            ("judges", self.judges, "make_judge"),
            ("memory", [self.memory], "make_memory"),
            ("seating", [self.seating], "make_seating"),
        ):
            if wrong := [part for part in parts if part is not None and not hasattr(part, method)]:
                raise TypeError(f"{name} must be settings with a method {method}, got {wrong[0]!r}")
        self._check_learning()
        _ = self.made_targets  # raises if it is none

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _check_learning(self) -> None:
        known_name = isinstance(self.optimizer, str) and self.optimizer in OPTIMIZERS
        if not known_name and not hasattr(self.optimizer, "__qualname__"):
            names = ", ".join(map(repr, OPTIMIZERS))
            raise ValueError(f"optimizer must be {names} or a function that makes one, got {self.optimizer!r}")
        self._set("schedule", check_schedule(self.schedule))
        self._set("bfloat16", plain_number(self.bfloat16))
        if not (self.bfloat16 is None or isinstance(self.bfloat16, bool)):
            raise ValueError(f"bfloat16 must be True, False or None, got {self.bfloat16!r}")
        if self.selfplay_dtype not in (None, *DTYPES):
            names = ", ".join(map(repr, DTYPES))
            raise ValueError(f"selfplay_dtype must be {names} or None, got {self.selfplay_dtype!r}")
        losses: Any = LOSSES.get(self.losses) if isinstance(self.losses, str) else self.losses
        if isinstance(losses, Mapping):
            losses = make_settings(LossWeights, **losses)
        if not isinstance(losses, LossWeights):
            names = ", ".join(map(repr, LOSSES))
            raise ValueError(f"losses must be {names} or a LossWeights, got {self.losses!r}")
        self._set("losses", losses)

    @property
    def made_targets(self) -> Targets:
        """The rule that makes value and policy targets."""
        return LambdaReturns(self.search_share) if self.targets is None else as_targets(self.targets)

    @property
    def made_memory(self) -> MemorySettings:
        """The settings of the run's memory."""
        return self.memory or Window(self.memory_size, self.samples_per_position, self.surprise_share)

    @property
    def made_judges(self) -> list[JudgeSettings[Any]]:
        """The settings of the gate, if there is one, and of the further judges."""
        return [*([self.gate] if self.gate is not None else []), *self.judges]  # type: ignore[list-item]

    @property
    def game_limit(self) -> int:
        """The run's number of games: `num_games`, or NO_LIMIT if that is None."""
        return NO_LIMIT if self.num_games is None else self.num_games

    def side_by_side(self, games: int) -> int:
        """Return the number of games to play in parallel once `games` games of the run are over."""
        most = self.games_in_flight or 1
        return min(most, max(self.first_games_in_flight or most, int(GENERATION * games)))

    def readouts_at(self, progress: float) -> int:
        """Return the readouts per move when the run's progress is `progress`, 0 .. 1."""
        first = self.first_readouts or self.readouts
        return round(first * (self.readouts / first) ** progress)

    def selfplay(self, device: str = "cpu") -> SelfPlaySettings:
        """Return the run's settings of self-play on a device, with defaults for None in games_in_flight and search."""
        most = MOST_IN_FLIGHT if device == "cpu" else default_games_in_flight(device)
        in_flight = self.games_in_flight or max(1, min(most, self.game_limit // 8))
        seating = self.seating or next((judge.seating for judge in self.made_judges if judge.seating), None)
        own = {one.name: getattr(self, one.name) for one in fields(SelfPlaySettings)}
        own |= {"games_in_flight": in_flight, "search": self.search_for(in_flight), "seating": seating}
        return SelfPlaySettings(**own)


def optimizer_name(optimizer: Any) -> str:
    """Return the name of the setting `optimizer`: itself if it is a name, "module.function" if it is a function."""
    return optimizer if isinstance(optimizer, str) else f"{optimizer.__module__}.{optimizer.__qualname__}"
