"""How a run is trained: one frozen dataclass, kept in the run's config."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from alphago.env.game import GameEnv
from alphago.mcts.search import SearchSettings
from alphago.training.selfplay import SelfPlaySettings, chosen_search


@dataclass(frozen=True)
class TrainingSettings:
    """How a run is trained; names and meanings of the first seven are AlphaGo.jl's.

    num_games: games of self-play in all (AlphaGo.jl 25 000, AlphaGo Zero 4.9 million).
    memory_size: most positions kept for sampling (AlphaGo.jl 500 000; the paper the last 500 000 games);
        how many are kept grows with the run, see `alphago.training.memory.window`.
    batch_size: positions per gradient step (AlphaGo.jl 32, the paper 2048).
    epochs: gradient steps on each batch drawn.
    ckp_freq: games between checkpoints.
    readouts: simulations per move of self-play (800 in AlphaGo.jl and AlphaZero).
    start_training_after: positions (not games) in memory before the first gradient step.
    samples_per_position: how often a position is drawn for training on average.
    search_share: how much of a value target comes from the search, per ply; see ReplayMemory.
    weight_averaging: how much of the averaged weights, which play, is kept at each gradient step.
    first_readouts: readouts at the beginning, from which they rise to `readouts` in equal ratios over the
        run; None for `readouts` all along.
    games_in_flight: games played side by side; None for an eighth of num_games, at most 256, so that
        a run of any length sees several generations.
    plies_per_iteration: moves played in every game between two rounds of training.
    learning_rate, weight_decay: of AdamW, and of Muon at MUON_RATE times the rate (alphago.training.optimizer);
        rates fall by a cosine over the run.
    opening_plies, decided_value: see SelfPlaySettings.
    resign_threshold: see SelfPlaySettings; -1, never, because a young network is sure of nonsense: one
        that has seen White win every game would resign all others after a few moves.
    no_resign_share, temperature_plies, groups: see SelfPlaySettings.
    search: see SearchSettings; None for a Gumbel search with enough leaves to fill a batch; a dictionary changes
        some settings of that one.
    curriculum: smaller boards to begin with, each as (board size, share of the run), in order: ((7, 0.25),) plays
        the first quarter of the run on 7x7.  For size-free networks.
    max_minutes: ends the run after this much time if it is not over before.
    taught_games: the run's first games in which self-play uses knowledge from outside the rules: in Go, nobody
        fills own eyes.
    exact_rules: self-play by the game's own rules instead of `env.training_variant()`, which for Go allows
        passing late only, varies komi, and lets outcomes depend on the margin a little.
    seed: of games, samples and initial weights.
    """

    num_games: int = 1000
    memory_size: int = 500_000
    batch_size: int = 128
    epochs: int = 1
    ckp_freq: int = 100
    readouts: int = 800
    start_training_after: int = 1000
    samples_per_position: float = 8.0
    search_share: float = 0.03
    weight_averaging: float = 0.995
    first_readouts: int | None = None
    opening_plies: float | None = None
    decided_value: float = 0.68
    games_in_flight: int | None = None
    plies_per_iteration: int = 16
    learning_rate: float = 2e-3
    weight_decay: float = 0.01
    resign_threshold: float = -1.0
    no_resign_share: float = 0.05
    temperature_plies: int | None = None
    groups: int | None = None
    search: SearchSettings | Mapping[str, Any] | None = None
    curriculum: tuple[tuple[int, float], ...] = ()
    max_minutes: float | None = None
    taught_games: int = 0
    exact_rules: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        whole = ("num_games", "memory_size", "batch_size", "epochs", "ckp_freq", "readouts", "plies_per_iteration")
        for name in whole:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
                raise ValueError(f"{name} is a whole number from 1, came {value!r}")
            object.__setattr__(self, name, int(value))  # a numpy number could not be saved in the run's config
        for name in (
            "start_training_after",
            "samples_per_position",
            "learning_rate",
            "weight_decay",
            "seed",
            "taught_games",
        ):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} is 0 or more, came {getattr(self, name)!r}")
        if self.max_minutes is not None and not self.max_minutes > 0:
            raise ValueError(f"max_minutes is more than 0 or None, came {self.max_minutes!r}")
        if self.games_in_flight is not None and self.games_in_flight < 1:
            raise ValueError(f"games_in_flight is 1 or more, or None, came {self.games_in_flight!r}")
        if self.start_training_after > self.memory_size:
            raise ValueError(
                f"start_training_after ({self.start_training_after}) is more than memory_size ({self.memory_size}): "
                "training would never start"
            )
        try:
            steps = tuple((int(size), float(share)) for size, share in self.curriculum)
        except (TypeError, ValueError):
            steps = ((0, -1.0),)
        if any(share <= 0 for _, share in steps) or sum(share for _, share in steps) >= 1:
            raise ValueError(
                "curriculum is pairs of a board size and a share of the run, the shares less than 1 in all, "
                f"came {self.curriculum!r}"
            )
        object.__setattr__(self, "curriculum", steps)
        if isinstance(self.search, Mapping):
            object.__setattr__(self, "search", dict(self.search))  # what can be saved in the run's config
        self.selfplay()  # looks at the rest

    def selfplay(self) -> SelfPlaySettings:
        """The part that self-play reads."""
        flight = self.games_in_flight or max(1, min(256, self.num_games // 8))
        search = chosen_search(self.search, flight, self.readouts)
        names = (
            "readouts", "groups", "temperature_plies", "resign_threshold", "no_resign_share", "opening_plies",
            "decided_value",
        )  # fmt: skip
        return SelfPlaySettings(games_in_flight=flight, search=search, **{n: getattr(self, n) for n in names})


def stages(env: GameEnv, curriculum: Sequence[tuple[int, float]]) -> list[tuple[GameEnv, float]]:
    """The boards of a run and the progress at which each ends, the last one at 1."""
    ends = np.cumsum([share for _, share in curriculum]).tolist()
    return [*((env.resized(size), end) for (size, _), end in zip(curriculum, ends, strict=True)), (env, 1.0)]
