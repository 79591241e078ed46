"""The settings of a run's usual memory."""

from alphago.env.game import GameEnv
from alphago.system.validation import setting, settings
from alphago.training.memory import ReplayMemory
from alphago.training.targets import Targets


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
    samples_per_position: float = setting("how often a position is drawn for training on average", default=8.0, least=0)
    surprise_share: float = setting(
        "share of the samples that are drawn in proportion to the search's surprise at a position, instead of "
        "uniformly",
        default=1.0,
        least=0,
        most=1,
        python="See ReplayMemory",
    )

    def make_memory(
        self, env: GameEnv, *, targets: Targets, masked: bool, start: int, seed: int, threads: int = 1
    ) -> ReplayMemory:
        """Return an empty memory of games of `env`; see `MemorySettings.make_memory`."""
        return ReplayMemory(
            env,
            self.memory_size,
            surprise_share=self.surprise_share,
            targets=targets,
            masked=masked,
            threads=threads,
            start=start,
            samples_per_position=self.samples_per_position,
        )
