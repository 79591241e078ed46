"""PlayingCrew: the workers that `train(workers=…)` names, and what a new run with them takes for settings left out."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any

from alphago.env.game import GameEnv
from alphago.system.cores import available_cores
from alphago.system.validation import check_int
from alphago.training.settings.selfplay_settings import NO_LIMIT, SelfPlaySettings
from alphago.training.workers.remote_selfplay import RemoteSelfPlay
from alphago.workers.crew import Crew, crew_of
from alphago.workers.ray_process import RayProcess

MANY = 64  # groups from which a run is asynchronous unless its call says otherwise
GOES_ON = (
    f"with {MANY} groups or more workers play on while the network learns, so this run is not bit-identical to another "
    "one (max_lag is 1; with 0 they wait for each network)"
)


@dataclass(frozen=True)
class PlayingCrew:
    """As a MakeSource, lets workers play a run's games; max_lag: see `train`."""

    crew: Crew
    max_lag: int | None = None

    def __call__(self, env: GameEnv, settings: SelfPlaySettings, *arguments: Any, **options: Any) -> RemoteSelfPlay:
        many = settings.groups >= MANY
        max_lag = int(many) if self.max_lag is None else self.max_lag
        connect = partial(self.crew.connect, env)
        source = RemoteSelfPlay(env, settings, *arguments, connect=connect, max_lag=max_lag or None, **options)
        if many and self.max_lag is None:
            source.dispatcher.tell(GOES_ON)
        return source

    def usual(self, given: Mapping[str, Any]) -> dict[str, int]:
        """Return settings of a new run for those that its call leaves out, by keyword; given: those of the call.

        Each core plays a group; this machine's cores take the gradient steps.
        """
        crew = self.crew
        groups = crew.count or available_cores()
        if crew.address is not None and "groups" not in given:
            with closing(RayProcess(crew.address, None)) as cluster:
                groups = cluster.cores()
        return {"groups": groups, "learner_threads": available_cores()}


def playing_crew(workers: str | int | None, max_lag: int | None = None) -> PlayingCrew | None:
    """Return the workers that a user names, as `crew_of` does; max_lag: see `train`."""
    if max_lag is not None:
        check_int("max_lag", max_lag, 0, NO_LIMIT)
    crew = crew_of(workers)
    if crew is None and max_lag is not None:
        raise ValueError(f"max_lag must be left out without workers, got {max_lag}")
    return None if crew is None else PlayingCrew(crew, max_lag)
