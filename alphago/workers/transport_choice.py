"""The workers that a user names, in the same way for training, matches, self-play and datasets."""

from collections.abc import Callable
from functools import partial

from alphago.env.game import GameEnv
from alphago.system.validation import check_int
from alphago.workers.own_workers import OwnWorkers
from alphago.workers.ray_cluster import RayCluster, cluster_here, import_ray
from alphago.workers.shared_folder import SharedFolder
from alphago.workers.work import Transport

FOLDER = "folder:"
MOST_WORKERS = 10_000
MakeTransport = Callable[[GameEnv | None], Transport]  # returns the transport to workers for games of an env


def find_workers(workers: str | int | None) -> MakeTransport | None:
    """Return the function that makes the transport to the workers that a user names; None for this process's threads.

    Args:
        workers: a number of processes of one core each; "auto" for the Ray cluster that runs on this machine, or for
            this process's threads if no cluster runs; "folder:PATH" for the workers that share a folder; or the address
            of a Ray cluster.

    Raises:
        ValueError: for another value.
        ImportError: if Ray is needed and not installed.
    """
    if isinstance(workers, str) and workers.isdecimal():
        workers = int(workers)
    if isinstance(workers, int):
        return partial(OwnWorkers, check_int("workers", workers, 1, MOST_WORKERS))
    if workers == "auto":
        workers = cluster_here()
    if workers is None:
        return None
    if workers.startswith(FOLDER):
        return partial(SharedFolder, workers.removeprefix(FOLDER))
    if ":" not in workers:
        raise ValueError(f"workers must be a number, auto, a Ray cluster's HOST:PORT or folder:PATH, got {workers!r}")
    import_ray()  # raises ImportError now, before anything else is begun
    return partial(RayCluster, workers)
