"""Settings of a run that learns from given games."""

from dataclasses import replace

from alphago.system.cores import available_cores
from alphago.system.settings import group
from alphago.system.validation import setting, settings
from alphago.training.settings.learning_settings import LearningSettings
from alphago.training.settings.run_settings import AnyRunSettings


@settings
class SupervisedSettings(AnyRunSettings):
    """Settings of a run that learns from given games."""

    num_games: int | None = setting(
        "games to learn from, each game once an epoch; by default those of one epoch",
        default=None,
        least=1,
        shown="games to learn from",
    )
    ckp_freq: int = setting(
        "games between two checkpoints; by default as many as between two tests", default=None, least=1
    )
    checks: int = setting(
        "tests on held-out games, evenly spaced over the run, after a first one of the untrained network",
        default=20,
        least=1,
        shown="tests on held-out games",
    )
    # Enough to distinguish an accuracy of 47 % from 48 %.
    held_out_positions: int = setting("positions in a test", default=20_000, least=1)
    search_share: float = setting(
        "share of a value target that comes from the search, per ply, where records have searches' values",
        default=0.0,
        most=1,
        shown="share of searches' values in value targets",
    )
    threads: int = setting(
        "threads that divide each batch among them on a CPU; by default one for each core",
        default=None,
        least=1,
        structural=True,
    )
    learning: LearningSettings = group("learning", LearningSettings, learning_rate=0.01, dense_rate=0.1)

    @property
    def games_per_check(self) -> int:
        """The number of games between two tests."""
        return max(1, self.game_limit // self.checks)

    def completed(self, games: int) -> "SupervisedSettings":
        """Return these settings with values in place of None; games: the number of given games."""
        limited = replace(self, num_games=self.num_games or games, threads=self.threads or available_cores())
        return replace(limited, ckp_freq=self.ckp_freq or limited.games_per_check)
