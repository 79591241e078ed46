"""How a run is trained: one frozen dataclass, kept in the run's config."""

import math
import operator
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from alphago.env.game import GameEnv
from alphago.mcts.search import SearchSettings
from alphago.nn.inference.devices import DTYPES
from alphago.nn.loss import LOSSES, LossWeights
from alphago.records.record import SEED_END
from alphago.system.validation import (
    check_bool,
    check_float,
    check_int,
    check_positive,
    checks_keywords,
    make_settings,
    plain_number,
)
from alphago.training.group import SelfPlaySettings, default_flight
from alphago.training.judges.gate import Gate
from alphago.training.optimizer import OPTIMIZERS, MakeOptimizer
from alphago.training.schedule import Steps, checked
from alphago.training.selfplay import chosen_search

Sizes = tuple[tuple[int, float], ...]  # boards side by side, as (board size, share)
# The least value of each setting that is a whole number, the greatest of each that is a number from 0.
WHOLE = {
    "num_games": 1, "memory_size": 1, "batch_size": 1, "epochs": 1, "ckp_freq": 1, "readouts": 1, "first_readouts": 1,
    "plies_per_iteration": 1, "games_in_flight": 1, "first_games_in_flight": 1, "groups": 1, "start_training_after": 0,
    "temperature_plies": 0, "seed": 0,
}  # fmt: skip
NUMBERS = {
    "samples_per_position": math.inf, "learning_rate": math.inf, "weight_decay": math.inf,
    "opening_plies": math.inf, "search_share": 1, "surprise_share": 1, "weight_averaging": 1,
    "decided_value": 1, "played_out_share": 1, "no_resign_share": 1,
}  # fmt: skip
OPTIONAL = (
    "num_games", "first_readouts", "games_in_flight", "first_games_in_flight", "groups", "temperature_plies",
    "opening_plies",
)  # fmt: skip
NO_LIMIT = 10**9  # more games than any run plays
GENERATION = 1 / 16  # of a run's games so far: no more are side by side, where a recipe begins with few


@checks_keywords()
@dataclass(frozen=True)
class TrainingSettings:
    """How a run is trained; names and meanings of the first seven are AlphaGo.jl's.

    num_games: games of self-play in all (AlphaGo.jl 25 000, AlphaGo Zero 4.9 million); None for as many as there are
        before `max_minutes` are over.
    memory_size: most positions kept for sampling (AlphaGo.jl 500 000; the paper the last 500 000 games);
        how many are kept grows with the run, see `alphago.training.memory.window`.
    batch_size: positions per gradient step (AlphaGo.jl 32, the paper 2048).
    epochs: gradient steps on each batch drawn.
    ckp_freq: games between checkpoints.
    readouts: simulations per move of self-play (800 in AlphaGo.jl and AlphaZero).
    start_training_after: positions (not games) in memory before the first gradient step.
    samples_per_position: how often a position is drawn for training on average.
    search_share: how much of a value target comes from the search, per ply; see ReplayMemory.
    surprise_share: how much of the draws for training go to positions in proportion to the search's surprise, instead
        of to all alike; see ReplayMemory.
    weight_averaging: how much of the averaged weights, which play, is kept at each gradient step.
    first_readouts: readouts at the beginning, from which they rise to `readouts` in equal ratios over the
        run; None for `readouts` all along.
    games_in_flight: games played side by side; None for an eighth of num_games, at most 256 (4096 on a GPU), so that
        a run of any length sees several generations, and at least one on each board.
    first_games_in_flight: how many of them at the beginning, from which they rise to `games_in_flight` as a sixteenth
        of the games so far does, because the results of many games side by side come late; None for `games_in_flight`
        all along.
    plies_per_iteration: moves played in every game between two rounds of training.
    learning_rate, weight_decay: of the optimizer; Muon moves at MUON_RATE times the rate.
    optimizer: "muon" (Muon for convolutions, AdamW for the rest), "adamw", "sgd" (momentum 0.9), or a function of
        parameters, learning rate and weight decay that makes a torch.optim.Optimizer, whose memory is tensors or
        numbers for each parameter; see alphago.training.optimizer.  Learning rates suit one optimizer: "sgd" wants ten
        times as much as the others.
    schedule: how the learning rate goes over the run, after it has risen in the first steps: "cosine" (down to a
        twentieth), "steps" (AlphaGo Zero's, a tenth of it from 4/7 and a hundredth from 6/7 of the run), "constant", or
        steps of one's own as pairs of progress and factor, ((0.5, 0.1), (0.8, 0.01)).
    gradient_norm: gradients longer than this are shortened to it; None for none.
    bfloat16: whether a step computes in bfloat16 what loses nothing by it; None where the CPU is made for it.
    selfplay_dtype: what the network of self-play computes in, "float32", "bfloat16" or, on a CPU that can, "int8"; None
        for the fastest (see NetEvaluator).
    losses: a LossWeights, or its name: "default", "alphago-zero", "alphago.jl", "cody2007" (alphago.nn.loss.LOSSES);
        a dictionary changes some of the weights.
    opening_plies, decided_value, played_out_share: see SelfPlaySettings.
    resign_threshold: see SelfPlaySettings; by default nobody resigns, because a young network is sure of nonsense: one
        that has seen White win every game would resign all others after a few moves.
    no_resign_share, temperature_plies, groups: see SelfPlaySettings.
    search: see SearchSettings; None for a Gumbel search with enough leaves to fill a batch; a dictionary changes
        some settings of that one.
    curriculum: smaller boards to begin with, each as (board size, share of the run), in order: ((7, 0.25),) plays
        the first quarter of the run on 7x7.  Instead of a size there may be several, as in `sizes`: ((((7, 0.5),
        (9, 0.5)), 0.25),).  By () the game's own board is played all along.  For size-free networks.
    sizes: boards to play side by side after the curriculum, each as (board size, share of the moves and of each
        batch): ((7, 0.3), (9, 0.7)).  The game's own board is one of them, the others have their usual komi; ()
        plays the game's own alone.
    gate: a win rate, such as 0.55, or a Gate: self-play is by the best network so far, until another one wins so often
        against it; None lets the latest play, a dictionary changes some settings of the Gate.
    max_minutes: ends the run after this much time if it is not over before; None for a run that is counted in games.
    exact_rules: self-play by the game's own rules instead of `env.training_variant()`, which for Go allows
        passing late only, varies komi, and lets outcomes depend on the margin a little.
    seed: of games, samples and initial weights.
    """

    num_games: int | None = 1000
    memory_size: int = 500_000
    batch_size: int = 128
    epochs: int = 1
    ckp_freq: int = 100
    readouts: int = 800
    start_training_after: int = 1000
    samples_per_position: float = 8.0
    search_share: float = 0.03
    surprise_share: float = 1.0
    weight_averaging: float = 0.995
    first_readouts: int | None = None
    opening_plies: float | None = None
    decided_value: float = 0.68
    played_out_share: float = 0.1
    games_in_flight: int | None = None
    first_games_in_flight: int | None = None
    plies_per_iteration: int = 16
    learning_rate: float = 2e-3
    weight_decay: float = 0.01
    optimizer: str | MakeOptimizer = "muon"
    schedule: str | Steps = "cosine"
    gradient_norm: float | None = 5.0
    bfloat16: bool | None = None
    selfplay_dtype: str | None = None
    losses: LossWeights = LOSSES["default"]
    resign_threshold: float | None = None
    no_resign_share: float = 0.05
    temperature_plies: int | None = None
    groups: int | None = None
    search: SearchSettings | Mapping[str, Any] | None = None
    curriculum: tuple[tuple[int | Sizes, float], ...] = ()
    sizes: Sizes = ()
    gate: Gate | float | Mapping[str, Any] | None = None
    max_minutes: float | None = None
    exact_rules: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        # As Python's own numbers: numpy's could not be saved in the run's config.
        for name, least in WHOLE.items():
            if getattr(self, name) is not None or name not in OPTIONAL:
                object.__setattr__(self, name, check_int(name, getattr(self, name), least))
        for name, most in NUMBERS.items():
            if getattr(self, name) is not None or name not in OPTIONAL:
                object.__setattr__(self, name, check_float(name, getattr(self, name), 0, most))
        if self.seed >= SEED_END:
            raise ValueError(f"seed is less than 2 to the power of 63, got {self.seed}")
        if self.weight_averaging == 1:
            raise ValueError("weight_averaging is less than 1, or the network that plays would never change")
        if self.resign_threshold is not None:
            object.__setattr__(self, "resign_threshold", check_float("resign_threshold", self.resign_threshold, -1, 1))
        if self.max_minutes is not None:
            object.__setattr__(self, "max_minutes", check_positive("max_minutes", self.max_minutes))
        if self.num_games is None and self.max_minutes is None:
            raise ValueError("a run ends by num_games or by max_minutes, both came as None")
        if self.start_training_after > self.memory_size:
            raise ValueError(
                f"start_training_after ({self.start_training_after}) is more than memory_size ({self.memory_size}): "
                "training would never start"
            )
        object.__setattr__(self, "curriculum", checked_curriculum(self.curriculum))
        object.__setattr__(self, "sizes", checked_sizes(self.sizes))
        for name in ("batch_size", "games_in_flight"):
            value, most = getattr(self, name), self.boards_at_once
            if value is not None and value < most:
                raise ValueError(f"{name} is at least the number of boards side by side ({most}), got {value!r}")
        if isinstance(self.gate, Mapping):
            object.__setattr__(self, "gate", make_settings(Gate, **self.gate))
        elif self.gate is not None and not isinstance(self.gate, Gate):
            object.__setattr__(self, "gate", Gate(check_float("gate, a win rate,", self.gate)))
        self._check_learning()
        object.__setattr__(self, "exact_rules", check_bool("exact_rules", self.exact_rules))
        if isinstance(self.search, Mapping):
            plain = {name: plain_number(value) for name, value in self.search.items()}
            object.__setattr__(self, "search", plain)  # what can be saved in the run's config
        self.selfplay()  # looks at the rest

    def _check_learning(self) -> None:
        known_name = isinstance(self.optimizer, str) and self.optimizer in OPTIMIZERS
        if not known_name and not hasattr(self.optimizer, "__qualname__"):
            known = ", ".join(map(repr, OPTIMIZERS))
            raise ValueError(f"optimizer is {known} or a function that makes one, got {self.optimizer!r}")
        object.__setattr__(self, "schedule", checked(self.schedule))
        if self.gradient_norm is not None:
            object.__setattr__(self, "gradient_norm", check_positive("gradient_norm", self.gradient_norm))
        object.__setattr__(self, "bfloat16", plain_number(self.bfloat16))
        if not (self.bfloat16 is None or isinstance(self.bfloat16, bool)):
            raise ValueError(f"bfloat16 is True, False or None, got {self.bfloat16!r}")
        if self.selfplay_dtype not in (None, *DTYPES):
            known = ", ".join(map(repr, DTYPES))
            raise ValueError(f"selfplay_dtype is {known} or None, got {self.selfplay_dtype!r}")
        losses: Any = LOSSES.get(self.losses) if isinstance(self.losses, str) else self.losses
        if isinstance(losses, Mapping):
            losses = make_settings(LossWeights, **losses)
        if not isinstance(losses, LossWeights):
            known = ", ".join(map(repr, LOSSES))
            raise ValueError(f"losses is {known} or a LossWeights, got {self.losses!r}")
        object.__setattr__(self, "losses", losses)

    def plain(self) -> dict[str, Any]:
        """All of it as JSON knows it; a function becomes its name."""
        return asdict(self) | {"optimizer": optimizer_name(self.optimizer)}

    @property
    def game_limit(self) -> int:
        """`num_games`, or more than any run plays."""
        return NO_LIMIT if self.num_games is None else self.num_games

    def side_by_side(self, games: int) -> int:
        """How many games are side by side after so many games, of a run that has chosen `games_in_flight`."""
        most = self.games_in_flight or self.boards_at_once
        return min(most, max(self.first_games_in_flight or most, int(GENERATION * games), self.boards_at_once))

    @property
    def boards_at_once(self) -> int:
        """Boards side by side, where they are most."""
        return max([1, len(self.sizes), *(len(sizes) for sizes, _ in self.curriculum if isinstance(sizes, tuple))])

    def selfplay(self, device: str = "cpu") -> SelfPlaySettings:
        """The part that self-play reads.  device: where it is, if nobody has said yet how many games there are."""
        most = 256 if device == "cpu" else default_flight(device)
        flight = self.games_in_flight or max(self.boards_at_once, min(most, self.game_limit // 8))
        search = chosen_search(self.search, flight, self.readouts)
        names = (
            "readouts", "groups", "temperature_plies", "resign_threshold", "no_resign_share", "opening_plies",
            "decided_value", "played_out_share",
        )  # fmt: skip
        return SelfPlaySettings(games_in_flight=flight, search=search, **{n: getattr(self, n) for n in names})


def optimizer_name(optimizer: Any) -> str:
    """Its name, or "module.function", so that a run can tell what it was trained with."""
    return optimizer if isinstance(optimizer, str) else f"{optimizer.__module__}.{optimizer.__qualname__}"


def checked_curriculum(given: Any) -> tuple[tuple[int | Sizes, float], ...]:
    """Steps as tuples; ValueError unless each is boards and a share of the run."""
    try:
        steps = tuple((checked_boards(boards), check_float("share", share)) for boards, share in given)
    except (TypeError, ValueError):
        steps = ((0, -1.0),)
    if not (all(share > 0 and sizes for sizes, share in steps) and sum(share for _, share in steps) < 1):
        raise ValueError(
            "curriculum is pairs of a board size (or of sizes with their shares) and a share of the run, these shares "
            f"less than 1 in all, got {given!r}"
        )
    return steps


def checked_boards(given: Any) -> int | Sizes:
    """The board of one step of a curriculum, or its sizes; TypeError or ValueError for what is neither."""
    return checked_sizes(given) if isinstance(given, (tuple, list)) else operator.index(given)


def checked_sizes(given: Any) -> Sizes:
    """Sizes as tuples; ValueError unless they are different boards whose shares are 1 in all, or nothing."""
    try:
        sizes = tuple((operator.index(size), check_float("share", share)) for size, share in given)
    except (TypeError, ValueError):
        sizes = ((0, -1.0),)
    whole = sum(share for _, share in sizes)
    different = len({size for size, _ in sizes}) == len(sizes)
    if sizes and not (all(share > 0 for _, share in sizes) and abs(whole - 1) < 0.01 and different):
        raise ValueError(f"sizes are pairs of a board size and its share, each board once and 1 in all, got {given!r}")
    return sizes


class Stage(NamedTuple):
    """A part of a run: boards that are played side by side, with their shares, until so much progress."""

    boards: tuple[tuple[GameEnv, float], ...]
    end: float


def stages(env: GameEnv, settings: TrainingSettings) -> list[Stage]:
    """The stages of a run, the last of which ends at 1; ValueError for boards that the game does not have."""
    if settings.sizes and env.N not in dict(settings.sizes):
        raise ValueError(f"sizes have to name the board that is trained for, {env.N}, got {settings.sizes!r}")

    def boards(sizes: int | Sizes) -> tuple[tuple[GameEnv, float], ...]:
        pairs = ((sizes, 1.0),) if isinstance(sizes, int) else sizes
        return tuple((env if size == env.N else env.resized(size), share) for size, share in pairs)

    ends = np.cumsum([share for _, share in settings.curriculum]).tolist()
    first = [Stage(boards(sizes), end) for (sizes, _), end in zip(settings.curriculum, ends, strict=True)]
    return [*first, Stage(boards(settings.sizes or env.N), 1.0)]
