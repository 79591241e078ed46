"""Crew: the workers that `train(workers=…)` names, and what a new run with them takes for settings left out."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from alphago.env.game import GameEnv
from alphago.system.cores import available_cores
from alphago.system.validation import check_int
from alphago.training.settings.selfplay_settings import NO_LIMIT
from alphago.training.workers.ray_cluster import RayCluster, import_ray, ray_cores, ray_runs
from alphago.training.workers.remote_selfplay import RemoteSelfPlay
from alphago.training.workers.shared_folder import SharedFolder
from alphago.training.workers.transport import Transport

FOLDER = "folder:"
MOST_WORKERS = 10_000


@dataclass(frozen=True)
class Crew:
    """Workers by name; as a MakeSource, it lets them play a run's games.

    folder: a shared folder; or else a Ray cluster:
    address: of the cluster; None for one that is started on this machine.
    count: number of workers of one core; None for one on each node of the cluster, with all its cores.
    max_lag: see RemoteSelfPlay.
    """

    folder: Path | None = None
    address: str | None = None
    count: int | None = None
    max_lag: int | None = None

    def __call__(self, env: GameEnv, *arguments: Any, **options: Any) -> RemoteSelfPlay:
        connect = partial(self.connect, env)
        return RemoteSelfPlay(env, *arguments, connect=connect, max_lag=self.max_lag, **options)

    def connect(self, env: GameEnv) -> Transport:
        """Return the transport to the workers, for a run's games of `env`."""
        return RayCluster(self.address, self.count, env) if self.folder is None else SharedFolder(self.folder)

    def usual(self) -> dict[str, int]:
        """Return settings of a new run for those that its call leaves out, by keyword.

        Each core plays a group; this machine's cores take the gradient steps.
        """
        if self.folder is None and self.address is not None and self.count is None:
            return {"groups": ray_cores(self.address), "learner_threads": available_cores()}
        return {"groups": self.count or available_cores(), "learner_threads": available_cores()}


def crew_of(workers: str | int | None, max_lag: int | None = None) -> Crew | None:
    """Return the workers that a user names; None for the threads of this process.

    workers: a number of workers of one core on this machine; "auto" for the Ray cluster that runs on this machine, or
        this process's threads if none does; "folder:PATH" for the workers that share a folder; a Ray cluster's address.
    max_lag: see RemoteSelfPlay.
    Raises ValueError for another value, ImportError where Ray is needed and not installed.
    """
    if max_lag is not None:
        check_int("max_lag", max_lag, 0, NO_LIMIT)
    if isinstance(workers, str) and workers.isdecimal():
        workers = int(workers)
    if isinstance(workers, int):
        check_int("workers", workers, 1, MOST_WORKERS)
        import_ray()
        return Crew(count=workers, max_lag=max_lag)
    if workers == "auto":
        workers = "auto" if ray_runs() else None
    if workers is None:
        if max_lag is not None:
            raise ValueError(f"max_lag must be left out without workers, got {max_lag}")
        return None
    if workers.startswith(FOLDER):
        return Crew(folder=Path(workers.removeprefix(FOLDER)), max_lag=max_lag)
    if workers != "auto" and ":" not in workers:
        raise ValueError(f"workers must be a number, auto, a Ray cluster's HOST:PORT or folder:PATH, got {workers!r}")
    import_ray()
    return Crew(address=workers, max_lag=max_lag)
