"""PlayingCrew: the workers that `train(workers=…)` names, and the default settings of a new run with workers."""

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

MANY = 64  # number of groups from which a run is asynchronous unless its call sets `max_lag`
GOES_ON = (
    f"with {MANY} groups or more workers play on while the network learns, so this run is not bit-identical to another "
    "one (max_lag is 1; with 0 they wait for each network)"
)


@dataclass(frozen=True)
class PlayingCrew:
    """A MakeSource whose source lets workers play a run's games; max_lag: see `train`."""

    crew: Crew
    max_lag: int | None = None

    def __call__(self, env: GameEnv, settings: SelfPlaySettings, *arguments: Any, **options: Any) -> RemoteSelfPlay:
        """Return the source of a stage's games; arguments, options: the other arguments of SelfPlay."""
        has_many_groups = settings.groups >= MANY
        default_lag = 1 if has_many_groups else 0
        max_lag = default_lag if self.max_lag is None else self.max_lag
        # For RemoteSelfPlay, None means that the workers wait for each new network.
        connect = partial(self.crew.connect, env)
        source = RemoteSelfPlay(env, settings, *arguments, connect=connect, max_lag=max_lag or None, **options)
        if has_many_groups and self.max_lag is None:
            source.pool.sentences.append(GOES_ON)
        return source

    def default_settings(self, given: Mapping[str, Any]) -> dict[str, int]:
        """Return the settings, by keyword, that a new run takes where its call gives none; given: those of the call.

        Each core plays a group; this machine's cores take the gradient steps.
        """
        crew = self.crew
        groups = crew.count or available_cores()
        if crew.address is not None and "groups" not in given:
            with closing(RayProcess(crew.address, None)) as cluster:
                groups = cluster.cores()
        return {"groups": groups, "learner_threads": available_cores()}


def playing_crew(workers: str | int | None, max_lag: int | None = None) -> PlayingCrew | None:
    """Return the workers that a user names, None for this process's threads, as `crew_of`; max_lag: see `train`."""
    if max_lag is not None:
        check_int("max_lag", max_lag, 0, NO_LIMIT)
    crew = crew_of(workers)
    if crew is None and max_lag is not None:
        raise ValueError(f"max_lag must be left out without workers, got {max_lag}")
    return None if crew is None else PlayingCrew(crew, max_lag)
