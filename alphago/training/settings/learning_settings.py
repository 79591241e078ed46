"""Settings of learning: what a gradient step does, and the window of games from which it takes its samples."""

from typing import Any

from alphago.env.game import GameEnv
from alphago.nn.loss import LOSSES, LossFunction, LossWeights
from alphago.system.settings import part
from alphago.system.validation import check_ranges, setting, settings
from alphago.training.memory import ReplayMemory
from alphago.training.optimizer import OPTIMIZERS, MakeOptimizer, Schedule, Steps, check_schedule


@settings
class LearningSettings:
    """Settings of learning: batches, optimizer, schedule and losses."""

    batch_size: int = setting(
        "positions per gradient step (AlphaGo.jl 32, AlphaGo Zero 2048)",
        default=128,
        least=1,
        shown="positions per gradient step",
    )
    learning_rate: float = setting(
        "learning rate of the optimizer; Muon multiplies it by 2.5", default=2e-3, most=1000, shown="learning rate"
    )
    dense_rate: float = setting(
        "learning rate of dense layers, as a share of the others'; below 1 where results are hard to predict, as in "
        "human games on 19x19",
        default=1.0,
        positive=True,
    )
    weight_decay: float = setting("weight decay of the optimizer", default=0.01)
    optimizer: str | MakeOptimizer = setting(
        '"muon" (Muon for convolutions, AdamW for the rest), "adamw", or "sgd" (momentum 0.9), which needs ten times '
        "the others' learning rate",
        default="muon",
        structural=True,
        shown="muon, adamw or sgd",
        python="Or a function that takes parameters, learning rate and weight decay and returns a "
        "torch.optim.Optimizer whose state is tensors or numbers for each parameter; see alphago.training.optimizer",
    )
    schedule: str | Steps | Schedule = setting(
        'the learning rate\'s schedule over the run, after a warm-up: "cosine" (down to a twentieth), "steps" (AlphaGo '
        'Zero\'s: a tenth from 4/7, a hundredth from 6/7 of the run), "constant", or custom steps as pairs of progress '
        "and factor, ((0.5, 0.1), (0.8, 0.01))",
        default="cosine",
        python="Or a function from the run's progress, 0 .. 1, to the factor",
    )
    gradient_norm: float | None = setting(
        "largest norm of the gradient; larger gradients are scaled down; None for no clipping",
        default=5.0,
        positive=True,
    )
    learner_threads: int | None = setting(
        "threads of a gradient step on a CPU, at most one for each group of self-play; None for as many",
        default=None,
        least=1,
        structural=True,
    )
    bfloat16: bool | None = setting(
        "whether gradient steps use torch's autocast to bfloat16; by default what is faster on this kind of processor "
        "with a network of this size",
        default=None,
    )
    losses: LossWeights | LossFunction = part(
        "the weights of the losses",
        default=LOSSES["default"],
        title="weights of the losses",
        choices=LOSSES,
        prefix="loss_",
        python="Or a function with the arguments of `alphago.nn.loss.alphazero_loss` before `weights`, and its result",
    )

    def __post_init__(self) -> None:
        """Raise ValueError or TypeError for invalid settings; replace `schedule` by its checked form."""
        check_ranges(self)
        # Functions and classes must have a name, under which config.json stores them.
        is_known = isinstance(self.optimizer, str) and self.optimizer in OPTIMIZERS
        if not is_known and not hasattr(self.optimizer, "__qualname__"):
            names = ", ".join(map(repr, OPTIMIZERS))
            raise ValueError(f"optimizer must be {names} or a function that makes one, got {self.optimizer!r}")
        object.__setattr__(self, "schedule", check_schedule(self.schedule))
        if not isinstance(self.losses, LossWeights) and not hasattr(self.losses, "__qualname__"):
            names = ", ".join(map(repr, LOSSES))
            raise ValueError(f"losses must be {names}, a LossWeights or a function, got {self.losses!r}")

    @property
    def weights(self) -> LossWeights:
        """The weights of the losses; if `losses` is a function, the defaults, for the other losses."""
        return self.losses if isinstance(self.losses, LossWeights) else LOSSES["default"]


@settings
class Window:
    """Settings of a memory that holds a window of the latest games."""

    memory_size: int = setting(
        "largest number of positions in memory (AlphaGo.jl 500 000; AlphaGo Zero the last 500 000 games); the memory "
        "grows up to this size",
        default=500_000,
        least=1,
        shown="positions in memory",
        python="See `alphago.training.memory.window`",
    )
    samples_per_position: float = setting("how often a position is drawn for training on average", default=8.0)
    surprise_share: float = setting(
        "share of the samples that are drawn in proportion to the search's surprise at a position, instead of "
        "uniformly",
        default=1.0,
        most=1,
        python="See ReplayMemory",
    )

    def make_memory(self, env: GameEnv, *, start: int, seed: int, **more: Any) -> ReplayMemory:
        """Return an empty memory of games of `env`.

        Args:
            start: the number of positions from which training may begin.
            seed: the run's seed, which is not used: this memory draws with the generators that its methods get.
            more: keywords of ReplayMemory: targets, masked and threads; see `MemorySettings.make_memory`.
        """
        more |= {"surprise_share": self.surprise_share, "samples_per_position": self.samples_per_position}
        return ReplayMemory(env, self.memory_size, start=start, **more)
