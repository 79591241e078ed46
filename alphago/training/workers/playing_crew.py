"""PlayingCrew: the workers that `train(workers=…)` names, and what a new run with them takes for settings left out."""

from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any

from alphago.env.game import GameEnv
from alphago.system.cores import available_cores
from alphago.system.validation import check_int
from alphago.training.settings.selfplay_settings import NO_LIMIT
from alphago.training.workers.remote_selfplay import RemoteSelfPlay
from alphago.workers.crew import Crew, crew_of
from alphago.workers.ray_process import RayProcess


@dataclass(frozen=True)
class PlayingCrew:
    """As a MakeSource, lets workers play a run's games; max_lag: see RemoteSelfPlay."""

    crew: Crew
    max_lag: int | None = None

    def __call__(self, env: GameEnv, *arguments: Any, **options: Any) -> RemoteSelfPlay:
        connect = partial(self.crew.connect, env)
        return RemoteSelfPlay(env, *arguments, connect=connect, max_lag=self.max_lag, **options)

    def usual(self) -> dict[str, int]:
        """Return settings of a new run for those that its call leaves out, by keyword.

        Each core plays a group; this machine's cores take the gradient steps.
        """
        crew = self.crew
        groups = crew.count or available_cores()
        if crew.address is not None and crew.count is None:
            with closing(RayProcess(crew.address, None)) as cluster:
                groups = cluster.cores()
        return {"groups": groups, "learner_threads": available_cores()}


def playing_crew(workers: str | int | None, max_lag: int | None = None) -> PlayingCrew | None:
    """Return the workers that a user names, as `crew_of` does; max_lag: see RemoteSelfPlay."""
    if max_lag is not None:
        check_int("max_lag", max_lag, 0, NO_LIMIT)
    crew = crew_of(workers)
    if crew is None and max_lag is not None:
        raise ValueError(f"max_lag must be left out without workers, got {max_lag}")
    return None if crew is None else PlayingCrew(crew, max_lag)
