"""Crew: the workers that a user names, in the same way for training, matches, self-play and datasets."""

from dataclasses import dataclass
from pathlib import Path

from alphago.env.game import GameEnv
from alphago.system.validation import check_int
from alphago.workers.ray_cluster import cluster_here, import_ray
from alphago.workers.ray_process import RayProcess
from alphago.workers.shared_folder import SharedFolder
from alphago.workers.work import Transport

FOLDER = "folder:"
MOST_WORKERS = 10_000


@dataclass(frozen=True)
class Crew:
    """The workers that a user has named: those of a shared folder, or of a Ray cluster.

    folder: the shared folder; None for a Ray cluster.
    address: the cluster's address; None to start a cluster on this machine.
    count: number of workers, of one core each; None for one worker on each node of the cluster, with all its cores.
    """

    folder: Path | None = None
    address: str | None = None
    count: int | None = None

    def connect(self, env: GameEnv | None = None) -> Transport:
        """Return the transport to the workers, for games of `env`."""
        return RayProcess(self.address, self.count, env) if self.folder is None else SharedFolder(self.folder)


def crew_of(workers: str | int | None) -> Crew | None:
    """Return the workers that a user names; None for the threads of this process.

    workers: a number of workers of one core each on this machine; "auto" for the Ray cluster that runs on this machine,
        or for this process's threads if no cluster runs; "folder:PATH" for the workers that share a folder; or the
        address of a Ray cluster.
    Raises ValueError for another value, ImportError if Ray is needed and not installed.
    """
    if isinstance(workers, str) and workers.isdecimal():
        workers = int(workers)
    if isinstance(workers, int):
        check_int("workers", workers, 1, MOST_WORKERS)
        import_ray()  # raises ImportError now, before anything else is begun
        return Crew(count=workers)
    if workers == "auto":
        workers = cluster_here()
    if workers is None:
        return None
    if workers.startswith(FOLDER):
        return Crew(folder=Path(workers.removeprefix(FOLDER)))
    if ":" not in workers:
        raise ValueError(f"workers must be a number, auto, a Ray cluster's HOST:PORT or folder:PATH, got {workers!r}")
    import_ray()
    return Crew(address=workers)
